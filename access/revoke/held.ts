// The role bindings that a revocation removes, and what speaks against it.
import { compare } from "../graph/compare.ts";
import { type AccessGraph, type GroupNode, lineageOf, type NodeId, placesIn } from "../graph/graph.ts";
import { ownersIn } from "../review/owners.ts";

export interface HeldBinding {
  /** uid */
  binding: string;
  /** uid of its group */
  group: string;
  /** path of its group */
  path: string;
  /** uid of its role */
  role: string;
  roleName: string;
}

/** The bindings of an identity, from the organization down. */
export const bindingsOf = (graph: AccessGraph, identity: NodeId): HeldBinding[] => {
  const placeOf = placesIn(graph);
  return [...graph.bindings.values()]
    .filter((one) => one.identity === identity)
    .map(({ id, group, role }) => {
      const { name = role } = graph.roles.get(role) ?? {};
      return { binding: id, group, path: placeOf(group), role, roleName: name };
    })
    .sort((a, b) => compare(a.group, b.group) || compare(a.roleName, b.roleName) || compare(a.binding, b.binding));
};

/**
 * First what lets the identity grant itself access again. The caller's own bindings in the opposite order, so that the right to remove them
 * goes last.
 */
export const inOrderOfRemoval = (graph: AccessGraph, held: readonly HeldBinding[], isOwn: boolean): HeldBinding[] => {
  const rank = ({ group, role }: HeldBinding): number => {
    const manages = graph.roles.get(role)?.capabilities.some((one) => MANAGES.includes(one)) ?? false;
    return lineageOf(graph, group).length + (manages ? 0 : LEVELS);
  };
  const ordered = held.toSorted((a, b) => rank(a) - rank(b));
  return isOwn ? ordered.reverse() : ordered;
};

const MANAGES = ["role_bindings.create", "role_bindings.delete"];

/** More than any group has above it. */
const LEVELS = 1_000;

/** The organizations that would have no owner whom the caller can see. */
export const lastOwned = (graph: AccessGraph, identity: NodeId): GroupNode[] =>
  [...ownersIn(graph)]
    .filter(([, owners]) => owners.size === 1 && owners.has(identity))
    .flatMap(([group]) => graph.groups.get(group) ?? []);
