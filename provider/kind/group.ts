// Group: the only kind that may stand at the root, and the one that everything below waits on when it is deleted.
import { Group, type Json } from "../../schema/index.ts";
import { isUnknown } from "../unknown.ts";
import type { Blockers, Kind } from "./kind.ts";

const below = (operation: Blockers["operation"], plural: string, word: string) => (uid: string) => ({
  operation,
  request: { uidp: { descendantsOf: uid } },
  plural,
  word,
});

const BELOW = [
  below("ListGroups", "groups", "group"),
  below("ListIdentities", "identities", "identity"),
  below("ListRoles", "roles", "role"),
  below("ListRepos", "repos", "repo"),
  below("ListRoleBindings", "roleBindings", "role binding"),
];

export const group: Kind = {
  type: "Group",
  word: "group",
  schema: Group,
  field: "group",
  operations: { get: "GetGroup", create: "CreateGroup", update: "UpdateGroup", delete: "DeleteGroup" },
  rootAllowed: true,
  // verified is the operator's to set; kind is inherited from the root (contract 3.0).
  serverChosen: ["verified", "kind"],
  replacementBreaks: "its uid and those of all that is below it would change, and the role bindings in it would end",
  violations: (input: Json, { parent }) =>
    input.kind !== undefined && parent !== undefined && !isUnknown(input.kind)
      ? [{ field: "kind", description: "belongs to the root group; leave it out below" }]
      : [],
  blockers: (uid) => BELOW.map((list) => list(uid)),
};
