// Methods that the API publishes and this version does not serve. They answer UNIMPLEMENTED (501), never 404
// (docs/internals/contract.md#d31).
import { rowsOf } from "./once.ts";
import type { HttpMethod } from "./operation.ts";

// service, method, HTTP method, path template; overlays and their bindings exist in v2beta1 only
const ROWS = `
iam.GroupsService RequestGroupAccess POST /iam/{version}/groups/{groupUid=**}:requestGroupAccess
iam.GroupsService CheckEligibility GET /iam/{version}/groups:checkEligibility
iam.IdentitiesService UpdateIdentityMetadata PATCH /iam/{version}/identities:updateIdentityMetadata
iam.IdentityProvidersService GenerateScimToken POST /iam/{version}/identityProviders/{identityProviderUid=**}:generateScimToken
iam.IdentityProvidersService RegenerateScimToken POST /iam/{version}/identityProviders/{identityProviderUid=**}:regenerateScimToken
iam.IdentityProvidersService RevokeScimToken POST /iam/{version}/identityProviders/{identityProviderUid=**}:revokeScimToken
iam.IdentityProvidersService SetScimEnabled POST /iam/{version}/identityProviders/{identityProviderUid=**}:setScimEnabled
iam.TermsService AcceptTerms POST /iam/{version}/terms/{group=**}
iam.TermsService ListTermsAcceptances GET /iam/{version}/terms/{group=**}
registry.ImagesService GetArchitectures GET /registry/{version}/repos/{repoUid=**}/digests/{digest}/architectures
registry.ImagesService GetSize GET /registry/{version}/repos/{repoUid=**}/digests/{digest}/size
registry.OverlaysService GetOverlay GET /registry/v2beta1/overlays/{uid=**}
registry.OverlaysService ListOverlays GET /registry/v2beta1/overlays
registry.OverlaysService CreateOverlay POST /registry/v2beta1/overlays/{parent=**}
registry.OverlaysService DeleteOverlay DELETE /registry/v2beta1/overlays/{uid=**}
registry.OverlayBindingsService CreateOverlayBinding POST /registry/v2beta1/overlayBindings/{parent=**}
registry.OverlayBindingsService GetOverlayBinding GET /registry/v2beta1/overlayBindings/{uid=**}
registry.OverlayBindingsService ListOverlayBindings GET /registry/v2beta1/overlayBindings
registry.OverlayBindingsService DeleteOverlayBinding DELETE /registry/v2beta1/overlayBindings/{uid=**}
events.SubscriptionsService GetSubscription GET /events/{version}/subscriptions/{uid=**}
events.SubscriptionsService CreateSubscription POST /events/{version}/subscriptions/{parent=**}
events.SubscriptionsService ListSubscriptions GET /events/{version}/subscriptions
events.SubscriptionsService DeleteSubscription DELETE /events/{version}/subscriptions/{uid=**}
advisory.SecurityAdvisoryService ListDocuments GET /advisory/{version}/documents
advisory.SecurityAdvisoryService ListVulnerabilityMetadata GET /advisory/{version}/metadata
advisory.SecurityAdvisoryService ListResolvedVulnsReports GET /advisory/{version}/images/resolvedVulns
iam.Groups Create POST /iam/v1/groups/{parent=**}
iam.Groups Update PUT /iam/v1/groups/{id=**}
iam.Groups Delete DELETE /iam/v1/groups/{id=**}
iam.Groups LookupGroup GET /iam/v1/groups:lookupGroup
iam.Groups RequestGroupAccess POST /iam/v1/groups/{groupId=**}:requestGroupAccess
iam.Groups CheckEligibility GET /iam/v1/groups:checkEligibility
iam.Roles Create POST /iam/v1/roles/{parentId=**}
iam.Roles Update PUT /iam/v1/roles/{id=**}
iam.Roles Delete DELETE /iam/v1/roles/{id=**}
iam.Identities Create POST /iam/v1/identities/{parentId=**}
iam.Identities Update PUT /iam/v1/identities/{id=**}
iam.Identities Delete DELETE /iam/v1/identities/{id=**}
iam.RoleBindings Create POST /iam/v1/rolebindings/{parent=**}
iam.RoleBindings CreateBatch POST /iam/v1/rolebindings/batch/{parent=**}
iam.RoleBindings Update PUT /iam/v1/rolebindings/{id=**}
iam.RoleBindings Delete DELETE /iam/v1/rolebindings/{id=**}
iam.GroupInvites Create POST /iam/v1/group_invites/{group=**}
iam.GroupInvites Delete DELETE /iam/v1/group_invites/{id=**}
iam.GroupAccountAssociations Create POST /iam/v1/account_associations/{group=**}
iam.GroupAccountAssociations Update PUT /iam/v1/account_associations/{group=**}
iam.GroupAccountAssociations Delete DELETE /iam/v1/account_associations/{group=**}
iam.GroupAccountAssociations Check POST /iam/v1/account_associations/{group=**}:check
registry.Registry CreateRepo POST /registry/v1/repos/{parentId=**}
registry.Registry UpdateRepo PUT /registry/v1/repos/{id=**}
registry.Registry DeleteRepo DELETE /registry/v1/repos/{id=**}
auth.Auth GetHeadlessSession GET /sts/headless_sessions
auth.Auth Register POST /auth/v1/register
auth.Auth Delete DELETE /auth/v1/delete/{id=**}
libraries.ArtifactsService ListArtifacts GET /libraries/{version}/artifacts
libraries.ArtifactsService GetArtifactCount GET /libraries/{version}/artifacts/count
libraries.ArtifactsService ListArtifactVersions GET /libraries/{version}/artifacts/{artifactId=**}/versions
libraries.RequestGroupsService ListRequestGroups GET /libraries/{version}/requestGroups
libraries.RequestGroupsService DeleteRequestGroup DELETE /libraries/{version}/requestGroups/{uid=**}
libraries.RequestGroupsService GetRequestGroup GET /libraries/{version}/requestGroups/{uid=**}
libraries.RequestGroupsService UpdateRequestGroup PATCH /libraries/{version}/requestGroups/{uid=**}
libraries.RequestGroupsService CreateRequestGroup POST /libraries/{version}/requestGroups/{uid=**}
libraries.RequestGroupsService ListRequestGroupItems GET /libraries/{version}/requestGroups/{uid=**}/items
libraries.RequestGroupsService RefreshCoverage POST /libraries/{version}/requestGroups/{uid=**}:refreshCoverage
libraries.RequestGroupsService RemoveItems POST /libraries/{version}/requestGroups/{uid=**}:removeItems
libraries.RequestGroupsService RestoreItems POST /libraries/{version}/requestGroups/{uid=**}:restoreItems
libraries.RequestGroupsService SubmitRequestGroup POST /libraries/{version}/requestGroups/{uid=**}:submit
libraries.RequestGroupsService ListRequestedLibraries GET /libraries/{version}/requestedLibraries
libraries.RequestGroupsService ListRequestedLibraryVersions GET /libraries/{version}/requestedLibraries:versions
`;

export interface PublishedMethod {
  service: string;
  name: string;
  method: HttpMethod;
  path: string;
}

export const unservedMethods: readonly PublishedMethod[] = rowsOf(ROWS).map((row) => {
  const [service, name, method, path] = row.split(" ") as [string, string, HttpMethod, string];
  return { service, name, method, path };
});
