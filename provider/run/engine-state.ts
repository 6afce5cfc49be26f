// What the engine has stored of a stack, on whichever backend: its resources, the operations that were pending when it last saved, and
// the runs that ended. Its commands take no lock for that, and work while a run of the stack is under way.
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type Json, UserError } from "../../schema/index.ts";
import { type EngineCommand, runEngine } from "./engine-command.ts";

/** The state cannot be read. The message is one line, without a value of the state. */
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
  /** absent of a component */
  id: z.string().nullish(),
  /** a component is none */
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
  pending_operations: z.array(z.object({ type: z.string(), resource: Resource })).nullish(),
});

const Export = z.object({ deployment: Deployment });

/** Secret inputs are as `pulumi stack export` prints them. */
export type StateResource = z.infer<typeof Resource>;

export interface PendingOperation {
  /** `creating`, `updating`, `deleting` */
  type: string;
  resource: StateResource;
}

export interface EngineState {
  resources: StateResource[];
  pending: PendingOperation[];
  /** when it was saved, by the engine's clock */
  savedAt: string;
}

/**
 * `stack`: organization/project/stack. Without `showSecrets` the secrets of the state stay encrypted. Errors: EngineStateError, without an
 * engine, a backend or such a stack.
 */
export const readEngineState = async (
  command: EngineCommand,
  stack: string,
  { showSecrets = false } = {},
): Promise<EngineState> => {
  const secrets = showSecrets ? ["--show-secrets"] : [];
  return engineStateFrom(await ask(command, ["stack", "export", "--stack", stackName(stack), ...secrets]));
};

/** What `pulumi stack export` prints. */
export const engineStateFrom = (exported: string): EngineState => {
  const { deployment } = parsed("pulumi stack export", Export, exported);
  return {
    resources: deployment.resources ?? [],
    pending: deployment.pending_operations ?? [],
    savedAt: deployment.manifest.time,
  };
};

const Runs = z.array(z.object({ kind: z.string(), startTime: z.string(), result: z.string() }));

/** A run of the stack that ended by itself, whether it succeeded or failed: a killed one is none. */
export interface EngineRun {
  /** `update`, `refresh`, `destroy` */
  kind: string;
  /** `succeeded`, `failed` */
  result: string;
  /** milliseconds by the engine's clock, of whole seconds */
  startedAt: number;
}

// More runs than may follow a killed one before somebody looks at it.
const RUNS_MAX = "100";

/** The last runs of a stack, the newest first. Errors as above. */
export const readEngineRuns = async (command: EngineCommand, stack: string): Promise<EngineRun[]> => {
  const args = ["stack", "history", "--json", "--page-size", RUNS_MAX, "--stack", stackName(stack)];
  const runs = parsed("pulumi stack history", Runs, await ask(command, args));
  return runs.map(({ kind, startTime, result }) => ({ kind, result, startedAt: Date.parse(startTime) }));
};

/** The engine may save the state at this moment: a reader of a backend of files then meets a part of it. */
const IS_TORN = /failed to load checkpoint: (?:unexpected )?(?:EOF|end of JSON input)/;
const TORN_MAX = 5;
const TORN_WAIT_MS = 200;

const ask = async (command: EngineCommand, args: readonly string[]): Promise<string> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runEngine(command, args);
    } catch (error) {
      const { message } = error as Error;
      if (attempt === TORN_MAX || !IS_TORN.test(message)) throw new EngineStateError(message);
      await sleep(TORN_WAIT_MS);
    }
  }
};

const parsed = <Shape extends z.ZodType>(command: string, shape: Shape, text: string): z.infer<Shape> => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The error of the parser would show a part of the state.
    throw new EngineStateError(`${command}: it printed no JSON`);
  }
  const { data, error } = shape.safeParse(value);
  if (error === undefined) return data;
  const [first] = error.issues;
  throw new EngineStateError(`${command}: ${first?.path.join(".")} ${first?.message}`);
};

/** The stack by its whole name. Where the organization is not known (plugin/key.ts), by its own name in the project of this folder. */
export const stackName = (stack: string): string => {
  const [organization = "", , name = ""] = stack.split("/");
  return organization.startsWith("~") || organization === "-" ? name : stack;
};
