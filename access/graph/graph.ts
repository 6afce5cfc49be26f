// The access graph: groups, identities and who may assume them, roles and their capabilities, and the bindings that connect them. It also
// contains the records that give a role to people, who are not identities: identity providers, their external groups, and invites
// (people.ts). Live organizations, policies and previews all become a graph, so that a review compares two of them.
import type { Json } from "../../schema/index.ts";
import { equalityKey } from "../canonical.ts";

/**
 * Identifies a node in all graphs of one review: the uid of a record that exists. Before that, it is its URN in a preview, or
 * `policy:<path>` in a policy.
 */
export type NodeId = string;

interface Node {
  id: NodeId;
  /** null while the record does not exist */
  uid: string | null;
  name: string;
}

export interface GroupNode extends Node {
  /** null: an organization, or a group whose parent is not visible */
  parent: NodeId | null;
  /** of the resource of a preview that creates it */
  logicalName?: string;
}

export interface IdentityNode extends Node {
  group: NodeId;
  /** who may assume it, as in the API's JSON: `{ claimMatch: { … } }`; null if it cannot be read */
  relationship: Json | null;
}

export interface RoleNode extends Node {
  /** null: a built-in role */
  group: NodeId | null;
  /** friendly names, such as `groups.list` */
  capabilities: readonly string[];
  /** named by a record that grants it, but in no list: its capabilities are unknown */
  isUnlisted?: true;
}

export interface BindingNode {
  id: NodeId;
  uid: string | null;
  group: NodeId;
  identity: NodeId;
  role: NodeId;
}

/** An identity provider, through which people sign in. Each person gets the default role in its group. */
export interface ProviderNode extends Node {
  group: NodeId;
  /** null if it is unknown */
  signIn: SignIn | null;
  /** null if it is unknown */
  defaultRole: NodeId | null;
}

export interface SignIn {
  issuer: string;
  clientId: string;
  /** claim that names the external groups of a person */
  groupsClaim: string;
}

/** People get a role if their sign-in names a group of their identity provider. */
interface ExternalGroupNode {
  id: NodeId;
  uid: string | null;
  provider: NodeId;
  externalGroupId: string;
  role: NodeId;
  /** the group of the role: the organization */
  group: NodeId;
}

/** A person who accepts an invite gets a role. Its name is its key id, or the name of its resource until it exists. */
export interface InviteNode extends Node {
  group: NodeId;
  /** null if it is unknown */
  role: NodeId | null;
  /** empty: anyone who has the code */
  email: string;
  singleUse: boolean;
  /** RFC 3339; null while it does not exist */
  expirationTime: string | null;
}

interface Nodes {
  groups: GroupNode;
  identities: IdentityNode;
  roles: RoleNode;
  bindings: BindingNode;
  providers: ProviderNode;
  externalGroups: ExternalGroupNode;
  invites: InviteNode;
}

export type AccessGraph = { readonly [K in keyof Nodes]: ReadonlyMap<NodeId, Nodes[K]> };

/** A graph that a reader fills. */
export type GraphBuilder = { readonly [K in keyof Nodes]: Map<NodeId, Nodes[K]> };

/** A copy of `graph` that can be changed; empty without one. The nodes are shared: replace them, do not change them. */
export const newGraph = (graph?: AccessGraph): GraphBuilder => ({
  groups: new Map(graph?.groups),
  identities: new Map(graph?.identities),
  roles: new Map(graph?.roles),
  bindings: new Map(graph?.bindings),
  providers: new Map(graph?.providers),
  externalGroups: new Map(graph?.externalGroups),
  invites: new Map(graph?.invites),
});

const NODES = Object.keys(newGraph()) as (keyof Nodes)[];

