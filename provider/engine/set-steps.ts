// The steps of a set of role bindings.

import { isUnknown } from "../../pulumi/value.ts";
import { isRoot, isUidp, type Json, pairsTwice, parentOf, roleBindingSet } from "../../schema/index.ts";
import { createsOf } from "../attribution/leftover.ts";
import { noteRefreshed } from "../attribution/observe.ts";
import { kindRecords } from "../kind/index.ts";
import { isRoleName } from "../kind/names.ts";
import { type Binding, bindingsIn, bindingText, grants, pairKey, pairsIn, withRoleUids } from "../kind/pair.ts";
import { type CheckFailure, failureFrom, messageProblems } from "../reconcile/check.ts";
import type { DiffResult } from "../reconcile/index.ts";
import { givenArguments, hiddenMembers, isEmpty, KEY, nameInKey } from "../record/state.ts";
import { withOneAttempt } from "../run/session.ts";
import { applySet } from "../set/apply.ts";
import { listLive } from "../set/live.ts";
import { diffSet, endangeredBy, planOf } from "../set/plan.ts";
import { observeSet, readSet, withCreated } from "../set/read.ts";
import { deleteSet } from "../set/remove.ts";
import { roleProblems } from "./look-up.ts";
import { pairNames, type ShownNames, shownNames } from "./record-names.ts";
import { setReviewWith, tokenTextOf } from "./set-review.ts";
import type { Held, Shown, StepParts, Steps } from "./steps.ts";

interface Checked {
  /** present if it is known which names the program hides */
  shown: ShownNames | undefined;
  /** in a run that may be a preview: the steps look up existing bindings */
  looksUp: boolean;
}

type Shared = ReturnType<typeof sharedWith>;

const sharedWith = (parts: StepParts) => ({
  ...parts,
  review: setReviewWith(parts),
  /** by key */
  checked: new Map<unknown, Checked>(),
});

export const setStepsWith = (parts: StepParts): Steps => {
  const shared = sharedWith(parts);
  return {
    derivesParent: false,
    lookUp: async (olds, news, { looksUp, offline }) => ({
      news,
      failures: looksUp && !offline.reason ? await roleProblems(shared, olds, news) : [],
    }),
    createsMore: (olds, inputs) => declaredKey(olds) !== declaredKey(inputs),
    planned: async () => undefined,
    knownUid: async ({ parent }) => (isUidp(parent) ? parent : undefined),
    check: (olds, news, shown) => check(shared, olds, news, shown),
    held: (_id, outputs, news) => heldBindings(outputs, news),
    diff: (id, olds, news) => diff(shared, id, olds, news),
    observe: async (session, { leftovers }, id, stored) => {
      const outputs = await observeSet(session, id, stored, createsOf(leftovers));
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
      // A role binding does not change.
      for (const { uid } of bindingsIn(stored, "bindings"))
        await noteRefreshed(session, stack, kindRecords.roleBinding, uid, stored, left.has(uid) ? "same" : undefined);
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

const check = async (
  shared: Shared,
  olds: Json,
  inputs: Json,
  { isSecret, showsNames }: Shown,
): Promise<{ inputs: Json; failures: CheckFailure[] }> => {
  const { ledger, connect, hasCredentials, review, checked } = shared;
  const { names: _names, ...own } = givenArguments(inputs);
  const failures = messageProblems(roleBindingSet.arguments, own);
  if (failures.length > 0) return { inputs, failures };
  const { parent, exclusive, [KEY]: key } = inputs;
  const claim = { type: "RoleBindingSet", name: nameInKey(key), exclusive: exclusive === true } as const;
  const problem = isUnknown(parent) ? undefined : (await ledger()).places.claim(parent, key, claim);
  const shown = showsNames ? { own: inputs.names, isOpen: (name: string) => !isSecret?.([name]) } : undefined;
  checked.set(key, { shown, looksUp: isSecret !== undefined });
  if (isEmpty(olds)) review.noteCheck(await withNames(shared, inputs), isSecret ? await liveIn(shared, parent) : []);
  // If the service does not answer, the update refuses them.
  const twice =
    mixesNamesAndUids(inputs) && (await hasCredentials())
      ? await connect()
          .then((session) => withRoleUids(session, pairsIn(inputs)))
          .then((pairs) => pairsTwice(pairs, isUnknown).map(failureFrom))
          .catch(() => [])
      : [];
  return { inputs, failures: [...(problem ?? []), ...twice] };
};

/**
 * Whether a pair can be listed twice: with the name of its built-in role, and with that role's uid, which only the service knows. Most
 * programs use only names or only uids, and need no request.
 */
const mixesNamesAndUids = (news: Json) => {
  const roles = pairsIn(news).map(({ role }) => role);
  return roles.some(isRoleName) && roles.some((role) => isUidp(role) && isRoot(role));
};

const diff = async (shared: Shared, id: string, olds: Json, news: Json): Promise<DiffResult> => {
  const { review, checked } = shared;
  const looksUp = checked.get(news[KEY])?.looksUp === true;
  const removedText = looksUp ? await removedTextOf(shared, endangeredBy(olds, news)) : bindingText;
  const compared = diffSet(id, nameInKey(news[KEY]), olds, news, removedText);
  const isSame = compared.replaces.length === 0;
  const isAdding = !isSame || planOf(olds, news).added.length > 0;
  const live = isAdding && looksUp ? await liveIn(shared, news.parent) : undefined;
  if (!isAdding) review.noteDiff(olds, news, removedText);
  else if (isSame) review.noteDiff(olds, await withNames(shared, news), removedText, live);
  else review.moved(olds, await withNames(shared, news), looksUp ? live : []);
  return compared;
};

const withNames = async ({ names, checked }: Shared, news: Json) => {
  const shown = checked.get(news[KEY])?.shown;
  if (shown === undefined) return news;
  const [own, given] = [shown.own, news.names].map((one) => (one ?? []) as Json[]) as [Json[], Json[]];
  const merged = pairsIn(news).map((_, i) => shownNames(own[i], given[i]));
  return { ...news, names: await pairNames(names, shown.isOpen, { ...news, names: merged }) };
};

/** Undefined if unknown: a preview works without the service. */
const liveIn = async ({ connect, hasCredentials }: Shared, group: unknown) => {
  // Usually the update creates the group.
  if (isUnknown(group)) return [];
  if (!isUidp(group) || !(await hasCredentials())) return undefined;
  return listLive(withOneAttempt(await connect()), group).catch(() => undefined);
};

const removedTextOf = async (
  { connect, hasCredentials }: Shared,
  removed: readonly Binding[],
): Promise<(one: Binding) => string> => {
  if (removed.length === 0 || !(await hasCredentials())) return bindingText;
  return tokenTextOf(withOneAttempt(await connect()), removed).catch(() => bindingText);
};

/** Identifies the declarations of a set: its group and pairs. */
const declaredKey = (inputs: Json) =>
  JSON.stringify([inputs.parent, pairsIn(inputs).map(({ identity, role }) => [identity, role])]);

/** The managed bindings. In this run the set owns those whose pairs the program declares; another resource may take the others. */
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
    // An interrupted run may have adopted it from a resource that this run deletes.
    return {
      kind: kindRecords.roleBinding,
      uid: one.uid,
      owner,
      kept: owner === undefined ? undefined : { adopted: true },
    };
  });
};
