// Access that no one needs: identities that no one has used for some time, role bindings that another one covers, and roles that no one
// has.
import { compare } from "../canonical.ts";
import { capabilitiesIn, worstFirst } from "../graph/danger.ts";
import { accessIn, capabilitiesHeldIn } from "../graph/effective-access.ts";
import {
  type AccessGraph,
  type BindingNode,
  type IdentityNode,
  isInside,
  lineageOf,
  type NodeId,
  pathOf,
  type RoleNode,
} from "../graph/graph.ts";
import type { Live, NotVisible } from "../graph/live.ts";
import { PolicyEditError } from "../policy/edit/document.ts";
import { type OpenPolicy, stackOf } from "../policy/edit/open.ts";
import { type PolicyGraph, policyGraph } from "../policy/graph.ts";
import { mistakeText } from "../policy/parse.ts";
import { mappingsOf, type Policy, type PolicyBinding } from "../policy/policy.ts";
import { bindingsInOrder, roleReader } from "./answer.ts";

export interface Unused {
  graph: AccessGraph;
  /** the worst first */
  identities: UnusedIdentity[];
  /** by binding */
  covered: ReadonlyMap<NodeId, Covered>;
  /** custom roles, the worst first */
  roles: RoleNode[];
}

interface UnusedIdentity {
  identity: IdentityNode;
  /** RFC 3339 */
  lastSeen: string;
  bindings: number;
}

interface Covered {
  binding: BindingNode;
  /** grants all of its access, and nothing covers it */
  by: BindingNode;
}

/** `untilMs`: an identity that was last used before this time is unused. */
export const unusedIn = ({ graph, notVisible, lastSeen }: Live, untilMs: number): Unused => ({
  graph,
  identities: unusedIdentities(graph, lastSeen, untilMs),
  covered: coveredIn(graph, roleReader(graph, notVisible)),
  roles: rolesOfNobody(graph, notVisible),
});

const unusedIdentities = (graph: AccessGraph, lastSeen: Live["lastSeen"], untilMs: number): UnusedIdentity[] => {
  const { bindingsOf } = accessIn(graph);
  const unused = [...graph.identities.values()].flatMap((identity) => {
    const time = lastSeen?.get(identity.id);
    if (time === undefined || !(Date.parse(time) <= untilMs)) return [];
    return [{ identity, lastSeen: time, bindings: bindingsOf(identity.id).length }];
  });
  const held = capabilitiesHeldIn(graph);
  return worstFirst(unused, ({ identity: { id, group, name } }) => ({
    capabilities: held(id),
    place: pathOf(graph, group),
    texts: [name, id],
  }));
};

/** A binding is covered by another one of its identity, at its group or above, whose role has all of its capabilities. */
export const coveredIn = (graph: AccessGraph, isRead: (role: NodeId) => boolean): ReadonlyMap<NodeId, Covered> => {
  const capabilities = new Map(Array.from(graph.roles.values(), (role) => [role.id, new Set(role.capabilities)]));
  const known = [...graph.bindings.values()].filter(({ role }) => isRead(role));
  const places = Map.groupBy(known, ({ identity, group }) => JSON.stringify([identity, group]));

  // A strict order: if two grant equal access in one group, one covers the other.
  const covers = (one: BindingNode, other: BindingNode) => {
    const [all, some] = [capabilities.get(one.role) ?? NONE, capabilities.get(other.role) ?? NONE];
    if (!some.isSubsetOf(all)) return false;
    return one.group !== other.group || some.size < all.size || compare(one.id, other.id) < 0;
  };
  const coverers = new Map<NodeId, BindingNode[]>();
  for (const binding of known) {
    const candidates = lineageOf(graph, binding.group).flatMap(
      (group) => places.get(JSON.stringify([binding.identity, group])) ?? [],
    );
    const found = candidates.filter((one) => one.id !== binding.id && covers(one, binding));
    if (found.length > 0) coverers.set(binding.id, found);
  }
  const covered = known.filter(({ id }) => coverers.has(id));
  return new Map(
    bindingsInOrder(graph, covered).map((binding) => {
      const by = coverers.get(binding.id)?.find(({ id }) => !coverers.has(id)) as BindingNode;
      return [binding.id, { binding, by }];
    }),
  );
};

const NONE: ReadonlySet<string> = new Set();

