// The records that the API lists, as nodes of an access graph.
import { capabilityName, Identity, type Json, oneofsOf, parentOf, rootOf } from "../../schema/index.ts";
import type { GraphBuilder, RoleNode, SignIn } from "./graph.ts";

export type Listed = Json & { uid: string };
type Named = { uid: string; name?: string };

export const addGroup = (graph: GraphBuilder, uid: string, name?: string): void => {
  const parent = parentOf(uid);
  const known = graph.groups.get(uid);
  if (name !== undefined || known === undefined)
    graph.groups.set(uid, { id: uid, uid, name: name ?? known?.name ?? uid, parent: parent === "" ? null : parent });
  // A group that is not visible may contain one that is.
  if (parent !== "" && !graph.groups.has(parent)) addGroup(graph, parent);
};

/** Who may assume it, as in the API's JSON. */
export const relationshipOf = (record: Json): Json | null => {
  const entries = Object.entries(record).filter(([name]) => RELATIONSHIPS.includes(name) && record[name] != null);
  return entries.length === 0 ? null : Object.fromEntries(entries);
};

/** The fields of an identity that say who may assume it; one of them is set. */
export const RELATIONSHIPS: readonly string[] = oneofsOf(Identity).get("relationship") ?? [];

/** The common fields of a node. Adds its group to the graph. */
const nodeIn = (graph: GraphBuilder, { uid, name }: Listed) => {
  const group = parentOf(uid);
  addGroup(graph, group);
  return { id: uid, uid, name: String(name ?? uid), group };
};

export const addIdentity = (graph: GraphBuilder, record: Listed): void => {
  graph.identities.set(record.uid, { ...nodeIn(graph, record), relationship: relationshipOf(record) });
};

export const addRole = (graph: GraphBuilder, { uid, name, capabilities = [] }: Listed): void => {
  const group = parentOf(uid) || null;
  if (group) addGroup(graph, group);
  // A capability that this version does not know is a number.
  const held = (capabilities as unknown[]).map((one) => capabilityName(String(one))).sort();
  graph.roles.set(uid, { id: uid, uid, name: String(name ?? uid), group, capabilities: held });
};

/** A role that another record names, and that no list contained: it may grant anything. */
const addNamedRole = (graph: GraphBuilder, role: Partial<Named>) => {
  if (!role.uid || graph.roles.has(role.uid)) return;
  addRole(graph, role as Listed);
  graph.roles.set(role.uid, { ...(graph.roles.get(role.uid) as RoleNode), isUnlisted: true });
};

// A binding shows the names of the records that it connects, even if their own lists do not.
export const addBinding = (graph: GraphBuilder, record: Listed): void => {
  const { uid } = record;
  const [identity, group, role] = [record.identity, record.group, record.role] as Partial<Named>[];
  if (!identity?.uid || !role?.uid) return;
  const place = parentOf(uid);
  addGroup(graph, place, graph.groups.get(place)?.name === place ? group?.name : undefined);
  if (!graph.identities.has(identity.uid)) addIdentity(graph, identity as Listed);
  addNamedRole(graph, role);
  graph.bindings.set(uid, { id: uid, uid, group: place, identity: identity.uid, role: role.uid });
};

export const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

/** How people sign in; null if a part is unknown. */
const signInOf = (oidc: unknown): SignIn | null => {
  const { issuer, clientId, groupsClaim = "" } = (oidc ?? {}) as Json;
  return typeof issuer === "string" && typeof clientId === "string" && typeof groupsClaim === "string"
    ? { issuer, clientId, groupsClaim }
    : null;
};

const addProvider = (graph: GraphBuilder, record: Listed) => {
  const { uid, oidc, defaultRole } = record;
  const own = { signIn: signInOf(oidc), defaultRole: textIn(defaultRole) || null };
  graph.providers.set(uid, { ...nodeIn(graph, record), ...own });
};

// A mapping is shown even if its identity provider is not: its uid replaces the name.
const addExternalGroup = (graph: GraphBuilder, record: Listed) => {
  const { uid, externalGroupId, roleUid, scope } = record;
  const provider = parentOf(uid);
  const group = textIn(scope) || rootOf(uid);
  if (!graph.providers.has(provider)) addProvider(graph, { uid: provider });
  addGroup(graph, group);
  const given = { externalGroupId: textIn(externalGroupId), role: textIn(roleUid) };
  graph.externalGroups.set(uid, { id: uid, uid, provider, group, ...given });
};

const addInvite = (graph: GraphBuilder, record: Listed) => {
  const { uid, roleUid, keyId, email, singleUse, expirationTime } = record;
  const role = record.role as Partial<Named> | undefined;
  if (role) addNamedRole(graph, role);
  graph.invites.set(uid, {
    ...nodeIn(graph, { uid, name: textIn(keyId) || uid }),
    role: role?.uid || textIn(roleUid) || null,
    email: textIn(email),
    singleUse: singleUse === true,
    expirationTime: textIn(expirationTime) || null,
  });
};

/** Adds a record of each kind to a graph. Kinds that others refer to come first. */
export const ADD = {
  group: (graph, { uid, name }) => addGroup(graph, uid, name as string | undefined),
  identity: addIdentity,
  role: addRole,
  roleBinding: addBinding,
  identityProvider: addProvider,
  groupInvite: addInvite,
  externalGroupRoleMapping: addExternalGroup,
} as const satisfies Record<string, (graph: GraphBuilder, record: Listed) => void>;
