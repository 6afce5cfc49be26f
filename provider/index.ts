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
} from "./get.ts";
export { Group, type GroupArgs, type GroupKind } from "./group.ts";
export {
  type AwsIdentity,
  type ClaimMatch,
  Identity,
  type IdentityArgs,
  type ServicePrincipal,
  type StaticKeys,
} from "./identity.ts";
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
} from "./list.ts";
export { Role, type RoleArgs } from "./role.ts";
export { type BoundRecord, RoleBinding, type RoleBindingArgs } from "./role-binding.ts";
