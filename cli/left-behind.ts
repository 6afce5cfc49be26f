// The records that killed runs of this folder's stack left behind. The journal has those of runs without checkpoints. The engine's state has
// those of runs whose machine was lost with its journal.
import { awaitLeftovers, type Leftover } from "../provider/attribution/leftover.ts";
import { findLost } from "../provider/attribution/lost-machine.ts";
import { findOpenStack, type OpenStack } from "../provider/attribution/stack.ts";
import { typeOfToken } from "../provider/record/kind.ts";
import { stackOperations } from "../provider/recovery/pending-operations.ts";
import { type Session, sessionWith, systemEnvironment } from "../provider/run/session.ts";
import { askEngine, storedStacks } from "../provider/run/stored-stack.ts";
import { type EngineError, stackFlag } from "../pulumi/command.ts";
import { readEngineState } from "../pulumi/state.ts";
import { UserError } from "../schema/index.ts";
import { systemConfig } from "./client.ts";
import { findProject } from "./doctor/machine.ts";
import { warn } from "./terminal.ts";

export interface LeftBehind extends Pick<OpenStack, "name" | "runs" | "touched"> {
  session: Session;
  leftovers: readonly Leftover[];
  /** Whether a run of the stack is under way: it may have adopted a record by now. */
  isUnderWay(): Promise<boolean>;
}

/**
 * Waits for requests that may still arrive. `folder`: of the journals. Undefined without records. Errors: UserError for an unknown stack or
 * an unreadable state, and those of the journal and the client.
 */
export const findLeftBehind = async (given: string | undefined, folder: string): Promise<LeftBehind | undefined> => {
  const config = { ...systemConfig(), journal: folder };
  const stack = await stackHere(given);
  const stored = storedStacks(here());
  const session = sessionWith(config, { ...systemEnvironment(), storedStacks: stored, log: warn });
  const open = await findOpenStack(session, { key: `${stack}/` });
  if (!open) return lostCreates(session, stack);
  if (open.problem !== undefined) throw unreadable(open.problem);
  const leftovers = await awaitLeftovers(session, open.leftovers, open.about);
  return { ...open, session, leftovers, isUnderWay: async () => open.runs.some((run) => run.isUnderWay) };
};

/** Whether the engine's state has creates of this package that did not end. It needs no credentials. Errors: EngineStateError. */
export const hasPendingCreates = async (stack: string): Promise<boolean> => {
  const { pending } = await readEngineState(askEngine(here()), stack);
  return pending.some(({ type, resource }) => type === "creating" && typeOfToken(resource.type) !== undefined);
};

const lostCreates = async (session: Session, stack: string): Promise<LeftBehind | undefined> => {
  const key = `${stack}/`;
  const { problem } = await stackOperations(session, key);
  if (problem !== undefined) throw unreadable(problem);
  const leftovers = await findLost(session, key);
  if (leftovers.length === 0) return undefined;
  const { savedAt } = await session.engineState(stack);
  return {
    ...{ session, name: stack, runs: [], touched: new Map(), leftovers },
    // The search has waited until no request of a killed run could arrive. A run that lives has saved its state meanwhile.
    isUnderWay: async () => (await readEngineState(askEngine(here()), stack)).savedAt !== savedAt,
  };
};

const here = () => ({ env: process.env, cwd: process.cwd() });

const unreadable = (problem: string) => new UserError(`the engine's state cannot be read: ${problem}`);

/** The stack of this folder that is selected or given: organization/project/stack. */
const stackHere = async (given: string | undefined): Promise<string> => {
  const cwd = process.cwd();
  if (findProject(cwd)?.name === undefined)
    throw new UserError("there is no Pulumi.yaml in this folder, or it names no project");
  const args = ["stack", "--show-name", "--fully-qualify-stack-names", ...stackFlag(given)];
  return askEngine(here())(args).then(
    (name) => name.trim(),
    ({ lastLine }: EngineError) => {
      throw new UserError(
        given === undefined
          ? `no stack is selected (${lastLine}); give --stack`
          : `there is no such stack: ${lastLine}`,
      );
    },
  );
};
