// Generated from schema/ by `npm run generate`; not to be edited.
// The API's messages as they are in JSON.

export interface AccountAssociation {
  /** uid of its group */
  uid: string;
  /** matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: string;
  /** one line, at most 512 characters */
  description?: string | undefined;
  amazon?: AccountAssociationAmazon | undefined;
  google?: AccountAssociationGoogle | undefined;
  chainguard?: AccountAssociationChainguard | undefined;
  azure?: AccountAssociationAzure | undefined;
  createTime: string;
  updateTime: string;
  github?: AccountAssociationGitHub | undefined;
}

export interface AccountAssociationAmazon {
  account: string;
}

export interface AccountAssociationAzure {
  tenantId: string;
  /** client id by the component's name */
  clientIds: Record<string, string>;
}

export interface AccountAssociationChainguard {
  /** uid of the identity that a service assumes, by the service's name */
  serviceBindings: Record<string, string>;
}

export interface AccountAssociationGitHub {
  /** installations by the id of the app */
  appInstallations?: Record<string, AccountAssociationGitHubAppInstallations> | undefined;
}

export interface AccountAssociationGitHubAppInstallations {
  /** of one app */
  installations?: AccountAssociationGitHubInstallation[] | undefined;
}

export interface AccountAssociationGitHubInstallation {
  installationId: string;
  /** for people to read */
  name?: string | undefined;
}

export interface AccountAssociationGoogle {
  projectId: string;
  projectNumber: string;
}

export interface Advisory {
  /** uid of its group, then a segment of its own */
  uid: string;
  /** such as CGA-xvgw-cvr7-9g2q */
  advisoryId: string;
  createTime: string;
  updateTime: string;
  deleteTime?: string | undefined;
  author: string;
  artifactName: string;
  /** apk, image, library */
  artifactType: string;
  artifactArchitecture: string;
  componentName: string;
  componentLocation: string;
  /** ecosystem of the component: go-module, python */
  componentType: string;
  /** other identifiers of the vulnerability: CVE, GHSA */
  aliases?: string[] | undefined;
  events?: AdvisoryEvent[] | undefined;
  legacyAdvisoryId?: string | undefined;
  severities?: readonly Severity[] | undefined;
}

export interface AdvisoryEvent {
  uid: string;
  createTime: string;
  findings?: string | undefined;
  author: string;
  reviewer?: string | undefined;
  reviewState: ReviewState;
  issue?: string | undefined;
  detection?: AdvisoryEventDetection | undefined;
  fixed?: AdvisoryEventFixed | undefined;
  falsePositiveDetermination?: AdvisoryEventFalsePositiveDetermination | undefined;
  analysisNotPlanned?: AdvisoryEventAnalysisNotPlanned | undefined;
  fixNotPlanned?: AdvisoryEventFixNotPlanned | undefined;
  pendingUpstreamFix?: AdvisoryEventPendingUpstreamFix | undefined;
  truePositiveDetermination?: AdvisoryEventTruePositiveDetermination | undefined;
  patched?: AdvisoryEventPatched | undefined;
}

export interface AdvisoryEventAnalysisNotPlanned {
  note?: string | undefined;
}

export interface AdvisoryEventDetection {
  nvdapi?: AdvisoryEventDetectionNVDAPI | undefined;
  manual?: AdvisoryEventDetectionManual | undefined;
  scanv1?: AdvisoryEventDetectionScanV1 | undefined;
}

export type AdvisoryEventDetectionManual = Record<string, never>;

export interface AdvisoryEventDetectionNVDAPI {
  cpeSearched?: string | undefined;
  cpeFound?: string | undefined;
}

export interface AdvisoryEventDetectionScanV1 {
  scanner?: string | undefined;
  subpackage?: string | undefined;
  componentId?: string | undefined;
  component?: string | undefined;
  componentVersion?: string | undefined;
  componentType?: string | undefined;
  componentLocation?: string | undefined;
  artifactVersion?: string | undefined;
  scannerVersion?: string | undefined;
  grypeDbBuilt?: string | undefined;
  grypeDbChecksum?: string | undefined;
}

export interface AdvisoryEventFalsePositiveDetermination {
  type?: AdvisoryEventFalsePositiveDeterminationType | undefined;
  note?: string | undefined;
}

export type AdvisoryEventFalsePositiveDeterminationType =
  | "TYPE_UNSPECIFIED"
  | "TYPE_VULNERABILITY_RECORD_ANALYSIS_CONTESTED"
  | "TYPE_COMPONENT_VULNERABILITY_MISMATCH"
  | "TYPE_VULNERABLE_CODE_VERSION_NOT_USED"
  | "TYPE_VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE"
  | "TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH"
  | "TYPE_VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY"
  | "TYPE_INLINE_MITIGATIONS_EXIST";

export interface AdvisoryEventFixNotPlanned {
  note?: string | undefined;
}

export interface AdvisoryEventFixed {
  fixedVersion?: string | undefined;
  note?: string | undefined;
  scannerVersion?: string | undefined;
  grypeDbBuilt?: string | undefined;
  grypeDbChecksum?: string | undefined;
}

