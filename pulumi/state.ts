// The engine's stored data of a stack, on any backend: its resources, the operations that were pending at the last save, and the runs that
// ended. The commands that read it take no lock, and work while a run of the stack is under way.
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { isObject, type Json, UserError } from "../schema/index.ts";
import type { EngineError } from "./command.ts";
import { SECRET_SIGNATURE, SIGNATURE } from "./value.ts";

/** The state cannot be read. The message is one line and contains no value of the state. */
export class EngineStateError extends UserError {
  override readonly name = "EngineStateError";
}

const bag = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((value) => (value ?? {}) as Json);

const Resource = z.object({
  urn: z.string(),
  type: z.string(),
  parent: z.string().nullish(),
  /** absent of a component */
  id: z.string().nullish(),
  /** false for a component */
  custom: z.boolean().nullish(),
  /** replaced: to be deleted once its successor exists */
  delete: z.boolean().nullish(),
  /** read by its id, and not managed */
  external: z.boolean().nullish(),
  /** URN and id of its provider */
  provider: z.string().nullish(),
  /** its record stays when it leaves the program */
  retainOnDelete: z.boolean().nullish(),
  /** the engine refuses to delete it */
  protect: z.boolean().nullish(),
  inputs: bag,
  outputs: bag,
});

const Deployment = z.object({
  manifest: z.object({ time: z.string() }),
  resources: z.array(Resource).nullish(),
  /** `type`: `creating`, `updating`, `deleting` */
  pending_operations: z.array(z.object({ type: z.string(), resource: Resource })).nullish(),
});

/** Secret inputs are as `pulumi stack export` prints them. */
export type StateResource = z.infer<typeof Resource>;

export type EngineState = ReturnType<typeof engineStateFrom>;
export type PendingOperation = EngineState["pending"][number];

/** Runs a command of the engine, and returns its output. */
type Ask = (args: readonly string[]) => Promise<string>;

/**
 * `stack`: organization/project/stack. Without `showSecrets` the secrets of the state stay encrypted. Errors: EngineStateError, if there is
 * no engine, no backend or no such stack.
 */
export const readEngineState = async (ask: Ask, stack: string, { showSecrets = false } = {}): Promise<EngineState> => {
  const secrets = showSecrets ? ["--show-secrets"] : [];
  return engineStateFrom(exportFrom(await read(ask, ["stack", "export", "--stack", stackName(stack), ...secrets])));
};

/** `version` and `features` beside it */
export interface Exported {
  [member: string]: unknown;
  deployment: Json;
}

/** The whole output of `pulumi stack export`. Errors: EngineStateError. */
export const exportFrom = (text: string): Exported =>
  parsed("pulumi stack export", z.looseObject({ deployment: z.looseObject({}) }), text);

/** Errors: EngineStateError. */
export const engineStateFrom = ({ deployment }: Exported) => {
  const { resources, pending_operations, manifest } = checked("pulumi stack export", Deployment, deployment);
  return {
    resources: resources ?? [],
    pending: pending_operations ?? [],
    /** when it was saved, by the engine's clock */
    savedAt: manifest.time,
  };
};

const Runs = z.array(z.object({ kind: z.string(), startTime: z.string(), result: z.string() }));

/** A run of the stack that ended by itself, whether it succeeded or failed. A killed run is not listed. */
export interface EngineRun {
  /** `update`, `refresh`, `destroy` */
  kind: string;
  /** `succeeded`, `failed` */
  result: string;
  /** milliseconds by the engine's clock, of whole seconds */
  startedAt: number;
}

// More runs than are likely to follow a killed run before a person looks at it.
const RUNS_MAX = "100";

/** The last runs of a stack, the newest first. Errors as above. */
export const readEngineRuns = async (ask: Ask, stack: string): Promise<EngineRun[]> => {
  const args = ["stack", "history", "--json", "--page-size", RUNS_MAX, "--stack", stackName(stack)];
  const runs = parsed("pulumi stack history", Runs, await read(ask, args));
  return runs.map(({ kind, startTime, result }) => ({ kind, result, startedAt: Date.parse(startTime) }));
};

/** The engine may save the state at this moment: a reader of a file backend then sees only a part of it. */
const IS_TORN = /failed to load checkpoint: (?:unexpected )?(?:EOF|end of JSON input)/;
const TORN_MAX = 5;
const TORN_WAIT_MS = 200;

const read = async (ask: Ask, args: readonly string[]): Promise<string> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask(args);
    } catch (error) {
      const { name, message, lastLine = message } = error as Error & Partial<Pick<EngineError, "lastLine">>;
      const reason = name === "AbortError" ? "it was cancelled" : lastLine;
      if (attempt === TORN_MAX || !IS_TORN.test(reason))
        throw new EngineStateError(`pulumi ${args.slice(0, 2).join(" ")}: ${reason}`);
      await sleep(TORN_WAIT_MS);
    }
  }
};

const parsed = <Shape extends z.ZodType>(command: string, shape: Shape, text: string): z.infer<Shape> => {
  try {
    return checked(command, shape, JSON.parse(text));
  } catch (error) {
    if (error instanceof EngineStateError) throw error;
    // The error of the parser would show a part of the state.
    throw new EngineStateError(`${command}: it printed no JSON`);
  }
};

const checked = <Shape extends z.ZodType>(command: string, shape: Shape, value: unknown) => {
  const { data, error } = shape.safeParse(value);
  if (error === undefined) return data;
  const [first] = error.issues;
  throw new EngineStateError(`${command}: ${first?.path.join(".")} ${first?.message}`);
};

/** The stack by its whole name. If the organization is unknown (plugin/names.ts), by its own name in the project of this folder. */
const stackName = (stack: string) => {
  const [organization = "", , name = ""] = stack.split("/");
  return organization.startsWith("~") || organization === "-" ? name : stack;
};

const isWrapped = (value: unknown): value is Json => isObject(value) && value[SIGNATURE] === SECRET_SIGNATURE;

export const hasSecret = (value: unknown): boolean =>
  isWrapped(value) || (typeof value === "object" && value !== null && Object.values(value).some(hasSecret));

/** With secrets in clear text, as `--show-secrets` prints them. Throws EngineStateError for one that is encrypted. */
export const decryptedValue = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(decryptedValue);
  if (!isObject(value)) return value;
  if (!isWrapped(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, decryptedValue(one)]));
  if (typeof value.plaintext !== "string") throw new EngineStateError("pulumi stack export: a secret is encrypted");
  return decryptedValue(JSON.parse(value.plaintext));
};

/** Each text in a secret of `resources`, as `--show-secrets` prints them. */
export const secretsIn = (resources: readonly unknown[]): string[] => {
  const found: string[] = [];
  // An explicit stack, not recursion: the program decides how deep a state is.
  const left: { value: unknown; isSecret: boolean }[] = [{ value: resources, isSecret: false }];
  for (let next = left.pop(); next; next = left.pop()) {
    const { value, isSecret } = next;
    if (isSecret && (typeof value === "string" || typeof value === "number")) found.push(String(value));
    else if (isWrapped(value) && typeof value.plaintext === "string")
      left.push({ value: JSON.parse(value.plaintext), isSecret: true });
    else if (typeof value === "object" && value !== null)
      for (const one of Object.values(value)) left.push({ value: one, isSecret });
  }
  return found;
};
