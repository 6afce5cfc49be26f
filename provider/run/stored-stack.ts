// What this run reads of the engine's state: each part once, when it first asks. Only a process that an engine has started has one.
import { getOrInsert } from "../../schema/index.ts";
import { type EngineCommand, engineAgeMs } from "./engine-command.ts";
import { type EngineRun, type EngineState, EngineStateError, readEngineRuns, readEngineState } from "./engine-state.ts";

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

export const storedStacks = (command: EngineCommand): StoredStacks => ({
  engineState: once((stack) => readEngineState(command, stack)),
  engineSecrets: once((stack) => readEngineState(command, stack, { showSecrets: true })),
  engineRuns: once((stack) => readEngineRuns(command, stack)),
  engineAgeMs,
});

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