export interface AdvisoryEventPatched {
  patchedVersions?: string[] | undefined;
  note?: string | undefined;
}

export interface AdvisoryEventPendingUpstreamFix {
  note?: string | undefined;
}

export interface AdvisoryEventTruePositiveDetermination {
  note?: string | undefined;
}

export type Capability =
  | "UNKNOWN"
  | "CAP_INTERNAL"
  | "CAP_IAM_GROUPS_CREATE"
  | "CAP_IAM_GROUPS_UPDATE"
  | "CAP_IAM_GROUPS_LIST"
  | "CAP_IAM_GROUPS_DELETE"
  | "CAP_IAM_GROUP_INVITES_CREATE"
  | "CAP_IAM_GROUP_INVITES_LIST"
  | "CAP_IAM_GROUP_INVITES_DELETE"
  | "CAP_IAM_ROLES_CREATE"
  | "CAP_IAM_ROLES_UPDATE"
  | "CAP_IAM_ROLES_LIST"
  | "CAP_IAM_ROLES_DELETE"
  | "CAP_IAM_ROLE_BINDINGS_CREATE"
  | "CAP_IAM_ROLE_BINDINGS_UPDATE"
  | "CAP_IAM_ROLE_BINDINGS_LIST"
  | "CAP_IAM_ROLE_BINDINGS_DELETE"
  | "CAP_TENANT_CLUSTERS_CREATE"
  | "CAP_TENANT_CLUSTERS_UPDATE"
  | "CAP_TENANT_CLUSTERS_LIST"
  | "CAP_TENANT_CLUSTERS_DELETE"
  | "CAP_TENANT_CLUSTERS_DISCOVER"
  | "CAP_TENANT_RECORDS_LIST"
  | "CAP_TENANT_RECORD_CONTEXTS_LIST"
  | "CAP_TENANT_RECORD_SIGNATURES_LIST"
  | "CAP_TENANT_RECORD_POLICY_RESULTS_LIST"
  | "CAP_TENANT_RISKS_LIST"
  | "CAP_TENANT_SBOMS_LIST"
  | "CAP_TENANT_VULN_REPORTS_LIST"
  | "CAP_TENANT_ATTESTATIONS_LIST"
  | "CAP_IAM_ACCOUNT_ASSOCIATIONS_CREATE"
  | "CAP_IAM_ACCOUNT_ASSOCIATIONS_UPDATE"
  | "CAP_IAM_ACCOUNT_ASSOCIATIONS_LIST"
  | "CAP_IAM_ACCOUNT_ASSOCIATIONS_DELETE"
  | "CAP_IAM_POLICY_CREATE"
  | "CAP_IAM_POLICY_UPDATE"
  | "CAP_IAM_POLICY_LIST"
  | "CAP_IAM_POLICY_DELETE"
  | "CAP_IAM_IDENTITY_CREATE"
  | "CAP_IAM_IDENTITY_UPDATE"
  | "CAP_IAM_IDENTITY_LIST"
  | "CAP_IAM_IDENTITY_DELETE"
  | "CAP_TENANT_NODES_LIST"
  | "CAP_TENANT_NAMESPACES_LIST"
  | "CAP_TENANT_WORKLOADS_LIST"
  | "CAP_IAM_IDENTITY_PROVIDERS_CREATE"
  | "CAP_IAM_IDENTITY_PROVIDERS_UPDATE"
  | "CAP_IAM_IDENTITY_PROVIDERS_LIST"
  | "CAP_IAM_IDENTITY_PROVIDERS_DELETE"
  | "CAP_IAM_SCIM_MANAGE"
  | "CAP_EVENTS_SUBSCRIPTION_CREATE"
  | "CAP_EVENTS_SUBSCRIPTION_UPDATE"
  | "CAP_EVENTS_SUBSCRIPTION_LIST"
  | "CAP_EVENTS_SUBSCRIPTION_DELETE"
  | "CAP_REPO_BLOBS_GET"
  | "CAP_REPO_CREATE"
  | "CAP_REPO_UPDATE"
  | "CAP_REPO_LIST"
  | "CAP_REPO_DELETE"
  | "CAP_MANIFEST_CREATE"
  | "CAP_MANIFEST_UPDATE"
  | "CAP_MANIFEST_LIST"
  | "CAP_MANIFEST_DELETE"
  | "CAP_TAG_CREATE"
  | "CAP_TAG_UPDATE"
  | "CAP_TAG_LIST"
  | "CAP_TAG_DELETE"
  | "CAP_MANIFEST_METADATA_LIST"
  | "CAP_REFERRERS_LIST"
  | "CAP_REPO_INTERNAL_ADMIN"
  | "CAP_APK_BLOBS_GET"
  | "CAP_APK_CREATE"
  | "CAP_APK_UPDATE"
  | "CAP_APK_LIST"
  | "CAP_APK_DELETE"
  | "CAP_VERSION_LIST"
  | "CAP_VULN_REPORT_CREATE"
  | "CAP_VULN_REPORT_LIST"
  | "CAP_VULN_CREATE"
  | "CAP_BUILD_REPORT_LIST"
  | "CAP_LIBRARIES_ENTITLEMENTS_CREATE"
  | "CAP_LIBRARIES_ENTITLEMENTS_LIST"
  | "CAP_LIBRARIES_ENTITLEMENTS_DELETE"
  | "CAP_LIBRARIES_ARTIFACTS_LIST"
  | "CAP_LIBRARIES_PYTHON_LIST"
  | "CAP_LIBRARIES_PYTHON_CREATE"
  | "CAP_LIBRARIES_JAVA_LIST"
  | "CAP_LIBRARIES_JAVA_CREATE"
  | "CAP_LIBRARIES_JAVASCRIPT_LIST"
  | "CAP_LIBRARIES_JAVASCRIPT_CREATE"
  | "CAP_LIBRARIES_DOTNET_LIST"
  | "CAP_LIBRARIES_DOTNET_CREATE"
  | "CAP_LIBRARIES_GO_LIST"
  | "CAP_LIBRARIES_GO_CREATE"
  | "CAP_LIBRARIES_CACHE_INVALIDATE"
  | "CAP_LIBRARIES_CACHE_LIST"
  | "CAP_LIBRARIES_REBUILDER_REQUESTS_CREATE"
  | "CAP_LIBRARIES_REBUILDER_REQUESTS_LIST"
  | "CAP_LIBRARIES_REBUILDER_REQUESTS_CANCEL"
  | "CAP_LIBRARIES_REBUILDER_REQUESTS_GROUP_UPDATE"
  | "CAP_LIBRARIES_REBUILDER_ARTIFACTS_INVALIDATE"
  | "CAP_LIBRARIES_REBUILDER_EXCLUSIONS_MANAGE"
  | "CAP_LIBRARIES_REBUILDER_BUILDS_READ"
  | "CAP_LIBRARIES_REBUILDER_BUILDS_TOKENS_FETCH"
  | "CAP_LIBRARIES_REBUILDER_BUILDS_UNTRUSTED"
  | "CAP_LIBRARIES_REBUILDER_REMEDIATED_ARTIFACTS_READ"
  | "CAP_LIBRARIES_REBUILDER_NEW_VERSIONS_READ"
  | "CAP_LIBRARIES_REBUILDER_NEW_VERSIONS_REFRESH"
  | "CAP_LIBRARIES_REBUILDER_MALWARE_STATUS_READ"
  | "CAP_LIBRARIES_REBUILDER_CVE_REMEDIATIONS_LIST"
  | "CAP_LIBRARIES_REBUILDER_CVE_REMEDIATIONS_UPDATE"
  | "CAP_LIBRARIES_REBUILDER_SOURCE_COORDINATES_WRITE"
  | "CAP_LIBRARIES_REBUILDER_SOURCE_COORDINATES_RESOLVE"
  | "CAP_LIBRARIES_AWS_MARKETPLACE_SUBSCRIPTIONS_CREATE"
  | "CAP_LIBRARIES_AWS_MARKETPLACE_SUBSCRIPTIONS_UPDATE"
  | "CAP_LIBRARIES_AWS_MARKETPLACE_SUBSCRIPTIONS_LIST"
  | "CAP_LIBRARIES_REQUEST_GROUPS_CREATE"
  | "CAP_LIBRARIES_REQUEST_GROUPS_LIST"
  | "CAP_LIBRARIES_REQUEST_GROUPS_UPDATE"
  | "CAP_LIBRARIES_REQUEST_GROUPS_DELETE"
  | "CAP_LIBRARIES_REQUEST_GROUPS_SUBMIT"
  | "CAP_LIBRARIES_REQUEST_GROUPS_ITEMS_UPDATE"
  | "CAP_LIBRARIES_REQUEST_GROUPS_REFRESH_COVERAGE"
  | "CAP_LIBRARIES_REQUEST_GROUPS_DELETE_SUBMITTED"
  | "CAP_LIBRARIES_REMOTE_REGISTRIES_CREATE"
  | "CAP_LIBRARIES_REMOTE_REGISTRIES_LIST"
  | "CAP_LIBRARIES_REMOTE_REGISTRIES_DELETE"
  | "CAP_REGISTRY_ENTITLEMENTS_LIST"
  | "CAP_REGISTRY_ENTITLEMENTS_CREATE"
  | "CAP_REGISTRY_ENTITLEMENTS_DELETE"
  | "CAP_REGISTRY_ENTITLEMENTS_IMAGES_ADD"
  | "CAP_REGISTRY_ENTITLEMENTS_IMAGES_REMOVE"
  | "CAP_REGISTRY_ENTITLEMENTS_IMAGES_SWAP"
  | "CAP_REGISTRY_SETTINGS_LIST"
  | "CAP_REGISTRY_SETTINGS_UPDATE"
  | "CAP_REGISTRY_OVERLAYS_LIST"
  | "CAP_REGISTRY_OVERLAYS_EDIT"
  | "CAP_SIGSTORE_CREATE"
  | "CAP_SIGSTORE_UPDATE"
  | "CAP_SIGSTORE_LIST"
  | "CAP_SIGSTORE_DELETE"
  | "CAP_SIGSTORE_CERTIFICATE_CREATE"
  | "CAP_ADVISORIES_CREATE"
  | "CAP_ADVISORIES_UPDATE"
  | "CAP_ADVISORIES_LIST"
  | "CAP_ADVISORIES_DELETE"
  | "CAP_ADVISORIES_APPROVE"
  | "CAP_REGISTRY_DEPLOYMENTS_CREATE"
  | "CAP_REGISTRY_DEPLOYMENTS_UPDATE"
  | "CAP_REGISTRY_DEPLOYMENTS_LIST"
  | "CAP_POLICIES_POLICY_CREATE"
  | "CAP_POLICIES_POLICY_UPDATE"
  | "CAP_POLICIES_POLICY_LIST"
  | "CAP_POLICIES_POLICY_DELETE"
  | "CAP_POLICIES_BINDING_CREATE"
  | "CAP_POLICIES_BINDING_UPDATE"
  | "CAP_POLICIES_BINDING_LIST"
  | "CAP_POLICIES_BINDING_DELETE"
  | "CAP_POLICIES_DECISION_LIST"
  | "CAP_POLICIES_OVERRIDE_CREATE"
  | "CAP_POLICIES_OVERRIDE_LIST"
  | "CAP_POLICIES_OVERRIDE_DELETE"
  | "CAP_REPO_CHECK_POLICIES"
  | "CAP_PACKAGES_ENTITLEMENTS_LIST"
  | "CAP_TERMS_ACCEPT"
  | "CAP_TERMS_LIST"
  | "CAP_GULFSTREAM"
  | "CAP_GUARDENER_DFC_CONVERT"
  | "CAP_GUARDENER_ASSOCIATION_MANAGE"
  | "CAP_GUARDENER_ASSOCIATION_LIST"
  | "CAP_GUARDENER_ENTITLEMENT_MANAGE"
  | "CAP_GUARDENER_ENTITLEMENT_LIST"
  | "CAP_GUARDENER_ACTIONS_MIGRATE"
  | "CAP_GUARDENER_SCAN_LIST"
  | "CAP_GUARDENER_SCAN_GET"
  | "CAP_MCP_TOOL_CALL"
  | "CAP_SKILLS_PUBLISH"
  | "CAP_SKILLS_ENTITLEMENTS_CREATE"
  | "CAP_SKILLS_ENTITLEMENTS_LIST"
  | "CAP_SKILLS_ENTITLEMENTS_DELETE"
  | "CAP_SKILLS_LIST"
  | "CAP_SKILLS_WRITE"
  | "CAP_SKILLS_DELETE"
  | "CAP_SKILLS_HARDEN_READ"
  | "CAP_SKILLS_HARDEN_WRITE"
  | "CAP_SKILLS_HARDEN_CANCEL"
  | "CAP_ARGOS_DOCUMENTS_CREATE"
  | "CAP_ARGOS_DOCUMENTS_LIST"
  | "CAP_ARGOS_DOCUMENTS_DELETE"
  | "CAP_ARGOS_OSV_READ"
  | "CAP_ARGOS_OSV_DUMP"
  | "CAP_LIBRARIES_POLICY_CREATE"
  | "CAP_LIBRARIES_POLICY_UPDATE"
  | "CAP_LIBRARIES_POLICY_LIST"
  | "CAP_LIBRARIES_POLICY_DELETE"
  | "CAP_LIBRARIES_POLICY_BINDING_CREATE"
  | "CAP_LIBRARIES_POLICY_BINDING_UPDATE"
  | "CAP_LIBRARIES_POLICY_BINDING_LIST"
  | "CAP_LIBRARIES_POLICY_BINDING_DELETE"
  | "CAP_LIBRARIES_POLICY_BLOCK_EVENT_LIST"
  | "CAP_BUILDAPI_BUILD_CREATE"
  | "CAP_BUILDAPI_BUILD_LIST"
  | "CAP_BUILDAPI_WORKER_SYNC"
  | "CAP_BUILDAPI_BUILD_CANCEL"
  | "CAP_CASSIE_CAS_READ"
  | "CAP_CASSIE_CAS_WRITE"
  | "CAP_CASSIE_AC_READ"
  | "CAP_CASSIE_AC_WRITE"
  | "CAP_LOGGIE_LOGS_READ"
  | "CAP_LOGGIE_LOGS_WRITE"
  | "CAP_LOGGIE_LOGS_CREATE"
  | "CAP_REX_EXECUTIONS_CREATE"
  | "CAP_REX_EXECUTIONS_LIST"
  | "CAP_REX_WORKERS_CONNECT"
  | "CAP_REX_CLASS_USE"
  | "CAP_REX_CLASS_SERVE"
  | "CAP_ACTIONS_LIST";

