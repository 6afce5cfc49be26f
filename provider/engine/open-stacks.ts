// What the methods know of an open stack (provider/open). The first call of a process looks once; where nothing is open, the others do
// not call anything here.

import { SessionError } from "../../client/errors.ts";
import { withSection } from "../../client/recovery.ts";
import { JournalError } from "../log/file.ts";
import { awaitLeftovers } from "../open/leftover.ts";
import { findLostMachine, removeLost } from "../open/lost-machine.ts";
import { removeLeftovers } from "../open/remove.ts";
import { findOpenStack, lostIn, type OpenStack } from "../open/stack.ts";
import { describeOpenStack, lineOf, uncomparableText } from "../open/text.ts";
import { stackOf } from "../run/journal.ts";
import type { StepParts } from "./steps.ts";

export type OpenStacks = ReturnType<typeof openStacks>;

/** Each resource would fail in the same way. */
class NotComparable extends SessionError {
  override readonly name = "NotComparable";
}

/** `isOffline`: the service does not answer, and a preview goes on without it. */
export const openStacks = ({ ledger, connect, hasCredentials, log }: StepParts, isOffline: () => boolean) => {
  let looking: Promise<void> | undefined;
  let clearing: Promise<void> = Promise.resolve();
  const lookAt = async (key: string, isUpdate: boolean | undefined): Promise<void> => {
    const { journal } = await ledger();
    try {
      if ((await journal.findOpenRuns(key)) !== undefined) {
        if (!(await hasCredentials()))
          throw new NotComparable(withSection(uncomparableText(stackOf(key)), "open-stack"));
        stacks.current = await findOpenStack(await connect(), { key, isPreview: isUpdate === false });
        if (stacks.current) log(describeOpenStack(stacks.current));
      } else if (!isOffline() && (await hasCredentials()) && (await journal.isBehind(key))) {
        const { stack, messages } = await findLostMachine(await connect(), { key, isPreview: isUpdate === false });
        stacks.current = stack;
        for (const message of messages) log(message);
      }
    } catch (error) {
      // Whatever needs the journal reports it.
      if (!(error instanceof JournalError)) throw error;
    }
    stacks.seen = `${stackOf(key)}/`;
  };
  const clearOnce = async (): Promise<void> => {
    const { current } = stacks;
    if (!current || current.leftovers.length === 0) return;
    const session = await connect();
    const leftovers = await awaitLeftovers(session, current.leftovers, current.about);
    const { removed } = await removeLeftovers(session, lostIn(current, leftovers));
    for (const one of removed) log(`deleted what a run without checkpoints left: ${lineOf(one)}`);
    stacks.current = { ...current, leftovers: leftovers.filter((one) => !removed.includes(one)) };
  };
  const removeOnce = async (key: string): Promise<void> => {
    for (const message of await removeLost(await connect(), key)) log(message);
  };
  let removing: Promise<void> | undefined;
  const stacks = {
    /** The keys of the stack that was looked at begin with it. */
    seen: "\n",
    /** undefined: it is not open */
    current: undefined as OpenStack | undefined,
    /** `isUpdate` as for the service gate: undefined where it is not known. */
    look: (key: string, isUpdate: boolean | undefined): Promise<void> => {
      looking ??= lookAt(key, isUpdate).finally(() => {
        looking = undefined;
      });
      return looking;
    },
    /** Of a destroy: deletes what the open runs created, as far as nothing blocks it. */
    clear: (): Promise<void> => {
      clearing = clearing.then(clearOnce);
      return clearing;
    },
    /** Before the first deletion of a run on a machine whose journal does not have all runs of the stack. */
    removeLost: (key: string): Promise<void> => {
      removing ??= removeOnce(key);
      return removing;
    },
  };
  return stacks;
};