/** The nodes that differ between the two, once for each graph that contains them. */
export const changedNodes = (before: AccessGraph, after: AccessGraph) =>
  NODES.flatMap((kind) => {
    const isSame = (id: NodeId) => {
      const [was, is] = [before[kind].get(id), after[kind].get(id)];
      return was === is || equalityKey(was) === equalityKey(is);
    };
    const ids = [...new Set([...before[kind].keys(), ...after[kind].keys()])].filter((id) => !isSame(id));
    return [before, after].flatMap((graph) => ids.flatMap((id) => (graph[kind].has(id) ? { graph, kind, id } : [])));
  });

/**
 * Turns `/platform/registry/` into the path `platform/registry`. Uses no pattern: its time would grow with the square of a long row of
 * slashes.
 */
export const withoutSlashes = (text: string): string => {
  let [start, end] = [0, text.length];
  while (start < end && text[start] === "/") start += 1;
  while (end > start && text[end - 1] === "/") end -= 1;
  return text.slice(start, end);
};

/** The groups without a parent. */
export const organizationsIn = ({ groups }: AccessGraph): GroupNode[] =>
  [...groups.values()].filter(({ parent }) => parent === null);

/** A group and every group above it, the group first. Ends at a cycle, which only a faulty service or file has. */
export const lineageOf = ({ groups }: AccessGraph, group: NodeId): NodeId[] => {
  const lineage = new Set<NodeId>();
  for (let id: NodeId | null | undefined = group; id && !lineage.has(id); id = groups.get(id)?.parent) lineage.add(id);
  return [...lineage];
};

/** Whether a group equals another one, or is below it. */
export const isInside = (graph: AccessGraph, id: NodeId, group: NodeId): boolean =>
  lineageOf(graph, id).includes(group);

/** The names from the organization down, without its own: `platform/registry`; `/` for an organization. */
export const pathOf = (graph: AccessGraph, group: NodeId): string => {
  const names = lineageOf(graph, group)
    .slice(0, -1)
    .map((id) => nameOf(graph.groups, id));
  return names.length === 0 ? "/" : names.reverse().join("/");
};

/** The path of a group; if several organizations are visible, with the organization: `platform/registry of acme`. */
export const placesIn = (graph: AccessGraph): ((group: NodeId) => string) => {
  if (organizationsIn(graph).length < 2) return (group) => pathOf(graph, group);
  return (group) => {
    const top = lineageOf(graph, group).at(-1) as NodeId;
    return `${pathOf(graph, group)} of ${nameOf(graph.groups, top)}`;
  };
};

// A graph with other ids: for a record beside the records of another service, or a record that does not exist yet.

/** Members of nodes that are ids. */
const IDS = ["id", "parent", "group", "identity", "role", "provider", "defaultRole", "record", "people"];

/** `more` is set on each node, given its old id. The uids do not change. */
export const renamed = <G extends AccessGraph>(
  graph: G,
  idOf: (id: NodeId) => NodeId,
  more: (id: NodeId) => object = () => ({}),
): G => {
  const nodeAt = (node: { id: NodeId }): [NodeId, object] => {
    const own = Object.entries(node).map(([name, value]) => [
      name,
      IDS.includes(name) && typeof value === "string" ? idOf(value) : value,
    ]);
    return [idOf(node.id), { ...Object.fromEntries(own), ...more(node.id) }];
  };
  const kinds = Object.entries(graph).map(([kind, nodes]) => [kind, new Map([...nodes.values()].map(nodeAt))]);
  return Object.fromEntries(kinds) as G;
};

/** For people: `platform/registry`; of an organization that does not exist yet, its name. */
export const groupNameOf = (graph: AccessGraph, group: NodeId): string => {
  const { uid, parent, name, logicalName } = graph.groups.get(group) ?? {};
  return name !== undefined && uid === null && parent === null && logicalName !== undefined
    ? name
    : pathOf(graph, group);
};
/** Whether a group is an organization. */
export const isOrganization = (graph: AccessGraph, group: NodeId): boolean =>
  graph.groups.get(group)?.parent === null && lineageOf(graph, group).length === 1;
export const nameOf = (nodes: ReadonlyMap<NodeId, { name: string }>, id: NodeId): string => nodes.get(id)?.name ?? id;