export type CatalogTier =
  | "CATALOG_TIER_UNSPECIFIED"
  | "CATALOG_TIER_APPLICATION"
  | "CATALOG_TIER_BASE"
  | "CATALOG_TIER_FIPS"
  | "CATALOG_TIER_AI"
  | "CATALOG_TIER_DEVTOOLS"
  | "CATALOG_TIER_COMMERCIAL";

export interface CustomOverlay {
  contents?: CustomOverlayImageContents | undefined;
  environment?: Record<string, string> | undefined;
  annotations?: Record<string, string> | undefined;
  accounts?: CustomOverlayAccounts | undefined;
  certificates?: CustomOverlayCertificates | undefined;
}

export interface CustomOverlayAccounts {
  runAs?: string | undefined;
  users?: CustomOverlayAccountsUser[] | undefined;
  groups?: CustomOverlayAccountsGroup[] | undefined;
}

export interface CustomOverlayAccountsGroup {
  groupname: string;
  gid?: number | undefined;
  members?: string[] | undefined;
}

export interface CustomOverlayAccountsUser {
  username: string;
  uid?: number | undefined;
  gid?: number | undefined;
  groupName?: string | undefined;
  shell?: string | undefined;
  homeDir?: string | undefined;
}

export interface CustomOverlayCertificates {
  additional?: CustomOverlayCertificatesAdditionalEntry[] | undefined;
  providers?: string[] | undefined;
}

