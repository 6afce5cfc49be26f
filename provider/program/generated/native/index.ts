// Generated from schema/ by `npm run generate`; not to be edited.
export * from "../../../index.ts";
export * from "../../provider.ts";
export type { ProviderArgs } from "../provider-args.ts";
export { AccessPolicy } from "../../native/look-up.ts";
export {
  AccountAssociation,
  ExternalGroupRoleMapping,
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
  getExternalGroupRoleMapping,
  getExternalGroupRoleMappingOutput,
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
  listExternalGroupRoleMappings,
  listGroupInvites,
  listGroups,
  listIdentities,
  listIdentityProviders,
  listRepos,
  listRoleBindings,
  listRoles,
  listTags,
} from "./functions.ts";
