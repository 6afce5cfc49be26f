// The effects of a change on people who have access without being an identity (access/graph/people.ts): the gains and losses of each. Some
// rules also apply to them.

import type { Json } from "../../schema/index.ts";
import { equalityKey } from "../canonical.ts";
import { accessChange, effectsIn } from "../graph/effective-access.ts";
import { type AccessGraph, type BindingNode, groupNameOf, type IdentityNode, type NodeId } from "../graph/graph.ts";
import { distinctName, type PeopleGraph, peopleGraph, type Subject, subjectOf } from "../graph/people.ts";
import { assumptionOf } from "./assume.ts";
import { rowsOf } from "./lists.ts";
import type { Proposal } from "./proposal.ts";
import type { PeopleReview } from "./report.ts";
import type { RuleInput } from "./rule.ts";
import { mostBetween, transientIn } from "./transient.ts";

/** The input of rules, with people in place of identities. */
export interface PeopleInput extends RuleInput {
  before: PeopleGraph;
  after: PeopleGraph;
}

/** Keys and invites that have expired by `nowMs` give no access. */
export const peopleInputOf = (proposal: Proposal, nowMs: number, budget: RuleInput["budget"]): PeopleInput => {
  const view = (one: AccessGraph, other: AccessGraph) => withKeyHolders(peopleGraph(one, nowMs), one, other, nowMs);
  const [before, after] = [view(proposal.before, proposal.after), view(proposal.after, proposal.before)];
  const reassumed = [...after.identities.values()].filter(({ id }) => !before.identities.has(id));
  const records = new Map([...after.identities.values()].map(({ id, record }) => [record, id]));
  const restored = proposal.restored.flatMap((id) => records.get(id) ?? []);
  const changes = accessChange(before, after);
  // People of the new issuer may match external groups that the change removes, and people of the old one groups that it adds.
  const externalGroups = new Map([...proposal.before.externalGroups, ...proposal.after.externalGroups]);
  const old = view({ ...proposal.before, externalGroups }, proposal.after);
  const now = view({ ...proposal.after, externalGroups }, proposal.before);
  const most = [old, after, now].reduce<AccessGraph>(mostBetween, before);
  const transient = transientIn(before, after, most, budget);
  return {
    ...proposal,
    before,
    after,
    changes,
    most,
    transient,
    reassumed,
    replacements: [],
    restored,
    opened: [],
    budget,
  };
};

/** Whether these people existed before the change, though with less access. */
export const existedBefore = ({ before, after }: PeopleInput, id: NodeId): boolean =>
  before.identities.has(after.identities.get(id)?.people ?? id);

export const peopleReviewsOf = ({ before, after, changes }: PeopleInput): PeopleReview[] => {
  const byId = new Map(changes.map((change) => [change.identity, change]));
  const [old, now] = [before, after].map(({ identities }) => Map.groupBy(identities.values(), ({ record }) => record));
  const effectOf = effectsIn(after);
  const records = new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])]);
  return [...records].flatMap((record): PeopleReview[] => {
    const [was, is] = [old?.get(record) ?? [], now?.get(record) ?? []];
    const gains = is.flatMap(({ id }) => byId.get(id)?.gains ?? []);
    const losses = was.flatMap(({ id }) => byId.get(id)?.losses ?? []);
    const [whoBefore, whoAfter] = [whoOf(was), whoOf(is)];
    if (gains.length + losses.length === 0 && whoBefore === whoAfter) return [];
    const latest = (is[0] ?? was[0]) as Subject;
    return [
      {
        subject: latest.name,
        uid: latest.recordUid,
        groupName: groupNameOf(is.length > 0 ? after : before, latest.group),
        gains: rowsOf(after, gains),
        losses: rowsOf(before, losses, after),
        before: whoBefore,
        after: whoAfter,
        ...(whoBefore !== null && whoAfter !== null && whoBefore !== whoAfter && effectOf(is[0]?.id)),
      },
    ];
  });
};

const whoOf = ([subject]: readonly Subject[]) => subject?.who ?? null;

// Static keys that begin or end: their holder gains or loses the access of the identity, whatever happens to its bindings. If the identity
// is new or deleted, the identity itself gains or loses it.

type Keys = Json & { expirationTime?: string };

/** The keys of an identity that have not ended. */
const validKeys = (identity: IdentityNode | undefined, nowMs: number) => {
  const { staticKeys } = (identity?.relationship ?? {}) as { staticKeys?: Keys };
  return staticKeys && !(Date.parse(staticKeys.expirationTime ?? "") <= nowMs) ? staticKeys : undefined;
};

/**
 * A text for each key of a set, equal for equal keys. A set that two parsers may read differently counts as one key, its text. Such a set
 * is not JSON, is empty, names a member twice or has a member beside `keys`.
 */
export const keysIn = (issuerKeys: string): string[] => {
  const compact = (json: string) => json.replace(/\s/g, "");
  try {
    const set = JSON.parse(issuerKeys);
    const isPlain = Object.keys(set).join() === "keys" && compact(JSON.stringify(set)) === compact(issuerKeys);
    if (isPlain && Array.isArray(set.keys) && set.keys.length > 0) return set.keys.map(equalityKey);
  } catch {
    // The API stores any text (docs/internals/contract.md#issuer-key-text).
  }
  return [issuerKeys];
};

const keyText = (keys: Keys | undefined) => {
  const { expirationTime: _, ...own } = keys ?? {};
  return equalityKey(own);
};

/** Adds the holders of keys of `one` that `other` lacks, if both have the identity. */
const withKeyHolders = (view: PeopleGraph, one: AccessGraph, other: AccessGraph, nowMs: number): PeopleGraph => {
  const holders = new Map<NodeId, Subject>();
  for (const identity of one.identities.values()) {
    const keys = validKeys(identity, nowMs);
    const twin = other.identities.get(identity.id);
    if (!keys || !twin || keyText(validKeys(twin, nowMs)) === keyText(keys)) continue;
    const { id, uid, group } = identity;
    const holder = subjectOf({
      id: `${id} ${keyText(keys)}`,
      record: `${id} keys`,
      recordUid: uid,
      name: `static keys of ${distinctName(one.identities, identity)}`,
      group,
      who: assumptionOf({ staticKeys: keys })?.text ?? "",
    });
    holders.set(id, holder);
  }
  if (holders.size === 0) return view;
  const bindings = new Map<NodeId, BindingNode>(view.bindings);
  for (const binding of one.bindings.values()) {
    const holder = holders.get(binding.identity);
    if (holder) bindings.set(`${binding.id} keys`, { ...binding, id: `${binding.id} keys`, identity: holder.id });
  }
  const entries = [...holders.values()].map((holder) => [holder.id, holder] as const);
  return { ...view, identities: new Map([...view.identities, ...entries]), bindings };
};