export interface CustomOverlayCertificatesAdditionalEntry {
  name: string;
  content: string;
}

export interface CustomOverlayImageContents {
  packages?: string[] | undefined;
  runtimeRepositories?: string[] | undefined;
  runtimeKeyring?: CustomOverlayImageContentsRuntimeKeyringEntry[] | undefined;
}

export interface CustomOverlayImageContentsRuntimeKeyringEntry {
  name: string;
  content: string;
}

export type EventTypeFilter =
  | "EVENT_TYPE_FILTER_UNSPECIFIED"
  | "EVENT_TYPE_FILTER_DETECTION"
  | "EVENT_TYPE_FILTER_TRUE_POSITIVE_DETERMINATION"
  | "EVENT_TYPE_FILTER_FIXED"
  | "EVENT_TYPE_FILTER_FALSE_POSITIVE_DETERMINATION"
  | "EVENT_TYPE_FILTER_ANALYSIS_NOT_PLANNED"
  | "EVENT_TYPE_FILTER_FIX_NOT_PLANNED"
  | "EVENT_TYPE_FILTER_PENDING_UPSTREAM_FIX"
  | "EVENT_TYPE_FILTER_PATCHED";

export interface ExternalGroupRoleMapping {
  /** uid of its identity provider, then a segment of its own */
  uid: string;
  /** uid of its identity provider */
  identityProviderUid: string;
  /** the group as a sign-in names it: a value of the provider's `groupsClaim`, byte for byte */
  externalGroupId: string;
  /** uid of the role that its people get */
  roleUid: string;
  /** uid of the organization, where they get it */
  scope: string;
  createTime: string;
}

