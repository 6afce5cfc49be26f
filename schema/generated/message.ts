// Generated from schema/ by `npm run generate`; not to be edited.
// The API's messages as they are in JSON.

export interface AccountAssociation {
  /** uid of the group that has the accounts, which is also the uid of the association */
  uid: string;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: string;
  /** One line, at most 512 characters; default: empty */
  description?: string | undefined;
  /** Account at AWS */
  amazon?: AccountAssociationAmazon | undefined;
  /** Project at Google Cloud */
  google?: AccountAssociationGoogle | undefined;
  /** Services of the platform itself */
  chainguard?: AccountAssociationChainguard | undefined;
  /** Tenant at Azure */
  azure?: AccountAssociationAzure | undefined;
  /** When it was created: RFC 3339, UTC */
  createTime: string;
  /** When it was last changed: RFC 3339, UTC */
  updateTime: string;
  /** Apps on GitHub */
  github?: AccountAssociationGitHub | undefined;
}

export interface AccountAssociationAmazon {
  /** Twelve digits */
  account: string;
}

export interface AccountAssociationAzure {
  /** Id of the tenant */
  tenantId: string;
  /** Client ids by component name, at least one */
  clientIds: Record<string, string>;
}

export interface AccountAssociationChainguard {
  /** uids of the identities that services assume, by service name; at least one */
  serviceBindings: Record<string, string>;
}

export interface AccountAssociationGitHub {
  /** Installations by the id of the app (decimal); their order does not matter */
  appInstallations?: Record<string, AccountAssociationGitHubAppInstallations> | undefined;
}

export interface AccountAssociationGitHubAppInstallations {
  /** Installations of one app; their order does not matter */
  installations?: AccountAssociationGitHubInstallation[] | undefined;
}

export interface AccountAssociationGitHubInstallation {
  /** Id of the installation, decimal */
  installationId: string;
  /** For people to read; default: empty */
  name?: string | undefined;
}

export interface AccountAssociationGoogle {
  /** Id of the project: `acme-production` */
  projectId: string;
  /** Number of the project, decimal */
  projectNumber: string;
}

export interface Advisory {
  /** uid of its group, then a segment of its own */
  uid: string;
  /** Identifier such as CGA-xvgw-cvr7-9g2q */
  advisoryId: string;
  /** When it was created: RFC 3339, UTC */
  createTime: string;
  /** When it was last changed: RFC 3339, UTC */
  updateTime: string;
  /** When it was deleted: RFC 3339, UTC; absent: it was not */
  deleteTime?: string | undefined;
  /** Who wrote it */
  author: string;
  /** Name of the artifact that it is about */
  artifactName: string;
  /** Type of the artifact: apk, image, library */
  artifactType: string;
  /** Architecture of the artifact, such as x86_64 */
  artifactArchitecture: string;
  /** Name of the component in the artifact */
  componentName: string;
  /** Where in the artifact the component is */
  componentLocation: string;
  /** Ecosystem of the component: go-module, python */
  componentType: string;
  /** Other identifiers of the vulnerability: CVE, GHSA */
  aliases?: string[] | undefined;
  /** What happened, the oldest first */
  events?: AdvisoryEvent[] | undefined;
  /** Its former identifier */
  legacyAdvisoryId?: string | undefined;
  /** How severe it is, by each scale */
  severities?: readonly Severity[] | undefined;
}

export interface AdvisoryEvent {
  /** uid of its advisory, then a segment of its own */
  uid: string;
  /** When it was created: RFC 3339, UTC */
  createTime: string;
  /** What the scanner found: JSON, in base64 */
  findings?: string | undefined;
  /** Who wrote the event */
  author: string;
  /** Who reviewed it */
  reviewer?: string | undefined;
  /** State of the review */
  reviewState: ReviewState;
  /** Address of the issue about it */
  issue?: string | undefined;
  /** It was found */
  detection?: AdvisoryEventDetection | undefined;
  /** It is fixed */
  fixed?: AdvisoryEventFixed | undefined;
  /** It does not apply */
  falsePositiveDetermination?: AdvisoryEventFalsePositiveDetermination | undefined;
  /** It will not be analysed */
  analysisNotPlanned?: AdvisoryEventAnalysisNotPlanned | undefined;
  /** It will not be fixed */
  fixNotPlanned?: AdvisoryEventFixNotPlanned | undefined;
  /** It waits for a fix by the authors of the component */
  pendingUpstreamFix?: AdvisoryEventPendingUpstreamFix | undefined;
  /** It applies */
  truePositiveDetermination?: AdvisoryEventTruePositiveDetermination | undefined;
  /** The component is patched */
  patched?: AdvisoryEventPatched | undefined;
}

