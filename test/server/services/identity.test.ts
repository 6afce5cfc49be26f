// The rules of identities (docs/contract.md#identities, docs/contract.md#claim-matching), and of their own keys
// (docs/contract.md#static-keys): which, for how long, and their exchanges.
import { describe, expect, test } from "vitest";
import { IAM, ownKeys, serve, signedToken, startPlainServer } from "../../harness/api-server.ts";
import { DAY_MS, START_MS } from "../../harness/clock.ts";
import { createRecord, recordOf } from "../../harness/records.ts";
import { serveIssuer } from "../../harness/sts.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid, expectNotFound, expectRefusal } from "../../support/refusal.ts";

const EXACT = { issuer: "https://issuer.example", subject: "s" };
const ACCOUNT = { awsAccount: "123456789012" };
const PATTERNS = { issuerPattern: "https://.*\\.example", audiencePattern: "a|b" };
const later = (ms: number) => new Date(START_MS + ms).toISOString();
const api = await serve();

const create = (body: Body, server = api) =>
  server.call("POST", `${IAM}/identities/${server.organization}`, { body: { name: "i", ...body } });

test.each<[string, Body, string]>([
  ["exact claims", { claimMatch: EXACT }, "CLAIM_MATCH"],
  ["keys", { staticKeys: { ...EXACT, issuerKeys: ownKeys() } }, "STATIC"],
  ["patterns", { claimMatch: { ...PATTERNS, subjectPattern: "repo:my-org/.*" } }, "CLAIM_MATCH"],
  ["AWS", { awsIdentity: { ...ACCOUNT, arnPattern: "arn:.*", userIdPattern: "A.*" } }, "AWS_IDENTITY"],
])("each relationship is returned unchanged: %s", async (_, relationship, type) => {
  const made = await recordOf(create(relationship));
  expect(made).toMatchObject(relationship);
  const query = { relationship_type: `RELATIONSHIP_TYPE_${type}`, "uidp.ids": made.uid };
  expect((await api.ok("GET", `${IAM}/identities`, { query })).totalCount).toBe("1");
});

test.each<[string, Body]>([
  ["claimMatch.issuerPattern", { claimMatch: { issuerPattern: "a)|(b", subject: "s" } }],
  ["claimMatch.subjectPattern", { claimMatch: { issuer: EXACT.issuer, subjectPattern: "(" } }],
  ["claimMatch.claimPatterns.ref", { claimMatch: { ...EXACT, claimPatterns: { ref: "*" } } }],
  ["awsIdentity.arnPattern", { awsIdentity: { ...ACCOUNT, arnPattern: "+", userId: "u" } }],
  ["awsIdentity.userIdPattern", { awsIdentity: { ...ACCOUNT, arn: "a", userIdPattern: "(?=x)" } }],
])("a pattern that does not compile alone is refused at create, with its path: %s", async (field, relationship) => {
  const { status, json } = await create(relationship);
  expect(status).toBe(400);
  const [violation, ...more] = json.details[1].fieldViolations;
  expect(more).toEqual([]);
  expect(violation).toEqual({ field, description: expect.stringMatching(/^must be an RE2 pattern: /) });
  expect(json.message).toBe(`Invalid argument: ${field}: ${violation.description}`);
});

describe("an issuer", () => {
  test.each(["http://127.0.0.1:9", "https://[::1]"])("on loopback is refused without --dev: %s", async (issuer) => {
    const server = await startPlainServer();
    const answer = await create({ claimMatch: { issuer, subject: "s" } }, server);
    expectInvalid(answer, { "claimMatch.issuer": "must not be on loopback; such an issuer is served with --dev only" });
    expect((await create({ claimMatch: EXACT }, server)).status).toBe(200);
  });
});

test("deleting an identity deletes exactly its bindings in the same transaction, wherever they are", async () => {
  const { uid: group } = await createRecord(api, "groups", api.organization, { name: "g" });
  const [gone, stays] = [await api.actor("gone", { role: "viewer" }), await api.actor("stays", { role: "viewer" })];
  const body = { identityUid: gone.uid, roleUid: await api.role("editor") };
  const { uid: binding } = await createRecord(api, "roleBindings", group, body);
  await api.ok("DELETE", `${IAM}/identities/${gone.uid}`);
  const bindings = async (identity: string) =>
    (await api.ok("GET", `${IAM}/roleBindings`, { query: { identity } })).totalCount;
  expect([await bindings(gone.uid), await bindings(stays.uid)]).toEqual(["0", "1"]);
  expectNotFound(await api.call("GET", `${IAM}/roleBindings/${binding}`), "RoleBinding", binding);
  // The group that one of them was in is empty again.
  expect((await api.call("DELETE", `${IAM}/groups/${group}`)).status).toBe(200);
});

describe("LookupIdentity, for any caller,", () => {
  const lookup = (query: Body, token?: string) =>
    api.call("GET", `${IAM}/identities:lookupIdentity`, { query, ...(token && { token }) });

  test("returns the same uid each time for unregistered claims, and another for others", async () => {
    const claims = { issuer: "https://unregistered.example", subject: "s" };
    const stranger = await api.actor("another stranger");
    const uids = [await lookup(claims), await lookup(claims), await lookup(claims, stranger.token)].map(
      ({ json }) => json.uid,
    );
    expect(new Set(uids).size).toBe(1);
    expect(uids[0]).toMatch(/^[0-9a-f]{40}$/);
    const others = [
      await lookup({ ...claims, subject: "t" }),
      await lookup({ ...claims, issuer: "https://other.example" }),
      await lookup({ issuer: "https://unregistered.examples", subject: "" + "s" }),
    ];
    for (const { json } of others) expect(json.uid).not.toBe(uids[0]);
  });

  test("returns the deterministic uid when two identities have the same claims", async () => {
    const claims = { issuer: "https://twins.example", subject: "s" };
    const before = (await lookup(claims)).json.uid;
    const made = [await create({ claimMatch: claims }), await create({ claimMatch: claims })].map(
      ({ json }) => json.uid,
    );
    const { uid } = (await lookup(claims)).json;
    expect(made).not.toContain(uid);
    expect(uid).toBe(before);
  });
});

