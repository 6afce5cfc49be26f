// The steps of a set of role bindings.
import { isUidp, type Json, parentOf } from "../../schema/index.ts";
import { noteRefreshed } from "../attribution/observe.ts";
import { kindRecords } from "../kind/index.ts";
import { isUnknown } from "../record/normal-form.ts";
import { hiddenMembers, KEY, nameInKey } from "../record/state.ts";
import { withOneAttempt } from "../run/session.ts";
import { applySet } from "../set/apply.ts";
import { type Live, listLive } from "../set/live.ts";
import {
  type Binding,
  bindingsIn,
  bindingText,
  checkSet,
  grants,
  mixesNamesAndUids,
  pairKey,
  pairsIn,
  sameRoleTwice,
} from "../set/pair.ts";
import { diffSet, endangeredBy, planOf } from "../set/plan.ts";
import { observeSet, readSet, withCreated } from "../set/read.ts";
import { deleteSet } from "../set/remove.ts";
import { roleProblems } from "./look-up.ts";
import { type IsOpen, pairNames, shownNames } from "./record-names.ts";
import { setReviewWith, tokenTextOf } from "./set-review.ts";
import type { Held, StepParts, Steps } from "./steps.ts";

export const setStepsWith = (parts: StepParts): Steps => {
  const { ledger, connect, hasCredentials, names } = parts;
  const review = setReviewWith(parts.sentence);
  // Sets of which the names that the program hides are known, with those that it shows.
  const named = new Map<unknown, { own: unknown; isOpen: IsOpen }>();
  const withNames = async (news: Json): Promise<Json> => {
    const shown = named.get(news[KEY]);
    if (shown === undefined) return news;
    const [own, given] = [shown.own, news.names].map((one) => (one ?? []) as Json[]) as [Json[], Json[]];
    const merged = pairsIn(news).map((_, i) => shownNames(own[i], given[i]));
    return { ...news, names: await pairNames(names, shown.isOpen, { ...news, names: merged }) };
  };
  // Sets of a run that may be a preview: it looks up what exists.
  const looking = new Set<unknown>();
  // Undefined where that is not known: a preview works without the service.
  const liveIn = async (group: unknown): Promise<Live[] | undefined> => {
    // As a rule the update creates it.
    if (isUnknown(group)) return [];
    if (!isUidp(group) || !(await hasCredentials())) return undefined;
    return listLive(withOneAttempt(await connect()), group).catch(() => undefined);
  };
  const removedTextOf = async (olds: Json, news: Json): Promise<(one: Binding) => string> => {
    const removed = looking.has(news[KEY]) ? endangeredBy(olds, news) : [];
    if (removed.length === 0 || !(await hasCredentials())) return bindingText;
    return tokenTextOf(withOneAttempt(await connect()), removed).catch(() => bindingText);
  };
  return {
    derivesParent: false,
    adopted: async (_olds, news) => ({ news }),
    lookUp: async (olds, news) => ({ news, failures: await roleProblems(parts, olds, news) }),
    createsMore: (olds, inputs) => textOf(olds) !== textOf(inputs),
    planned: async () => undefined,
    knownUid: async ({ parent }) => (isUidp(parent) ? parent : undefined),
    check: async (olds, news, { isSecret, showsNames }) => {
      const { inputs, failures } = checkSet(news);
      if (failures.length > 0) return { inputs, failures };
      const { parent, exclusive, [KEY]: key } = inputs;
      const claim = { type: "RoleBindingSet", name: nameInKey(key), exclusive: exclusive === true } as const;
      const problem = isUnknown(parent) ? undefined : (await ledger()).places.claim(parent, key, claim);
      if (showsNames) named.set(key, { own: inputs.names, isOpen: (argument) => !isSecret?.([argument]) });
      if (isSecret) looking.add(key);
      const isNew = Object.keys(olds).length === 0;
      if (isNew) review.noteCheck(olds, await withNames(inputs), isSecret ? await liveIn(parent) : []);
      else review.noteCheck(olds, inputs, []);
      // Where the service does not answer, the update refuses them.
      const twice =
        mixesNamesAndUids(inputs) && (await hasCredentials())
          ? await connect()
              .then((session) => sameRoleTwice(session, inputs))
              .catch(() => [])
          : [];
      return { inputs, failures: [...(problem ?? []), ...twice] };
    },
    held: (_id, outputs, news) => heldBindings(outputs, news),
    diff: async (id, olds, news) => {
      const removedText = await removedTextOf(olds, news);
      const compared = diffSet(id, nameInKey(news[KEY]), olds, news, removedText);
      const isSame = compared.replaces.length === 0;
      const isAdding = !isSame || planOf(olds, news).added.length > 0;
      const live = isAdding && looking.has(news[KEY]) ? await liveIn(news.parent) : undefined;
      if (!isAdding) review.noteDiff(olds, news, removedText);
      else if (isSame) review.noteDiff(olds, await withNames(news), removedText, live);
      else review.moved(olds, await withNames(news), looking.has(news[KEY]) ? live : []);
      return compared;
    },
    observe: async (session, { leftovers }, id, stored) => {
      const created = leftovers.map(({ entry }) => entry);
      const outputs = await observeSet(session, id, stored, created);
      const uidsOf = (bag: Json) =>
        bindingsIn(bag, "bindings")
          .map(({ uid }) => uid)
          .toSorted()
          .join();
      return (
        outputs && { outputs: { ...hiddenMembers(stored), ...outputs }, differs: uidsOf(outputs) !== uidsOf(stored) }
      );
    },
    noteRead: async (session, stack, _id, stored, outputs = {}) => {
      const left = new Set(bindingsIn(outputs, "bindings").map(({ uid }) => uid));
      const kind = kindRecords.roleBinding;
      // A role binding does not change.
      for (const { uid } of bindingsIn(stored, "bindings"))
        await noteRefreshed(session, stack, kind, uid, stored, left.has(uid) ? "same" : undefined);
      return undefined;
    },
    create: async (session, inputs) => ({
      id: inputs.parent as string,
      outs: await applySet(session, nameInKey(inputs[KEY]), {}, inputs),
    }),
    read: (session, id, stored, about) =>
      readSet(session, id, about.created ? withCreated(id, stored, about.created) : stored, about),
    update: async (session, _id, olds, news) => ({ outs: await applySet(session, nameInKey(news[KEY]), olds, news) }),
    delete: (session, _id, stored) => deleteSet(session, nameInKey(stored[KEY]), stored),
  };
};

/** What a set declares. */
const textOf = (inputs: Json): string =>
  JSON.stringify([inputs.parent, pairsIn(inputs).map(({ identity, role }) => [identity, role])]);

/** The managed bindings. Those whose pairs the program declares are owned by the set in this run; another resource may take the others. */
const heldBindings = (outputs: Json, news: Json | undefined): Held[] => {
  const pairs = Map.groupBy(news ? pairsIn(news) : [], ({ identity }) => identity);
  const owners = new Set<string>();
  return bindingsIn(outputs, "bindings").map((one) => {
    const isDeclared = pairs.get(one.identity.uid)?.some((pair) => grants(one, pair)) ?? false;
    const group = parentOf(one.uid);
    const key = isDeclared && news?.parent === group ? pairKey(news[KEY] as string, group, one) : undefined;
    // The second binding of a pair is removed (provider/set/plan.ts).
    const owner = key !== undefined && owners.has(key) ? undefined : key;
    if (owner !== undefined) owners.add(owner);
    // An interrupted run may have taken it over from a resource that this run deletes.
    return {
      kind: kindRecords.roleBinding,
      uid: one.uid,
      owner,
      kept: owner === undefined ? undefined : { adopted: true },
    };
  });
};
