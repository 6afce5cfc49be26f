// The steps of sets: the pairs that each declares, and the bindings that it removes.
import { hiddenIn } from "./record.ts";
import type { Resource } from "./resource.ts";
import { keyOfPair, managedIn, pairsOf, removableIn } from "./set.ts";
import { bind, groupOf, report, type Work } from "./work.ts";

export const applySet = (work: Work, resource: Resource): void => {
  const { inputs, op } = resource.planned as NonNullable<Resource["planned"]>;
  const { byUrn, after } = work;
  const { outputs } = resource.stored ?? {};
  const group = resource.planned?.uid ? { id: resource.planned.uid } : groupOf(work, resource);
  if (!("id" in group)) {
    report(work, resource, "parent", `${group.why}; its bindings are not in this review`);
    return;
  }
  const managed = resource.deleted.length > 0 ? [] : managedIn(outputs, group.id);
  for (const { id } of managed) work.declared.add(id);
  const pairs = pairsOf(resource, after, byUrn);
  if (pairs === undefined) {
    report(work, resource, "bindings", "the list is known only to the run");
    return;
  }
  if (op !== "same" && hiddenIn(inputs.exclusive))
    report(work, resource, "exclusive", "it is not known, so what an exclusive set removes is not in this review");
  const wanted = new Set(pairs.map(keyOfPair));
  work.bindingsByGroup ??= Map.groupBy(after.bindings.values(), (one) => one.group);
  const here = (work.bindingsByGroup.get(group.id) ?? []).filter(({ id }) => after.bindings.has(id));
  const inGroup = new Map(here.map((one) => [keyOfPair(one), one.id]));
  const earlier = new Set(managedIn(resource.refreshed?.outputs, group.id).map(keyOfPair));
  pairs.forEach((pair, i) => {
    for (const { property, why } of pair.problems) report(work, resource, property, why);
    const { identity, role } = pair;
    if (identity === undefined || role === undefined) return;
    const existing = inGroup.get(keyOfPair(pair));
    if (existing !== undefined) work.declared.add(existing);
    else if (op !== "same") {
      const id = `${resource.urn}[${i}]`;
      bind(work, resource, { id, uid: null, group: group.id, identity, role });
      if (earlier.has(keyOfPair(pair))) work.restored.push(id);
    }
  });
  const removed = [
    ...managed,
    ...(inputs.exclusive === true && outputs?.exclusive === true ? removableIn(outputs, group.id) : []),
  ];
  for (const binding of removed) {
    work.declared.add(binding.id);
    if (op !== "same" && !wanted.has(keyOfPair(binding))) after.bindings.delete(binding.id);
  }
};
