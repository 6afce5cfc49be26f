// Every method that the API publishes, copied from the vendor's protobuf files (docs/contract.md; the libraries' from the
// published OpenAPI) and not derived from schema/, so that the schema can be compared with it.
// Columns: service below `chainguard.platform`, method, HTTP method, path, body, capabilities, scope.
const TABLE = `
iam.AccountAssociationsService GetAccountAssociation GET /iam/{version}/accountAssociations/{uid=**} - account_associations.list scoped
iam.AccountAssociationsService CreateAccountAssociation POST /iam/{version}/accountAssociations/{parent=**} account_association account_associations.create scoped
iam.AccountAssociationsService DeleteAccountAssociation DELETE /iam/{version}/accountAssociations/{uid=**} - account_associations.delete scoped
iam.AccountAssociationsService ListAccountAssociations GET /iam/{version}/accountAssociations - account_associations.list UNSCOPED
iam.AccountAssociationsService UpdateAccountAssociation PATCH /iam/{version}/accountAssociations/{account_association.uid=**} account_association account_associations.update scoped
iam.AccountAssociationsService CheckAccountAssociation POST /iam/{version}/accountAssociations/{uid=**}:checkAccountAssociation * account_associations.list scoped
iam.ExternalGroupRoleMappingsService GetExternalGroupRoleMapping GET /iam/{version}/externalGroupRoleMappings/{uid=**} - identity_providers.list scoped
iam.ExternalGroupRoleMappingsService CreateExternalGroupRoleMapping POST /iam/{version}/externalGroupRoleMappings/{parent=**} external_group_role_mapping identity_providers.create+role_bindings.create scoped
iam.ExternalGroupRoleMappingsService DeleteExternalGroupRoleMapping DELETE /iam/{version}/externalGroupRoleMappings/{uid=**} - identity_providers.delete scoped
iam.ExternalGroupRoleMappingsService BatchDeleteExternalGroupRoleMappings POST /iam/{version}/externalGroupRoleMappings:batchDelete * identity_providers.delete scoped
iam.ExternalGroupRoleMappingsService ListExternalGroupRoleMappings GET /iam/{version}/externalGroupRoleMappings - identity_providers.list UNSCOPED
iam.GroupInvitesService CreateGroupInvite POST /iam/{version}/groupInvites/{parent=**} group_invite group_invites.create+role_bindings.create scoped
iam.GroupInvitesService GetGroupInvite GET /iam/{version}/groupInvites/{uid=**} - group_invites.list scoped
iam.GroupInvitesService DeleteGroupInvite DELETE /iam/{version}/groupInvites/{uid=**} - group_invites.delete scoped
iam.GroupInvitesService ListGroupInvites GET /iam/{version}/groupInvites - group_invites.list UNSCOPED
iam.GroupsService GetGroup GET /iam/{version}/groups/{uid=**} - groups.list scoped
iam.GroupsService DeleteGroup DELETE /iam/{version}/groups/{uid=**} - groups.delete scoped
iam.GroupsService ListGroups GET /iam/{version}/groups - groups.list UNSCOPED
iam.GroupsService CreateGroup POST /iam/{version}/groups/{parent=**} group groups.create UNSCOPED
iam.GroupsService UpdateGroup PATCH /iam/{version}/groups/{group.uid=**} group groups.update scoped
iam.GroupsService LookupGroup GET /iam/{version}/groups:lookupGroup - - UNSCOPED
iam.GroupsService RequestGroupAccess POST /iam/{version}/groups/{group_uid=**}:requestGroupAccess * - UNSCOPED
iam.GroupsService CheckEligibility GET /iam/{version}/groups:checkEligibility - - UNSCOPED
iam.IdentitiesService CreateIdentity POST /iam/{version}/identities/{parent=**} identity identity.create scoped
iam.IdentitiesService GetIdentity GET /iam/{version}/identities/{uid=**} - identity.list scoped
iam.IdentitiesService DeleteIdentity DELETE /iam/{version}/identities/{uid=**} - identity.delete scoped
iam.IdentitiesService UpdateIdentity PATCH /iam/{version}/identities/{identity.uid=**} identity identity.update scoped
iam.IdentitiesService ListIdentities GET /iam/{version}/identities - identity.list UNSCOPED
iam.IdentitiesService LookupIdentity GET /iam/{version}/identities:lookupIdentity - - UNSCOPED
iam.IdentitiesService UpdateIdentityMetadata PATCH /iam/{version}/identities:updateIdentityMetadata * - UNSCOPED
iam.IdentityProvidersService ListIdentityProviders GET /iam/{version}/identityProviders - identity_providers.list UNSCOPED
iam.IdentityProvidersService GetIdentityProvider GET /iam/{version}/identityProviders/{uid=**} - identity_providers.list scoped
iam.IdentityProvidersService CreateIdentityProvider POST /iam/{version}/identityProviders/{parent=**} identity_provider identity_providers.create+role_bindings.create scoped
iam.IdentityProvidersService UpdateIdentityProvider PATCH /iam/{version}/identityProviders/{identity_provider.uid=**} identity_provider identity_providers.update+role_bindings.create scoped
iam.IdentityProvidersService DeleteIdentityProvider DELETE /iam/{version}/identityProviders/{uid=**} - identity_providers.delete scoped
iam.IdentityProvidersService GenerateScimToken POST /iam/{version}/identityProviders/{identity_provider_uid=**}:generateScimToken * identity_providers.scim.manage+identity_providers.list scoped
iam.IdentityProvidersService RegenerateScimToken POST /iam/{version}/identityProviders/{identity_provider_uid=**}:regenerateScimToken * identity_providers.scim.manage+identity_providers.list scoped
iam.IdentityProvidersService RevokeScimToken POST /iam/{version}/identityProviders/{identity_provider_uid=**}:revokeScimToken * identity_providers.scim.manage+identity_providers.list scoped
iam.IdentityProvidersService SetScimEnabled POST /iam/{version}/identityProviders/{identity_provider_uid=**}:setScimEnabled * identity_providers.scim.manage+identity_providers.list scoped
iam.RoleBindingsService GetRoleBinding GET /iam/{version}/roleBindings/{uid=**} - role_bindings.list scoped
iam.RoleBindingsService CreateRoleBinding POST /iam/{version}/roleBindings/{parent=**} role_binding role_bindings.create scoped
iam.RoleBindingsService DeleteRoleBinding DELETE /iam/{version}/roleBindings/{uid=**} - role_bindings.delete scoped
iam.RoleBindingsService ListRoleBindings GET /iam/{version}/roleBindings - role_bindings.list UNSCOPED
iam.RoleBindingsService BatchCreateRoleBindings POST /iam/{version}/roleBindings:batchCreate * role_bindings.create scoped
iam.RoleBindingsService UpdateRoleBinding PATCH /iam/{version}/roleBindings/{role_binding.uid=**} role_binding role_bindings.update scoped
iam.RolesService GetRole GET /iam/{version}/roles/{uid=**} - roles.list UNSCOPED
iam.RolesService ListRoles GET /iam/{version}/roles - roles.list UNSCOPED
iam.RolesService CreateRole POST /iam/{version}/roles/{parent=**} role roles.create scoped
iam.RolesService UpdateRole PATCH /iam/{version}/roles/{role.uid=**} role roles.update scoped
iam.RolesService DeleteRole DELETE /iam/{version}/roles/{uid=**} - roles.delete scoped
iam.TermsService AcceptTerms POST /iam/{version}/terms/{group=**} * terms.accept scoped
iam.TermsService ListTermsAcceptances GET /iam/{version}/terms/{group=**} - terms.list scoped
registry.ImagesService GetArchitectures GET /registry/{version}/repos/{repo_uid=**}/digests/{digest}/architectures - repo.list+manifest.metadata.list scoped
registry.ImagesService GetSize GET /registry/{version}/repos/{repo_uid=**}/digests/{digest}/size - repo.list+manifest.metadata.list scoped
registry.ReposService GetRepo GET /registry/{version}/repos/{uid=**} - repo.list scoped
registry.ReposService CreateRepo POST /registry/{version}/repos/{parent=**} repo repo.create scoped
registry.ReposService UpdateRepo PATCH /registry/{version}/repos/{repo.uid=**} repo repo.update scoped
registry.ReposService DeleteRepo DELETE /registry/{version}/repos/{uid=**} - repo.delete scoped
registry.ReposService ListRepos GET /registry/{version}/repos - repo.list UNSCOPED
registry.ReposService GetRepoReadme GET /registry/{version}/repos/{uid=**}/readme - repo.list scoped
registry.ReposService UpdateRepoReadme PATCH /registry/{version}/repos/{repo_readme.uid=**}/readme repo_readme repo.update+repo.internal.admin scoped
registry.OverlaysService GetOverlay GET /registry/v2beta1/overlays/{uid=**} - registry.overlays.list scoped
registry.OverlaysService ListOverlays GET /registry/v2beta1/overlays - registry.overlays.list UNSCOPED
registry.OverlaysService CreateOverlay POST /registry/v2beta1/overlays/{parent=**} overlay registry.overlays.edit scoped
registry.OverlaysService DeleteOverlay DELETE /registry/v2beta1/overlays/{uid=**} - registry.overlays.edit scoped
registry.OverlayBindingsService CreateOverlayBinding POST /registry/v2beta1/overlayBindings/{parent=**} * registry.overlays.edit scoped
registry.OverlayBindingsService GetOverlayBinding GET /registry/v2beta1/overlayBindings/{uid=**} - registry.overlays.list scoped
registry.OverlayBindingsService ListOverlayBindings GET /registry/v2beta1/overlayBindings - registry.overlays.list UNSCOPED
registry.OverlayBindingsService DeleteOverlayBinding DELETE /registry/v2beta1/overlayBindings/{uid=**} - registry.overlays.edit scoped
registry.TagsService GetTag GET /registry/{version}/tags/{uid=**} - tag.list scoped
registry.TagsService ListTags GET /registry/{version}/tags - tag.list UNSCOPED
registry.TagsService CreateTag POST /registry/{version}/tags/{parent=**} tag tag.create scoped
registry.TagsService DeleteTag DELETE /registry/{version}/tags/{uid=**} - tag.delete scoped
vulnerabilities.AdvisoriesService GetAdvisory GET /vulnerabilities/{version}/advisories/{uid=**} - advisories.list scoped
vulnerabilities.AdvisoriesService ListAdvisories GET /vulnerabilities/{version}/advisories - advisories.list UNSCOPED
events.SubscriptionsService GetSubscription GET /events/{version}/subscriptions/{uid=**} - subscriptions.list scoped
events.SubscriptionsService CreateSubscription POST /events/{version}/subscriptions/{parent=**} subscription subscriptions.create scoped
events.SubscriptionsService ListSubscriptions GET /events/{version}/subscriptions - subscriptions.list UNSCOPED
events.SubscriptionsService DeleteSubscription DELETE /events/{version}/subscriptions/{uid=**} - subscriptions.delete scoped
advisory.SecurityAdvisoryService ListDocuments GET /advisory/{version}/documents - - none
advisory.SecurityAdvisoryService ListVulnerabilityMetadata GET /advisory/{version}/metadata - - none
advisory.SecurityAdvisoryService ListResolvedVulnsReports GET /advisory/{version}/images/resolvedVulns - apk.list+repo.list+manifest.metadata.list+tag.list UNSCOPED
ping.PingService Ping GET /ping/{version}/ping - - none
iam.Groups Create POST /iam/v1/groups/{parent=**} group groups.create UNSCOPED
iam.Groups Update PUT /iam/v1/groups/{id=**} * groups.update scoped
iam.Groups List GET /iam/v1/groups - groups.list UNSCOPED
iam.Groups Delete DELETE /iam/v1/groups/{id=**} - groups.delete scoped
iam.Groups LookupGroup GET /iam/v1/groups:lookupGroup - - UNSCOPED
iam.Groups RequestGroupAccess POST /iam/v1/groups/{group_id=**}:requestGroupAccess * - UNSCOPED
iam.Groups CheckEligibility GET /iam/v1/groups:checkEligibility - - UNSCOPED
iam.Roles Create POST /iam/v1/roles/{parent_id=**} role roles.create scoped
iam.Roles Update PUT /iam/v1/roles/{id=**} * roles.update scoped
iam.Roles List GET /iam/v1/roles - roles.list UNSCOPED
iam.Roles Delete DELETE /iam/v1/roles/{id=**} - roles.delete scoped
iam.Identities Create POST /iam/v1/identities/{parent_id=**} identity identity.create scoped
iam.Identities Update PUT /iam/v1/identities/{id=**} * identity.update scoped
iam.Identities List GET /iam/v1/identities - identity.list UNSCOPED
iam.Identities Lookup GET /iam/v1/identities/lookup - - UNSCOPED
iam.Identities Delete DELETE /iam/v1/identities/{id=**} - identity.delete scoped
iam.RoleBindings Create POST /iam/v1/rolebindings/{parent=**} role_binding role_bindings.create scoped
iam.RoleBindings CreateBatch POST /iam/v1/rolebindings/batch/{parent=**} role_bindings role_bindings.create scoped
iam.RoleBindings Update PUT /iam/v1/rolebindings/{id=**} * role_bindings.update scoped
iam.RoleBindings List GET /iam/v1/rolebindings - role_bindings.list UNSCOPED
iam.RoleBindings Delete DELETE /iam/v1/rolebindings/{id=**} - role_bindings.delete scoped
iam.GroupInvites Create POST /iam/v1/group_invites/{group=**} * group_invites.create+role_bindings.create scoped
iam.GroupInvites List GET /iam/v1/group_invites - group_invites.list UNSCOPED
iam.GroupInvites Delete DELETE /iam/v1/group_invites/{id=**} - group_invites.delete scoped
iam.GroupAccountAssociations Create POST /iam/v1/account_associations/{group=**} * account_associations.create scoped
iam.GroupAccountAssociations Update PUT /iam/v1/account_associations/{group=**} * account_associations.update scoped
iam.GroupAccountAssociations List GET /iam/v1/account_associations - account_associations.list UNSCOPED
iam.GroupAccountAssociations Delete DELETE /iam/v1/account_associations/{group=**} - account_associations.delete scoped
iam.GroupAccountAssociations Check POST /iam/v1/account_associations/{group=**}:check * account_associations.list scoped
registry.Registry CreateRepo POST /registry/v1/repos/{parent_id=**} repo repo.create scoped
registry.Registry UpdateRepo PUT /registry/v1/repos/{id=**} * repo.update scoped
registry.Registry ListRepos GET /registry/v1/repos - repo.list UNSCOPED
registry.Registry DeleteRepo DELETE /registry/v1/repos/{id=**} - repo.delete scoped
libraries.ArtifactsService ListArtifacts GET /libraries/{version}/artifacts - - -
libraries.ArtifactsService GetArtifactCount GET /libraries/{version}/artifacts/count - - -
libraries.ArtifactsService ListArtifactVersions GET /libraries/{version}/artifacts/{artifact_id=**}/versions - - -
libraries.RequestGroupsService ListRequestGroups GET /libraries/{version}/requestGroups - - -
libraries.RequestGroupsService DeleteRequestGroup DELETE /libraries/{version}/requestGroups/{uid=**} - - -
libraries.RequestGroupsService GetRequestGroup GET /libraries/{version}/requestGroups/{uid=**} - - -
libraries.RequestGroupsService UpdateRequestGroup PATCH /libraries/{version}/requestGroups/{uid=**} - - -
libraries.RequestGroupsService CreateRequestGroup POST /libraries/{version}/requestGroups/{uid=**} - - -
libraries.RequestGroupsService ListRequestGroupItems GET /libraries/{version}/requestGroups/{uid=**}/items - - -
libraries.RequestGroupsService RefreshCoverage POST /libraries/{version}/requestGroups/{uid=**}:refreshCoverage - - -
libraries.RequestGroupsService RemoveItems POST /libraries/{version}/requestGroups/{uid=**}:removeItems - - -
libraries.RequestGroupsService RestoreItems POST /libraries/{version}/requestGroups/{uid=**}:restoreItems - - -
libraries.RequestGroupsService SubmitRequestGroup POST /libraries/{version}/requestGroups/{uid=**}:submit - - -
libraries.RequestGroupsService ListRequestedLibraries GET /libraries/{version}/requestedLibraries - - -
libraries.RequestGroupsService ListRequestedLibraryVersions GET /libraries/{version}/requestedLibraries:versions - - -
oidc.SecurityTokenService Exchange POST /sts/exchange - - workload
oidc.SecurityTokenService Exchange GET /sts/exchange - - workload
oidc.SecurityTokenService ExchangeRefreshToken POST /sts/exchange_refresh_token - - workload
auth.Auth GetHeadlessSession GET /sts/headless_sessions - - none
auth.Auth Validate GET /auth/v1/ok - - UNSCOPED
auth.Auth Register POST /auth/v1/register - - none
auth.Auth Delete DELETE /auth/v1/delete/{id=**} - - UNSCOPED
`;

export interface PublishedMethod {
  service: string;
  name: string;
  method: string;
  path: string;
  /** proto name of the field that the body holds; "-" = none */
  body: string;
  capabilities: string[];
  scope: string;
}

export const publishedMethods: readonly PublishedMethod[] = TABLE.trim()
  .split("\n")
  .map((line) => {
    const [service, name, method, path, body, capabilities, scope] = line.split(" ") as [
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    return {
      service,
      name,
      method,
      path,
      body,
      capabilities: capabilities === "-" ? [] : capabilities.split("+"),
      scope,
    };
  });
