// Where each kind is stored, and the columns of its table beside the common ones.
import type { Shape } from "./store.ts";

export const groups: Shape = { table: "groups", columns: ["name"] };
export const identities: Shape = {
  table: "identities",
  columns: ["name", "last_seen_time", "relationship", "issuer", "subject"],
};
export const roles: Shape = { table: "roles", columns: ["name"] };
export const roleBindings: Shape = { table: "role_bindings", columns: ["identity_uid", "role_uid", "founding"] };
export const repos: Shape = { table: "repos", columns: ["name"] };