/** A role counts as unused only if all bindings that could give it are visible. */
const rolesOfNobody = (graph: AccessGraph, notVisible: readonly NotVisible[]): RoleNode[] => {
  const { bindings, providers, externalGroups, invites } = graph;
  const given = new Set(Array.from(providers.values(), ({ defaultRole }) => defaultRole));
  for (const nodes of [bindings, externalGroups, invites]) for (const { role } of nodes.values()) given.add(role);
  const hidden = notVisible.filter(({ kind }) => kind === "roleBinding").map(({ group }) => group);
  const isSure = (place: NodeId) => !hidden.some((group) => group === "" || isInside(graph, group, place));
  const found = [...graph.roles.values()].filter(({ id, group }) => group !== null && !given.has(id) && isSure(group));
  return worstFirst(found, ({ id, group, name }) => ({
    capabilities: capabilitiesIn(graph.roles, id),
    place: pathOf(graph, group as NodeId),
    texts: [name, id],
  }));
};

// The entries of a policy for access that no one needs, and the entries that must stay.

/** Throws a PolicyEditError if the policy may mean other records. */
export const unusedEntries = (opened: OpenPolicy, unused: Unused, isRead: (role: NodeId) => boolean) => {
  const { policy } = opened;
  const wanted = policyGraph(policy, unused.graph, stackOf(opened));
  if (wanted.mistakes.length > 0) throw new PolicyEditError(wanted.mistakes.map(mistakeText).join("\n"));
  const gone = new Set([...unused.identities.map(({ identity }) => identity.id), ...unused.roles.map(({ id }) => id)]);
  const keysOf = (ids: ReadonlyMap<string, NodeId>) => [...ids].flatMap(([key, id]) => (gone.has(id) ? key : []));
  const identities = keysOf(wanted.identities);
  const left = policy.bindings.filter(({ identity }) => !identities.includes(identity));
  const { bindings, notes } = coveredRows(left, wanted, unused, isRead);
  const nobodys = keysOf(wanted.roles).filter((key) => policy.roles.has(key));
  const stays = [...left.filter((one) => !bindings.includes(one)), ...mappingsOf(policy)];
  const given = new Set(stays.map(({ role }) => role));
  return {
    removal: { identities, bindings, roles: nobodys.filter((key) => !given.has(key)) },
    /** entries that are kept although no one needs them, and tests that name removed entries: one sentence for each */
    notes: [
      ...notes,
      ...nobodys
        .filter((key) => given.has(key))
        .map((key) => `roles.${key} stays: the policy gives it, and no update has done so yet`),
      ...testsOf(policy, identities),
    ],
  };
};

/** A row represents every binding of its identity, group and role. The binding that covers it must also be in the policy. */
const coveredRows = (
  rows: readonly PolicyBinding[],
  wanted: PolicyGraph,
  unused: Unused,
  isRead: (role: NodeId) => boolean,
): { bindings: PolicyBinding[]; notes: string[] } => {
  const { graph, groups, identities, roles } = wanted;
  const keyOf = (...ids: readonly (NodeId | undefined)[]) => JSON.stringify(ids);
  const byKey = Map.groupBy(graph.bindings.values(), ({ group, identity, role }) => keyOf(group, identity, role));
  const isIn = (covered: ReadonlyMap<NodeId, unknown>) => (row: PolicyBinding) => {
    const key = keyOf(groups.get(row.group), identities.get(row.identity), roles.get(row.role));
    const nodes = byKey.get(key) ?? [];
    return nodes.length > 0 && nodes.every(({ id }) => covered.has(id));
  };
  const covered = rows.filter(isIn(unused.covered));
  const isDeclared = isIn(coveredIn(graph, isRead));
  return {
    bindings: covered.filter(isDeclared),
    notes: covered
      .filter((row) => !isDeclared(row))
      .map(
        ({ group, role, identity }) =>
          `access.${group}.${role}: ${identity} stays: what covers it is not in the policy`,
      ),
  };
};

const testsOf = ({ tests }: Policy, identities: readonly string[]) =>
  tests.flatMap(({ name, subject }) => {
    const named = subject.kind === "identity" ? [subject.name] : subject.kind === "holders" ? subject.only : [];
    const gone = identities.find((key) => named.some((text) => text === key || text.endsWith(`/${key}`)));
    return gone === undefined ? [] : [`the test ${JSON.stringify(name)} names ${gone}: change it`];
  });
