// pulumi-irm: access as code. Resources, look-ups and lists for Pulumi programs.
export {
  AccountAssociation,
  type AccountAssociationArgs,
  type GitHubInstallation,
} from "./program/account-association.ts";
export type { CustomOverlay, NamedContent, OverlayGroup, OverlayUser } from "./program/custom-overlay.ts";
export {
  type GetAccountAssociationArgs,
  type GetArgs,
  type GetByUidArgs,
  type GetIdentityProviderArgs,
  type GetOutputArgs,
  type GetRepoArgs,
  type GetTagArgs,
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
} from "./program/get.ts";
export { Group, type GroupArgs, type GroupKind } from "./program/group.ts";
export { GroupInvite, type GroupInviteArgs } from "./program/group-invite.ts";
export {
  type AwsIdentity,
  type ClaimMatch,
  Identity,
  type IdentityArgs,
  type ServicePrincipal,
  type StaticKeys,
} from "./program/identity.ts";
export {
  type CorrelationRule,
  IdentityProvider,
  type IdentityProviderArgs,
  type OidcConfig,
} from "./program/identity-provider.ts";
export {
  type ListAccountAssociationsArgs,
  type ListGroupInvitesArgs,
  type ListGroupsArgs,
  type ListIdentitiesArgs,
  type ListIdentityProvidersArgs,
  type ListReposArgs,
  type ListRoleBindingsArgs,
  type ListRolesArgs,
  type ListTagsArgs,
  listAccountAssociations,
  listGroupInvites,
  listGroups,
  listIdentities,
  listIdentityProviders,
  listRepos,
  listRoleBindings,
  listRoles,
  listTags,
} from "./program/list.ts";
export type { BoundRecord } from "./program/reference.ts";
export { type CatalogTier, Repo, type RepoArgs, type SyncConfig } from "./program/repo.ts";
export { Role, type RoleArgs } from "./program/role.ts";
export { RoleBinding, type RoleBindingArgs } from "./program/role-binding.ts";
export { Tag, type TagArgs } from "./program/tag.ts";
