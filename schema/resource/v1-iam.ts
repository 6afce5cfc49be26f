// The methods of v1 that existing clients of IAM call: the look-up of an identity, and the lists of identities, roles, role bindings,
// invites and account associations. They have `id` instead of `uid`, no paging, and `{items}`.
import type { z } from "zod";
import { bool, enumeration, enumInfo, int64, message, plain, string, stringMap, strings, timestamp } from "../field.ts";
import { UidpFilter } from "../list.ts";
import { type Operations, rows } from "../operation.ts";
import { ServicePrincipal } from "./identity.ts";
import { GroupV1, items, RoleV1 } from "./v1.ts";

const PRINCIPAL = "SERVICE_PRINCIPAL_";
/** The name of a service in v1, which omits the prefix. */
export const servicePrincipalV1 = (name: string): string =>
  name === `${PRINCIPAL}UNSPECIFIED` ? "UNKNOWN" : name.replace(PRINCIPAL, "");

const ServicePrincipalV1 = enumeration(
  "iam.v1.ServicePrincipal",
  Object.fromEntries(
    Object.entries(enumInfo(ServicePrincipal)?.numbers ?? {}).map(([name, number]) => [
      servicePrincipalV1(name),
      number,
    ]),
  ),
);

export const IdentityV1 = message("iam.v1.Identity", {
  id: plain(1, string),
  name: plain(2, string),
  description: plain(3, string, { always: true }),
  createdAt: plain(4, timestamp),
  updatedAt: plain(5, timestamp),
  lastSeen: plain(9, timestamp),
  claimMatch: plain(
    10,
    message("iam.v1.Identity.ClaimMatch", {
      issuer: plain(1, string, { oneof: "iss" }),
      issuerPattern: plain(2, string, { oneof: "iss" }),
      subject: plain(3, string, { oneof: "sub" }),
      subjectPattern: plain(4, string, { oneof: "sub" }),
      audience: plain(5, string, { oneof: "aud" }),
      audiencePattern: plain(6, string, { oneof: "aud" }),
      claims: plain(7, stringMap),
      claimPatterns: plain(8, stringMap),
    }),
    { oneof: "relationship" },
  ),
  static: plain(
    11,
    message("iam.v1.Identity.StaticKeys", {
      issuer: plain(1, string),
      subject: plain(2, string),
      issuerKeys: plain(4, string),
      expiration: plain(5, timestamp),
      audiences: plain(6, strings),
    }),
    { oneof: "relationship" },
  ),
  servicePrincipal: plain(12, ServicePrincipalV1, { oneof: "relationship" }),
  awsIdentity: plain(
    13,
    message("iam.v1.Identity.AWSIdentity", {
      awsAccount: plain(1, string),
      arn: plain(3, string, { oneof: "aws_arn" }),
      arnPattern: plain(4, string, { oneof: "aws_arn" }),
      userId: plain(5, string, { oneof: "aws_user_id" }),
      userIdPattern: plain(6, string, { oneof: "aws_user_id" }),
    }),
    { oneof: "relationship" },
  ),
});
export type IdentityV1 = z.infer<typeof IdentityV1>;

export const RoleBindingV1 = message("iam.v1.RoleBindingList.Binding", {
  id: plain(1, string),
  group: plain(2, GroupV1),
  /** uid */
  identity: plain(3, string),
  role: plain(4, RoleV1),
  email: plain(5, string),
  claimMatchIssuer: plain(6, string),
  claimMatchSubject: plain(7, string),
  createdAt: plain(8, timestamp),
  emailUnverified: plain(9, string),
});
export type RoleBindingV1 = z.infer<typeof RoleBindingV1>;

export const GroupInviteV1 = message("iam.v1.StoredGroupInvite", {
  id: plain(1, string),
  expiration: plain(2, timestamp),
  keyId: plain(3, string),
  /** absent when the role was deleted */
  role: plain(4, RoleV1),
  email: plain(5, string),
  createdAt: plain(6, timestamp),
  singleUse: plain(7, bool),
});
export type GroupInviteV1 = z.infer<typeof GroupInviteV1>;

