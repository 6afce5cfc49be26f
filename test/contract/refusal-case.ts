// Requests that the server refuses, one or more for each rule that a client can break, with the error on every wire.
import type { OperationName } from "../../schema/index.ts";
import type { Body } from "../support/http.ts";

import { type Fixture, make } from "./fixture.ts";

export interface RefusalCase {
  operation: OperationName;
  reason: string;
  request: (fixture: Fixture) => Promise<Body> | Body;
  /** default: the owner's */
  token?: (fixture: Fixture) => Promise<string>;
  code: string;
  message: (fixture: Fixture) => string;
  /** kinds of the details behind ErrorInfo */
  details: readonly string[];
}

type Text = string | ((fixture: Fixture) => string);

const refusal =
  (code: string, category: string, details: readonly string[]) =>
  (
    operation: OperationName,
    reason: string,
    text: Text,
    request: RefusalCase["request"],
    token?: RefusalCase["token"],
  ): RefusalCase => ({
    operation,
    reason,
    request,
    ...(token && { token }),
    code,
    message: (fixture) => `${category}: ${typeof text === "string" ? text : text(fixture)}`,
    details,
  });

const invalid = refusal("INVALID_ARGUMENT", "Invalid argument", ["BadRequest"]);
const missing = refusal("NOT_FOUND", "Not found", ["ResourceInfo"]);
const denied = refusal("PERMISSION_DENIED", "Permission denied", []);
const taken = refusal("ALREADY_EXISTS", "Already exists", ["ResourceInfo"]);
const failed = refusal("FAILED_PRECONDITION", "Precondition failed", ["PreconditionFailure"]);
const unimplemented = refusal("UNIMPLEMENTED", "Unimplemented", []);

const NAME = 'name: name must match "^[a-z0-9 ._-]{1,}$"';
const UID = "must be a uid: 40 hexadecimal digits, then / and 16 more for each level below";
const STRANGE = "f".repeat(40);
const below = (uid: string) => `${uid}/${"f".repeat(16)}`;

const addressesOf = ({ baseUrl }: Fixture["api"]) =>
  ["127.0.0.1", "localhost", "[::1]"].map((host) => baseUrl.replace("127.0.0.1", host)).join(" or ");

const workload = (subject: string) => (fixture: Fixture) => fixture.api.identityToken(subject);

