// The messages and enums that the served methods use, copied from the vendor's protobuf files (docs/contract.md) and not derived
// from schema/. `name=number type (flags)`; REQ, OPT, OUT: field behaviour; presence: proto3 optional.
const TABLE = `
iam.Group: uid=1 string (OUT,SCOPE); name=2 string (REQ); description=3 string (OPT); resource_limits=4 map<string,int32> (OUT); verified=5 bool (OPT); create_time=6 Timestamp (OUT); update_time=7 Timestamp (OUT); kind=8 OrgKind (OPT); status=9 OrgStatus (OUT)
iam.GetGroupRequest: uid=1 string (REQ,SCOPE)
iam.DeleteGroupRequest: uid=1 string (REQ,SCOPE)
iam.ListGroupsRequest: uidp=1 UIDPFilter (OPT); name=2 string (OPT); page_size=3 int32 (OPT); page_token=4 string (OPT); order_by=5 string (OPT); skip=6 int32 (OPT)
iam.ListGroupsResponse: groups=1 []Group; next_page_token=2 string; total_count=3 int64 (presence); skipped=4 int32
iam.CreateGroupRequest: parent=1 string (OPT); group=2 Group (REQ)
iam.UpdateGroupRequest: group=1 Group (REQ,SCOPE); update_mask=2 FieldMask (OPT)
enum iam.OrgKind: ORG_KIND_UNSPECIFIED=0, ORG_KIND_STARTER=1, ORG_KIND_CUSTOMER=2, ORG_KIND_DEV=3, ORG_KIND_INFRA=4, ORG_KIND_AWS_MARKETPLACE=5
enum iam.OrgStatus: ORG_STATUS_UNSPECIFIED=0, ORG_STATUS_INITIALIZING=1, ORG_STATUS_READY=2, ORG_STATUS_SUSPENDED=3
iam.Identity: uid=1 string (OUT,SCOPE); name=2 string (REQ); description=3 string (OPT); email=4 string (OUT); email_unverified=5 string (OUT); company=6 string (OPT); last_seen_time=8 Timestamp (OUT); create_time=9 Timestamp (OUT); update_time=10 Timestamp (OUT); claim_match=20 Identity.ClaimMatch (oneof:relationship); static_keys=21 Identity.StaticKeys (oneof:relationship); aws_identity=22 Identity.AWSIdentity (oneof:relationship); service_principal=23 ServicePrincipal (oneof:relationship) — reserved: 7, providers
iam.Identity.ClaimMatch: issuer=1 string (oneof:iss); issuer_pattern=2 string (oneof:iss); subject=3 string (oneof:sub); subject_pattern=4 string (oneof:sub); audience=5 string (oneof:aud); audience_pattern=6 string (oneof:aud); claims=7 map<string,string> (OPT); claim_patterns=8 map<string,string> (OPT)
iam.Identity.StaticKeys: issuer=1 string (REQ); subject=2 string (REQ); issuer_keys=3 string (REQ); expiration_time=4 Timestamp (OPT); audiences=5 []string (OPT)
iam.Identity.AWSIdentity: aws_account=1 string (REQ); arn=2 string (oneof:aws_arn); arn_pattern=3 string (oneof:aws_arn); user_id=4 string (oneof:aws_user_id); user_id_pattern=5 string (oneof:aws_user_id)
iam.CreateIdentityRequest: parent=1 string (REQ,SCOPE); identity=2 Identity (REQ)
iam.GetIdentityRequest: uid=1 string (REQ,SCOPE)
iam.DeleteIdentityRequest: uid=1 string (REQ,SCOPE)
iam.UpdateIdentityRequest: identity=1 Identity (REQ,SCOPE); update_mask=2 FieldMask (OPT)
iam.ListIdentitiesRequest: uidp=1 UIDPFilter (OPT); name=2 string (OPT); relationship_type=3 RelationshipType (OPT); page_size=4 int32 (OPT); page_token=5 string (OPT); order_by=6 string (OPT); skip=7 int32 (OPT)
iam.ListIdentitiesResponse: identities=1 []Identity; next_page_token=2 string; total_count=3 int64 (presence); skipped=4 int32
iam.LookupIdentityRequest: issuer=1 string (REQ); subject=2 string (REQ)
iam.LookupIdentityResponse: uid=1 string (OUT)
enum iam.RelationshipType: RELATIONSHIP_TYPE_UNSPECIFIED=0, RELATIONSHIP_TYPE_CLAIM_MATCH=1, RELATIONSHIP_TYPE_STATIC=2, RELATIONSHIP_TYPE_AWS_IDENTITY=3, RELATIONSHIP_TYPE_SERVICE_PRINCIPAL=4
enum iam.ServicePrincipal: SERVICE_PRINCIPAL_UNSPECIFIED=0, SERVICE_PRINCIPAL_COSIGNED=1, SERVICE_PRINCIPAL_INGESTER=2, SERVICE_PRINCIPAL_CATALOG_SYNCER=3, SERVICE_PRINCIPAL_APKO_BUILDER=4, SERVICE_PRINCIPAL_ENTITLEMENT_SYNCER=5, SERVICE_PRINCIPAL_TENANT_SCANNER=6, SERVICE_PRINCIPAL_SEDIMENTOLOGY=7, SERVICE_PRINCIPAL_SKILLUP=8, SERVICE_PRINCIPAL_MATERIALIZER=9, SERVICE_PRINCIPAL_MICROFLOW=10, SERVICE_PRINCIPAL_GUARDENER=11, SERVICE_PRINCIPAL_MICROVM=12, SERVICE_PRINCIPAL_SKILLS=13
iam.RoleBinding: uid=1 string (OUT,SCOPE); identity=2 RoleBindingIdentity (OUT); group=3 RoleBindingGroup (OUT); role=4 RoleBindingRole (OUT); create_time=5 Timestamp (OUT); identity_uid=6 string (OPT); role_uid=7 string (OPT)
iam.RoleBindingIdentity: uid=1 string (OUT); name=2 string (OUT); description=3 string (OUT); subject=4 string (OUT); issuer=5 string (OUT); email=6 string (OUT)
iam.RoleBindingGroup: uid=1 string (OUT); name=2 string (OUT); description=3 string (OUT)
iam.RoleBindingRole: uid=1 string (OUT); name=2 string (OUT); description=3 string (OUT)
iam.CreateRoleBindingRequest: parent=1 string (REQ,SCOPE); role_binding=2 RoleBinding (REQ)
iam.DeleteRoleBindingRequest: uid=1 string (REQ,SCOPE)
iam.GetRoleBindingRequest: uid=1 string (REQ,SCOPE)
iam.ListRoleBindingsRequest: uidp=1 UIDPFilter (OPT); identity=2 string (OPT); group=3 string (OPT); role=4 string (OPT); page_size=5 int32 (OPT); page_token=6 string (OPT); order_by=7 string (OPT); skip=8 int32 (OPT)
iam.ListRoleBindingsResponse: role_bindings=1 []RoleBinding; next_page_token=2 string; total_count=3 int64 (presence); skipped=4 int32
iam.UpdateRoleBindingRequest: role_binding=1 RoleBinding (REQ,SCOPE); update_mask=2 FieldMask (OPT)
iam.BatchCreateRoleBindingsRequest: parent=1 string (REQ,SCOPE); requests=2 []CreateRoleBindingRequest (REQ); role_uid=3 string (OPT)
iam.BatchCreateRoleBindingsResponse: role_bindings=1 []RoleBinding
iam.Role: uid=1 string (OUT,SCOPE); name=2 string (REQ); description=3 string (OPT); capabilities=4 []Capability (OPT); create_time=5 Timestamp (OUT); update_time=6 Timestamp (OUT)
iam.GetRoleRequest: uid=1 string (REQ,SCOPE)
iam.ListRolesRequest: uidp=1 UIDPFilter (OPT); name=2 string (OPT); page_size=3 int32 (OPT); page_token=4 string (OPT); order_by=5 string (OPT); skip=6 int32 (OPT)
iam.ListRolesResponse: roles=1 []Role; next_page_token=2 string; total_count=3 int64 (presence); skipped=4 int32
iam.CreateRoleRequest: parent=1 string (REQ,SCOPE); role=2 Role (REQ)
iam.UpdateRoleRequest: role=1 Role (REQ,SCOPE); update_mask=2 FieldMask (OPT)
iam.DeleteRoleRequest: uid=1 string (REQ,SCOPE)
registry.Repo: uid=1 string (OUT,SCOPE); name=2 string (REQ); description=3 string (OPT); catalog_tier=4 CatalogTier (OPT); bundles=5 []string (OPT); aliases=7 []string (OPT); active_tags=8 []string (OPT); sync_config=9 SyncConfig (OPT) [json: sync_config]; custom_overlay=10 CustomOverlay (OPT); create_time=11 Timestamp (OUT); update_time=12 Timestamp (OUT) — reserved: 6, readme
registry.SyncConfig: source=1 string (REQ); unique_tags=2 bool (OUT); expiration_time=3 Timestamp (OUT); google=4 string (OPT); amazon=5 string (OPT); azure=6 string (OPT); apko_overlay=7 string (OUT); grace_period=8 bool (OUT)
registry.CustomOverlay: contents=1 CustomOverlay.ImageContents (OPT); environment=2 map<string,string> (OPT); annotations=3 map<string,string> (OPT); accounts=4 CustomOverlay.Accounts (OPT); certificates=5 CustomOverlay.Certificates (OPT)
registry.CustomOverlay.ImageContents: packages=1 []string (OPT); runtime_repositories=2 []string (OPT); runtime_keyring=3 []CustomOverlay.ImageContents.RuntimeKeyringEntry (OPT)
registry.CustomOverlay.ImageContents.RuntimeKeyringEntry: name=1 string (REQ); content=2 string (REQ)
registry.CustomOverlay.Accounts: run_as=1 string (OPT); users=2 []CustomOverlay.Accounts.User (OPT); groups=3 []CustomOverlay.Accounts.Group (OPT)
registry.CustomOverlay.Accounts.User: username=1 string (REQ); uid=2 int32 (OPT); gid=3 int32 (OPT); group_name=4 string (OPT); shell=5 string (OPT); home_dir=6 string (OPT)
registry.CustomOverlay.Accounts.Group: groupname=1 string (REQ); gid=2 int32 (OPT); members=3 []string (OPT)
registry.CustomOverlay.Certificates: additional=1 []CustomOverlay.Certificates.AdditionalEntry (OPT); providers=2 []string (OPT)
registry.CustomOverlay.Certificates.AdditionalEntry: name=1 string (REQ); content=2 string (REQ)
registry.GetRepoRequest: uid=1 string (REQ,SCOPE)
registry.ListReposRequest: uidp=1 UIDPFilter (OPT); name=2 string (OPT,presence); page_size=4 int32 (OPT); page_token=5 string (OPT); order_by=6 string (OPT); skip=7 int32 (OPT) — reserved: 3, exclude_readme
registry.ListReposResponse: repos=1 []Repo; next_page_token=2 string; total_count=3 int64 (presence); skipped=4 int32
enum registry.CatalogTier: CATALOG_TIER_UNSPECIFIED=0, CATALOG_TIER_APPLICATION=1, CATALOG_TIER_BASE=2, CATALOG_TIER_FIPS=3, CATALOG_TIER_AI=4, CATALOG_TIER_DEVTOOLS=5, CATALOG_TIER_COMMERCIAL=6
iam.AccountAssociation: uid=1 string (OUT,SCOPE); name=2 string (REQ); description=3 string (OPT); amazon=4 AccountAssociation.Amazon (OPT); google=5 AccountAssociation.Google (OPT); chainguard=7 AccountAssociation.Chainguard (OPT); azure=8 AccountAssociation.Azure (OPT); create_time=9 Timestamp (OUT); update_time=10 Timestamp (OUT); github=11 AccountAssociation.GitHub (OPT) — reserved: 6
iam.AccountAssociation.Amazon: account=1 string (REQ)
iam.AccountAssociation.Google: project_id=1 string (REQ); project_number=2 string (REQ)
iam.AccountAssociation.GitHub: app_installations=2 map<int64,AccountAssociation.GitHubAppInstallations> (OPT)
iam.AccountAssociation.GitHubAppInstallations: installations=1 []AccountAssociation.GitHubInstallation (OPT)
iam.AccountAssociation.GitHubInstallation: installation_id=1 int64 (REQ); name=2 string (OPT)
iam.AccountAssociation.Chainguard: service_bindings=1 map<string,string> (REQ)
iam.AccountAssociation.Azure: tenant_id=1 string (REQ); client_ids=2 map<string,string> (REQ)
iam.GetAccountAssociationRequest: uid=1 string (REQ,SCOPE)
iam.ListAccountAssociationsRequest: uidp=1 UIDPFilter (OPT); name=2 string (OPT); page_size=3 int32 (OPT); page_token=4 string (OPT); order_by=5 string (OPT); skip=6 int32 (OPT)
iam.CreateAccountAssociationRequest: parent=1 string (REQ,SCOPE); account_association=2 AccountAssociation (REQ)
iam.DeleteAccountAssociationRequest: uid=1 string (REQ,SCOPE)
iam.ListAccountAssociationsResponse: account_associations=1 []AccountAssociation; next_page_token=2 string; total_count=3 int64 (presence); skipped=4 int32
iam.UpdateAccountAssociationRequest: account_association=1 AccountAssociation (REQ,SCOPE); update_mask=2 FieldMask (OPT)
iam.CheckAccountAssociationRequest: uid=1 string (REQ,SCOPE); provider_type=2 AccountProviderType (REQ)
iam.CheckAccountAssociationResponse: status=1 CheckStatus; reason=2 string; message=3 string
enum iam.AccountProviderType: ACCOUNT_PROVIDER_TYPE_UNSPECIFIED=0, ACCOUNT_PROVIDER_TYPE_GOOGLE=1, ACCOUNT_PROVIDER_TYPE_AMAZON=2, ACCOUNT_PROVIDER_TYPE_AZURE=3
enum iam.CheckStatus: CHECK_STATUS_UNSPECIFIED=0, CHECK_STATUS_READY=1, CHECK_STATUS_NOT_READY=2
iam.GroupInvite: uid=1 string (OUT,SCOPE); role_uid=2 string (REQ); role=10 GroupInviteRole (OUT); email=3 string (OPT); ttl=4 Duration (REQ/IN); expiration_time=5 Timestamp (OUT); single_use=6 bool (OPT); code=7 string (OUT); key_id=8 string (OUT); create_time=9 Timestamp (OUT)
iam.GroupInviteRole: uid=1 string (OUT); name=2 string (OUT); description=3 string (OUT); capabilities=4 []Capability (OUT)
iam.CreateGroupInviteRequest: parent=1 string (REQ,SCOPE); group_invite=2 GroupInvite (REQ)
iam.GetGroupInviteRequest: uid=1 string (REQ,SCOPE)
iam.DeleteGroupInviteRequest: uid=1 string (REQ,SCOPE)
iam.ListGroupInvitesRequest: uidp=1 UIDPFilter (OPT); key_id=2 string (OPT); page_size=3 int32 (OPT); page_token=4 string (OPT); order_by=5 string (OPT); skip=6 int32 (OPT)
iam.ListGroupInvitesResponse: group_invites=1 []GroupInvite; next_page_token=2 string; total_count=3 int64 (presence); skipped=4 int32
iam.IdentityProvider: uid=1 string (OUT,SCOPE); name=2 string (REQ); description=3 string (OPT); create_time=4 Timestamp (OUT); update_time=5 Timestamp (OUT); default_role=6 string (REQ); oidc=20 IdentityProvider.OIDC (OPT,oneof:configuration); scim=21 IdentityProvider.SCIM (OUT)
iam.IdentityProvider.OIDC: issuer=1 string (REQ); client_id=2 string (REQ); client_secret=3 string (OPT,redact); additional_scopes=4 []string (OPT); groups_claim=5 string (OPT); correlation_rule=6 IdentityProvider.OIDC.CorrelationRule (OPT/IMM); pkce_enabled=7 bool (OPT)
enum iam.IdentityProvider.OIDC.CorrelationRule: CORRELATION_RULE_UNSPECIFIED=0, CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID=1, CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID=2
iam.IdentityProvider.SCIM: enabled=1 bool (OUT); endpoint_url=3 string (OUT); token_expire_time=4 Timestamp (OUT); previous_token_expire_time=5 Timestamp (OUT); credential_state=6 IdentityProvider.SCIM.CredentialState (OUT); etag=7 string (OUT) — reserved: 2, bearer_token
enum iam.IdentityProvider.SCIM.CredentialState: CREDENTIAL_STATE_UNSPECIFIED=0, CREDENTIAL_STATE_NOT_ISSUED=1, CREDENTIAL_STATE_LIVE=2, CREDENTIAL_STATE_EXPIRED=3, CREDENTIAL_STATE_REVOKED=4, CREDENTIAL_STATE_ROTATING=5
iam.ListIdentityProvidersRequest: uidp=1 UIDPFilter (OPT); name=2 string (OPT); page_size=10 int32 (OPT); page_token=11 string (OPT); order_by=12 string (OPT); skip=13 int32 (OPT)
iam.ListIdentityProvidersResponse: identity_providers=1 []IdentityProvider; next_page_token=2 string; total_count=3 int64 (presence); skipped=4 int32
iam.GetIdentityProviderRequest: uid=1 string (REQ,SCOPE)
iam.CreateIdentityProviderRequest: parent=1 string (REQ,SCOPE); identity_provider=2 IdentityProvider (REQ)
iam.UpdateIdentityProviderRequest: identity_provider=1 IdentityProvider (REQ,SCOPE); update_mask=2 FieldMask (OPT)
iam.DeleteIdentityProviderRequest: uid=1 string (REQ,SCOPE)
iam.ExternalGroupRoleMapping: uid=1 string (OUT,SCOPE); identity_provider_uid=2 string (OUT); external_group_id=3 string (OPT); role_uid=4 string (OPT); scope=5 string (OPT); create_time=6 Timestamp (OUT)
iam.CreateExternalGroupRoleMappingRequest: parent=1 string (REQ,SCOPE); external_group_role_mapping=2 ExternalGroupRoleMapping (REQ)
iam.GetExternalGroupRoleMappingRequest: uid=1 string (REQ,SCOPE)
iam.DeleteExternalGroupRoleMappingRequest: uid=1 string (REQ,SCOPE)
iam.BatchDeleteExternalGroupRoleMappingsRequest: parent=1 string (REQ,SCOPE); names=2 []string (REQ)
iam.BatchDeleteExternalGroupRoleMappingsResponse: parent=1 string; external_group_role_mappings=2 []ExternalGroupRoleMapping
iam.ListExternalGroupRoleMappingsRequest: uidp=1 UIDPFilter (OPT); identity_provider_uid=2 string (OPT); page_size=3 int32 (OPT); page_token=4 string (OPT); order_by=5 string (OPT); skip=6 int32 (OPT)
iam.ListExternalGroupRoleMappingsResponse: external_group_role_mappings=1 []ExternalGroupRoleMapping; next_page_token=2 string; total_count=3 int64 (presence); skipped=4 int32
iam.LookupGroupRequest: (empty)
iam.LookupGroupResponse: group=1 Group
registry.DeleteRepoRequest: uid=1 string (REQ,SCOPE)
registry.CreateRepoRequest: parent=1 string (REQ,SCOPE); repo=2 Repo (REQ)
registry.UpdateRepoRequest: repo=1 Repo (REQ,SCOPE); update_mask=2 FieldMask (OPT)
registry.RepoReadme: uid=1 string (OUT,SCOPE); content=2 string (OPT)
registry.GetRepoReadmeRequest: uid=1 string (REQ,SCOPE)
registry.UpdateRepoReadmeRequest: repo_readme=1 RepoReadme (REQ,SCOPE); update_mask=2 FieldMask (OPT)
registry.Tag: uid=1 string (OUT); name=2 string (REQ); digest=3 string (REQ); update_time=4 Timestamp (OUT); deprecated=5 bool (OPT); bundles=6 []string (OPT)
registry.GetTagRequest: uid=1 string (REQ,SCOPE)
registry.CreateTagRequest: parent=1 string (REQ,SCOPE); tag=2 Tag (REQ)
registry.DeleteTagRequest: uid=1 string (REQ,SCOPE)
registry.ListTagsRequest: uidp=1 UIDPFilter (OPT); name=2 string (OPT); updated_since=3 Timestamp (OPT); include_referrers=4 bool (OPT); include_dates=5 bool (OPT); include_epochs=6 bool (OPT); digest=7 string (OPT); page_size=10 int32 (OPT); page_token=11 string (OPT); order_by=12 string (OPT); skip=13 int32 (OPT)
registry.ListTagsResponse: tags=1 []Tag; next_page_token=2 string; total_count=3 int64 (presence); skipped=4 int32
vulnerabilities.Advisory: uid=1 string (OUT); advisory_id=2 string (OUT); create_time=3 Timestamp (OUT); update_time=4 Timestamp (OUT); delete_time=5 Timestamp (OUT,presence); author=6 string (REQ); artifact_name=7 string (REQ); artifact_type=8 string (REQ); artifact_architecture=9 string (REQ); component_name=10 string (REQ); component_location=11 string (REQ); component_type=12 string (REQ); aliases=13 []string (OPT); events=14 []AdvisoryEvent (OPT); legacy_advisory_id=15 string (OUT,presence); severities=16 []Severity (OUT)
vulnerabilities.Severity: type=1 Severity.Type; score=2 string
enum vulnerabilities.Severity.Type: TYPE_UNSPECIFIED=0, TYPE_CVSS_V2=1, TYPE_CVSS_V3=2, TYPE_CVSS_V4=3
vulnerabilities.AdvisoryEvent: uid=1 string (OUT); create_time=2 Timestamp (OUT); findings=3 bytes; author=4 string (REQ); reviewer=5 string (OPT); review_state=6 ReviewState (REQ); issue=7 string (OPT,presence); detection=10 AdvisoryEvent.Detection (oneof:type); fixed=11 AdvisoryEvent.Fixed (oneof:type); false_positive_determination=12 AdvisoryEvent.FalsePositiveDetermination (oneof:type); analysis_not_planned=13 AdvisoryEvent.AnalysisNotPlanned (oneof:type); fix_not_planned=14 AdvisoryEvent.FixNotPlanned (oneof:type); pending_upstream_fix=15 AdvisoryEvent.PendingUpstreamFix (oneof:type); true_positive_determination=16 AdvisoryEvent.TruePositiveDetermination (oneof:type); patched=17 AdvisoryEvent.Patched (oneof:type)
vulnerabilities.AdvisoryEvent.Detection: nvdapi=1 AdvisoryEvent.Detection.NVDAPI (oneof:type); manual=2 AdvisoryEvent.Detection.Manual (oneof:type); scanv1=3 AdvisoryEvent.Detection.ScanV1 (oneof:type)
vulnerabilities.AdvisoryEvent.Detection.NVDAPI: cpe_searched=1 string; cpe_found=2 string
vulnerabilities.AdvisoryEvent.Detection.Manual: (empty)
vulnerabilities.AdvisoryEvent.Detection.ScanV1: scanner=1 string; subpackage=2 string; component_id=3 string; component=4 string; component_version=5 string; component_type=6 string; component_location=7 string; artifact_version=8 string; scanner_version=9 string; grype_db_built=10 string; grype_db_checksum=11 string
vulnerabilities.AdvisoryEvent.Fixed: fixed_version=1 string; note=2 string; scanner_version=3 string; grype_db_built=4 string; grype_db_checksum=5 string
vulnerabilities.AdvisoryEvent.TruePositiveDetermination: note=1 string
vulnerabilities.AdvisoryEvent.FalsePositiveDetermination: type=1 AdvisoryEvent.FalsePositiveDetermination.Type; note=2 string
enum vulnerabilities.AdvisoryEvent.FalsePositiveDetermination.Type: TYPE_UNSPECIFIED=0, TYPE_VULNERABILITY_RECORD_ANALYSIS_CONTESTED=1, TYPE_COMPONENT_VULNERABILITY_MISMATCH=2, TYPE_VULNERABLE_CODE_VERSION_NOT_USED=3, TYPE_VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE=4, TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH=5, TYPE_VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY=6, TYPE_INLINE_MITIGATIONS_EXIST=7
vulnerabilities.AdvisoryEvent.AnalysisNotPlanned: note=1 string
vulnerabilities.AdvisoryEvent.FixNotPlanned: note=1 string
vulnerabilities.AdvisoryEvent.PendingUpstreamFix: note=1 string
vulnerabilities.AdvisoryEvent.Patched: patched_versions=1 []string; note=2 string
vulnerabilities.GetAdvisoryRequest: uid=1 string (REQ,SCOPE)
vulnerabilities.ListAdvisoriesRequest: uidp=1 UIDPFilter (OPT); advisory_ids=2 []string (OPT); legacy_advisory_ids=3 []string (OPT); artifact_names=4 []string (OPT); artifact_types=5 []string (OPT); artifact_architectures=6 []string (OPT); component_names=7 []string (OPT); component_types=8 []string (OPT); component_locations=9 []string (OPT); aliases=10 []string (OPT); origin=11 string (OPT,presence); event_review_states=21 []ReviewState (OPT); event_authors=22 []string (OPT); exclude_event_authors=23 []string (OPT); event_reviewers=24 []string (OPT); event_types=25 []EventTypeFilter (OPT); latest_event_type=26 EventTypeFilter (OPT,presence); page_size=30 int32 (OPT); page_token=31 string (OPT); order_by=32 string (OPT); skip=34 int32 (OPT); query=35 string (OPT)
vulnerabilities.ListAdvisoriesResponse: advisories=1 []Advisory; next_page_token=2 string; total_count=3 int64 (presence); skipped=4 int32
enum vulnerabilities.ReviewState: REVIEW_STATE_UNSPECIFIED=0, REVIEW_STATE_PENDING=1, REVIEW_STATE_APPROVED=2, REVIEW_STATE_REQUEST_CHANGES=3, REVIEW_STATE_REJECTED=4
enum vulnerabilities.EventTypeFilter: EVENT_TYPE_FILTER_UNSPECIFIED=0, EVENT_TYPE_FILTER_DETECTION=1, EVENT_TYPE_FILTER_TRUE_POSITIVE_DETERMINATION=2, EVENT_TYPE_FILTER_FIXED=3, EVENT_TYPE_FILTER_FALSE_POSITIVE_DETERMINATION=4, EVENT_TYPE_FILTER_ANALYSIS_NOT_PLANNED=5, EVENT_TYPE_FILTER_FIX_NOT_PLANNED=6, EVENT_TYPE_FILTER_PENDING_UPSTREAM_FIX=7, EVENT_TYPE_FILTER_PATCHED=8
ping.PingRequest: (empty)
ping.PingResponse: response=1 string
iam.v1.Role: id=1 string (SCOPE); name=2 string; description=3 string; capabilities=4 []string
iam.v1.RoleList: items=1 []Role
iam.v1.RoleFilter: id=1 string; name=2 string; parent=3 string; uidp=4 UIDPFilter
iam.v1.Identity: id=1 string (SCOPE); name=2 string; description=3 string; created_at=4 Timestamp; updated_at=5 Timestamp; last_seen=9 Timestamp; claim_match=10 Identity.ClaimMatch (oneof:relationship); static=11 Identity.StaticKeys (oneof:relationship); service_principal=12 ServicePrincipal (oneof:relationship); aws_identity=13 Identity.AWSIdentity (oneof:relationship)
iam.v1.Identity.ClaimMatch: issuer=1 string (oneof:iss); issuer_pattern=2 string (oneof:iss); subject=3 string (oneof:sub); subject_pattern=4 string (oneof:sub); audience=5 string (oneof:aud); audience_pattern=6 string (oneof:aud); claims=7 map<string,string>; claim_patterns=8 map<string,string>
iam.v1.Identity.StaticKeys: issuer=1 string; subject=2 string; issuer_keys=4 string; expiration=5 Timestamp; audiences=6 []string
iam.v1.Identity.AWSIdentity: aws_account=1 string; arn=3 string (oneof:aws_arn); arn_pattern=4 string (oneof:aws_arn); user_id=5 string (oneof:aws_user_id); user_id_pattern=6 string (oneof:aws_user_id)
iam.v1.IdentityList: items=1 []Identity
iam.v1.IdentityFilter: uidp=1 UIDPFilter; id=2 string
iam.v1.LookupRequest: issuer=1 string; subject=2 string
enum iam.v1.ServicePrincipal: UNKNOWN=0, COSIGNED=1, INGESTER=2, CATALOG_SYNCER=3, APKO_BUILDER=4, ENTITLEMENT_SYNCER=5, TENANT_SCANNER=6, SEDIMENTOLOGY=7, SKILLUP=8, MATERIALIZER=9, MICROFLOW=10, GUARDENER=11, MICROVM=12, SKILLS=13
iam.v1.RoleBindingList: items=1 []RoleBindingList.Binding
iam.v1.RoleBindingList.Binding: id=1 string; group=2 Group; identity=3 string; role=4 Role; email=5 string; claim_match_issuer=6 string; claim_match_subject=7 string; created_at=8 Timestamp; email_unverified=9 string
iam.v1.RoleBindingFilter: id=1 string; uidp=2 UIDPFilter
iam.v1.StoredGroupInvite: id=1 string; expiration=2 Timestamp; key_id=3 string; role=4 Role; email=5 string; created_at=6 Timestamp; single_use=7 bool
iam.v1.GroupInviteList: items=1 []StoredGroupInvite
iam.v1.GroupInviteFilter: group=1 string; id=2 string; key_id=3 string
iam.v1.AccountAssociations: group=1 string (SCOPE); amazon=2 AccountAssociations.Amazon; google=3 AccountAssociations.Google; name=4 string; description=5 string; github=6 AccountAssociations.GitHubInstallation; chainguard=7 AccountAssociations.Chainguard; azure=8 AccountAssociations.Azure
iam.v1.AccountAssociations.Amazon: account=1 string
iam.v1.AccountAssociations.Google: project_id=1 string; project_number=2 string
iam.v1.AccountAssociations.GitHubInstallation: host=1 string; app_id=2 int64; installation_id=3 int64; name=4 string
iam.v1.AccountAssociations.Chainguard: service_bindings=1 map<string,string>
iam.v1.AccountAssociations.Azure: tenant_id=1 string; client_ids=2 map<string,string>
iam.v1.AccountAssociationsList: items=1 []AccountAssociations
iam.v1.AccountAssociationsFilter: group=1 string; name=2 string
registry.v1.SyncConfig: source=1 string; unique_tags=2 bool; expiration=3 Timestamp; google=4 string; amazon=5 string; azure=6 string; sync_apks=7 bool; apko_overlay=8 string; grace_period=9 bool
auth.WhoAmI: issuer=1 string; subject=2 string; audience=3 []string; expiry=4 Timestamp; issued_at=5 Timestamp; capabilities=101 []WhoAmI.Capability; email=102 string; profile=103 unknown
auth.WhoAmI.Capability: group=1 Group; role=2 Role; capabilities=3 []string
iam.v1.Group: id=1 string (SCOPE); name=2 string; description=3 string; resource_limits=4 map<string,int32>; verified=5 bool; kind=6 OrgKind; status=7 OrgStatus
iam.v1.GroupList: items=1 []Group
enum iam.v1.OrgKind: ORG_KIND_UNSPECIFIED=0, ORG_KIND_STARTER=1, ORG_KIND_CUSTOMER=2, ORG_KIND_DEV=3, ORG_KIND_INFRA=4, ORG_KIND_AWS_MARKETPLACE=5
enum iam.v1.OrgStatus: ORG_STATUS_UNSPECIFIED=0, ORG_STATUS_INITIALIZING=1, ORG_STATUS_READY=2, ORG_STATUS_SUSPENDED=3
iam.v1.GroupFilter: id=1 string; uidp=2 UIDPFilter; name=3 string
registry.v1.Repo: id=1 string (SCOPE); name=2 string; catalog_tier=3 CatalogTier; bundles=4 []string; readme=5 string; sync_config=6 SyncConfig [json: sync_config]; custom_overlay=7 CustomOverlay; aliases=8 []string; create_time=9 Timestamp; active_tags=10 []string; description=11 string
registry.v1.RepoList: items=1 []Repo
registry.v1.RepoFilter: uidp=1 UIDPFilter; name=2 string; id=3 string
enum registry.v1.CatalogTier: UNKNOWN=0, APPLICATION=4, BASE=5, FIPS=6, AI=7, DEVTOOLS=8, COMMERCIAL=9
common.UIDPFilter: ancestors_of=1 string; descendants_of=2 string; children_of=3 string; in_root=4 bool; ids=5 []string
oidc.ExchangeRequest: aud=1 []string; scope=2 string; identity=4 string; cap=5 []string; identity_provider=7 string; scopes=8 []string
oidc.ExchangeRefreshTokenRequest: aud=1 []string; scope=2 string; cap=3 []string; scopes=4 []string
oidc.TokenPair: token=1 RawToken; refresh_token=2 RawToken
oidc.RawToken: token=1 string; refresh_token=2 string; expiry=3 Timestamp (presence)
`;

