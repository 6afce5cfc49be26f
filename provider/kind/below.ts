// What a group may hold, of our kinds and of others (docs/contract.md#d7), in the order in which it can be deleted: a record
// that refers to another one goes first.
import type { List } from "../../client/paginate.ts";
import type { RecordOperations } from "../../client/records.ts";

export interface Below extends List {
  remove: RecordOperations["delete"];
  word: string;
  /** its uid is that of its group, not one below */
  on?: true;
}

export const BELOW: readonly Below[] = [
  { operation: "ListRoleBindings", remove: "DeleteRoleBinding", plural: "roleBindings", word: "role binding" },
  { operation: "ListGroupInvites", remove: "DeleteGroupInvite", plural: "groupInvites", word: "group invite" },
  {
    operation: "ListAccountAssociations",
    remove: "DeleteAccountAssociation",
    plural: "accountAssociations",
    word: "account association",
    on: true,
  },
  {
    operation: "ListIdentityProviders",
    remove: "DeleteIdentityProvider",
    plural: "identityProviders",
    word: "identity provider",
  },
  { operation: "ListRepos", remove: "DeleteRepo", plural: "repos", word: "repo" },
  { operation: "ListIdentities", remove: "DeleteIdentity", plural: "identities", word: "identity" },
  { operation: "ListRoles", remove: "DeleteRole", plural: "roles", word: "role" },
  { operation: "ListGroups", remove: "DeleteGroup", plural: "groups", word: "group" },
];
