// What the engine has stored of a stack, on whichever backend: its resources, and the operations that were pending when it last saved.
// `pulumi stack export` takes no lock, and works while a run of the stack is under way.
import { z } from "zod";
import type { Json } from "../../schema/index.ts";
import { type EngineCommand, runEngine } from "./engine-command.ts";

/** The state cannot be read. The message is one line, without a value of the state. */
export class EngineStateError extends Error {
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
  try {
    const secrets = showSecrets ? ["--show-secrets"] : [];
    return engineStateFrom(await runEngine(command, ["stack", "export", "--stack", stackName(stack), ...secrets]));
  } catch (error) {
    if (error instanceof EngineStateError) throw error;
    throw new EngineStateError((error as Error).message);
  }
};

/** What `pulumi stack export` prints. */
export const engineStateFrom = (exported: string): EngineState => {
  const { deployment } = parsed(exported);
  return {
    resources: deployment.resources ?? [],
    pending: deployment.pending_operations ?? [],
    savedAt: deployment.manifest.time,
  };
};

const parsed = (exported: string): z.infer<typeof Export> => {
  let value: unknown;
  try {
    value = JSON.parse(exported);
  } catch {
    // The error of the parser would show a part of the state.
    throw new EngineStateError("pulumi stack export: it printed no JSON");
  }
  const { data, error } = Export.safeParse(value);
  if (data) return data;
  const [first] = error.issues;
  throw new EngineStateError(`pulumi stack export: ${first?.path.join(".")} ${first?.message}`);
};

/** The stack by its whole name. Where the organization is not known (plugin/key.ts), by its own name in the project of this folder. */
export const stackName = (stack: string): string => {
  const [organization = "", , name = ""] = stack.split("/");
  return organization.startsWith("~") || organization === "-" ? name : stack;
};
