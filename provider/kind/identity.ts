// Identity: claims and AWS principals change in place; keys and service principals replace the record
// (docs/contract.md#identities).
import { Identity } from "../../schema/index.ts";
import type { Kind } from "./kind.ts";

export const identity: Kind = {
  type: "Identity",
  word: "identity",
  schema: Identity,
  field: "identity",
  operations: { get: "GetIdentity", create: "CreateIdentity", update: "UpdateIdentity", delete: "DeleteIdentity" },
  list: { operation: "ListIdentities", plural: "identities", filters: ({ name }) => ({ name }) },
  replacementBreaks: "its uid would change: role bindings and workloads that name it would lose their access",
  blockers: (uid) => [
    { operation: "ListRoleBindings", request: { identity: uid }, plural: "roleBindings", word: "role binding" },
  ],
  guarded: "role bindings of the identity would go with it, and this run deletes none of them",
  forceable: "guarded",
};