describe("static keys", () => {
  const createWithKeys = (further: Body) => create({ staticKeys: { ...EXACT, issuerKeys: ownKeys(), ...further } });
  const TIME = "must be in the future, at most 365 days after creation";

  test.each([
    ["the last moment", 365 * DAY_MS, true],
    ["the next millisecond", 1, true],
    ["a millisecond beyond", 365 * DAY_MS + 1, false],
    ["now", 0, false],
  ])("may end within 365 days of creation: at %s", async (_, ms, may) => {
    const expirationTime = later(ms);
    const answer = await createWithKeys({ expirationTime });
    if (may) expect(answer.json.staticKeys.expirationTime).toBe(expirationTime);
    else expectInvalid(answer, { "staticKeys.expirationTime": TIME });
  });

  test("cannot be extended beyond 365 days after creation by a later change", async () => {
    const server = await serve();
    const staticKeys = { ...EXACT, issuerKeys: ownKeys() };
    const { uid } = await createRecord(server, "identities", server.organization, { name: "i", staticKeys });
    server.clock.advance(30 * DAY_MS);
    server.owner.token = await server.token(server.identity, { subject: "owner" });
    const path = `${IAM}/identities/${uid}`;
    const longer = { body: { staticKeys: { expirationTime: later(366 * DAY_MS) } } };
    expectInvalid(await server.call("PATCH", path, longer), { "staticKeys.expirationTime": TIME });
    const shorter = { body: { staticKeys: { expirationTime: later(31 * DAY_MS) } } };
    expect((await server.ok("PATCH", path, shorter)).staticKeys.expirationTime).toBe(later(31 * DAY_MS));
    const cleared = { body: {}, query: { updateMask: "staticKeys.expirationTime" } };
    expect((await server.ok("PATCH", path, cleared)).staticKeys.expirationTime).toBe(later(365 * DAY_MS));
  });

  test("that have expired block no update: fields outside the mask are not validated", async () => {
    const server = await serve();
    const body = { name: "i", staticKeys: { ...EXACT, issuerKeys: ownKeys(), expirationTime: later(1) } };
    const { uid } = await createRecord(server, "identities", server.organization, body);
    server.clock.advance(1);
    const path = `${IAM}/identities/${uid}`;
    const renamed = await server.ok("PATCH", path, { body: { name: "renamed" } });
    expect(renamed).toMatchObject({ name: "renamed", staticKeys: body.staticKeys });
    const restated = { body: { staticKeys: { expirationTime: later(1) } } };
    expectInvalid(await server.call("PATCH", path, restated), { "staticKeys.expirationTime": TIME });
  });

  test.each([
    ["no JSON", "keys", "not JSON"],
    ["a private key", JSON.stringify({ keys: [{ kty: "oct", k: "c2VjcmV0" }] }), "key 1: it has private parts"],
  ])("that are %s are stored unchanged with a warning, and verify no token", async (_, issuerKeys, reason) => {
    const server = await serve();
    const body = { name: "i", staticKeys: { ...EXACT, issuerKeys } };
    const identity = await createRecord(server, "identities", server.organization, body);
    expect(identity.staticKeys).toMatchObject({ ...EXACT, issuerKeys });
    const warnings = () =>
      server.log.map((line) => JSON.parse(line) as Body).filter(({ event }) => String(event).startsWith("staticKeys"));
    const warning = {
      level: "warn",
      event: "staticKeys.issuerKeys verify no token: exchanges are refused",
      identity: identity.uid,
      reason: `must be a JSON Web Key Set of public keys: ${reason}`,
    };
    expect(warnings()).toMatchObject([warning]);
    const token = await signedToken({ iss: EXACT.issuer, sub: EXACT.subject, aud: server.authUrl });
    const answer = await server.exchange(token, { identity: identity.uid });
    expectRefusal(answer, "PERMISSION_DENIED", "the token may not be exchanged for this identity");

    const replaced = { staticKeys: { ...EXACT, issuerKeys: `${issuerKeys} ` } };
    await server.ok("PATCH", `${IAM}/identities/${identity.uid}`, { body: replaced });
    expect(warnings()).toMatchObject([warning, warning]);
    expect(server.log.join("\n")).not.toContain("c2VjcmV0");
  });

  test("do not make the server ask their issuer for keys, whatever token names it", async () => {
    const server = await serve();
    const { url: iss, connections } = await serveIssuer();
    const staticKeys = { issuer: iss, subject: "s", issuerKeys: ownKeys() };
    await createRecord(server, "identities", server.organization, { name: "i", staticKeys });
    const token = await signedToken({ iss, sub: "s", aud: server.authUrl });
    const unknown = `${server.organization}/${"0".repeat(16)}`;
    const answer = await server.exchange(token, { identity: unknown });
    expectRefusal(answer, "PERMISSION_DENIED", "the token may not be exchanged for this identity");
    expect(connections()).toBe(0);
  });
});
