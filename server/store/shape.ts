// Where each kind is stored: its own columns, and the sort keys of its lists.
import type { Resource } from "../../schema/index.ts";
import type { Shape } from "./store.ts";

const ORDERS = ["uid", "name", "create_time", "update_time"];

// The uid is that of a group. A caller who may read the records of the group may read it. Hierarchy filters treat it as a
// group.
const GROUP_UID = { groupUid: true };

export const groups: Shape = { table: "groups", columns: ["name"], orders: ORDERS, ...GROUP_UID };
export const identities: Shape = {
  table: "identities",
  columns: ["name", "last_seen_time", "relationship", "issuer", "subject"],
  orders: ORDERS,
};
export const roles: Shape = { table: "roles", columns: ["name"], orders: ORDERS };
export const roleBindings: Shape = {
  table: "role_bindings",
  columns: ["identity_uid", "role_uid", "founding"],
  orders: ["uid", "create_time"],
};
export const identityProviders: Shape = {
  table: "identity_providers",
  columns: ["name", "default_role", "has_secret"],
  orders: ORDERS,
};
export const externalGroupRoleMappings: Shape = {
  table: "external_group_role_mappings",
  columns: ["external_group_id", "role_uid", "scope"],
  orders: ["uid", "create_time"],
};
export const accountAssociations: Shape = {
  table: "account_associations",
  columns: ["name"],
  orders: ["group", ...ORDERS],
  ...GROUP_UID,
};
export const groupInvites: Shape = {
  table: "group_invites",
  columns: ["role_uid", "code_hash", "key_id", "expiration_time"],
  orders: ["uid", "create_time"],
  defaultOrder: "create_time desc",
};
export const repos: Shape = { table: "repos", columns: ["name", "readme"], orders: ORDERS };
export const tags: Shape = {
  table: "tags",
  columns: ["name", "digest", "referrer", "dated", "epoch"],
  orders: ORDERS,
};
export const advisories: Shape = {
  table: "advisories",
  columns: ["advisory_id", "artifact_name", "origin", "latest_event_type", "events", "search"],
  orders: ["uid", "create_time", "update_time"],
};

/** Where each resource is stored, by the plural of its lists. */
export const shapes: Readonly<Record<Resource["plural"], Shape>> = {
  groups,
  identities,
  roles,
  roleBindings,
  identityProviders,
  externalGroupRoleMappings,
  accountAssociations,
  groupInvites,
  repos,
  tags,
  advisories,
};
