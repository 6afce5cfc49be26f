// Identities that replace others.
import { equalityKey } from "../canonical.ts";
import type { IdentityNode } from "../graph/graph.ts";
import type { Budget } from "../pattern/budget.ts";
import { othersIn } from "../workload/breadth.ts";
import type { Proposal } from "./proposal.ts";
import type { RuleInput } from "./rule.ts";

/** Properties that a deleted identity shares with its replacement, the surest first. */
const SHARED: readonly ((identity: IdentityNode) => string | undefined)[] = [
  ({ group, name }) => JSON.stringify([group, name]),
  ({ name }) => name,
  // With another name, but for equal workloads.
  ({ group, relationship }) => (relationship === null ? undefined : `${group} ${equalityKey(relationship)}`),
];

/** An identity that the engine replaces, or that is deleted while one with its name appears. */
export const replacementsIn = ({ before, after, replaced }: Proposal, budget: Budget): RuleInput["replacements"] => {
  const pairs = [...replaced].flatMap(([from, to]) => {
    const [old, next] = [before.identities.get(from), after.identities.get(to)];
    return old && next ? [{ old, new: next }] : [];
  });
  const taken = new Set(pairs.flatMap((pair) => [pair.old.id, pair.new.id]));
  const isFree = ({ id }: IdentityNode) => !taken.has(id);
  const gone = [...before.identities.values()].filter(({ id }) => !after.identities.has(id));
  const created = [...after.identities.values()].filter(({ id, uid }) => uid === null && !before.identities.has(id));
  for (const keyOf of SHARED) {
    const candidates = Map.groupBy(created.filter(isFree), keyOf);
    for (const old of gone.filter(isFree)) {
      const key = keyOf(old);
      const here = key === undefined ? [] : (candidates.get(key) ?? []).filter(isFree);
      // The worst of several counts: a harmless one must not hide it.
      const next = here.find((one) => here.length > 1 && letsInOthers(old, one, budget)) ?? here[0];
      if (next === undefined) continue;
      pairs.push({ old, new: next });
      taken.add(old.id).add(next.id);
    }
  }
  return pairs;
};

const letsInOthers = (old: IdentityNode, next: IdentityNode, budget: Budget) =>
  old.relationship !== null &&
  next.relationship !== null &&
  othersIn(old.relationship, next.relationship, budget).is !== "none";
