// The rules of identities (docs/internals/contract.md#identities, docs/internals/contract.md#claim-matching), and of their own keys
// (docs/internals/contract.md#static-keys): which, for how long, and their exchanges. Of identity providers
// (docs/internals/contract.md#identity-providers) and of their external groups (docs/internals/contract.md#external-groups).
import { describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { IAM, ownKeys, serve, signedToken, startPlainServer } from "../../harness/api-server.ts";
import { DAY_MS, START_MS } from "../../harness/clock.ts";
import { createRecord, postRecord, recordOf } from "../../harness/records.ts";
import { serveIssuer } from "../../harness/sts.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid, expectNotFound, expectRefusal, resourceInfo } from "../../support/refusal.ts";

const EXACT = { issuer: "https://issuer.example", subject: "s" };
const ACCOUNT = { awsAccount: "123456789012" };
const PATTERNS = { issuerPattern: "https://.*\\.example", audiencePattern: "a|b" };
const later = (ms: number) => new Date(START_MS + ms).toISOString();

const seed = parseSeed(
  `
organization: { name: acme }
groups: [{ name: eng }, { name: sales }]
roles:
  - { name: lister, capabilities: [repo.list] }
  - { name: pusher, group: eng, capabilities: [repo.create] }
  - { name: seller, group: sales, capabilities: [repo.create] }
`,
  "seed.yaml",
);
const api = await serve({ seed });

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

test.each(["http://127.0.0.1:9", "https://[::1]"])(
  "an issuer on loopback is refused without --dev: %s",
  async (issuer) => {
    const server = await startPlainServer();
    const answer = await create({ claimMatch: { issuer, subject: "s" } }, server);
    expectInvalid(answer, { "claimMatch.issuer": "must not be on loopback; such an issuer is served with --dev only" });
    expect((await create({ claimMatch: EXACT }, server)).status).toBe(200);
  },
);

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

const PATH = `${IAM}/identityProviders`;
const SECRET = "s3cret-of-the-client";
const NO_SECRET = "is required unless pkceEnabled is set";
const RULE = "cannot be changed; create another identity provider";

const eng: string = (await api.ok("GET", `${IAM}/groups`, { query: { name: "eng" } })).groups[0].uid;
const roles: Record<string, string> = Object.fromEntries(
  (await api.ok("GET", `${IAM}/roles`)).roles.map(({ name, uid }: Body) => [name, uid]),
);
const viewer = roles.viewer as string;

const OIDC = { issuer: "https://idp.example", clientId: "client", clientSecret: SECRET };
const createProvider = (body: Body = {}) =>
  api.call("POST", `${PATH}/${eng}`, { body: { name: "okta", defaultRole: viewer, oidc: OIDC, ...body } });
const createdProvider = (body: Body = {}) => recordOf(createProvider(body));
const patch = (uid: string, body: Body, updateMask?: string) =>
  api.call("PATCH", `${PATH}/${uid}`, { body, query: { updateMask } });

describe("a change of an identity provider", () => {
  test("of one field leaves the others, and moves updateTime", async () => {
    const before = await createdProvider({ description: "d" });
    api.clock.advance(1000);
    const answer = await patch(before.uid, { oidc: { groupsClaim: "groups" } });
    const updateTime = new Date(api.clock()).toISOString();
    expect(answer.json).toEqual({ ...before, oidc: { ...before.oidc, groupsClaim: "groups" }, updateTime });
  });

  test.each<[string, Body, string | undefined]>([
    ["is left out", { oidc: { issuer: "https://other.example", clientId: "c" } }, undefined],
    ["is left out under a mask of the whole configuration", { oidc: { ...OIDC, clientSecret: undefined } }, "oidc"],
    ["is empty under a mask of the whole configuration", { oidc: { ...OIDC, clientSecret: "" } }, "oidc"],
    ["is empty under full replacement", { name: "n", defaultRole: "VIEWER", oidc: { ...OIDC, clientSecret: "" } }, "*"],
    ["is changed", { oidc: { clientSecret: "another" } }, "oidc.clientSecret"],
  ])("keeps its secret when the secret %s", async (_, body, mask) => {
    const { uid } = await createdProvider();
    const change = body.defaultRole ? { ...body, defaultRole: viewer } : body;
    expect((await patch(uid, change, mask)).status).toBe(200);
    // Without PKCE it could not be without a secret: taking PKCE away again shows that there is one.
    expect((await patch(uid, { oidc: { pkceEnabled: false } })).status).toBe(200);
  });

  test.each<[string, Body, string | undefined]>([
    ["named by the mask", { oidc: {} }, "oidc.clientSecret"],
    ["named by the mask in snake_case", {}, "oidc.client_secret"],
    ["named, empty, by the body of a request without a mask", { oidc: { clientSecret: "" } }, undefined],
  ])("loses its secret when it is %s, which requires PKCE", async (_, body, mask) => {
    const { uid } = await createdProvider();
    expectInvalid(await patch(uid, body, mask), { "oidc.clientSecret": NO_SECRET });
    expect((await patch(uid, { oidc: { pkceEnabled: true } })).status).toBe(200);
    expect((await patch(uid, body, mask)).status).toBe(200);
    expectInvalid(await patch(uid, { oidc: { pkceEnabled: false } }), { "oidc.clientSecret": NO_SECRET });
    expect((await patch(uid, { oidc: { pkceEnabled: false, clientSecret: "x" } })).status).toBe(200);
  });

  test.each<[string, string | undefined, string | undefined]>([
    ["restated", "OID", "OID"],
    ["left unset under a mask of all of it", "OID", undefined],
    ["unset by name", "OID", "UNSPECIFIED"],
    ["set to the default where it was unset", undefined, "SUB"],
  ])("keeps its correlation rule when that is %s", async (_, before, after) => {
    const rule = (name: string | undefined) =>
      name && (name === "UNSPECIFIED" ? `CORRELATION_RULE_${name}` : `CORRELATION_RULE_${name}_EQUALS_EXTERNAL_ID`);
    const created = await createdProvider({ oidc: { ...OIDC, correlationRule: rule(before) } });
    const { oidc } = await recordOf(patch(created.uid, { oidc: { ...OIDC, correlationRule: rule(after) } }, "oidc"));
    expect(oidc.correlationRule).toBe(created.oidc.correlationRule);
  });

  test("may not have another correlation rule", async () => {
    const { uid } = await createdProvider();
    const oidc = { correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID" };
    expectInvalid(await patch(uid, { oidc }), { "oidc.correlationRule": RULE });
    expectInvalid(await patch(uid, { oidc: { ...OIDC, ...oidc } }, "oidc"), { "oidc.correlationRule": RULE });
  });
});

test("the default role is built in, of the group or of one above", async () => {
  for (const role of [viewer, roles.pusher, roles.lister])
    expect((await createProvider({ defaultRole: role })).status).toBe(200);
});

test("the default role of another group is refused like a missing one", async () => {
  const defaultRole = roles.seller as string;
  const violation = { defaultRole: `role ${defaultRole} does not exist at ${eng} or above` };
  expectInvalid(await createProvider({ defaultRole }), violation);
  const { uid } = await createdProvider();
  expectInvalid(await patch(uid, { defaultRole }), violation);
});

test("the client secret is in no response and in no log line", async () => {
  const secret = "never-to-be-seen-again";
  const { uid } = await createdProvider({ oidc: { ...OIDC, clientSecret: secret } });
  const answers = [
    await api.call("GET", `${PATH}/${uid}`),
    await api.call("GET", PATH, { query: { page_size: 200 } }),
    await patch(uid, { description: "d" }),
    await patch(uid, { oidc: { clientSecret: `${secret}-2` } }),
    // Refused: an error repeats no secret either.
    await patch(uid, { oidc: { clientSecret: secret.repeat(200) } }),
    await createProvider({ name: "NO NAME", oidc: { ...OIDC, clientSecret: secret } }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 400, 400]);
  for (const { text } of answers) expect(text).not.toContain(secret);
  expect(api.log.join("\n")).not.toContain(secret);
});

const MAPPINGS = `${IAM}/externalGroupRoleMappings`;
const SRE = { externalGroupId: "Platform-SRE", roleUid: viewer, scope: api.organization };
const postMapping = (parent: string, fields: Body = {}) =>
  postRecord(api, "externalGroupRoleMappings", parent, { ...SRE, ...fields });
const createMapping = (parent: string, fields: Body = {}) => recordOf(postMapping(parent, fields));
const listMappings = async (query: Body) =>
  (await api.ok("GET", MAPPINGS, { query })).externalGroupRoleMappings as Body[];

test("a mapping exists once for provider, group, role and scope; another of each is another mapping", async () => {
  const [first, second] = [(await createdProvider()).uid, (await createdProvider()).uid];
  const { uid } = await createMapping(first);
  const text = `the identity provider ${first} maps this external group to role ${viewer} at ${api.organization} already`;
  expectRefusal(await postMapping(first), "ALREADY_EXISTS", text, {
    details: [resourceInfo("ExternalGroupRoleMapping", uid)],
  });
  await createMapping(first, { roleUid: roles.editor });
  await createMapping(first, { externalGroupId: "platform-sre" });
  await createMapping(second);
  await api.ok("DELETE", `${MAPPINGS}/${uid}`);
  expect((await createMapping(first)).uid).not.toBe(uid);
});

test("a mapping goes with its identity provider", async () => {
  const parent = (await createdProvider()).uid;
  const { uid } = await createMapping(parent);
  await api.ok("DELETE", `${PATH}/${parent}`);
  expectNotFound(await api.call("GET", `${MAPPINGS}/${uid}`), "ExternalGroupRoleMapping", uid);
  expect(await listMappings({ identityProviderUid: parent })).toEqual([]);
});

describe("the delete of several", () => {
  const deleteMappings = (parent: string, names: string[], token?: string) =>
    api.call("POST", `${MAPPINGS}:batchDelete`, { body: { parent, names }, ...(token && { token }) });

  test("answers with those that it deleted, in order, and skips those that are gone", async () => {
    const parent = (await createdProvider()).uid;
    const [first, second, kept] = [
      await createMapping(parent, { externalGroupId: "a" }),
      await createMapping(parent, { externalGroupId: "b" }),
      await createMapping(parent, { externalGroupId: "c" }),
    ];
    const names = [second.uid, `${parent}/ffffffffffffffff`, first.uid, second.uid];
    const answer = await deleteMappings(parent, names);
    expect(answer.json).toEqual({ parent, externalGroupRoleMappings: [second, first] });
    expect(await listMappings({ identityProviderUid: parent })).toEqual([kept]);
    expect((await deleteMappings(parent, names)).json).toEqual({ parent, externalGroupRoleMappings: [] });
  });

  test("deletes nothing when one is of another identity provider, and names each that is", async () => {
    const [parent, other] = [(await createdProvider()).uid, (await createdProvider()).uid];
    const [own, theirs] = [await createMapping(parent), await createMapping(other)];
    const text = "must be the uid of a mapping of the identity provider";
    expectInvalid(await deleteMappings(parent, [own.uid, theirs.uid, parent]), { "names[1]": text, "names[2]": text });
    expect(await listMappings({ identityProviderUid: parent })).toEqual([own]);
  });
});