export interface Group {
  /** path of hexadecimal segments, the ancestors first */
  uid: string;
  /** matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: string;
  /** one line, at most 512 characters */
  description?: string | undefined;
  /** limits of the organization, by resource */
  resourceLimits: Readonly<Record<string, number>>;
  /** set by the operator of the service only */
  verified?: boolean | undefined;
  createTime: string;
  updateTime: string;
  /** kind of the organization; groups below a root inherit it */
  kind?: OrgKind | undefined;
  status?: OrgStatus | undefined;
}

export interface GroupInvite {
  /** uid of its group, then a segment of its own */
  uid: string;
  /** uid of the role that is granted at the group */
  roleUid: string;
  /** absent when the role was deleted */
  role?: Readonly<GroupInviteRole> | undefined;
  /** who may accept it; absent = anyone with the code */
  email?: string | undefined;
  /** set on create, not returned */
  ttl: string;
  expirationTime: string;
  singleUse?: boolean | undefined;
  /** returned by the create only */
  code?: string | undefined;
  /** the first 16 digits of the SHA-256 of the code */
  keyId: string;
  createTime: string;
}

export interface GroupInviteRole {
  /** uid of the role */
  uid: string;
  /** its name */
  name: string;
  /** its description */
  description?: string | undefined;
  /** what it grants, by enum name */
  capabilities?: readonly Capability[] | undefined;
}

export interface Identity {
  /** uid of its group, then a segment of its own */
  uid: string;
  /** matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: string;
  /** one line, at most 512 characters */
  description?: string | undefined;
  email?: string | undefined;
  emailUnverified?: string | undefined;
  company?: string | undefined;
  /** set at creation, moved by an exchange */
  lastSeenTime: string;
  createTime: string;
  updateTime: string;
  /** assumed by a workload whose token's claims match */
  claimMatch?: IdentityClaimMatch | undefined;
  /** assumed by a workload that signs with one of these keys */
  staticKeys?: IdentityStaticKeys | undefined;
  /** assumed by an AWS principal */
  awsIdentity?: IdentityAWSIdentity | undefined;
  /** a service of the platform */
  servicePrincipal?: ServicePrincipal | undefined;
}

export interface IdentityAWSIdentity {
  awsAccount: string;
  arn?: string | undefined;
  arnPattern?: string | undefined;
  userId?: string | undefined;
  userIdPattern?: string | undefined;
}

