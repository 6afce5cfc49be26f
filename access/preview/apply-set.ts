// The steps of sets: the pairs that each declares, and the bindings that it removes.
import { hiddenPart } from "./record.ts";
import type { Resource } from "./resource.ts";
import { keyOfPair, managedBindings, pairsOf, removableIn } from "./set.ts";
import { isOrMayBe, SECRET } from "./value.ts";
import { bind, groupOf, report, reportPair, type Work } from "./work.ts";

export const applySet = (work: Work, resource: Resource): void => {
  const { inputs, op } = resource.planned as NonNullable<Resource["planned"]>;
  const { records, after } = work;
  const { outputs } = resource.stored ?? {};
  const group = resource.planned?.uid ? { id: resource.planned.uid } : groupOf(work, resource);
  const pairs = pairsOf(resource, after, records);
  if (!("id" in group)) {
    for (const [i, pair] of (pairs ?? []).entries())
      reportPair(work, resource, { parent: group, ...pair }, (part) =>
        part === "parent" ? part : `bindings[${i}].${part}`,
      );
    if (pairs === undefined)
      report(work, resource, "parent", `${group.why}; its bindings are not in this review`, { of: "bindings" });
    return;
  }
  const managed = resource.deleted.length > 0 ? [] : managedBindings(outputs, group.id);
  for (const { id } of managed) work.declared.add(id);
  if (pairs === undefined) {
    const why = `the list is ${inputs.bindings === SECRET ? "secret" : "known only to the run"}`;
    // One that does not change is as the API lists it.
    if (op !== "same") report(work, resource, "bindings", why, { of: "bindings", group: group.id });
    return;
  }
  if (op !== "same" && hiddenPart(inputs.exclusive)) {
    const why = "it is not known, so this review counts it as set: what the set would remove is a loss";
    report(work, resource, "exclusive", why);
  }
  const known = pairs.flatMap(({ identity, role }) =>
    "id" in identity && "id" in role ? [{ identity: identity.id, role: role.id }] : [],
  );
  const wanted = new Set(known.map(keyOfPair));
  work.bindingsByGroup ??= Map.groupBy(after.bindings.values(), (one) => one.group);
  const here = (work.bindingsByGroup.get(group.id) ?? []).filter(({ id }) => after.bindings.has(id));
  const inGroup = new Map(here.map((one) => [keyOfPair(one), one.id]));
  pairs.forEach((pair, i) => {
    if (op !== "same") reportPair(work, resource, { parent: group, ...pair }, (part) => `bindings[${i}].${part}`);
    if (!("id" in pair.identity && "id" in pair.role)) return;
    const [identity, role] = [pair.identity.id, pair.role.id];
    const key = keyOfPair({ identity, role });
    const existing = inGroup.get(key);
    if (existing !== undefined) work.declared.add(existing);
    else if (op !== "same") {
      const id = `${resource.urn}[${i}]`;
      bind(work, resource, { id, uid: null, group: group.id, identity, role });
    }
  });
  const removed = [
    ...managed,
    ...(isOrMayBe(inputs.exclusive) && isOrMayBe(outputs?.exclusive) ? removableIn(outputs, group.id) : []),
  ];
  for (const binding of removed) {
    work.declared.add(binding.id);
    if (op !== "same" && !wanted.has(keyOfPair(binding))) after.bindings.delete(binding.id);
  }
};
