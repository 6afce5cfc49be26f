// The part of two graphs that a change rests on: the identities whose access or claims change, or whose roles do, with all of their role
// bindings; the roles of these; the people who get a role; and the groups that hold all of it.
import {
  type AccessGraph,
  type BindingNode,
  type GraphBuilder,
  lineageOf,
  type NodeId,
  newGraph,
} from "../graph/graph.ts";
import { textOf } from "../graph/same.ts";
import { accessChange } from "../review/change.ts";

type Nodes = keyof AccessGraph;

/** Ids of the nodes that only one graph has, or that differ. */
const changedIn = (kind: Nodes, before: AccessGraph, after: AccessGraph): Set<NodeId> => {
  const [olds, news] = [before[kind], after[kind]] as ReadonlyMap<NodeId, object>[] as [
    ReadonlyMap<NodeId, object>,
    ReadonlyMap<NodeId, object>,
  ];
  const ids = new Set([...olds.keys(), ...news.keys()]);
  return new Set(
    [...ids].filter((id) => olds.get(id) !== news.get(id) && textOf(olds.get(id)) !== textOf(news.get(id))),
  );
};

/** `adopted`: uids of records that the program takes over. */
export const partsOf = (
  before: AccessGraph,
  after: AccessGraph,
  adopted: ReadonlySet<NodeId>,
): { before: AccessGraph; after: AccessGraph } => {
  const both = [before, after];
  const roles = changedIn("roles", before, after);
  const identities = new Set([
    ...accessChange(before, after).map(({ identity }) => identity),
    ...changedIn("identities", before, after),
  ]);
  for (const id of adopted) {
    if (both.some((graph) => graph.identities.has(id))) identities.add(id);
    if (both.some((graph) => graph.roles.has(id))) roles.add(id);
  }
  const changedBindings = changedIn("bindings", before, after);
  for (const { bindings } of both)
    for (const { id, identity, role } of bindings.values())
      if (roles.has(role) || changedBindings.has(id) || adopted.has(id)) identities.add(identity);
  const people = peopleIn(before, after, roles, adopted);
  const groups = new Set([...changedIn("groups", before, after), ...adopted]);
  const chosen = { identities, groups, ...people };
  // What one graph alone grants is a role of both: a part without it would say that the change deletes it.
  for (const graph of both) for (const id of rolesIn(graph, chosen)) roles.add(id);
  return { before: restricted(before, { roles, ...chosen }), after: restricted(after, { roles, ...chosen }) };
};

type Chosen = Record<Exclude<Nodes, "bindings">, ReadonlySet<NodeId>>;

const peopleIn = (
  before: AccessGraph,
  after: AccessGraph,
  roles: ReadonlySet<NodeId>,
  adopted: ReadonlySet<NodeId>,
): Pick<Chosen, "providers" | "externalGroups" | "invites"> => {
  const providers = changedIn("providers", before, after);
  const externalGroups = changedIn("externalGroups", before, after);
  const invites = changedIn("invites", before, after);
  for (const graph of [before, after]) {
    for (const { id, defaultRole } of graph.providers.values())
      if (adopted.has(id) || (defaultRole !== null && roles.has(defaultRole))) providers.add(id);
    for (const { id, role, provider } of graph.externalGroups.values())
      if (adopted.has(id) || roles.has(role) || providers.has(provider)) externalGroups.add(id);
    for (const { id, role } of graph.invites.values())
      if (adopted.has(id) || (role !== null && roles.has(role))) invites.add(id);
    for (const id of externalGroups) providers.add(graph.externalGroups.get(id)?.provider ?? id);
  }
  return { providers, externalGroups, invites };
};

/** Those that the graph has. */
const chosenOf = <T>(nodes: ReadonlyMap<NodeId, T>, ids: ReadonlySet<NodeId>): T[] =>
  [...ids].flatMap((id) => nodes.get(id) ?? []);

const bindingsIn = ({ bindings }: AccessGraph, identities: ReadonlySet<NodeId>): BindingNode[] =>
  [...bindings.values()].filter(({ identity }) => identities.has(identity));

/** The roles that these give. */
const rolesIn = (graph: AccessGraph, chosen: Omit<Chosen, "roles">): NodeId[] =>
  [
    ...bindingsIn(graph, chosen.identities).map(({ role }) => role),
    ...chosenOf(graph.providers, chosen.providers).map(({ defaultRole }) => defaultRole),
    ...chosenOf(graph.externalGroups, chosen.externalGroups).map(({ role }) => role),
    ...chosenOf(graph.invites, chosen.invites).map(({ role }) => role),
  ].filter((id) => id !== null);

const restricted = (graph: AccessGraph, chosen: Chosen): AccessGraph => {
  const part: GraphBuilder = newGraph();
  const addGroups = (id: NodeId | null): void => {
    for (const one of id === null ? [] : lineageOf(graph, id)) {
      const group = graph.groups.get(one);
      if (group) part.groups.set(one, group);
    }
  };
  for (const one of chosenOf(graph.roles, chosen.roles)) {
    part.roles.set(one.id, one);
    addGroups(one.group);
  }
  for (const id of chosen.groups) if (graph.groups.has(id)) addGroups(id);
  for (const one of chosenOf(graph.identities, chosen.identities)) {
    part.identities.set(one.id, one);
    addGroups(one.group);
  }
  for (const binding of bindingsIn(graph, chosen.identities)) {
    part.bindings.set(binding.id, binding);
    addGroups(binding.group);
  }
  for (const one of chosenOf(graph.providers, chosen.providers)) {
    part.providers.set(one.id, one);
    addGroups(one.group);
  }
  for (const one of chosenOf(graph.externalGroups, chosen.externalGroups)) {
    part.externalGroups.set(one.id, one);
    addGroups(one.group);
  }
  for (const one of chosenOf(graph.invites, chosen.invites)) {
    part.invites.set(one.id, one);
    addGroups(one.group);
  }
  return part;
};
