// What a revocation removes, role bindings or a mapping of an external group, and what speaks against it.
import { compare } from "../graph/compare.ts";
import { type AccessGraph, type GroupNode, lineageOf, type NodeId, placesIn } from "../graph/graph.ts";
import { peopleGraph } from "../graph/people.ts";
import { ownersIn } from "../review/owners.ts";

export interface HeldBinding {
  /** uid of the role binding, or of the mapping */
  binding: string;
  /** uid of the group where it gives the role */
  group: string;
  /** path of that group */
  path: string;
  /** uid of its role */
  role: string;
  roleName: string;
}

/** As a person reads it: a role binding, or a mapping of an external group. */
export const heldFrom = (graph: AccessGraph): ((grant: { id: NodeId; group: NodeId; role: NodeId }) => HeldBinding) => {
  const placeOf = placesIn(graph);
  return ({ id, group, role }) => {
    const { name = role } = graph.roles.get(role) ?? {};
    return { binding: id, group, path: placeOf(group), role, roleName: name };
  };
};

/** The bindings of an identity, from the organization down. */
export const bindingsOf = (graph: AccessGraph, identity: NodeId): HeldBinding[] =>
  [...graph.bindings.values()]
    .filter((one) => one.identity === identity)
    .map(heldFrom(graph))
    .sort((a, b) => compare(a.group, b.group) || compare(a.roleName, b.roleName) || compare(a.binding, b.binding));

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

/**
 * The organizations that would lose the last owner whom the caller can see. People count where no identity is an owner: they cannot run a
 * pipeline.
 */
export const lastOwned = (graph: AccessGraph, removed: ReadonlySet<NodeId>, nowMs: number): GroupNode[] => {
  const left = <N>(nodes: ReadonlyMap<NodeId, N>) => new Map([...nodes].filter(([id]) => !removed.has(id)));
  const after: AccessGraph = { ...graph, bindings: left(graph.bindings), externalGroups: left(graph.externalGroups) };
  const [owned, owning] = [ownersIn(graph), ownersIn(after)];
  const [people, peopleLeft] = [graph, after].map((one) => ownersIn(peopleGraph(one, nowMs))) as [Owners, Owners];
  return [...new Set([...owned.keys(), ...people.keys()])]
    .filter((group) => (owned.has(group) ? !owning.has(group) : !peopleLeft.has(group)))
    .flatMap((group) => graph.groups.get(group) ?? []);
};

type Owners = ReturnType<typeof ownersIn>;
