// An access graph with the indexes that a search for paths asks again and again.
import { getOrInsert, isRoot, OWNER_CAPABILITIES } from "../../schema/index.ts";
import { compare } from "../canonical.ts";
import {
  type AccessGraph,
  type BindingNode,
  type IdentityNode,
  lineageOf,
  type NodeId,
  nameOf,
  pathOf,
  type RoleNode,
} from "../graph/graph.ts";
import { type NotVisible, visibilityIn } from "../graph/live.ts";

export interface World {
  graph: AccessGraph;
  /** the group and all above it, the group first */
  lineage(group: NodeId): readonly NodeId[];
  root(group: NodeId): NodeId;
  /** the group and all below it */
  below(group: NodeId): readonly NodeId[];
  bindingsOf(identity: NodeId): readonly BindingNode[];
  /** identities of the group itself that have a binding */
  boundIn(group: NodeId): readonly IdentityNode[];
  /** what other organizations than its own grant an identity */
  abroad(identity: NodeId): readonly BindingNode[];
  /** identities that another organization trusts, and whose role bindings are all visible in their own */
  trusted: readonly IdentityNode[];
  /** custom roles of the group itself */
  rolesIn(group: NodeId): readonly RoleNode[];
  bindingsTo(role: NodeId): readonly BindingNode[];
  /** roles that can be granted at the group, the smallest first */
  grantable(group: NodeId): readonly RoleNode[];
  /** what a role grants; of one that cannot be read, nothing */
  granted(role: NodeId): ReadonlySet<string>;
  /** whether it is known what the role grants */
  isRead(role: NodeId): boolean;
  /** the strongest role that can be granted everywhere */
  owner: { id: NodeId; name: string; capabilities: ReadonlySet<string> };
  /** whether all bindings of the organization can be listed */
  isWhole(root: NodeId): boolean;
}

/** The order of the records must not decide which of two paths is found. */
export const worldOf = (unordered: AccessGraph, notVisible: readonly NotVisible[]): World => {
  const graph = inOrderOfIds(unordered);
  const lineage = memoized((group: NodeId) => lineageOf(graph, group));
  const root = (group: NodeId): NodeId => lineage(group).at(-1) as NodeId;
  const children = Map.groupBy(graph.groups.values(), ({ parent }) => parent);
  const below = memoized((group: NodeId): NodeId[] => {
    const found = new Set([group]);
    for (const id of found) for (const child of children.get(id) ?? []) found.add(child.id);
    return [...found];
  });
  const bindings = Map.groupBy(graph.bindings.values(), ({ identity }) => identity);
  const byRole = Map.groupBy(graph.bindings.values(), ({ role }) => role);
  const bound = [...graph.identities.values()].filter((one) => bindings.has(one.id) && !isPeople(one));
  const identities = Map.groupBy(bound, ({ group }) => group);
  const roles = Map.groupBy(graph.roles.values(), ({ group }) => group);
  const granted = memoized((role: NodeId) => new Set(graph.roles.get(role)?.capabilities));
  const isVisible = visibilityIn(graph, notVisible);
  const hiddenRoots = new Set(
    notVisible
      .filter(({ kind }) => kind === "roleBinding" || kind === "group")
      .map(({ group }) => (group === "" ? "" : root(group))),
  );
  const isWhole = (one: NodeId): boolean => !hiddenRoots.has("") && !hiddenRoots.has(one);
  const bindingsOf = (identity: NodeId): readonly BindingNode[] => bindings.get(identity) ?? [];
  const abroad = memoized((identity: NodeId) => {
    const own = root(graph.identities.get(identity)?.group ?? "");
    return bindingsOf(identity).filter(({ group }) => root(group) !== own);
  });
  return {
    graph,
    lineage,
    root,
    below,
    bindingsOf,
    abroad,
    trusted: [...graph.groups.keys()]
      .flatMap((group) => identities.get(group) ?? [])
      .filter(({ id, group }) => abroad(id).length > 0 && isWhole(root(group))),
    boundIn: (group) => identities.get(group) ?? [],
    rolesIn: (group) => roles.get(group) ?? [],
    bindingsTo: (role) => byRole.get(role) ?? [],
    grantable: memoized((group: NodeId) =>
      [...lineage(group), null]
        .flatMap((one) => roles.get(one) ?? [])
        .filter(({ capabilities }) => capabilities.length > 0)
        .sort((a, b) => a.capabilities.length - b.capabilities.length || (a.id < b.id ? -1 : 1)),
    ),
    granted,
    isRead: memoized((role: NodeId) => {
      const node = graph.roles.get(role);
      if (node === undefined) return false;
      return node.capabilities.length > 0 || node.group === null || isVisible("role", node.group);
    }),
    owner: ownerIn(graph),
    isWhole,
  };
};

const inOrderOfIds = (graph: AccessGraph): AccessGraph =>
  Object.fromEntries(
    Object.entries(graph).map(([kind, nodes]) => [
      kind,
      new Map([...(nodes as ReadonlyMap<NodeId, unknown>)].sort(([a], [b]) => compare(a, b))),
    ]),
  ) as unknown as AccessGraph;

/** Somebody without an identity of their own may start a path. No request changes who they are. */
const isPeople = (identity: IdentityNode): boolean => "who" in identity;

export const memoized = <K, V>(find: (key: K) => V): ((key: K) => V) => {
  const known = new Map<K, V>();
  return (key) => getOrInsert(known, key, () => find(key));
};

/** Of the built-in roles the one that grants most. A policy alone may not name it, and the service has it all the same. */
const ownerIn = ({ roles }: AccessGraph): World["owner"] => {
  const strongest = [...roles.values()]
    .filter(({ group, id }) => group === null && (isRoot(id) || id === "role owner"))
    .sort((a, b) => b.capabilities.length - a.capabilities.length)[0];
  if (strongest !== undefined && strongest.capabilities.length >= OWNER_CAPABILITIES.length / 2)
    return { id: strongest.id, name: strongest.name, capabilities: new Set(strongest.capabilities) };
  return { id: "role owner", name: "owner", capabilities: new Set(OWNER_CAPABILITIES) };
};

/** For people: `platform/registry`, `the organization`. */
export const placeIn = ({ graph }: Pick<World, "graph">, group: NodeId): string => {
  const path = pathOf(graph, group);
  return path === "/" ? `the organization ${nameOf(graph.groups, group)}` : path;
};
