// The change in access from one graph to another: what each identity gains and loses, and where.
import { compare } from "../canonical.ts";
import { type Access, accessIn } from "../graph/effective-access.ts";
import { type AccessGraph, lineageOf, type NodeId } from "../graph/graph.ts";

/** A capability that is gained or lost at a group and everywhere below it. */
export interface AccessRow {
  /** the topmost group where it is gained or lost */
  group: NodeId;
  /** friendly name: `groups.list` */
  capability: string;
  /** the role that grants it; of several, the one whose name sorts first */
  role: NodeId;
}

export interface IdentityChange {
  identity: NodeId;
  gains: AccessRow[];
  losses: AccessRow[];
}

/** A row for each identity that gains or loses something, in the order of their ids. */
export const accessChange = (before: AccessGraph, after: AccessGraph): IdentityChange[] => {
  const [held, holding] = [accessIn(before), accessIn(after)];
  const ids = new Set([...before.identities.keys(), ...after.identities.keys()]);
  for (const graph of [before, after]) for (const { identity } of graph.bindings.values()) ids.add(identity);
  return [...ids].sort().flatMap((identity) => {
    const gains = rowsOf(holding, held, identity);
    const losses = rowsOf(held, holding, identity);
    return gains.length + losses.length === 0 ? [] : [{ identity, gains, losses }];
  });
};

/** What an identity holds in `one`, and does not hold at the same group in `other`. */
const rowsOf = (one: Access, other: Access, identity: NodeId): AccessRow[] => {
  const rows = new Map<string, AccessRow>();
  const kept = new Set(other.bindingsOf(identity).map(({ group, role }) => `${group} ${role}`));
  for (const { group, role } of one.bindingsOf(identity)) {
    // Most bindings of a large organization are the same in both.
    if (kept.has(`${group} ${role}`) && isSameRole(one.graph, other.graph, role)) continue;
    const lineage = lineageOf(one.graph, group);
    const above = lineage.slice(1);
    for (const capability of one.graph.roles.get(role)?.capabilities ?? []) {
      if (one.holds(identity, capability, above) || other.holds(identity, capability, lineage)) continue;
      const key = `${group} ${capability}`;
      const known = rows.get(key);
      if (known === undefined || nameOf(one, role) < nameOf(one, known.role))
        rows.set(key, { group, capability, role });
    }
  }
  return [...rows.values()].sort((a, b) => compare(a.group, b.group) || compare(a.capability, b.capability));
};

/** It grants the same in both graphs. */
const isSameRole = (one: AccessGraph, other: AccessGraph, role: NodeId): boolean => {
  const [own, its] = [one.roles.get(role)?.capabilities ?? [], other.roles.get(role)?.capabilities ?? []];
  return own === its || (own.length === its.length && own.every((capability, i) => capability === its[i]));
};

const nameOf = ({ graph }: Access, role: NodeId): string => graph.roles.get(role)?.name ?? role;