export interface PublishedField {
  name: string;
  number: number;
  type: string;
  flags: string[];
}

const rows = TABLE.trim()
  .split("\n")
  .map((line) => line.split(/: (.*)/s) as [string, string]);

const fieldFrom = (text: string): PublishedField => {
  const [, name, number, type, flags] = /^(\w+)=(\d+) (\S+)(?: \(([^)]*)\))?/.exec(text) as unknown as string[];
  return { name: name as string, number: Number(number), type: type as string, flags: flags?.split(/[,/]/) ?? [] };
};

const fieldsFrom = (text: string): PublishedField[] => text.split("; ").map(fieldFrom);

export const publishedMessages: ReadonlyMap<string, readonly PublishedField[]> = new Map(
  rows
    .filter(([name]) => !name.startsWith("enum "))
    .map(([name, text]) => [name, text === "(empty)" ? [] : fieldsFrom(text.split(" — ")[0] as string)]),
);

export const publishedEnums: ReadonlyMap<string, Record<string, number>> = new Map(
  rows
    .filter(([name]) => name.startsWith("enum "))
    .map(([name, text]) => [
      name.slice(5),
      Object.fromEntries(
        text.split(", ").map((member) => member.split("=").map((part, i) => (i ? Number(part) : part))),
      ),
    ]),
);
