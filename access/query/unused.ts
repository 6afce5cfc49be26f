// Access that nobody needs: identities that nobody has used for some time, role bindings that another one covers, and roles that nobody has.
import { compare } from "../graph/compare.ts";
import {
  type AccessGraph,
  type BindingNode,
  type IdentityNode,
  lineageOf,
  type NodeId,
  type RoleNode,
} from "../graph/graph.ts";
import { isInside } from "../graph/inside.ts";
import type { Live, NotVisible } from "../graph/live.ts";
import { roleReader } from "./answer.ts";

export interface Unused {
  graph: AccessGraph;
  /** by group and name */
  identities: UnusedIdentity[];
  /** by binding */
  covered: ReadonlyMap<NodeId, Covered>;
  /** custom roles, by group and name */
  roles: RoleNode[];
}

export interface UnusedIdentity {
  identity: IdentityNode;
  /** RFC 3339 */
  lastSeen: string;
  bindings: number;
}

export interface Covered {
  binding: BindingNode;
  /** grants all of it, and nothing covers it */
  by: BindingNode;
}

/** `untilMs`: an identity that was last used before is unused. */
export const unusedIn = ({ graph, notVisible, lastSeen }: Live, untilMs: number): Unused => ({
  graph,
  identities: unusedIdentities(graph, lastSeen, untilMs),
  covered: coveredIn(graph, roleReader(graph, notVisible)),
  roles: rolesOfNobody(graph, notVisible),
});

const unusedIdentities = (graph: AccessGraph, lastSeen: Live["lastSeen"], untilMs: number): UnusedIdentity[] => {
  const bindings = Map.groupBy(graph.bindings.values(), ({ identity }) => identity);
  return [...graph.identities.values()]
    .flatMap((identity) => {
      const time = lastSeen?.get(identity.id);
      if (time === undefined || !(Date.parse(time) <= untilMs)) return [];
      return [{ identity, lastSeen: time, bindings: bindings.get(identity.id)?.length ?? 0 }];
    })
    .sort((a, b) => byGroupAndName(a.identity, b.identity));
};

/** A binding is covered by one of the same identity, at its group or above, whose role has all of its capabilities. */
export const coveredIn = (graph: AccessGraph, isRead: (role: NodeId) => boolean): ReadonlyMap<NodeId, Covered> => {
  const capabilities = new Map(Array.from(graph.roles.values(), (role) => [role.id, new Set(role.capabilities)]));
  const known = [...graph.bindings.values()].filter(({ role }) => isRead(role));
  const places = Map.groupBy(known, ({ identity, group }) => JSON.stringify([identity, group]));

  // A strict order: of two that grant the same in one group, one covers the other.
  const covers = (one: BindingNode, other: BindingNode): boolean => {
    const [all, some] = [capabilities.get(one.role) ?? NONE, capabilities.get(other.role) ?? NONE];
    if (![...some].every((one) => all.has(one))) return false;
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
  const inOrder = known.filter(({ id }) => coverers.has(id)).sort(byPlace);
  return new Map(
    inOrder.map((binding) => {
      const by = coverers.get(binding.id)?.find(({ id }) => !coverers.has(id)) as BindingNode;
      return [binding.id, { binding, by }];
    }),
  );
};

const NONE: ReadonlySet<string> = new Set();

/** A role counts as nobody's only where all bindings are visible that could give it. */
const rolesOfNobody = (graph: AccessGraph, notVisible: readonly NotVisible[]): RoleNode[] => {
  const given = new Set<NodeId | null>([
    ...Array.from(graph.bindings.values(), ({ role }) => role),
    ...Array.from(graph.providers.values(), ({ defaultRole }) => defaultRole),
    ...Array.from(graph.externalGroups.values(), ({ role }) => role),
    ...Array.from(graph.invites.values(), ({ role }) => role),
  ]);
  const hidden = notVisible.filter(({ kind }) => kind === "roleBinding").map(({ group }) => group);
  const isSure = (place: NodeId): boolean => !hidden.some((group) => group === "" || isInside(graph, group, place));
  return [...graph.roles.values()]
    .filter(({ id, group }) => group !== null && !given.has(id) && isSure(group))
    .sort(byGroupAndName);
};

interface Placed {
  id: NodeId;
  group: NodeId | null;
  name: string;
}

const byGroupAndName = (a: Placed, b: Placed): number =>
  compare(a.group ?? "", b.group ?? "") || compare(a.name, b.name) || compare(a.id, b.id);

const byPlace = (a: BindingNode, b: BindingNode): number =>
  compare(a.identity, b.identity) || compare(a.group, b.group) || compare(a.id, b.id);
