// What the methods know of an open stack (provider/open). The first call of a process looks once; where nothing is open, the others do
// not call anything here.

import { SessionError } from "../../client/errors.ts";
import { withSection } from "../../client/recovery.ts";
import { getOrInsert, isUidp, type Json } from "../../schema/index.ts";
import { awaitLeftovers, removeLeftovers } from "../open/leftover.ts";
import { findLostMachine, removeLost } from "../open/lost-machine.ts";
import { isGroupGone } from "../open/observe.ts";
import { findOpenStack, lostIn, type OpenStack } from "../open/stack.ts";
import { describeOpenStack, lineOf, uncomparableText } from "../open/text.ts";
import { KEY } from "../record/state.ts";
import { stackOf, unlessJournalFails } from "../run/journal.ts";
import type { Session } from "../run/session.ts";
import type { Observed, StepParts, Steps } from "./steps.ts";

type OpenStacks = ReturnType<typeof openStacks>;

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
    // Whatever needs the journal reports that it fails.
    await unlessJournalFails(undefined, async () => {
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
    });
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

/** The steps of a kind in an open stack: what they compare is what is there now, not what the engine has stored. */
export const openStepsWith = (stacks: OpenStacks, connect: () => Promise<Session>): ((steps: Steps) => Steps) => {
  const declared = new Set<unknown>();
  return (steps) => {
    const found = new Map<string, Promise<Observed | undefined>>();
    const observe = (stack: OpenStack, id: string, stored: Json): Promise<Observed | undefined> =>
      getOrInsert(found, id, () => connect().then((session) => steps.observe(session, stack, id, stored)));
    return {
      ...steps,
      check: async (olds, news, shown) => {
        declared.add(news[KEY]);
        const mayReplace = stacks.current && isUidp(olds.parent) && (await isGroupGone(stacks.current, olds.parent));
        return steps.check(olds, news, mayReplace ? { ...shown, mayReplace } : shown);
      },
      diff: async (id, olds, news) => {
        // A refresh compares what it has read.
        if (!stacks.current || !declared.has(news[KEY])) return steps.diff(id, olds, news);
        const observed = await observe(stacks.current, id, olds);
        if (!observed) return { changes: true, replaces: ["uid"], isGone: true };
        const compared = await steps.diff(id, observed.outputs, news);
        return { ...compared, changes: compared.changes || observed.differs, observed: observed.outputs };
      },
      read: async (session, id, stored, about) => {
        // The engine forgets the update of a killed run when a refresh saves, so the set has what that created from here on.
        const { isOfState, leftovers = [] } = stacks.current ?? {};
        const created = isOfState ? leftovers.map(({ entry }) => entry) : undefined;
        const result = await steps.read(session, id, stored, created ? { ...about, created } : about);
        if (!stacks.current || !about.isRefresh) return result;
        const outputs = result.id === "" ? undefined : result.props;
        const observed = await steps.noteRead(session, stacks.current, id, stored, outputs);
        if (observed) found.set(id, Promise.resolve(observed));
        return result;
      },
      update: async (session, id, olds, news) => {
        const { current } = stacks;
        if (!current) return steps.update(session, id, olds, news);
        const observed = await observe(current, id, olds);
        const updated = await steps.update(session, id, observed?.outputs ?? olds, news);
        // Where the record was as the program has it, nothing was sent. The next run compares the state with this.
        await steps.noteRead(session, current, id, olds, updated.outs);
        return updated;
      },
    };
  };
};
