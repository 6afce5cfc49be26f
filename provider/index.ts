// pulumi-irm: access as code. Resources, look-ups and lists for Pulumi programs.
export {
  type GetArgs,
  type GetOutputArgs,
  getGroup,
  getGroupOutput,
  getIdentity,
  getIdentityOutput,
  getRole,
  getRoleOutput,
} from "./program/get.ts";
export { Group, type GroupArgs, type GroupKind } from "./program/group.ts";
export {
  type AwsIdentity,
  type ClaimMatch,
  Identity,
  type IdentityArgs,
  type ServicePrincipal,
  type StaticKeys,
} from "./program/identity.ts";
export {
  type ListGroupsArgs,
  type ListIdentitiesArgs,
  type ListReposArgs,
  type ListRoleBindingsArgs,
  type ListRolesArgs,
  listGroups,
  listIdentities,
  listRepos,
  listRoleBindings,
  listRoles,
} from "./program/list.ts";
export { Role, type RoleArgs } from "./program/role.ts";
export { type BoundRecord, RoleBinding, type RoleBindingArgs } from "./program/role-binding.ts";