export interface AdvisoryEventAnalysisNotPlanned {
  /** A remark */
  note?: string | undefined;
}

export interface AdvisoryEventDetection {
  /** By the National Vulnerability Database */
  nvdapi?: AdvisoryEventDetectionNVDAPI | undefined;
  /** By a person */
  manual?: AdvisoryEventDetectionManual | undefined;
  /** By a scanner */
  scanv1?: AdvisoryEventDetectionScanV1 | undefined;
}

export type AdvisoryEventDetectionManual = Record<string, never>;

export interface AdvisoryEventDetectionNVDAPI {
  /** CPE that was searched for */
  cpeSearched?: string | undefined;
  /** CPE that was found */
  cpeFound?: string | undefined;
}

export interface AdvisoryEventDetectionScanV1 {
  /** Name of the scanner */
  scanner?: string | undefined;
  /** Package in which it was found */
  subpackage?: string | undefined;
  /** Id of the component */
  componentId?: string | undefined;
  /** Name of the component */
  component?: string | undefined;
  /** Version of the component */
  componentVersion?: string | undefined;
  /** Ecosystem of the component */
  componentType?: string | undefined;
  /** Path of the component */
  componentLocation?: string | undefined;
  /** Version of the artifact */
  artifactVersion?: string | undefined;
  /** Version of the scanner */
  scannerVersion?: string | undefined;
  /** When the scanner's database was built */
  grypeDbBuilt?: string | undefined;
  /** Checksum of the scanner's database */
  grypeDbChecksum?: string | undefined;
}

export interface AdvisoryEventFalsePositiveDetermination {
  /** Why it does not apply */
  type?: AdvisoryEventFalsePositiveDeterminationType | undefined;
  /** A remark */
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
  /** A remark */
  note?: string | undefined;
}

export interface AdvisoryEventFixed {
  /** First version with the fix */
  fixedVersion?: string | undefined;
  /** A remark */
  note?: string | undefined;
  /** Version of the scanner */
  scannerVersion?: string | undefined;
  /** When the scanner's database was built */
  grypeDbBuilt?: string | undefined;
  /** Checksum of the scanner's database */
  grypeDbChecksum?: string | undefined;
}

export interface AdvisoryEventPatched {
  /** Versions with the patch */
  patchedVersions?: string[] | undefined;
  /** A remark */
  note?: string | undefined;
}

export interface AdvisoryEventPendingUpstreamFix {
  /** A remark */
  note?: string | undefined;
}

export interface AdvisoryEventTruePositiveDetermination {
  /** A remark */
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
  /** Packages, and the repositories that they come from */
  contents?: CustomOverlayImageContents | undefined;
  /** Variables, by name; no name may begin with `CHAINGUARD_` */
  environment?: Record<string, string> | undefined;
  /** Annotations, by key; no key may begin with `dev.chainguard.` or `org.opencontainers.` */
  annotations?: Record<string, string> | undefined;
  /** Users and groups of the image */
  accounts?: CustomOverlayAccounts | undefined;
  /** Certificate authorities that the image trusts */
  certificates?: CustomOverlayCertificates | undefined;
}

export interface CustomOverlayAccounts {
  /** User that the image runs as: a name or a number */
  runAs?: string | undefined;
  /** Users that are added; their order does not matter */
  users?: CustomOverlayAccountsUser[] | undefined;
  /** Groups that are added; their order does not matter */
  groups?: CustomOverlayAccountsGroup[] | undefined;
}

export interface CustomOverlayAccountsGroup {
  /** Name of the group */
  groupname: string;
  /** Number of the group; default: 0 */
  gid?: number | undefined;
  /** Names of users */
  members?: string[] | undefined;
}

export interface CustomOverlayAccountsUser {
  /** Name of the user */
  username: string;
  /** Number of the user; default: 0 */
  uid?: number | undefined;
  /** Number of its main group; default: 0 */
  gid?: number | undefined;
  /** Name of its main group */
  groupName?: string | undefined;
  /** Path of the shell */
  shell?: string | undefined;
  /** Path of the home directory */
  homeDir?: string | undefined;
}

