// RoleBinding: written by uids, answered with the identity, the group and the role spelt out (contract 3.0).
import { type Json, RoleBinding } from "../../schema/index.ts";
import type { Kind } from "./kind.ts";

const HYDRATED = ["identity", "group", "role"];

const uidOf = (record: unknown): unknown => (record as { uid?: unknown } | undefined)?.uid;

export const roleBinding: Kind = {
  type: "RoleBinding",
  word: "role binding",
  schema: RoleBinding,
  field: "roleBinding",
  operations: {
    get: "GetRoleBinding",
    create: "CreateRoleBinding",
    update: "UpdateRoleBinding",
    delete: "DeleteRoleBinding",
  },
  list: {
    operation: "ListRoleBindings",
    plural: "roleBindings",
    filters: ({ identityUid, roleUid }) => ({ identity: identityUid, role: roleUid }),
  },
  arguments: { identityUid: "identity", roleUid: "role" },
  // Samples of the API do not echo the two uids: they stand in the objects.
  observed: (answer: Json) => ({
    ...answer,
    identityUid: answer.identityUid || uidOf(answer.identity),
    roleUid: answer.roleUid || uidOf(answer.role),
  }),
  // Names and descriptions belong to other records: no drift of this one.
  settled: (observed: Json, stored: Json) => {
    const kept = HYDRATED.filter((name) => stored[name] && uidOf(stored[name]) === uidOf(observed[name]));
    return { ...observed, ...Object.fromEntries(kept.map((name) => [name, stored[name]])) };
  },
  releases: ({ roleUid, identityUid }: Json) => [roleUid, identityUid].filter((uid) => typeof uid === "string"),
};