export interface IdentityClaimMatch {
  /** `iss` of the workload's token, byte for byte */
  issuer?: string | undefined;
  issuerPattern?: string | undefined;
  /** `sub` of the workload's token, byte for byte */
  subject?: string | undefined;
  subjectPattern?: string | undefined;
  /** `aud` of the workload's token; absent = the issuer of this service, its bare host, or the API audience */
  audience?: string | undefined;
  audiencePattern?: string | undefined;
  /** further claims, each equal */
  claims?: Record<string, string> | undefined;
  /** further claims, each matching */
  claimPatterns?: Record<string, string> | undefined;
}

export interface IdentityProvider {
  /** uid of its group, then a segment of its own */
  uid: string;
  /** matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: string;
  /** one line, at most 512 characters */
  description?: string | undefined;
  createTime: string;
  updateTime: string;
  /** uid of the role that a first sign-in grants */
  defaultRole: string;
  oidc?: IdentityProviderOIDC | undefined;
  /** absent from lists */
  scim?: Readonly<IdentityProviderSCIM> | undefined;
}

export interface IdentityProviderOIDC {
  /** https URL of the issuer, byte for byte as its tokens have it */
  issuer: string;
  /** not sensitive */
  clientId: string;
  /** never returned; may be left out with `pkceEnabled` */
  clientSecret?: string | undefined;
  /** in addition to `openid`, which is always requested */
  additionalScopes?: string[] | undefined;
  /** claim with the groups of the person who signs in */
  groupsClaim?: string | undefined;
  /** how a sign-in is matched to a provisioned person; unset = by `sub` */
  correlationRule?: IdentityProviderOIDCCorrelationRule | undefined;
  /** PKCE (RFC 7636) */
  pkceEnabled?: boolean | undefined;
}

export type IdentityProviderOIDCCorrelationRule =
  | "CORRELATION_RULE_UNSPECIFIED"
  | "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID"
  | "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID";

export interface IdentityProviderSCIM {
  /** provisioning is enabled */
  enabled?: boolean | undefined;
  /** where the identity provider sends changes of people */
  endpointUrl?: string | undefined;
  /** end of the current token; absent: none was issued, or it does not expire */
  tokenExpireTime?: string | undefined;
  /** end of the token before, while both are valid */
  previousTokenExpireTime?: string | undefined;
  /** state of the token */
  credentialState?: IdentityProviderSCIMCredentialState | undefined;
  /** version of the configuration */
  etag?: string | undefined;
}

export type IdentityProviderSCIMCredentialState =
  | "CREDENTIAL_STATE_UNSPECIFIED"
  | "CREDENTIAL_STATE_NOT_ISSUED"
  | "CREDENTIAL_STATE_LIVE"
  | "CREDENTIAL_STATE_EXPIRED"
  | "CREDENTIAL_STATE_REVOKED"
  | "CREDENTIAL_STATE_ROTATING";

export interface IdentityStaticKeys {
  issuer: string;
  subject: string;
  /** the JSON Web Key Set (RFC 7517) of public keys, as text */
  issuerKeys: string;
  /** default and longest: 365 days after creation */
  expirationTime?: string | undefined;
  /** at most one; absent = as for a claim match */
  audiences?: string[] | undefined;
}