export interface CustomOverlayCertificates {
  /** PEM certificates to trust besides the usual ones */
  additional?: CustomOverlayCertificatesAdditionalEntry[] | undefined;
  /** Trust stores that get them */
  providers?: string[] | undefined;
}

export interface CustomOverlayCertificatesAdditionalEntry {
  /** Name of the file */
  name: string;
  /** Text of the file */
  content: string;
}

export interface CustomOverlayImageContents {
  /** Packages that are added */
  packages?: string[] | undefined;
  /** Where packages come from at run time; the first has precedence */
  runtimeRepositories?: string[] | undefined;
  /** Keys of those repositories */
  runtimeKeyring?: CustomOverlayImageContentsRuntimeKeyringEntry[] | undefined;
}

export interface CustomOverlayImageContentsRuntimeKeyringEntry {
  /** Name of the file */
  name: string;
  /** Text of the file */
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
  /** The external group: a value of the provider's `groupsClaim`, byte for byte, at most 1024 characters */
  externalGroupId: string;
  /** uid of the role that the group's people get */
  roleUid: string;
  /** uid of the organization where they get the role */
  scope: string;
  /** When it was created: RFC 3339, UTC */
  createTime: string;
}

export interface Group {
  /** Path of hexadecimal segments, the ancestors first: what other resources refer to */
  uid: string;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: string;
  /** One line, at most 512 characters; default: empty */
  description?: string | undefined;
  /** Limits of the organization: number of records, by resource */
  resourceLimits: Readonly<Record<string, number>>;
  /** Only the operator of the service may set it; default: the service's choice */
  verified?: boolean | undefined;
  /** When it was created: RFC 3339, UTC */
  createTime: string;
  /** When it was last changed: RFC 3339, UTC */
  updateTime: string;
  /** Kind of the organization that the group belongs to */
  kind?: OrgKind | undefined;
  /** State of the organization that the group belongs to */
  status?: OrgStatus | undefined;
}

export interface GroupInvite {
  /** uid of its group, then a segment of its own */
  uid: string;
  /** uid of the role that is granted at the group */
  roleUid: string;
  /** The role that is granted; absent if it was deleted */
  role?: Readonly<GroupInviteRole> | undefined;
  /** Address of the person who may accept the invite; default: anyone with the code */
  email?: string | undefined;
  /** How long the code is valid after its creation: seconds, such as `604800s` (a week), at most ten years */
  ttl: string;
  /** When the code expires: RFC 3339, UTC */
  expirationTime: string;
  /** Only one person can accept the invite; default: false */
  singleUse?: boolean | undefined;
  /** Secret; only the create returns it */
  code?: string | undefined;
  /** The first 16 digits of the SHA-256 of the code */
  keyId: string;
  /** When it was created: RFC 3339, UTC */
  createTime: string;
}

export interface GroupInviteRole {
  /** uid of the role */
  uid: string;
  /** Its name */
  name: string;
  /** Its description */
  description?: string | undefined;
  /** What it grants, by enum name */
  capabilities?: readonly Capability[] | undefined;
}

export interface Identity {
  /** uid of its group, then a segment of its own */
  uid: string;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: string;
  /** One line, at most 512 characters; default: empty */
  description?: string | undefined;
  /** Verified address of a person */
  email?: string | undefined;
  /** Unverified address of a person */
  emailUnverified?: string | undefined;
  /** At most 255 characters; default: empty */
  company?: string | undefined;
  /** When it last exchanged a token, or was created: RFC 3339, UTC */
  lastSeenTime: string;
  /** When it was created: RFC 3339, UTC */
  createTime: string;
  /** When it was last changed: RFC 3339, UTC */
  updateTime: string;
  /** Assumed by a workload whose token's claims match */
  claimMatch?: IdentityClaimMatch | undefined;
  /** Assumed by a workload that signs with one of these keys */
  staticKeys?: IdentityStaticKeys | undefined;
  /** Assumed by an AWS principal */
  awsIdentity?: IdentityAWSIdentity | undefined;
  /** A service of the platform */
  servicePrincipal?: ServicePrincipal | undefined;
}

export interface IdentityAWSIdentity {
  /** Twelve digits */
  awsAccount: string;
  /** ARN of the principal */
  arn?: string | undefined;
  /** Pattern for the ARN */
  arnPattern?: string | undefined;
  /** User id of the principal */
  userId?: string | undefined;
  /** Pattern for the user id */
  userIdPattern?: string | undefined;
}

