// Generated from schema/ by `npm run generate`; not to be edited.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../../../schema/index.ts";
import type { AccountAssociation as AccountAssociationMessage, ExternalGroupRoleMapping as ExternalGroupRoleMappingMessage, Group as GroupMessage, GroupInvite as GroupInviteMessage, Identity as IdentityMessage, IdentityProvider as IdentityProviderMessage, Repo as RepoMessage, Role as RoleMessage, RoleBinding as RoleBindingMessage, Tag as TagMessage } from "../../../../schema/public.ts";
import type { GetArgs, GetByUidArgs, Inputs } from "../../get.ts";
import { get, getOutput, list } from "../../native/look-up.ts";
import type * as dynamic from "../index.ts";

export const getAccountAssociation = (args: dynamic.GetAccountAssociationArgs, opts?: pulumi.InvokeOptions): Promise<AccountAssociationMessage> =>
  get<AccountAssociationMessage>(resources.accountAssociation, args, opts);

export const getAccountAssociationOutput = (args: dynamic.GetAccountAssociationOutputArgs, opts?: pulumi.InvokeOptions): pulumi.Output<AccountAssociationMessage> =>
  getOutput<AccountAssociationMessage>(resources.accountAssociation, args, opts);

export const listAccountAssociations = (args: dynamic.ListAccountAssociationsArgs = {}, opts?: pulumi.InvokeOptions): AsyncGenerator<AccountAssociationMessage, void, undefined> =>
  list<AccountAssociationMessage>(resources.accountAssociation, args, opts);

export const getExternalGroupRoleMapping = (args: GetByUidArgs, opts?: pulumi.InvokeOptions): Promise<ExternalGroupRoleMappingMessage> =>
  get<ExternalGroupRoleMappingMessage>(resources.externalGroupRoleMapping, args, opts);

export const getExternalGroupRoleMappingOutput = (args: Inputs<GetByUidArgs>, opts?: pulumi.InvokeOptions): pulumi.Output<ExternalGroupRoleMappingMessage> =>
  getOutput<ExternalGroupRoleMappingMessage>(resources.externalGroupRoleMapping, args, opts);

export const listExternalGroupRoleMappings = (args: dynamic.ListExternalGroupRoleMappingsArgs = {}, opts?: pulumi.InvokeOptions): AsyncGenerator<ExternalGroupRoleMappingMessage, void, undefined> =>
  list<ExternalGroupRoleMappingMessage>(resources.externalGroupRoleMapping, args, opts);

export const getGroup = (args: GetArgs, opts?: pulumi.InvokeOptions): Promise<GroupMessage> =>
  get<GroupMessage>(resources.group, args, opts);

export const getGroupOutput = (args: dynamic.GetOutputArgs, opts?: pulumi.InvokeOptions): pulumi.Output<GroupMessage> =>
  getOutput<GroupMessage>(resources.group, args, opts);

export const listGroups = (args: dynamic.ListGroupsArgs = {}, opts?: pulumi.InvokeOptions): AsyncGenerator<GroupMessage, void, undefined> =>
  list<GroupMessage>(resources.group, args, opts);

export const getGroupInvite = (args: GetByUidArgs, opts?: pulumi.InvokeOptions): Promise<GroupInviteMessage> =>
  get<GroupInviteMessage>(resources.groupInvite, args, opts);

export const getGroupInviteOutput = (args: Inputs<GetByUidArgs>, opts?: pulumi.InvokeOptions): pulumi.Output<GroupInviteMessage> =>
  getOutput<GroupInviteMessage>(resources.groupInvite, args, opts);

export const listGroupInvites = (args: dynamic.ListGroupInvitesArgs = {}, opts?: pulumi.InvokeOptions): AsyncGenerator<GroupInviteMessage, void, undefined> =>
  list<GroupInviteMessage>(resources.groupInvite, args, opts);

export const getIdentity = (args: GetArgs, opts?: pulumi.InvokeOptions): Promise<IdentityMessage> =>
  get<IdentityMessage>(resources.identity, args, opts);

export const getIdentityOutput = (args: dynamic.GetOutputArgs, opts?: pulumi.InvokeOptions): pulumi.Output<IdentityMessage> =>
  getOutput<IdentityMessage>(resources.identity, args, opts);

export const listIdentities = (args: dynamic.ListIdentitiesArgs = {}, opts?: pulumi.InvokeOptions): AsyncGenerator<IdentityMessage, void, undefined> =>
  list<IdentityMessage>(resources.identity, args, opts);

export const getIdentityProvider = (args: dynamic.GetIdentityProviderArgs, opts?: pulumi.InvokeOptions): Promise<IdentityProviderMessage> =>
  get<IdentityProviderMessage>(resources.identityProvider, args, opts);

export const getIdentityProviderOutput = (args: dynamic.GetInGroupOutputArgs, opts?: pulumi.InvokeOptions): pulumi.Output<IdentityProviderMessage> =>
  getOutput<IdentityProviderMessage>(resources.identityProvider, args, opts);

export const listIdentityProviders = (args: dynamic.ListIdentityProvidersArgs = {}, opts?: pulumi.InvokeOptions): AsyncGenerator<IdentityProviderMessage, void, undefined> =>
  list<IdentityProviderMessage>(resources.identityProvider, args, opts);

export const getRepo = (args: dynamic.GetRepoArgs, opts?: pulumi.InvokeOptions): Promise<RepoMessage> =>
  get<RepoMessage>(resources.repo, args, opts);

export const getRepoOutput = (args: dynamic.GetInGroupOutputArgs, opts?: pulumi.InvokeOptions): pulumi.Output<RepoMessage> =>
  getOutput<RepoMessage>(resources.repo, args, opts);

export const listRepos = (args: dynamic.ListReposArgs = {}, opts?: pulumi.InvokeOptions): AsyncGenerator<RepoMessage, void, undefined> =>
  list<RepoMessage>(resources.repo, args, opts);

export const getRole = (args: GetArgs, opts?: pulumi.InvokeOptions): Promise<RoleMessage> =>
  get<RoleMessage>(resources.role, args, opts);

export const getRoleOutput = (args: dynamic.GetOutputArgs, opts?: pulumi.InvokeOptions): pulumi.Output<RoleMessage> =>
  getOutput<RoleMessage>(resources.role, args, opts);

export const listRoles = (args: dynamic.ListRolesArgs = {}, opts?: pulumi.InvokeOptions): AsyncGenerator<RoleMessage, void, undefined> =>
  list<RoleMessage>(resources.role, args, opts);

export const listRoleBindings = (args: dynamic.ListRoleBindingsArgs = {}, opts?: pulumi.InvokeOptions): AsyncGenerator<RoleBindingMessage, void, undefined> =>
  list<RoleBindingMessage>(resources.roleBinding, args, opts);

export const getTag = (args: dynamic.GetTagArgs, opts?: pulumi.InvokeOptions): Promise<TagMessage> =>
  get<TagMessage>(resources.tag, args, opts);

export const getTagOutput = (args: dynamic.GetTagOutputArgs, opts?: pulumi.InvokeOptions): pulumi.Output<TagMessage> =>
  getOutput<TagMessage>(resources.tag, args, opts);

export const listTags = (args: dynamic.ListTagsArgs = {}, opts?: pulumi.InvokeOptions): AsyncGenerator<TagMessage, void, undefined> =>
  list<TagMessage>(resources.tag, args, opts);