export interface ListAccountAssociationsRequest {
  /** where the records are */
  uidp?: UIDPFilter | undefined;
  /** the whole name */
  name?: string | undefined;
  /** results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** one field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListAdvisoriesRequest {
  /** where the records are */
  uidp?: UIDPFilter | undefined;
  advisoryIds?: string[] | undefined;
  legacyAdvisoryIds?: string[] | undefined;
  artifactNames?: string[] | undefined;
  artifactTypes?: string[] | undefined;
  artifactArchitectures?: string[] | undefined;
  componentNames?: string[] | undefined;
  componentTypes?: string[] | undefined;
  componentLocations?: string[] | undefined;
  aliases?: string[] | undefined;
  /** every package that is built from this one; `artifactNames` is then ignored */
  origin?: string | undefined;
  /** an event in one of these states */
  eventReviewStates?: ReviewState[] | undefined;
  /** an event by one of these */
  eventAuthors?: string[] | undefined;
  /** no event by any of these */
  excludeEventAuthors?: string[] | undefined;
  /** an event that one of these reviewed */
  eventReviewers?: string[] | undefined;
  /** an event of one of these types */
  eventTypes?: EventTypeFilter[] | undefined;
  /** type of the newest event that was approved */
  latestEventType?: EventTypeFilter | undefined;
  /** part of the artifact's name, the component's name or an alias, in any case */
  query?: string | undefined;
  /** results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** one field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListExternalGroupRoleMappingsRequest {
  /** where the records are */
  uidp?: UIDPFilter | undefined;
  /** uid of an identity provider */
  identityProviderUid?: string | undefined;
  /** results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** one field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListGroupInvitesRequest {
  /** where the records are */
  uidp?: UIDPFilter | undefined;
  /** the first 16 digits of the SHA-256 of the code */
  keyId?: string | undefined;
  /** results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** one field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListGroupsRequest {
  /** where the records are */
  uidp?: UIDPFilter | undefined;
  /** the whole name */
  name?: string | undefined;
  /** results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** one field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListIdentitiesRequest {
  /** where the records are */
  uidp?: UIDPFilter | undefined;
  /** the whole name */
  name?: string | undefined;
  /** how it is assumed */
  relationshipType?: RelationshipType | undefined;
  /** results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** one field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListIdentityProvidersRequest {
  /** where the records are */
  uidp?: UIDPFilter | undefined;
  /** the whole name */
  name?: string | undefined;
  /** results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** one field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListReposRequest {
  /** where the records are */
  uidp?: UIDPFilter | undefined;
  /** the whole name */
  name?: string | undefined;
  /** results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** one field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListRoleBindingsRequest {
  /** where the records are */
  uidp?: UIDPFilter | undefined;
  /** uid of an identity */
  identity?: string | undefined;
  /** uid of a group */
  group?: string | undefined;
  /** uid of a role */
  role?: string | undefined;
  /** results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** one field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListRolesRequest {
  /** where the records are */
  uidp?: UIDPFilter | undefined;
  /** the whole name */
  name?: string | undefined;
  /** results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** one field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListTagsRequest {
  /** where the records are */
  uidp?: UIDPFilter | undefined;
  /** the whole name */
  name?: string | undefined;
  /** tags that were updated after this time */
  updatedSince?: string | undefined;
  /** `sha256-*` */
  includeReferrers?: boolean | undefined;
  /** `*-20yymmdd` */
  includeDates?: boolean | undefined;
  /** `*-r[0-9]+` */
  includeEpochs?: boolean | undefined;
  /** digest of the manifest */
  digest?: string | undefined;
  /** results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** one field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** results to skip, counted from the cursor */
  skip?: number | undefined;
}

export type OrgKind =
  | "ORG_KIND_UNSPECIFIED"
  | "ORG_KIND_STARTER"
  | "ORG_KIND_CUSTOMER"
  | "ORG_KIND_DEV"
  | "ORG_KIND_INFRA"
  | "ORG_KIND_AWS_MARKETPLACE";

export type OrgStatus =
  | "ORG_STATUS_UNSPECIFIED"
  | "ORG_STATUS_INITIALIZING"
  | "ORG_STATUS_READY"
  | "ORG_STATUS_SUSPENDED";

export type RelationshipType =
  | "RELATIONSHIP_TYPE_UNSPECIFIED"
  | "RELATIONSHIP_TYPE_CLAIM_MATCH"
  | "RELATIONSHIP_TYPE_STATIC"
  | "RELATIONSHIP_TYPE_AWS_IDENTITY"
  | "RELATIONSHIP_TYPE_SERVICE_PRINCIPAL";

export interface Repo {
  /** uid of its group, then a segment of its own */
  uid: string;
  /** unique in its group */
  name: string;
  /** one line, at most 512 characters; default: that of the repo that this one syncs from */
  description?: string | undefined;
  catalogTier?: CatalogTier | undefined;
  bundles?: string[] | undefined;
  /** other names of the image, each with a tag */
  aliases?: string[] | undefined;
  activeTags?: string[] | undefined;
  sync_config?: SyncConfig | undefined;
  customOverlay?: CustomOverlay | undefined;
  createTime: string;
  updateTime: string;
}

export interface RepoReadme {
  /** uid of the repo */
  uid: string;
  content?: string | undefined;
}

export type ReviewState =
  | "REVIEW_STATE_UNSPECIFIED"
  | "REVIEW_STATE_PENDING"
  | "REVIEW_STATE_APPROVED"
  | "REVIEW_STATE_REQUEST_CHANGES"
  | "REVIEW_STATE_REJECTED";

export interface Role {
  /** built-in: one segment; custom: uid of its group, then a segment of its own */
  uid: string;
  /** matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: string;
  /** one line, at most 512 characters */
  description?: string | undefined;
  /** what the role grants, by enum name; the order means nothing */
  capabilities: Capability[];
  createTime: string;
  updateTime: string;
}

export interface RoleBinding {
  /** uid of its group, then a segment of its own */
  uid: string;
  identity: Readonly<RoleBindingIdentity>;
  group: Readonly<RoleBindingGroup>;
  role: Readonly<RoleBindingRole>;
  createTime: string;
  /** uid of the identity that is granted the role */
  identityUid: string;
  /** uid of the role */
  roleUid: string;
}

export interface RoleBindingGroup {
  /** uid of the group */
  uid: string;
  /** its name */
  name: string;
  /** its description */
  description: string;
}

export interface RoleBindingIdentity {
  /** uid of the identity */
  uid: string;
  /** its name */
  name: string;
  /** its description */
  description: string;
  /** `sub` of its claim match */
  subject?: string | undefined;
  /** `iss` of its claim match */
  issuer?: string | undefined;
  /** verified address of a person */
  email?: string | undefined;
}