export interface IdentityClaimMatch {
  /** `iss` of the workload's token, byte for byte: an https URL */
  issuer?: string | undefined;
  /** Pattern for `iss` */
  issuerPattern?: string | undefined;
  /** `sub` of the workload's token, byte for byte, at most 255 characters */
  subject?: string | undefined;
  /** Pattern for `sub` */
  subjectPattern?: string | undefined;
  /** `aud` of the workload's token; default: the issuer of this service, its bare host, or the API audience */
  audience?: string | undefined;
  /** Pattern for `aud`, instead of audience; default: none */
  audiencePattern?: string | undefined;
  /** Further claims, which must be equal */
  claims?: Record<string, string> | undefined;
  /** Further claims, which must match their patterns; at most 20 */
  claimPatterns?: Record<string, string> | undefined;
}

export interface IdentityProvider {
  /** uid of its group, then a segment of its own */
  uid: string;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: string;
  /** One line, at most 512 characters; default: empty */
  description?: string | undefined;
  /** When it was created: RFC 3339, UTC */
  createTime: string;
  /** When it was last changed: RFC 3339, UTC */
  updateTime: string;
  /** uid of the role that a first sign-in grants */
  defaultRole: string;
  /** OpenID Connect */
  oidc?: IdentityProviderOIDC | undefined;
  /** State of provisioning (SCIM, RFC 7644); absent from lists */
  scim?: Readonly<IdentityProviderSCIM> | undefined;
}

export interface IdentityProviderOIDC {
  /** URL of the issuer, with https, byte for byte as in its tokens */
  issuer: string;
  /** Id of the client that is registered with the issuer; not secret */
  clientId: string;
  /** Secret of the client, at most 4096 characters; never returned; optional with `pkceEnabled` */
  clientSecret?: string | undefined;
  /** Scopes to request besides `openid`; order and duplicates do not matter */
  additionalScopes?: string[] | undefined;
  /** Claim that lists the groups of the person who signs in */
  groupsClaim?: string | undefined;
  /** How people who sign in are matched to provisioned users; default: by `sub` */
  correlationRule?: IdentityProviderOIDCCorrelationRule | undefined;
  /** The client uses PKCE (RFC 7636), with or without a secret; default: false */
  pkceEnabled?: boolean | undefined;
}

export type IdentityProviderOIDCCorrelationRule =
  | "CORRELATION_RULE_UNSPECIFIED"
  | "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID"
  | "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID";

export interface IdentityProviderSCIM {
  /** Whether provisioning is enabled */
  enabled?: boolean | undefined;
  /** Where the identity provider sends changes of people */
  endpointUrl?: string | undefined;
  /** When the current token expires; absent: none was issued, or it does not expire */
  tokenExpireTime?: string | undefined;
  /** When the previous token expires, while both are valid */
  previousTokenExpireTime?: string | undefined;
  /** State of the token */
  credentialState?: IdentityProviderSCIMCredentialState | undefined;
  /** Version of the configuration */
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
  /** `iss` of the workload's token: an https URL, from which nothing is fetched */
  issuer: string;
  /** `sub` of the workload's token */
  subject: string;
  /** JSON Web Key Set (RFC 7517) of public keys, as text */
  issuerKeys: string;
  /** RFC 3339, at most 365 days after creation; default: the maximum */
  expirationTime?: string | undefined;
  /** `aud` of the workload's token, at most one; default: as for a claim match */
  audiences?: string[] | undefined;
}

