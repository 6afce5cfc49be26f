// An access graph with the indexes that a search for paths uses repeatedly.
import { getOrInsert, isRoot, OWNER_CAPABILITIES } from "../../schema/index.ts";
import { compare } from "../canonical.ts";
import { type AccessGraph, lineageOf, type NodeId, pathOf, type RoleNode } from "../graph/graph.ts";
import { type NotVisible, visibilityIn } from "../graph/live.ts";
import { isPeople } from "../graph/people.ts";

export type World = ReturnType<typeof worldOf>;

/** The order of the records must not decide which of two paths is found. */
export const worldOf = (unordered: AccessGraph, notVisible: readonly NotVisible[]) => {
  const graph = inOrderOfIds(unordered);
  const { groups, identities, roles } = graph;
  const lineage = memoized((group: NodeId) => lineageOf(graph, group));
  const root = (group: NodeId) => lineage(group).at(-1) as NodeId;
  const children = Map.groupBy(groups.values(), ({ parent }) => parent);
  const bindings = listsBy(graph.bindings.values(), ({ identity }) => identity);
  // People without an identity may start a path. No request changes who they are.
  const bound = [...identities.values()].filter((one) => bindings(one.id).length > 0 && !isPeople(one));
  const boundIn = listsBy(bound, ({ group }) => group);
  const rolesIn = listsBy(roles.values(), ({ group }) => group);
  const isVisible = visibilityIn(graph, notVisible);
  const hiddenRoots = new Set(
    notVisible
      .filter(({ kind }) => kind === "roleBinding" || kind === "group")
      .map(({ group }) => (group === "" ? "" : root(group))),
  );
  const isWhole = (one: NodeId) => !hiddenRoots.has("") && !hiddenRoots.has(one);
  const abroad = memoized((identity: NodeId) => {
    const own = root(identities.get(identity)?.group ?? "");
    return bindings(identity).filter(({ group }) => root(group) !== own);
  });
  return {
    graph,
    /** the group and all groups above it, the group first */
    lineage,
    root,
    /** the group and all groups below it */
    below: memoized((group: NodeId) => {
      const found = new Set([group]);
      for (const id of found) for (const child of children.get(id) ?? []) found.add(child.id);
      return [...found];
    }),
    bindingsOf: bindings,
    /** identities of the group itself that have a binding */
    boundIn,
    /** bindings of an identity in organizations other than its own */
    abroad,
    /** identities that another organization trusts, and whose role bindings in their own organization are all visible */
    trusted: [...groups.keys()]
      .flatMap(boundIn)
      .filter(({ id, group }) => abroad(id).length > 0 && isWhole(root(group))),
    /** custom roles of the group itself */
    rolesIn,
    bindingsTo: listsBy(graph.bindings.values(), ({ role }) => role),
    /** roles that can be granted at the group, the smallest first */
    grantable: memoized((group: NodeId): readonly RoleNode[] =>
      [...lineage(group), null]
        .flatMap(rolesIn)
        .filter(({ capabilities }) => capabilities.length > 0)
        .sort((a, b) => a.capabilities.length - b.capabilities.length || (a.id < b.id ? -1 : 1)),
    ),
    /** capabilities of a role; none if it cannot be read */
    granted: memoized((role: NodeId) => new Set(roles.get(role)?.capabilities)),
    /** whether the capabilities of the role are known */
    isRead: memoized((role: NodeId) => {
      const node = roles.get(role);
      if (node === undefined) return false;
      return node.capabilities.length > 0 || node.group === null || isVisible("role", node.group);
    }),
    /** the strongest role that can be granted everywhere */
    owner: ownerIn(graph),
    /** whether all bindings of the organization can be listed */
    isWhole,
    /** of an identity or a role */
    nameOf: (id: NodeId) => (identities.get(id) ?? roles.get(id))?.name ?? id,
    /** for people: `platform/registry`, `the organization acme` */
    placeOf: (group: NodeId) => {
      const path = pathOf(graph, group);
      return path === "/" ? `the organization ${groups.get(group)?.name ?? group}` : path;
    },
  };
};

const inOrderOfIds = (graph: AccessGraph) =>
  Object.fromEntries(
    Object.entries(graph).map(([kind, nodes]) => [
      kind,
      new Map([...(nodes as ReadonlyMap<NodeId, unknown>)].sort(([a], [b]) => compare(a, b))),
    ]),
  ) as unknown as AccessGraph;

const listsBy = <K, V>(all: Iterable<V>, keyOf: (one: V) => K): ((key: K) => readonly V[]) => {
  const lists = Map.groupBy(all, keyOf);
  return (key) => lists.get(key) ?? [];
};

export const memoized = <K, V>(find: (key: K) => V): ((key: K) => V) => {
  const known = new Map<K, V>();
  return (key) => getOrInsert(known, key, () => find(key));
};

/** The built-in role that grants most. A policy may not name it, but the service has it. */
const ownerIn = ({ roles }: AccessGraph): { id: NodeId; name: string; capabilities: ReadonlySet<string> } => {
  const strongest = [...roles.values()]
    .filter(({ group, id }) => group === null && (isRoot(id) || id === "role owner"))
    .sort((a, b) => b.capabilities.length - a.capabilities.length)[0];
  if (strongest !== undefined && strongest.capabilities.length >= OWNER_CAPABILITIES.length / 2)
    return { id: strongest.id, name: strongest.name, capabilities: new Set(strongest.capabilities) };
  return { id: "role owner", name: "owner", capabilities: new Set(OWNER_CAPABILITIES) };
};
