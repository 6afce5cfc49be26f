// Each operation under every version through REST in lowerCamel, REST in snake_case and gRPC, from one table of cases.
// Three equal servers get the same requests and must give the same responses, of the operation's schema, and hand the
// same writes over. And requests that they refuse, with the error on every wire: each code and kind of details, and
// what the wires write in their own ways: absent and zero values, enums, masks, paths of fields. The tests of the
// services have the other rules.
import { describe, expect, test } from "vitest";
import type { Call } from "../../access/change/methods.ts";
import { writesFrom } from "../../access/change/write.ts";
import {
  type Message,
  messageFromJson,
  messageToJson,
  type Operation,
  type OperationName,
  operations,
  VERSIONS,
} from "../../schema/index.ts";
import type { Body } from "../support/http.ts";
import { NO_UID } from "../support/refusal.ts";
import { type Outcome, WAYS, type Way } from "../support/way.ts";
import { type Fixture, make, type OperationCase } from "./fixture.ts";
import { bearerOf, operationCases, startFixture } from "./operation-case.ts";

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
  (operation: OperationName, reason: string, text: string, request: Body, subject?: string) => ({
    operation,
    reason,
    request: async (fixture: Fixture): Promise<Body> => filled(request, fixture),
    /** by default the owner asks */
    token: subject === undefined ? undefined : (fixture: Fixture) => fixture.api.identityToken(subject),
    code,
    message: (fixture: Fixture): string => filled(`${category}: ${text}`, fixture),
    /** kinds of the details behind ErrorInfo */
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

const refusals = [
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
    request: async (fixture: Fixture) => ({
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

const ways = Object.entries(WAYS) as [string, Way][];
/** The writes that each server has handed over. */
const written: Call[][] = ways.map(() => []);
const fixtures: Fixture[] = await Promise.all(
  ways.map((_, i) => startFixture({ onWrite: (call) => void written[i]?.push(call) })),
);

/** Without what differs on each server: its port, and the volatile fields of the case. Protobuf has no empty texts. */
const comparable = (outcome: Outcome, { api }: Fixture, volatile: readonly string[] = []): Body => {
  const details = outcome.details.map((detail) =>
    Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== "")),
  );
  const text = JSON.stringify({ ...outcome, details }, (key, value) => (volatile.includes(key) ? `<${key}>` : value));
  return JSON.parse(text.replaceAll(`:${new URL(api.baseUrl).port}`, ":<port>"));
};

/** The outcomes of all ways, each on its own server; equal, but for the names of the ways. */
const expectParity = async (call: (way: Way, fixture: Fixture) => Promise<Outcome>, volatile?: readonly string[]) => {
  const outcomes = await Promise.all(ways.map(([, way], i) => call(way, fixtures[i] as Fixture)));
  const [first, ...others] = outcomes.map((outcome, i) => comparable(outcome, fixtures[i] as Fixture, volatile));
  for (const [i, other] of others.entries()) expect(other, `${ways[i + 1]?.[0]} beside ${ways[0]?.[0]}`).toEqual(first);
  return outcomes as [Outcome, ...Outcome[]];
};

/** Every field is known, of its type, and written as the schema writes it. */
const expectConforming = (schema: Message, json: Body): void => {
  const { value, violations } = messageFromJson(schema, json);
  expect(violations).toEqual([]);
  expect(messageToJson(schema, value)).toEqual(json);
};

/** A check by POST and an exchange change no record. */
const WRITES = Object.keys(operations).filter((name) => /^(Create|Update|Delete|Batch)/.test(name)) as OperationName[];

const rows = Object.entries(operations) as [OperationName, Operation][];

test("every operation of the table has a case, and every case an operation", () => {
  expect(Object.keys(operationCases).toSorted()).toEqual(Object.keys(operations).toSorted());
});

describe.each(rows)("%s", (operation, row) => {
  const versions = row.path.includes("{version}") ? VERSIONS : ["-"];

  test.each(versions)("has the same response on every wire under %s", async (version) => {
    const own: OperationCase = operationCases[operation];
    const counts: number[] = [];
    const [{ json }] = await expectParity(async (way, fixture) => {
      const request = await own.request(fixture);
      const token = await bearerOf(operation, fixture);
      const calls = written[fixtures.indexOf(fixture)] as Call[];
      const before = calls.length;
      const outcome = await way(fixture.api, { operation, request, token, version });
      expect(outcome, outcome.message).toMatchObject({ code: "OK", json: own.answer(fixture, request) });
      counts.push(calls.slice(before).filter(({ method }) => method === operation).length);
      return outcome;
    }, own.volatile);
    if (row.method !== "DELETE") expectConforming(row.response, json);
    expect(new Set(counts)).toEqual(new Set([WRITES.includes(operation) ? 1 : 0]));
  });
});

test("a write has one normal form on every wire, under every version", () => {
  const [first, ...others] = written.map((calls) => writesFrom(calls).writes);
  for (const other of others) expect(other).toEqual(first);
  const named = (first ?? []).filter(({ method }) => method === "CreateRole" || method === "UpdateIdentity");
  expect(named.length).toBeGreaterThan(2);
});

test.each(rows.filter(([, { auth }]) => auth !== "none"))(
  "the refusal of a caller without a token is the same for %s",
  async (operation) => {
    const [first] = await expectParity(async (way, fixture) =>
      way(fixture.api, { operation, request: await operationCases[operation].request(fixture), token: null }),
    );
    const message = "Unauthenticated: a valid bearer token is required";
    expect(first).toMatchObject({ code: "UNAUTHENTICATED", message, details: [{ reason: "UNAUTHENTICATED" }] });
  },
);

test.each(refusals)(
  "a refusal is the same on every wire, and no write: $operation, $reason",
  async ({ operation, request, token, code, message, details }) => {
    const [first, ...others] = await expectParity(async (way, fixture) => {
      const own = {
        operation,
        request: await request(fixture),
        token: (await token?.(fixture)) ?? fixture.api.owner.token,
      };
      const calls = written[fixtures.indexOf(fixture)] as Call[];
      const before = calls.length;
      const outcome = await way(fixture.api, own);
      expect(calls).toHaveLength(before);
      return outcome;
    });
    for (const outcome of [first, ...others]) expect(outcome.details.length).toBeGreaterThan(0);
    expect({ code: first.code, message: first.message }).toEqual({ code, message: message(fixtures[0] as Fixture) });
    const kinds = first.details.map((detail) => String(detail["@type"]).split(".").at(-1));
    expect(kinds).toEqual(["ErrorInfo", ...details]);
  },
);

test("a refusal is the same on every wire, and no write: every published code that a request can cause is in the table", () => {
  expect(new Set(refusals.map(({ code }) => code))).toEqual(
    new Set([
      "INVALID_ARGUMENT",
      "NOT_FOUND",
      "ALREADY_EXISTS",
      "PERMISSION_DENIED",
      "FAILED_PRECONDITION",
      "UNIMPLEMENTED",
    ]),
  );
});