export interface ListAccountAssociationsRequest {
  /** Where the records are */
  uidp?: UIDPFilter | undefined;
  /** The whole name */
  name?: string | undefined;
  /** Results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** One field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** Results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListAdvisoriesRequest {
  /** Where the records are */
  uidp?: UIDPFilter | undefined;
  /** With one of these identifiers */
  advisoryIds?: string[] | undefined;
  /** With one of these former identifiers */
  legacyAdvisoryIds?: string[] | undefined;
  /** About one of these artifacts */
  artifactNames?: string[] | undefined;
  /** About artifacts of one of these types */
  artifactTypes?: string[] | undefined;
  /** About artifacts of one of these architectures */
  artifactArchitectures?: string[] | undefined;
  /** About one of these components */
  componentNames?: string[] | undefined;
  /** About components of one of these ecosystems */
  componentTypes?: string[] | undefined;
  /** About components at one of these places */
  componentLocations?: string[] | undefined;
  /** With one of these other identifiers */
  aliases?: string[] | undefined;
  /** Every package that is built from this one; `artifactNames` is then ignored */
  origin?: string | undefined;
  /** An event in one of these states */
  eventReviewStates?: ReviewState[] | undefined;
  /** An event by one of these */
  eventAuthors?: string[] | undefined;
  /** No event by any of these */
  excludeEventAuthors?: string[] | undefined;
  /** An event that one of these reviewed */
  eventReviewers?: string[] | undefined;
  /** An event of one of these types */
  eventTypes?: EventTypeFilter[] | undefined;
  /** Type of the newest event that was approved */
  latestEventType?: EventTypeFilter | undefined;
  /** Part of the artifact's name, the component's name or an alias, in any case */
  query?: string | undefined;
  /** Results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** One field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** Results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListExternalGroupRoleMappingsRequest {
  /** Where the records are */
  uidp?: UIDPFilter | undefined;
  /** uid of an identity provider */
  identityProviderUid?: string | undefined;
  /** Results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** One field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** Results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListGroupInvitesRequest {
  /** Where the records are */
  uidp?: UIDPFilter | undefined;
  /** The first 16 digits of the SHA-256 of the code */
  keyId?: string | undefined;
  /** Results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** One field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** Results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListGroupsRequest {
  /** Where the records are */
  uidp?: UIDPFilter | undefined;
  /** The whole name */
  name?: string | undefined;
  /** Results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** One field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** Results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListIdentitiesRequest {
  /** Where the records are */
  uidp?: UIDPFilter | undefined;
  /** The whole name */
  name?: string | undefined;
  /** How it is assumed */
  relationshipType?: RelationshipType | undefined;
  /** Results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** One field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** Results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListIdentityProvidersRequest {
  /** Where the records are */
  uidp?: UIDPFilter | undefined;
  /** The whole name */
  name?: string | undefined;
  /** Results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** One field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** Results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListReposRequest {
  /** Where the records are */
  uidp?: UIDPFilter | undefined;
  /** The whole name */
  name?: string | undefined;
  /** Results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** One field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** Results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListRoleBindingsRequest {
  /** Where the records are */
  uidp?: UIDPFilter | undefined;
  /** uid of an identity */
  identity?: string | undefined;
  /** uid of a group */
  group?: string | undefined;
  /** uid of a role */
  role?: string | undefined;
  /** Results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** One field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** Results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListRolesRequest {
  /** Where the records are */
  uidp?: UIDPFilter | undefined;
  /** The whole name */
  name?: string | undefined;
  /** Results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** One field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** Results to skip, counted from the cursor */
  skip?: number | undefined;
}

export interface ListTagsRequest {
  /** Where the records are */
  uidp?: UIDPFilter | undefined;
  /** The whole name */
  name?: string | undefined;
  /** Tags that were updated after this time */
  updatedSince?: string | undefined;
  /** Includes `sha256-*` */
  includeReferrers?: boolean | undefined;
  /** Includes `*-20yymmdd` */
  includeDates?: boolean | undefined;
  /** Includes `*-r[0-9]+` */
  includeEpochs?: boolean | undefined;
  /** Digest of the manifest */
  digest?: string | undefined;
  /** Results per page: 0 or absent 50, at most 200 */
  pageSize?: number | undefined;
  /** `nextPageToken` of the page before */
  pageToken?: string | undefined;
  /** One field, optionally `asc` or `desc` */
  orderBy?: string | undefined;
  /** Results to skip, counted from the cursor */
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
  /** Without white space, at most 255 characters; unique in its group */
  name: string;
  /** One line, at most 512 characters; default: empty, or the source's */
  description?: string | undefined;
  /** Part of the catalog that the images belong to; default: none, or the source's */
  catalogTier?: CatalogTier | undefined;
  /** Bundles that the images belong to, such as `base`; order and duplicates do not matter; default: the source's */
  bundles?: string[] | undefined;
  /** Other names of the image, each with a tag, such as `nginx:latest`; order and duplicates do not matter; default: the source's */
  aliases?: string[] | undefined;
  /** Tags that are kept up to date; order and duplicates do not matter; default: the source's */
  activeTags?: string[] | undefined;
  /** Syncs the images of another repo */
  sync_config?: SyncConfig | undefined;
  /** What is added to each image or removed from it */
  customOverlay?: CustomOverlay | undefined;
  /** When it was created: RFC 3339, UTC */
  createTime: string;
  /** When it was last changed: RFC 3339, UTC */
  updateTime: string;
}

