// The access that may exist at some moment of an update, in whatever order its steps run, and wherever it ends. It includes everything
// before and after the change; a role has its capabilities from before and after.

import { equalityKey } from "../canonical.ts";
import { type AccessRow, accessChange, accessIn } from "../graph/effective-access.ts";
import {
  type AccessGraph,
  type BindingNode,
  type IdentityNode,
  lineageOf,
  type NodeId,
  newGraph,
  type RoleNode,
} from "../graph/graph.ts";
import type { Budget } from "../pattern/budget.ts";
import { covers } from "../workload/breadth.ts";

/** No identity holds more at any moment. */
export const mostBetween = (before: AccessGraph, after: AccessGraph): AccessGraph => {
  const most = newGraph(before);
  for (const nodes of ["groups", "identities"] as const)
    for (const [id, node] of after[nodes]) (most[nodes] as Map<NodeId, unknown>).set(id, node);
  for (const role of after.roles.values()) most.roles.set(role.id, bothOf(before.roles.get(role.id), role));
  for (const binding of after.bindings.values()) {
    const old = before.bindings.get(binding.id);
    most.bindings.set(old && grantKey(old) !== grantKey(binding) ? `${binding.id} after` : binding.id, binding);
  }
  return most;
};

/** No identity holds less at any moment. */
export const leastBetween = (before: AccessGraph, after: AccessGraph): AccessGraph => {
  const least = newGraph(before);
  for (const { id, capabilities, ...role } of before.roles.values()) {
    const kept = new Set(after.roles.get(id)?.capabilities);
    least.roles.set(id, { ...role, id, capabilities: capabilities.filter((one) => kept.has(one)) });
  }
  for (const binding of before.bindings.values()) {
    const now = after.bindings.get(binding.id);
    if (!now || grantKey(now) !== grantKey(binding)) least.bindings.delete(binding.id);
  }
  return least;
};

/** Equal for two bindings that give one identity equal grants. */
export const grantKey = ({ identity, role, group }: BindingNode): string => `${identity} ${role} ${group}`;

const bothOf = (old: RoleNode | undefined, now: RoleNode) =>
  old ? { ...now, capabilities: [...new Set([...old.capabilities, ...now.capabilities])].sort() } : now;

export interface Transient {
  identity: NodeId;
  /** of the graph `most` */
  rows: readonly AccessRow[];
  /** this is the workload that the change takes the identity from, and that may still assume it when the rows hold */
  isFormer?: true;
}

/**
 * Access that identities may hold during the update, but neither before nor after it. If the workload of an identity changes, both count:
 * access of the new one that it does not hold after the update, and access of the former one that it does not hold before it.
 */
export const transientIn = (
  before: AccessGraph,
  after: AccessGraph,
  most: AccessGraph,
  budget?: Budget,
): Transient[] => {
  const relationshipsOf = (id: NodeId) =>
    [before, after].map(({ identities }) => identities.get(id)?.relationship) as [Who, Who];
  const isReassumed = (id: NodeId) => {
    const [old, now] = relationshipsOf(id);
    return old !== undefined && now !== undefined && equalityKey(old) !== equalityKey(now);
  };
  /** Some workloads that can assume it before the change cannot assume it after. */
  const isTaken = (id: NodeId) => {
    const [old = null, now = null] = relationshipsOf(id);
    return isReassumed(id) && !covers(now, old, budget);
  };
  const later = accessIn(after);
  const between = accessChange(before, most).map(({ identity, gains }): Transient => {
    if (isTaken(identity)) return { identity, rows: gains, isFormer: true };
    const isOver = ({ group, capability }: AccessRow) => !later.holds(identity, capability, lineageOf(most, group));
    return { identity, rows: gains.filter(isOver) };
  });
  const isAny = [...before.identities.keys()].some(isReassumed);
  const reassumed = isAny ? accessChange(after, most).map(({ identity, gains }) => ({ identity, rows: gains })) : [];
  return [...between, ...reassumed.filter(({ identity }) => isReassumed(identity))].filter(
    ({ rows }) => rows.length > 0,
  );
};

/** Undefined: the identity does not exist. */
type Who = IdentityNode["relationship"] | undefined;