export const AccountAssociationV1 = message("iam.v1.AccountAssociations", {
  /** uid of the group */
  group: plain(1, string),
  amazon: plain(2, message("iam.v1.AccountAssociations.Amazon", { account: plain(1, string) })),
  google: plain(
    3,
    message("iam.v1.AccountAssociations.Google", { projectId: plain(1, string), projectNumber: plain(2, string) }),
  ),
  name: plain(4, string),
  description: plain(5, string),
  /** set if there is exactly one installation: v1 has no place for more */
  github: plain(
    6,
    message("iam.v1.AccountAssociations.GitHubInstallation", {
      host: plain(1, string),
      appId: plain(2, int64),
      installationId: plain(3, int64),
      name: plain(4, string),
    }),
  ),
  chainguard: plain(7, message("iam.v1.AccountAssociations.Chainguard", { serviceBindings: plain(1, stringMap) })),
  azure: plain(
    8,
    message("iam.v1.AccountAssociations.Azure", { tenantId: plain(1, string), clientIds: plain(2, stringMap) }),
  ),
});
export type AccountAssociationV1 = z.infer<typeof AccountAssociationV1>;

const PREFIX = "/iam/v1";

export const v1IamOperations = {
  ...rows("iam.Identities", PREFIX, {
    ListIdentitiesV1: {
      http: "GET /identities",
      rpc: "List",
      request: message("iam.v1.IdentityFilter", { uidp: plain(1, UidpFilter), id: plain(2, string) }),
      response: message("iam.v1.IdentityList", { items: items(IdentityV1) }),
      capabilities: ["identity.list"],
    },
    LookupIdentityV1: {
      http: "GET /identities/lookup",
      rpc: "Lookup",
      request: message("iam.v1.LookupRequest", { issuer: plain(1, string), subject: plain(2, string) }),
      response: IdentityV1,
      capabilities: [],
    },
  }),
  ...rows("iam.Roles", PREFIX, {
    ListRolesV1: {
      http: "GET /roles",
      rpc: "List",
      request: message("iam.v1.RoleFilter", {
        id: plain(1, string),
        name: plain(2, string),
        /** uid of the group, or `/` for the built-in roles */
        parent: plain(3, string),
        uidp: plain(4, UidpFilter),
      }),
      response: message("iam.v1.RoleList", { items: items(RoleV1) }),
      capabilities: ["roles.list"],
    },
  }),
  ...rows("iam.RoleBindings", PREFIX, {
    ListRoleBindingsV1: {
      http: "GET /rolebindings",
      rpc: "List",
      request: message("iam.v1.RoleBindingFilter", { id: plain(1, string), uidp: plain(2, UidpFilter) }),
      response: message("iam.v1.RoleBindingList", { items: items(RoleBindingV1) }),
      capabilities: ["role_bindings.list"],
    },
  }),
  ...rows("iam.GroupInvites", PREFIX, {
    ListGroupInvitesV1: {
      http: "GET /group_invites",
      rpc: "List",
      request: message("iam.v1.GroupInviteFilter", {
        group: plain(1, string),
        id: plain(2, string),
        keyId: plain(3, string),
      }),
      response: message("iam.v1.GroupInviteList", { items: items(GroupInviteV1) }),
      capabilities: ["group_invites.list"],
    },
  }),
  ...rows("iam.GroupAccountAssociations", PREFIX, {
    ListAccountAssociationsV1: {
      http: "GET /account_associations",
      rpc: "List",
      request: message("iam.v1.AccountAssociationsFilter", { group: plain(1, string), name: plain(2, string) }),
      response: message("iam.v1.AccountAssociationsList", { items: items(AccountAssociationV1) }),
      capabilities: ["account_associations.list"],
    },
  }),
} satisfies Operations;
