// Access graphs that tests write by hand.
import type { GraphBuilder, InviteNode, NodeId, SignIn } from "../../access/graph/graph.ts";
import type { Json } from "../../schema/index.ts";

export const ROOT = "720909c9f5279097d847ad02a2f24ba8f59de36a";

export const uidIn = (group: string, number: number): string => `${group}/${number.toString(16).padStart(16, "0")}`;

export const addGroup = (graph: GraphBuilder, id: NodeId, name: string, parent: NodeId | null): NodeId => {
  graph.groups.set(id, { id, uid: uidOf(id), name, parent });
  return id;
};

export const addIdentity = (graph: GraphBuilder, id: NodeId, name: string, group: NodeId, claimMatch: Json): NodeId => {
  graph.identities.set(id, { id, uid: uidOf(id), name, group, relationship: { claimMatch } });
  return id;
};

export const addRole = (
  graph: GraphBuilder,
  name: string,
  held: readonly string[],
  group: NodeId | null = null,
): NodeId => {
  const id = group === null ? `${name.length.toString(16).padStart(40, "f")}` : uidIn(group, 4096 + graph.roles.size);
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

/** Members of an external group of a provider get a role in the organization. */
export const mapGroup = (
  graph: GraphBuilder,
  id: NodeId,
  provider: NodeId,
  externalGroupId: string,
  role: NodeId,
): void => {
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
