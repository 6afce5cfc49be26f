// pulumi-irm/plugin: the names of pulumi-irm, with resources and functions that the native plugin serves, and its provider.
export * from "./index.ts";
export { AccessPolicy } from "./program/native/access-policy.ts";
export {
  AccountAssociation,
  Group,
  GroupInvite,
  Identity,
  IdentityProvider,
  Repo,
  Role,
  RoleBinding,
  RoleBindingSet,
  Tag,
} from "./program/native/classes.ts";
export {
  getAccountAssociation,
  getAccountAssociationOutput,
  getGroup,
  getGroupInvite,
  getGroupInviteOutput,
  getGroupOutput,
  getIdentity,
  getIdentityOutput,
  getIdentityProvider,
  getIdentityProviderOutput,
  getRepo,
  getRepoOutput,
  getRole,
  getRoleOutput,
  getTag,
  getTagOutput,
  listAccountAssociations,
  listGroupInvites,
  listGroups,
  listIdentities,
  listIdentityProviders,
  listRepos,
  listRoleBindings,
  listRoles,
  listTags,
} from "./program/native/functions.ts";
export * from "./program/provider.ts";
