// Access graphs that tests write by hand.
import { createHash } from "node:crypto";
import { type GraphBuilder, type InviteNode, type NodeId, newGraph, type SignIn } from "../../access/graph/graph.ts";
import type { Proposal } from "../../access/review/proposal.ts";
import type { Json } from "../../schema/index.ts";

export const ROOT = "720909c9f5279097d847ad02a2f24ba8f59de36a";

export const uidIn = (group: string, number: number): string => `${group}/${number.toString(16).padStart(16, "0")}`;

const hash = (text: string, length: number): string => createHash("sha256").update(text).digest("hex").slice(0, length);

/** The uid of the record of this path: `/` is the organization, `platform/release` an identity in platform. */
export const uid = (path: string, root = ROOT): string =>
  [root, ...path.split("/").flatMap((name) => (name === "" ? [] : hash(name, 16)))].join("/");

/** `viewer` is a built-in role, `/viewer` one of the organization, `platform/viewer` one of a group. */
export const roleUid = (path: string, root = ROOT): string => (path.includes("/") ? uid(path, root) : hash(path, 40));

const parentIn = (path: string, root: string): string => uid(path.split("/").slice(0, -1).join("/"), root);
const nameIn = (path: string): string => path.split("/").at(-1) as string;

interface Organization {
  name?: string;
  root?: string;
  /** paths, each after that of its parent */
  groups?: readonly string[];
  /** by path, what it grants */
  roles?: Readonly<Record<string, readonly string[]>>;
  /** by path, the claims of who can assume it */
  identities?: Readonly<Record<string, Json>>;
  /** as a policy has it: identities by role by group */
  access?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

export const graphOf = (
  { name = "acme", root = ROOT, groups = [], roles = {}, identities = {}, access = {} }: Organization,
  graph: GraphBuilder = newGraph(),
): GraphBuilder => {
  addGroup(graph, root, name, null);
  for (const path of groups) addGroup(graph, uid(path, root), nameIn(path), parentIn(path, root));
  for (const [path, held] of Object.entries(roles)) {
    const id = roleUid(path, root);
    const group = path.includes("/") ? parentIn(path, root) : null;
    graph.roles.set(id, { id, uid: id, name: nameIn(path), group, capabilities: held.toSorted() });
  }
  for (const [path, claimMatch] of Object.entries(identities))
    addIdentity(graph, uid(path, root), nameIn(path), parentIn(path, root), claimMatch);
  for (const [group, given] of Object.entries(access))
    for (const [role, members] of Object.entries(given))
      for (const one of members) bind(graph, uid(group, root), uid(one, root), roleUid(role, root));
  return graph;
};

export const changed = (graph: GraphBuilder, change: (after: GraphBuilder) => unknown): GraphBuilder => {
  const after = newGraph(graph);
  change(after);
  return after;
};

export const addGroup = (graph: GraphBuilder, id: NodeId, name: string, parent: NodeId | null): NodeId => {
  graph.groups.set(id, { id, uid: uidOf(id), name, parent });
  return id;
};

export const addIdentity = (graph: GraphBuilder, id: NodeId, name: string, group: NodeId, claimMatch: Json): NodeId => {
  graph.identities.set(id, { id, uid: uidOf(id), name, group, relationship: { claimMatch } });
  return id;
};

export const addRole = (graph: GraphBuilder, name: string, held: readonly string[], group: NodeId | null = null) => {
  const id = group === null ? roleUid(name) : uidIn(group, 4096 + graph.roles.size);
  graph.roles.set(id, { id, uid: uidOf(id), name, group, capabilities: held.toSorted() });
  return id;
};

export const OKTA: SignIn = { issuer: "https://acme.okta.example", clientId: "irm", groupsClaim: "groups" };

export const addProvider = (
  graph: GraphBuilder,
  id: NodeId,
  name: string,
  defaultRole: NodeId | null,
  signIn: SignIn | null = OKTA,
): NodeId => {
  graph.providers.set(id, { id, uid: uidOf(id), name, group: ROOT, signIn, defaultRole });
  return id;
};

export const mapGroup = (graph: GraphBuilder, id: NodeId, provider: NodeId, externalGroupId: string, role: NodeId) => {
  graph.externalGroups.set(id, { id, uid: uidOf(id), provider, externalGroupId, role, group: ROOT });
};

export const addInvite = (
  graph: GraphBuilder,
  id: NodeId,
  name: string,
  group: NodeId,
  role: NodeId,
  own: Partial<InviteNode> = {},
): void => {
  const invite = { email: "", singleUse: true, expirationTime: null };
  graph.invites.set(id, { id, uid: uidOf(id), name, group, role, ...invite, ...own });
};

export const bind = (graph: GraphBuilder, group: NodeId, identity: NodeId, role: NodeId): void => {
  const id = `${group}/b ${identity} ${role}`;
  graph.bindings.set(id, { id, uid: id, group, identity, role });
};

/** What does not exist yet has a URN as its id. */
export const uidOf = (id: NodeId): string | null => (id.startsWith("urn:") ? null : id);

/** The change from one graph to another, with what two graphs cannot say in `further`. */
export const proposalBetween = (before: GraphBuilder, after: GraphBuilder, more: Partial<Proposal> = {}): Proposal => ({
  ...{ before, after, replaced: new Map(), restored: [], adopted: [], forced: [], deleted: new Set() },
  ...{ undeclared: [], unknown: [], ...more },
});