const awsIdentity = (fixture: Fixture) =>
  make(fixture, "identities", fixture.platform, {
    name: "aws",
    awsIdentity: { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/r", userId: "u" },
  });

export const refusals: readonly RefusalCase[] = [
  invalid("CreateGroup", "no field at all", NAME, ({ eng: parent }) => ({ parent, group: {} })),
  invalid("CreateGroup", "three violations at once", NAME, ({ eng: parent }) => ({
    parent,
    group: { name: "A", description: "two\nlines", kind: "ORG_KIND_CUSTOMER" },
  })),
  invalid(
    "CreateGroup",
    "a parent that is no group's name",
    "parent: is not a uid, and no group in scope has that name",
    () => ({
      parent: "nowhere",
      group: { name: "a" },
    }),
  ),
  denied(
    "CreateGroup",
    "verified by a caller other than the operator",
    "verified is set by the operator of the service",
    ({ eng: parent }) => ({
      parent,
      group: { name: "a", verified: true },
    }),
  ),
  missing(
    "CreateGroup",
    "a missing parent",
    ({ eng }) => `Group ${below(eng)} does not exist`,
    ({ eng }) => ({
      parent: below(eng),
      group: { name: "a" },
    }),
  ),
  invalid("GetGroup", "a malformed uid", `uid: ${UID}`, () => ({ uid: "nope" })),
  missing(
    "GetGroup",
    "a missing record where the caller may read",
    ({ eng }) => `Group ${below(eng)} does not exist`,
    ({ eng }) => ({ uid: below(eng) }),
  ),
  denied("GetGroup", "a record where the caller may not read", `needs groups.list at ${STRANGE}`, () => ({
    uid: STRANGE,
  })),
  invalid(
    "UpdateGroup",
    "an unknown path in the mask",
    'updateMask: "colour" is not a field of the resource',
    ({ eng }) => ({
      group: { uid: eng },
      updateMask: "colour",
    }),
  ),
  invalid("UpdateGroup", "a required field that the mask clears", NAME, ({ eng }) => ({
    group: { uid: eng },
    updateMask: "name",
  })),
  failed("DeleteGroup", "a group that is not empty", "cannot delete group with child groups", ({ eng: uid }) => ({
    uid,
  })),
  invalid("ListGroups", "a malformed page token", "pageToken: is not a page token of this service", () => ({
    pageToken: "x",
  })),
  invalid("ListGroups", "a negative page size", "pageSize: must not be negative", () => ({ pageSize: -1 })),
  invalid("ListGroups", "a negative skip", "skip: must not be negative", () => ({ skip: -1 })),
  invalid(
    "ListGroups",
    "an unknown order",
    "orderBy: must be one of uid, name, create_time, update_time, optionally followed by asc or desc",
    () => ({ orderBy: "colour" }),
  ),
  invalid(
    "CreateIdentity",
    "no relationship",
    "claimMatch: one of claimMatch, staticKeys, awsIdentity, servicePrincipal must be set",
    ({ eng: parent }) => ({ parent, identity: { name: "a" } }),
  ),
  invalid(
    "CreateIdentity",
    "a pattern that RE2 refuses",
    "claimMatch.issuerPattern: must be an RE2 pattern: error parsing regexp: missing closing ): `(`",
    ({ eng: parent }) => ({
      parent,
      identity: { name: "a", claimMatch: { issuerPattern: "(", subject: "s" } },
    }),
  ),
  invalid("LookupIdentity", "no issuer", "issuer: is required", () => ({ subject: "s" })),
  denied(
    "CreateRole",
    "more than the caller holds",
    ({ eng }) => `needs advisories.create at ${eng}`,
    ({ eng: parent }) => ({
      parent,
      role: { name: "a", capabilities: ["CAP_ADVISORIES_CREATE"] },
    }),
  ),
  failed("DeleteRole", "a role that is bound", "cannot delete role that is bound", ({ role: uid }) => ({ uid })),
  invalid("CreateRole", "no capability", "capabilities: must have at least one capability", ({ eng: parent }) => ({
    parent,
    role: { name: "a" },
  })),
  invalid(
    "CreateRoleBinding",
    "a missing identity",
    ({ eng }) => `identityUid: identity ${below(eng)} does not exist`,
    ({ eng, viewer }) => ({
      parent: eng,
      roleBinding: { identityUid: below(eng), roleUid: viewer },
    }),
  ),
  invalid(
    "BatchCreateRoleBindings",
    "another role in a request than in the batch",
    "requests[0].roleBinding.roleUid: must be empty or equal to the roleUid of the batch",
    ({ eng, viewer, role, identity }) => ({
      parent: eng,
      roleUid: viewer,
      requests: [{ roleBinding: { identityUid: identity, roleUid: role } }],
    }),
  ),
  invalid(
    "BatchCreateRoleBindings",
    "26 requests",
    "requests: must have 1 to 25 requests; got 26",
    ({ eng, viewer, identity }) => ({
      parent: eng,
      requests: Array.from({ length: 26 }, () => ({ roleBinding: { identityUid: identity, roleUid: viewer } })),
    }),
  ),
  invalid(
    "CreateIdentityProvider",
    "neither secret nor PKCE",
    "oidc.clientSecret: is required unless pkceEnabled is set",
    ({ eng, viewer }) => ({
      parent: eng,
      identityProvider: { name: "a", defaultRole: viewer, oidc: { issuer: "https://idp.example", clientId: "c" } },
    }),
  ),
  invalid(
    "UpdateIdentityProvider",
    "an immutable field",
    "oidc.correlationRule: cannot be changed; create another identity provider",
    ({ provider: uid }) => ({
      identityProvider: { uid, oidc: { correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID" } },
      updateMask: "oidc.correlationRule",
    }),
  ),
  invalid(
    "CreateExternalGroupRoleMapping",
    "a scope below the organization",
    ({ organization }) => `scope: must be the organization of the identity provider, ${organization}`,
    ({ provider: parent, viewer: roleUid, eng: scope }) => ({
      parent,
      externalGroupRoleMapping: { externalGroupId: "new", roleUid, scope },
    }),
  ),
  taken(
    "CreateExternalGroupRoleMapping",
    "a group that has the role",
    ({ provider, viewer, organization }) =>
      `the identity provider ${provider} maps this external group to role ${viewer} at ${organization} already`,
    ({ provider: parent, viewer: roleUid, organization: scope }) => ({
      parent,
      externalGroupRoleMapping: { externalGroupId: "platform-sre", roleUid, scope },
    }),
  ),
  invalid(
    "BatchDeleteExternalGroupRoleMappings",
    "a mapping of another identity provider",
    "names[0]: must be the uid of a mapping of the identity provider",
    ({ provider: parent, eng }) => ({ parent, names: [below(below(eng))] }),
  ),
  taken(
    "CreateAccountAssociation",
    "a group that has one",
    ({ eng }) => `the group ${eng} has an account association already`,
    ({ eng: parent }) => ({
      parent,
      accountAssociation: { name: "a", amazon: { account: "123456789012" } },
    }),
  ),
  invalid(
    "CheckAccountAssociation",
    "the unset provider, spelled out",
    "providerType: is required",
    ({ eng: uid }) => ({
      uid,
      providerType: "ACCOUNT_PROVIDER_TYPE_UNSPECIFIED",
    }),
  ),
  invalid("CreateGroupInvite", "no time to live", "ttl: is required", ({ eng, viewer }) => ({
    parent: eng,
    groupInvite: { roleUid: viewer },
  })),
  taken(
    "CreateRepo",
    "a name that is taken",
    ({ eng }) => `the group ${eng} has a repo nginx already`,
    ({ eng: parent }) => ({ parent, repo: { name: "nginx" } }),
  ),
  denied(
    "UpdateRepoReadme",
    "an internal capability",
    ({ repo }) => `needs repo.internal.admin at ${repo}`,
    ({ repo: uid }) => ({ repoReadme: { uid, content: "x" } }),
  ),
  invalid(
    "CreateTag",
    "a malformed digest",
    'digest: digest must match "^sha256:[0-9a-f]{64}$"',
    ({ repo: parent }) => ({
      parent,
      tag: { name: "t", digest: "sha256:0" },
    }),
  ),
  missing(
    "GetAdvisory",
    "a missing record",
    ({ eng }) => `Advisory ${below(eng)} does not exist`,
    ({ eng }) => ({ uid: below(eng) }),
  ),
  missing(
    "LookupGroup",
    "a token without an address",
    "there is no group for the e-mail domain of the caller",
    () => ({}),
  ),
  invalid(
    "Exchange",
    "another service's audience",
    ({ api }) => `aud: must be ${addressesOf(api)}`,
    ({ api }) => ({ aud: ["https://other.example"], identity: api.identity }),
    workload("owner"),
  ),
  denied(
    "Exchange",
    "a token of another workload",
    'the token may not be exchanged for this identity: invalid "sub"',
    ({ api }) => ({ aud: [api.baseUrl], identity: api.identity }),
    workload("another"),
  ),
  unimplemented(
    "Exchange",
    "an AWS principal",
    "AWS identities cannot be assumed here",
    async (fixture) => ({ aud: [fixture.api.baseUrl], identity: await awsIdentity(fixture) }),
    workload("owner"),
  ),
  denied(
    "ExchangeRefreshToken",
    "a token that is not a refresh token",
    "the token may not be exchanged for this identity",
    ({ api }) => ({ aud: [api.baseUrl] }),
    workload("owner"),
  ),
];
