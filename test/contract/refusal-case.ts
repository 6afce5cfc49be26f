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

/** A text or a request with names of the fixture in braces. */
const filled = <T>(value: T, fixture: Fixture): T =>
  JSON.parse(
    JSON.stringify(value).replace(/\{(\w+)\}/g, (_, name: string) =>
      String({ ...fixture, ...addressesOf(fixture.api) }[name as keyof Fixture]),
    ),
  );
const addressesOf = ({ baseUrl, identity }: Fixture["api"]) => ({
  baseUrl,
  owner: identity,
  addresses: ["127.0.0.1", "localhost", "[::1]"].map((host) => baseUrl.replace("127.0.0.1", host)).join(" or "),
});

const refusal =
  (code: string, category: string, details: readonly string[]) =>
  (operation: OperationName, reason: string, text: string, request: Body, subject?: string): RefusalCase => ({
    operation,
    reason,
    request: (fixture) => filled(request, fixture),
    ...(subject && { token: (fixture) => fixture.api.identityToken(subject) }),
    code,
    message: (fixture) => filled(`${category}: ${text}`, fixture),
    details,
  });

const invalid = refusal("INVALID_ARGUMENT", "Invalid argument", ["BadRequest"]);
const missing = refusal("NOT_FOUND", "Not found", ["ResourceInfo"]);
const denied = refusal("PERMISSION_DENIED", "Permission denied", []);
const taken = refusal("ALREADY_EXISTS", "Already exists", ["ResourceInfo"]);
const failed = refusal("FAILED_PRECONDITION", "Precondition failed", ["PreconditionFailure"]);

const NAME = 'name: name must match "^[a-z0-9 ._-]{1,}$"';
const STRANGE = "f".repeat(40);
const BELOW = `{eng}/${"f".repeat(16)}`;
const REQUESTS = [{ roleBinding: { identityUid: "{identity}", roleUid: "{role}" } }];
const UNSET = "ACCOUNT_PROVIDER_TYPE_UNSPECIFIED";
const AWS = { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/r", userId: "u" };

export const refusals: readonly RefusalCase[] = [
  invalid("CreateGroup", "no field at all", NAME, { parent: "{eng}", group: {} }),
  invalid("CreateGroup", "three violations at once", NAME, {
    parent: "{eng}",
    group: { name: "A", description: "two\nlines", kind: "ORG_KIND_CUSTOMER" },
  }),
  invalid("GetGroup", "a malformed uid", `uid: ${NO_UID}`, { uid: "nope" }),
  missing("GetGroup", "a missing record where the caller may read", `Group ${BELOW} does not exist`, { uid: BELOW }),
  denied("GetGroup", "a record where the caller may not read", `needs groups.list at ${STRANGE}`, { uid: STRANGE }),
  invalid("UpdateGroup", "an unknown path in the mask", 'updateMask: "colour" is not a field of the resource', {
    group: { uid: "{eng}" },
    updateMask: "colour",
  }),
  invalid("UpdateGroup", "a required field that the mask clears", NAME, {
    group: { uid: "{eng}" },
    updateMask: "name",
  }),
  failed("DeleteGroup", "a group that is not empty", "cannot delete group with child groups", { uid: "{eng}" }),
  invalid("ListGroups", "a malformed page token", "pageToken: is not a page token of this service", { pageToken: "x" }),
  invalid("ListGroups", "a negative page size", "pageSize: must not be negative", { pageSize: -1 }),
  invalid(
    "CreateIdentity",
    "no relationship",
    "claimMatch: one of claimMatch, staticKeys, awsIdentity, servicePrincipal must be set",
    { parent: "{eng}", identity: { name: "a" } },
  ),
  invalid("LookupIdentity", "no issuer", "issuer: is required", { subject: "s" }),
  invalid("CreateRole", "no capability", "capabilities: must have at least one capability", {
    parent: "{eng}",
    role: { name: "a" },
  }),
  invalid(
    "BatchCreateRoleBindings",
    "another role in a request than in the batch",
    "requests[0].roleBinding.roleUid: must be empty or equal to the roleUid of the batch",
    { parent: "{eng}", roleUid: "{viewer}", requests: REQUESTS },
  ),
  invalid("CheckAccountAssociation", "the unset provider, spelled out", "providerType: is required", {
    uid: "{eng}",
    providerType: UNSET,
  }),
  invalid("CreateGroupInvite", "no time to live", "ttl: is required", {
    parent: "{eng}",
    groupInvite: { roleUid: "{viewer}" },
  }),
  taken("CreateRepo", "a name that is taken", "the group {eng} has a repo nginx already", {
    parent: "{eng}",
    repo: { name: "nginx" },
  }),
  invalid(
    "Exchange",
    "another service's audience",
    "aud: must be {addresses}",
    { aud: ["https://other.example"], identity: "{owner}" },
    "owner",
  ),
  denied(
    "Exchange",
    "a token of another workload",
    'the token may not be exchanged for this identity: invalid "sub"',
    { aud: ["{baseUrl}"], identity: "{owner}" },
    "another",
  ),
  {
    ...refusal(
      "UNIMPLEMENTED",
      "Unimplemented",
      [],
    )(...(["Exchange", "an AWS principal", "AWS identities cannot be assumed here", {}, "owner"] as const)),
    request: async (fixture) => ({
      aud: [fixture.api.baseUrl],
      identity: await make(fixture, "identities", fixture.platform, { name: "aws", awsIdentity: AWS }),
    }),
  },
  denied(
    "ExchangeRefreshToken",
    "a token that is not a refresh token",
    "the token may not be exchanged for this identity",
    { aud: ["{baseUrl}"] },
    "owner",
  ),
];
