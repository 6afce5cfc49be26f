// pulumi-irm/plugin: the names of pulumi-irm, with resources and functions that the native plugin serves, and its provider.
export * from "../../index.ts";
export * from "../provider.ts";
export { AccessPolicy } from "./access-policy.ts";
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
} from "./classes.ts";
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
} from "./functions.ts";
