// The steps of a kind in an open stack (provider/open): what they compare is what is there now, not what the engine has stored.
import { getOrInsert, isUidp, type Json } from "../../schema/index.ts";
import { isGroupGone } from "../open/observe.ts";
import type { OpenStack } from "../open/stack.ts";
import { KEY } from "../record/state.ts";
import type { Session } from "../run/session.ts";
import type { OpenStacks } from "./open-stacks.ts";
import type { Observed, Steps } from "./steps.ts";

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
