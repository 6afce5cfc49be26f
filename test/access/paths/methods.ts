// What each method that changes something lets its caller gain. A request of a path is of a method that is a step here.
import type { OperationName } from "../../../schema/index.ts";

interface Method {
  /** `step`: the search sends it. `covered`: what it leads to, a step leads to in no more requests. `none`: it leads to no capability */
  part: "step" | "covered" | "none";
  why: string;
}

const step = (why: string): Method => ({ part: "step", why });
const covered = (why: string): Method => ({ part: "covered", why });
const none = (why: string): Method => ({ part: "none", why });

/** The served methods that do not only read. */
export const METHODS = {
  CreateRoleBinding: step("gives a role at a group"),
  UpdateRoleBinding: step("gives another role, or takes a binding out of the way"),
  DeleteRoleBinding: step("takes a binding out of the way of a change of claims"),
  BatchCreateRoleBindings: covered("does what CreateRoleBinding does, 25 times"),
  CreateRole: step("makes a role that grants just what is held"),
  UpdateRole: step("gives capabilities to all who have the role"),
  DeleteRole: none("only a role that nobody has can be deleted"),
  UpdateIdentity: step("decides who may assume the identity"),
  CreateIdentity: covered("a new identity holds nothing; a role that it gets can be given to the caller"),
  DeleteIdentity: none("takes the bindings of the identity away with it"),
  UpdateIdentityProvider: step("decides who may sign in, and get the roles of its external groups"),
  CreateIdentityProvider: covered("takes role_bindings.create at its group, which gives its default role by itself"),
  DeleteIdentityProvider: none("people can no longer sign in there"),
  CreateExternalGroupRoleMapping: covered(
    "takes all that the role grants, where it is granted; the contract says so itself",
  ),
  DeleteExternalGroupRoleMapping: none("takes a role away"),
  BatchDeleteExternalGroupRoleMappings: none("takes roles away"),
  CreateGroupInvite: covered("takes role_bindings.create at its group, which gives the role by itself"),
  DeleteGroupInvite: none("takes a promise of a role away"),
  CreateGroup: covered("a group of one's own holds nothing; a new organization has only what its founder makes"),
  UpdateGroup: none("changes names and kinds"),
  DeleteGroup: none("only an empty group can be deleted"),
  CreateAccountAssociation: none("lets the platform act at a cloud, and nobody here"),
  UpdateAccountAssociation: none("lets the platform act at a cloud, and nobody here"),
  DeleteAccountAssociation: none("ends what the platform does at a cloud"),
  CheckAccountAssociation: none("asks the cloud"),
  CreateRepo: none("holds images, and no capability"),
  UpdateRepo: none("holds images, and no capability"),
  DeleteRepo: none("takes images away"),
  UpdateRepoReadme: none("is a text"),
  CreateTag: none("names an image"),
  DeleteTag: none("takes a name away"),
  Exchange: covered("does what ExchangeGet does"),
  ExchangeGet: step("a workload becomes an identity that trusts it"),
  ExchangeRefreshToken: covered("renews a token of the same identity"),
} satisfies Partial<Record<OperationName, Method>>;

/** The published methods of access that no reference server serves, by service and name. */
export const UNSERVED = {
  "auth.Auth/Register": step("a person accepts an invite, with its code"),
  "iam.IdentityProvidersService/GenerateScimToken": step(
    "puts people into the external groups of an identity provider",
  ),
  "iam.IdentityProvidersService/RegenerateScimToken": covered("does what GenerateScimToken does"),
  "iam.IdentityProvidersService/RevokeScimToken": none("ends a token"),
  "iam.IdentityProvidersService/SetScimEnabled": covered("goes with GenerateScimToken, by the same capability"),
  "iam.GroupsService/RequestGroupAccess": none("asks an owner, who decides"),
  "iam.IdentitiesService/UpdateIdentityMetadata": none("changes what a person says of itself"),
  "iam.TermsService/AcceptTerms": none("accepts a contract"),
  "auth.Auth/Delete": none("takes an account away"),
  "iam.Groups/Create": covered("does what CreateGroup does"),
  "iam.Groups/Update": none("changes names and kinds"),
  "iam.Groups/Delete": none("only an empty group can be deleted"),
  "iam.Groups/RequestGroupAccess": none("asks an owner, who decides"),
  "iam.Roles/Create": covered("does what CreateRole does, by the same capability"),
  "iam.Roles/Update": covered("does what UpdateRole does, by the same capability"),
  "iam.Roles/Delete": none("only a role that nobody has can be deleted"),
  "iam.Identities/Create": covered("does what CreateIdentity does, by the same capability"),
  "iam.Identities/Update": covered("does what UpdateIdentity does, by the same capability"),
  "iam.Identities/Delete": none("takes the bindings of the identity away with it"),
  "iam.RoleBindings/Create": covered("does what CreateRoleBinding does, by the same capability"),
  "iam.RoleBindings/CreateBatch": covered("does what CreateRoleBinding does, by the same capability"),
  "iam.RoleBindings/Update": covered("does what UpdateRoleBinding does, by the same capability"),
  "iam.RoleBindings/Delete": covered("does what DeleteRoleBinding does, by the same capability"),
  "iam.GroupInvites/Create": covered("does what CreateGroupInvite does, by the same capability"),
  "iam.GroupInvites/Delete": none("takes a promise of a role away"),
  "iam.GroupAccountAssociations/Create": none("lets the platform act at a cloud, and nobody here"),
  "iam.GroupAccountAssociations/Update": none("lets the platform act at a cloud, and nobody here"),
  "iam.GroupAccountAssociations/Delete": none("ends what the platform does at a cloud"),
  "iam.GroupAccountAssociations/Check": none("asks the cloud"),
} satisfies Record<string, Method>;
