// The engine's state, as this run reads it: each part once, on first use. Only a process that an engine has started has one.
import type { Env } from "../../client/config.ts";
import { engineWith, withoutOptions } from "../../pulumi/command.ts";
import { engineAgeMs, findEngine } from "../../pulumi/process.ts";
import {
  type EngineRun,
  type EngineState,
  EngineStateError,
  readEngineRuns,
  readEngineState,
} from "../../pulumi/state.ts";
import { getOrInsert } from "../../schema/index.ts";

/** A stack is organization/project/stack. Errors: EngineStateError. */
export interface StoredStacks {
  /** as it was when this run first asked */
  engineState(stack: string): Promise<EngineState>;
  /** the same, with the secrets in clear text */
  engineSecrets(stack: string): Promise<EngineState>;
  /** the runs that ended, the newest first */
  engineRuns(stack: string): Promise<EngineRun[]>;
  /** for how long this run of the engine has been under way */
  engineAgeMs(): number;
}

interface Program {
  env: Env;
  /** folder of the process: the engine starts it in the program's folder, whose Pulumi.yaml may name the backend */
  cwd: string;
  /** aborted by ^C */
  cancelled?: AbortSignal | undefined;
}

const TIMEOUT_MS = 60_000;

/** Runs the engine of this process, to read its stored data. */
export const askEngine = ({ env, cwd, cancelled }: Program): ((args: readonly string[]) => Promise<string>) => {
  // Most runs ask nothing, so they need not look for the engine.
  return (args) => {
    // Go's garbage collector takes a fifth of the processor time, and the command ends before it needs the memory.
    const own = { ...withoutOptions(env), PULUMI_SKIP_UPDATE_CHECK: "true", GOGC: "400" };
    const engine = engineWith([findEngine()?.program ?? "pulumi"], { signal: cancelled, timeoutMs: TIMEOUT_MS });
    return engine.must(args, { cwd, env: own });
  };
};

export const storedStacks = (program: Program): StoredStacks => {
  const ask = askEngine(program);
  return {
    engineState: once((stack) => readEngineState(ask, stack)),
    engineSecrets: once((stack) => readEngineState(ask, stack, { showSecrets: true })),
    engineRuns: once((stack) => readEngineRuns(ask, stack)),
    engineAgeMs,
  };
};

const once = <T>(read: (stack: string) => Promise<T>): ((stack: string) => Promise<T>) => {
  const found = new Map<string, Promise<T>>();
  return (stack) => getOrInsert(found, stack, () => read(stack));
};

const refuse = async (): Promise<never> => {
  throw new EngineStateError("this process was not started by an engine");
};

/** Of a process that no engine has started. */
export const noStoredStacks: StoredStacks = {
  engineState: refuse,
  engineSecrets: refuse,
  engineRuns: refuse,
  engineAgeMs: () => 0,
};
