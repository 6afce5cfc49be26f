// The messages and enums that the served methods use, as the contract tells them (sections 1.5, 2, 3, 4 and 7), copied and not
// derived from schema/. `name=number type (flags)`; REQ, OPT, OUT: field behaviour; presence: proto3 optional.
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
iam.v1.Group: id=1 string (SCOPE); name=2 string; description=3 string; resource_limits=4 map<string,int32>; verified=5 bool; kind=6 OrgKind; status=7 OrgStatus
iam.v1.GroupList: items=1 []Group
iam.v1.GroupFilter: id=1 string; uidp=2 UIDPFilter; name=3 string
registry.v1.Repo: id=1 string (SCOPE); name=2 string; catalog_tier=3 CatalogTier; bundles=4 []string; readme=5 string; sync_config=6 SyncConfig [json: sync_config]; custom_overlay=7 CustomOverlay; aliases=8 []string; create_time=9 Timestamp; active_tags=10 []string; description=11 string
registry.v1.RepoList: items=1 []Repo
registry.v1.RepoFilter: uidp=1 UIDPFilter; name=2 string; id=3 string
enum registry.v1.CatalogTier: UNKNOWN=0, APPLICATION=4, BASE=5, FIPS=6, AI=7, DEVTOOLS=8, COMMERCIAL=9
common.UIDPFilter: ancestors_of=1 string; descendants_of=2 string; children_of=3 string; in_root=4 bool; ids=5 []string
oidc.ExchangeRequest: aud=1 []string; scope=2 string; identity=4 string; cap=5 []string; identity_provider=7 string; scopes=8 []string
oidc.RawToken: token=1 string; refresh_token=2 string; expiry=3 Timestamp
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

export const publishedMessages: ReadonlyMap<string, readonly PublishedField[]> = new Map(
  rows
    .filter(([name]) => !name.startsWith("enum "))
    .map(([name, text]) => [name, (text.split(" — ")[0] as string).split("; ").map(fieldFrom)]),
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
