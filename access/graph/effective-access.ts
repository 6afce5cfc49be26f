// What an identity can do, where, and through which roles. It holds the capabilities of its bound roles, at the group of each binding
// and everywhere below. Written independently of the server's own authorization, and tested against it.

import { type CapabilityClass, getOrInsert } from "../../schema/index.ts";
import { compare } from "../canonical.ts";
import type { Held } from "../change/rows.ts";
import { type Capabilities, capabilitiesIn, worstClassOf } from "./danger.ts";
import { type AccessGraph, type BindingNode, lineageOf, type NodeId, nameOf } from "./graph.ts";

export type Access = ReturnType<typeof accessIn>;

export const accessIn = (graph: AccessGraph) => {
  const bindings = Map.groupBy(graph.bindings.values(), ({ identity }) => identity);
  const bindingsOf = (identity: NodeId): readonly BindingNode[] => bindings.get(identity) ?? [];

  const byIdentity = new Map<NodeId, Map<NodeId, Set<string>>>();

  /** Whether the identity holds the capability at the first of `lineage`, a group and all above it. */
  const holds = (identity: NodeId, capability: string, lineage: readonly NodeId[]) => {
    const held = getOrInsert(byIdentity, identity, () => {
      const byGroup = new Map<NodeId, Set<string>>();
      for (const grant of grantsOf(identity)) getOrInsert(byGroup, grant.group, () => new Set()).add(grant.capability);
      return byGroup;
    });
    return lineage.some((group) => held.get(group)?.has(capability));
  };

  /** The grants of each binding of the identity, at its group and below, even if a binding above already grants them. */
  const grantsOf = (identity: NodeId) =>
    bindingsOf(identity).flatMap(({ group, role }) =>
      (graph.roles.get(role)?.capabilities ?? []).map((capability) => ({ group, capability, role })),
    );

  return {
    graph,
    bindingsOf,
    grantsOf,
    holds,
    /**
     * The grants of the identity, without those that a binding above already gives. Several bindings of one group may grant one capability.
     */
    topmostOf: (identity: NodeId) => {
      const above = new Map<NodeId, NodeId[]>();
      for (const { group } of bindingsOf(identity)) above.set(group, lineageOf(graph, group).slice(1));
      return grantsOf(identity).filter(({ group, capability }) => !holds(identity, capability, above.get(group) ?? []));
    },
  };
};

// The access of an identity and who can act as it; likewise for a record that gives access to people, who are not identities.

export const heldIn = (graph: AccessGraph): ((id: NodeId) => Held | undefined) => {
  const access = accessIn(graph);
  const unlisted = (group: NodeId, role: NodeId | null): Held["grants"] =>
    role === null || graph.roles.get(role)?.isUnlisted ? [[group, `role ${role}`]] : [];
  const grantsOf = (group: NodeId, role: NodeId | null) => [
    ...(graph.roles.get(role ?? "")?.capabilities ?? []).map((capability) => [group, capability] as const),
    ...unlisted(group, role),
  ];
  return (id) => {
    const [identity, provider] = [graph.identities.get(id), graph.providers.get(id)];
    if (identity) {
      const topmost = access.topmostOf(id).map(({ group, capability }) => [group, capability] as const);
      const hidden = access.bindingsOf(id).flatMap(({ group, role }) => unlisted(group, role));
      return { grants: [...topmost, ...hidden], signIn: identity.relationship };
    }
    if (provider)
      return {
        grants: grantsOf(provider.group, provider.defaultRole),
        signIn: provider.signIn && { ...provider.signIn },
      };
    const [mapping, invite] = [graph.externalGroups.get(id), graph.invites.get(id)];
    if (mapping) {
      const { externalGroupId, group, role } = mapping;
      const signIn = { ...graph.providers.get(mapping.provider)?.signIn, externalGroupId };
      return { grants: grantsOf(group, role), signIn };
    }
    if (!invite) return undefined;
    const { group, role, email, singleUse } = invite;
    return { grants: grantsOf(group, role), signIn: { email, singleUse } };
  };
};

// The change in access from one graph to another: the gains and losses of each identity, and where.

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

/** The access of an identity in `one` that it does not hold at the group in `other`. */
const rowsOf = (one: Access, other: Access, identity: NodeId): AccessRow[] => {
  const rows = new Map<string, AccessRow>();
  const kept = new Set(other.bindingsOf(identity).map(({ group, role }) => `${group} ${role}`));
  for (const { group, role } of one.bindingsOf(identity)) {
    // Most bindings of a large organization are equal in both.
    if (kept.has(`${group} ${role}`) && isSameRole(one.graph, other.graph, role)) continue;
    const lineage = lineageOf(one.graph, group);
    const above = lineage.slice(1);
    for (const capability of one.graph.roles.get(role)?.capabilities ?? []) {
      if (one.holds(identity, capability, above) || other.holds(identity, capability, lineage)) continue;
      const key = `${group} ${capability}`;
      const known = rows.get(key);
      if (known === undefined || nameOf(one.graph.roles, role) < nameOf(one.graph.roles, known.role))
        rows.set(key, { group, capability, role });
    }
  }
  return [...rows.values()].sort((a, b) => compare(a.group, b.group) || compare(a.capability, b.capability));
};

/** Whether the role grants equal capabilities in both graphs. */
const isSameRole = (one: AccessGraph, other: AccessGraph, role: NodeId) => {
  const [own, its] = [one.roles.get(role)?.capabilities ?? [], other.roles.get(role)?.capabilities ?? []];
  return own === its || (own.length === its.length && own.every((capability, i) => capability === its[i]));
};

/** The class of the worst capability of an identity, for a review of who can act by it. */
export const effectsIn = (graph: AccessGraph): ((identity: NodeId | undefined) => { effect?: CapabilityClass }) => {
  const held = capabilitiesHeldIn(graph);
  return (identity) => {
    const effect = identity === undefined ? null : worstClassOf(held(identity));
    return effect === null ? {} : { effect };
  };
};

/** The capabilities of an identity through all of its role bindings. */
export const capabilitiesHeldIn = (graph: AccessGraph): ((identity: NodeId) => Capabilities) => {
  const { bindingsOf } = accessIn(graph);
  return (identity) => {
    const held = bindingsOf(identity).map(({ role }) => capabilitiesIn(graph.roles, role));
    return held.includes("unknown") ? "unknown" : new Set(held.flatMap((one) => [...one]));
  };
};
