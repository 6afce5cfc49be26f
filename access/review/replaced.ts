// Which identity takes the place of another one.
import type { Json } from "../../schema/index.ts";
import { equalityKey } from "../canonical.ts";
import type { IdentityNode } from "../graph/graph.ts";
import type { Budget } from "../pattern/budget.ts";
import { othersIn } from "../workload/others.ts";
import type { Proposal } from "./proposal.ts";
import type { RuleInput } from "./rule.ts";

/** An identity that the engine replaces, or that goes while one of its name appears. */
export const replacementsIn = ({ before, after, replaced }: Proposal, budget: Budget): RuleInput["replacements"] => {
  const known = [...replaced].flatMap(([from, to]) => {
    const [old, next] = [before.identities.get(from), after.identities.get(to)];
    return old && next ? [{ old, new: next }] : [];
  });
  const taken = new Set(known.flatMap((pair) => [pair.old.id, pair.new.id]));
  const isNew = ({ id, uid }: IdentityNode): boolean => uid === null && !before.identities.has(id) && !taken.has(id);
  const created = Map.groupBy([...after.identities.values()].filter(isNew), ({ name }) => name);
  const gone = [...before.identities.values()].filter(({ id }) => !after.identities.has(id) && !taken.has(id));
  const take = (old: IdentityNode, isHere: (next: IdentityNode) => boolean): RuleInput["replacements"][number][] => {
    const others = created.get(old.name) ?? [];
    const here = others.filter(isHere);
    // Several may have its name. The worst counts: a harmless one must not hide it.
    const next = here.find((one) => here.length > 1 && letsInOthers(old, one, budget)) ?? here[0];
    if (next === undefined) return [];
    others.splice(others.indexOf(next), 1);
    return [{ old, new: next }];
  };
  // An identity in the same group replaces the old one. One in another group replaces only what is left then.
  const inPlace = gone.flatMap((old) => take(old, ({ group }) => group === old.group));
  const isRenewed = new Set(inPlace.map(({ old }) => old));
  const renewed = [...inPlace, ...gone.filter((old) => !isRenewed.has(old)).flatMap((old) => take(old, () => true))];
  return [...known, ...renewed, ...findRenamed([...known, ...renewed], gone, created)];
};

/** One that the same workloads can assume takes the place of one of another name, in its group. */
const findRenamed = (
  pairs: RuleInput["replacements"],
  gone: readonly IdentityNode[],
  created: ReadonlyMap<string, readonly IdentityNode[]>,
): RuleInput["replacements"][number][] => {
  const taken = new Set(pairs.flatMap((pair) => [pair.old.id, pair.new.id]));
  const keyOf = ({ group, relationship }: IdentityNode): string => `${group} ${equalityKey(relationship)}`;
  const left = Map.groupBy(
    [...created.values()].flat().filter(({ id, relationship }) => !taken.has(id) && relationship !== null),
    keyOf,
  );
  return gone.flatMap((old) => {
    const next = taken.has(old.id) ? undefined : left.get(keyOf(old))?.shift();
    return next ? [{ old, new: next }] : [];
  });
};

const letsInOthers = (old: IdentityNode, next: IdentityNode, budget: Budget): boolean =>
  old.relationship !== null &&
  next.relationship !== null &&
  othersIn(old.relationship as Json, next.relationship as Json, budget).is !== "none";