export interface RepoReadme {
  /** uid of the repo */
  uid: string;
  /** Markdown, at most 262,144 characters */
  content?: string | undefined;
}

export type ReviewState =
  | "REVIEW_STATE_UNSPECIFIED"
  | "REVIEW_STATE_PENDING"
  | "REVIEW_STATE_APPROVED"
  | "REVIEW_STATE_REQUEST_CHANGES"
  | "REVIEW_STATE_REJECTED";

export interface Role {
  /** Built-in: one segment; custom: uid of its group, then a segment of its own */
  uid: string;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: string;
  /** One line, at most 512 characters; default: empty */
  description?: string | undefined;
  /** What the role grants, by enum name: `CAP_IAM_GROUPS_LIST`; the order does not matter */
  capabilities: Capability[];
  /** When it was created: RFC 3339, UTC */
  createTime: string;
  /** When it was last changed: RFC 3339, UTC */
  updateTime: string;
}

export interface RoleBinding {
  /** uid of its group, then a segment of its own */
  uid: string;
  /** The identity that is granted the role */
  identity: Readonly<RoleBindingIdentity>;
  /** The group that the grant covers, with everything below it */
  group: Readonly<RoleBindingGroup>;
  /** The role that is granted */
  role: Readonly<RoleBindingRole>;
  /** When it was created: RFC 3339, UTC */
  createTime: string;
  /** uid of the identity that is granted the role */
  identityUid: string;
  /** uid of the role that is granted */
  roleUid: string;
}

export interface RoleBindingGroup {
  /** uid of the group */
  uid: string;
  /** Its name */
  name: string;
  /** Its description */
  description: string;
}

export interface RoleBindingIdentity {
  /** uid of the identity */
  uid: string;
  /** Its name */
  name: string;
  /** Its description */
  description: string;
  /** `sub` of its claim match */
  subject?: string | undefined;
  /** `iss` of its claim match */
  issuer?: string | undefined;
  /** Verified address of a person */
  email?: string | undefined;
}

export interface RoleBindingRole {
  /** uid of the role */
  uid: string;
  /** Its name */
  name: string;
  /** Its description */
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
  /** The scale */
  type?: SeverityType | undefined;
  /** The vector, as text */
  score?: string | undefined;
}

export type SeverityType =
  | "TYPE_UNSPECIFIED"
  | "TYPE_CVSS_V2"
  | "TYPE_CVSS_V3"
  | "TYPE_CVSS_V4";

export interface SyncConfig {
  /** uid of a repo, `group/repo` or `registry/group/repo`; stored as the uid */
  source: string;
  /** Exported tags are uniquely labeled; a setting of the organization */
  uniqueTags?: boolean | undefined;
  /** When syncing ends, 14 days after it began: RFC 3339, UTC */
  expirationTime?: string | undefined;
  /** Registry at Google Cloud that images are copied to */
  google?: string | undefined;
  /** Registry at AWS that images are copied to */
  amazon?: string | undefined;
  /** Registry at Azure that images are copied to */
  azure?: string | undefined;
  /** Configuration applied when images are rebuilt; managed by the service */
  apkoOverlay?: string | undefined;
  /** A grace period follows the end of life; a setting of the organization */
  gracePeriod?: boolean | undefined;
}

export interface Tag {
  /** uid of its repo, then a segment of its own */
  uid: string;
  /** At most 128 characters; unique in its repo */
  name: string;
  /** Digest of the manifest: `sha256:` and 64 hexadecimal digits */
  digest: string;
  /** When the tag was created, or last moved: RFC 3339, UTC */
  updateTime: string;
  /** Marks the tag as deprecated; default: false */
  deprecated?: boolean | undefined;
  /** Bundles that the image belongs to, such as `base`; order and duplicates do not matter */
  bundles?: string[] | undefined;
}

export interface UIDPFilter {
  /** Groups from `X` up to its root */
  ancestorsOf?: string | undefined;
  /** Everything below `X`, exclusive of `X` */
  descendantsOf?: string | undefined;
  /** Exactly one level below `X` */
  childrenOf?: string | undefined;
  /** Root-level records only */
  inRoot?: boolean | undefined;
  /** These records only */
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

/** Every resource that a program can declare. */
export type KindName =
  | "accountAssociation"
  | "externalGroupRoleMapping"
  | "group"
  | "groupInvite"
  | "identity"
  | "identityProvider"
  | "repo"
  | "role"
  | "roleBinding"
  | "tag";