export interface RoleBindingRole {
  /** uid of the role */
  uid: string;
  /** its name */
  name: string;
  /** its description */
  description: string;
}

export type ServicePrincipal =
  | "SERVICE_PRINCIPAL_UNSPECIFIED"
  | "SERVICE_PRINCIPAL_COSIGNED"
  | "SERVICE_PRINCIPAL_INGESTER"
  | "SERVICE_PRINCIPAL_CATALOG_SYNCER"
  | "SERVICE_PRINCIPAL_APKO_BUILDER"
  | "SERVICE_PRINCIPAL_ENTITLEMENT_SYNCER"
  | "SERVICE_PRINCIPAL_TENANT_SCANNER"
  | "SERVICE_PRINCIPAL_SEDIMENTOLOGY"
  | "SERVICE_PRINCIPAL_SKILLUP"
  | "SERVICE_PRINCIPAL_MATERIALIZER"
  | "SERVICE_PRINCIPAL_MICROFLOW"
  | "SERVICE_PRINCIPAL_GUARDENER"
  | "SERVICE_PRINCIPAL_MICROVM"
  | "SERVICE_PRINCIPAL_SKILLS";

export interface Severity {
  type?: SeverityType | undefined;
  score?: string | undefined;
}

export type SeverityType =
  | "TYPE_UNSPECIFIED"
  | "TYPE_CVSS_V2"
  | "TYPE_CVSS_V3"
  | "TYPE_CVSS_V4";

export interface SyncConfig {
  /** uid of a repo, `group/repo` or `registry/group/repo`; kept as the uid */
  source: string;
  /** exported tags are uniquely labelled; a setting of the organization */
  uniqueTags?: boolean | undefined;
  /** 14 days after syncing began */
  expirationTime?: string | undefined;
  google?: string | undefined;
  amazon?: string | undefined;
  azure?: string | undefined;
  /** configuration applied when images are rebuilt; managed by the service */
  apkoOverlay?: string | undefined;
  /** a grace period follows the end of life; a setting of the organization */
  gracePeriod?: boolean | undefined;
}

export interface Tag {
  /** uid of its repo, then a segment of its own */
  uid: string;
  /** unique in its repo: a create of another name makes another tag */
  name: string;
  /** of the manifest */
  digest: string;
  updateTime: string;
  deprecated?: boolean | undefined;
  bundles?: string[] | undefined;
}

export interface UIDPFilter {
  /** groups from `X` up to its root */
  ancestorsOf?: string | undefined;
  /** everything below `X`, exclusive of `X` */
  descendantsOf?: string | undefined;
  /** exactly one level below `X` */
  childrenOf?: string | undefined;
  /** root-level records only */
  inRoot?: boolean | undefined;
  /** these records only */
  ids?: string[] | undefined;
}

/** Every method that is served. */
export type OperationName =
  | "GetGroup"
  | "DeleteGroup"
  | "ListGroups"
  | "CreateGroup"
  | "UpdateGroup"
  | "LookupGroup"
  | "CreateIdentity"
  | "GetIdentity"
  | "DeleteIdentity"
  | "UpdateIdentity"
  | "ListIdentities"
  | "LookupIdentity"
  | "GetRole"
  | "ListRoles"
  | "CreateRole"
  | "UpdateRole"
  | "DeleteRole"
  | "GetRoleBinding"
  | "CreateRoleBinding"
  | "DeleteRoleBinding"
  | "ListRoleBindings"
  | "BatchCreateRoleBindings"
  | "UpdateRoleBinding"
  | "GetRepo"
  | "CreateRepo"
  | "UpdateRepo"
  | "DeleteRepo"
  | "ListRepos"
  | "GetRepoReadme"
  | "UpdateRepoReadme"
  | "GetTag"
  | "ListTags"
  | "CreateTag"
  | "DeleteTag"
  | "ListIdentityProviders"
  | "GetIdentityProvider"
  | "CreateIdentityProvider"
  | "UpdateIdentityProvider"
  | "DeleteIdentityProvider"
  | "GetExternalGroupRoleMapping"
  | "CreateExternalGroupRoleMapping"
  | "DeleteExternalGroupRoleMapping"
  | "BatchDeleteExternalGroupRoleMappings"
  | "ListExternalGroupRoleMappings"
  | "CreateGroupInvite"
  | "GetGroupInvite"
  | "DeleteGroupInvite"
  | "ListGroupInvites"
  | "GetAccountAssociation"
  | "CreateAccountAssociation"
  | "DeleteAccountAssociation"
  | "ListAccountAssociations"
  | "UpdateAccountAssociation"
  | "CheckAccountAssociation"
  | "GetAdvisory"
  | "ListAdvisories"
  | "Ping"
  | "ListGroupsV1"
  | "ListReposV1"
  | "ListIdentitiesV1"
  | "LookupIdentityV1"
  | "ListRolesV1"
  | "ListRoleBindingsV1"
  | "ListGroupInvitesV1"
  | "ListAccountAssociationsV1"
  | "Exchange"
  | "ExchangeGet"
  | "ExchangeRefreshToken"
  | "Validate";
