// Requests that the server refuses, with the error on every wire: each code and kind of details, and what the wires write in
// their own ways: absent and zero values, enums, masks, paths of fields. The tests of the services have the other rules.

import type { OperationName } from "../../schema/index.ts";
import type { Body } from "../support/http.ts";
import { NO_UID } from "../support/refusal.ts";

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
  invalid("GetGroup", "a malformed uid", `uid: ${NO_UID}`, () => ({ uid: "nope" })),
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
  invalid(
    "CreateIdentity",
    "no relationship",
    "claimMatch: one of claimMatch, staticKeys, awsIdentity, servicePrincipal must be set",
    ({ eng: parent }) => ({ parent, identity: { name: "a" } }),
  ),
  invalid("LookupIdentity", "no issuer", "issuer: is required", () => ({ subject: "s" })),
  invalid("CreateRole", "no capability", "capabilities: must have at least one capability", ({ eng: parent }) => ({
    parent,
    role: { name: "a" },
  })),
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
