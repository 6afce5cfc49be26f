// The rules of identity providers (docs/contract.md#identity-providers).

import { describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { type Actor, IAM, serve, startPlainServer } from "../../harness/api-server.ts";
import { createRecord, recordOf } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectDenied, expectInvalid, NO_NAME, NO_UID, type Violations } from "../../support/refusal.ts";

const PATH = `${IAM}/identityProviders`;
const SECRET = "s3cret-of-the-client";
const ISSUER = "must be an https URL in its normal form, without user, query or fragment, at most 255 characters";
const NO_SECRET = "is required unless pkceEnabled is set";
const RULE = "cannot be changed; create another identity provider";

// May write identity providers and grant roles, and holds what a viewer holds.
const seed = parseSeed(
  `
organization: { name: acme }
groups: [{ name: eng }, { name: sales }]
roles:
  - { name: sso, capabilities: [identity_providers.create, identity_providers.update, role_bindings.create] }
  - { name: pusher, group: eng, capabilities: [repo.create] }
  - { name: pusher, group: sales, capabilities: [repo.create] }
`,
  "seed.yaml",
);
const roles: Record<string, string> = {};
const api = await serve({ seed });
const { groups } = await api.ok("GET", `${IAM}/groups`);
const at = Object.fromEntries(groups.map(({ name, uid }: Body) => [name, uid]));
const eng: string = at.eng;
const viewer: string = await api.role("viewer");
for (const role of (await api.ok("GET", `${IAM}/roles`, { query: { "uidp.descendantsOf": api.organization } })).roles)
  roles[`${role.name} ${role.uid.split("/").length === 2 ? "acme" : role.uid.startsWith(eng) ? "eng" : "sales"}`] =
    role.uid;
const sso: Actor = await api.actor("sso", { role: roles["sso acme"] as string });
const body = { identityUid: sso.uid, roleUid: viewer };
await createRecord(api, "roleBindings", api.organization, body);

const OIDC = { issuer: "https://idp.example", clientId: "client", clientSecret: SECRET };
const create = (body: Body = {}, token?: string) =>
  api.call("POST", `${PATH}/${eng}`, {
    body: { name: "okta", defaultRole: viewer, oidc: OIDC, ...body },
    ...(token && { token }),
  });
const createdRecord = (body: Body = {}) => recordOf(create(body));
const patch = (uid: string, body: Body, updateMask?: string, token?: string) =>
  api.call("PATCH", `${PATH}/${uid}`, { body, query: { updateMask }, ...(token && { token }) });

describe("an identity provider", () => {
  test("returns its fields except the secret, and shows no token for provisioning", async () => {
    const oidc = {
      ...OIDC,
      additionalScopes: ["groups", "profile"],
      groupsClaim: "groups",
      correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID",
      pkceEnabled: true,
    };
    const answer = await create({ description: "people", oidc });
    const { clientSecret, ...shown } = oidc;
    expect(answer.json).toEqual({
      uid: expect.stringMatching(`^${eng}/[0-9a-f]{16}$`),
      name: "okta",
      description: "people",
      defaultRole: viewer,
      oidc: shown,
      scim: { credentialState: "CREDENTIAL_STATE_NOT_ISSUED" },
      createTime: "2026-01-28T12:54:21.189Z",
      updateTime: "2026-01-28T12:54:21.189Z",
    });
    expect(await api.ok("GET", `${PATH}/${answer.json.uid}`)).toEqual(answer.json);
  });

  test("is listed without its provisioning", async () => {
    const { scim, ...listed } = await createdRecord({ name: "listed" });
    expect(await api.ok("GET", PATH, { query: { name: "listed" } })).toEqual({
      identityProviders: [listed],
      totalCount: "1",
      skipped: 0,
    });
  });

  test.each<[string, Body]>([
    ["no secret, with PKCE", { issuer: "https://idp.example", clientId: "c", pkceEnabled: true }],
    ["an issuer on loopback, which a server with --dev serves", { ...OIDC, issuer: "http://127.0.0.1:8080" }],
    ["what only the server sets, which is ignored", { ...OIDC, clientSecret: "x" }],
  ])("may have %s", async (_, oidc) => {
    const body = { oidc, uid: "x", scim: { enabled: true, etag: "e" }, createTime: "2001-01-01T00:00:00Z" };
    const { json, status } = await create(body);
    expect(status).toBe(200);
    expect(json).toMatchObject({ scim: { credentialState: "CREDENTIAL_STATE_NOT_ISSUED" } });
    expect(json.scim).not.toHaveProperty("enabled");
  });

  test.each<[string, Body, Violations]>([
    [
      "all missing fields at once",
      { name: undefined, defaultRole: undefined, oidc: undefined },
      { name: NO_NAME, defaultRole: NO_UID, oidc: "one of oidc must be set" },
    ],
    [
      "an empty configuration",
      { oidc: {} },
      { "oidc.issuer": ISSUER, "oidc.clientId": "is required", "oidc.clientSecret": NO_SECRET },
    ],
    ["no secret and no PKCE", { oidc: { ...OIDC, clientSecret: "" } }, { "oidc.clientSecret": NO_SECRET }],
    ["an issuer over http", { oidc: { ...OIDC, issuer: "http://idp.example" } }, { "oidc.issuer": ISSUER }],
    ["an issuer with a query", { oidc: { ...OIDC, issuer: "https://idp.example?x=1" } }, { "oidc.issuer": ISSUER }],
    [
      "a secret that no client has",
      { oidc: { ...OIDC, clientSecret: "x".repeat(4097) } },
      { "oidc.clientSecret": "must be at most 4096 characters" },
    ],
    ["a role that is not a uid", { defaultRole: "viewer" }, { defaultRole: NO_UID }],
  ])("is refused with %s", async (_, body, violations) => {
    expectInvalid(await create(body), violations);
  });

  test("is refused with this server's own issuer, which would let its tokens sign in", async () => {
    const oidc = { ...OIDC, issuer: api.authUrl };
    expectInvalid(await create({ oidc }), { "oidc.issuer": "must not be the issuer of this service" });
  });

  test("is refused with an issuer on loopback by a server without --dev", async () => {
    const plain = await startPlainServer();
    const body = {
      name: "okta",
      defaultRole: await plain.role("viewer"),
      oidc: { ...OIDC, issuer: "http://127.0.0.1:1" },
    };
    expectInvalid(await plain.call("POST", `${PATH}/${plain.organization}`, { body }), {
      "oidc.issuer": "must not be on loopback; such an issuer is served with --dev only",
    });
  });
});

describe("a change of an identity provider", () => {
  test("of one field leaves the others, and moves updateTime", async () => {
    const before = await createdRecord({ description: "d" });
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
    const { uid } = await createdRecord();
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
    const { uid } = await createdRecord();
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
    const created = await createdRecord({ oidc: { ...OIDC, correlationRule: rule(before) } });
    const answer = await patch(created.uid, { oidc: { ...OIDC, correlationRule: rule(after) } }, "oidc");
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json.oidc.correlationRule).toBe(created.oidc.correlationRule);
  });

  test("may not have another correlation rule", async () => {
    const { uid } = await createdRecord();
    const oidc = { correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID" };
    expectInvalid(await patch(uid, { oidc }), { "oidc.correlationRule": RULE });
    expectInvalid(await patch(uid, { oidc: { ...OIDC, ...oidc } }, "oidc"), { "oidc.correlationRule": RULE });
  });

  test.each<[string, Body, string, Violations]>([
    ["its configuration is cleared", {}, "oidc", { oidc: "one of oidc must be set" }],
    ["its role is cleared", {}, "defaultRole", { defaultRole: NO_UID }],
    ["its issuer is malformed", { oidc: { issuer: "x" } }, "oidc.issuer", { "oidc.issuer": ISSUER }],
  ])("is refused when %s", async (_, body, mask, violation) => {
    const before = await createdRecord();
    expectInvalid(await patch(before.uid, body, mask), violation);
    expect(await api.ok("GET", `${PATH}/${before.uid}`)).toEqual(before);
  });

  test("of its provisioning is ignored, since the server sets it", async () => {
    const before = await createdRecord();
    expect((await patch(before.uid, { scim: { enabled: true } }, "scim.enabled,scim")).json).toEqual(before);
  });
});

describe("the default role", () => {
  const missing = (uid: string) => `role ${uid} does not exist at ${eng} or above`;

  test("is built in, of the group or of one above", async () => {
    for (const role of [viewer, roles["pusher eng"], roles["sso acme"]])
      expect((await create({ defaultRole: role })).status).toBe(200);
  });

  test.each<[string, () => string]>([
    ["missing", () => "f".repeat(40)],
    ["of another group", () => roles["pusher sales"] as string],
  ])("that is %s is refused, the same way", async (_, role) => {
    const violation = { defaultRole: missing(role()) };
    expectInvalid(await create({ defaultRole: role() }), violation);
    const { uid } = await createdRecord();
    expectInvalid(await patch(uid, { defaultRole: role() }), violation);
  });

  test("must be one that the caller may grant", async () => {
    expect((await create({}, sso.token)).status).toBe(200);
    expectDenied(await create({ defaultRole: roles["pusher eng"] }, sso.token), "repo.create", eng);
  });

  test("must be one that the caller may grant for any change, such as a new issuer", async () => {
    const { uid } = await createdRecord({ defaultRole: roles["pusher eng"] });
    const answer = await patch(uid, { oidc: { issuer: "https://mine.example" } }, undefined, sso.token);
    expectDenied(answer, "repo.create", eng);
    expectDenied(await patch(uid, { defaultRole: viewer }, "description", sso.token), "repo.create", eng);
    expect((await patch((await createdRecord()).uid, { description: "d" }, undefined, sso.token)).status).toBe(200);
  });
});

test("the client secret is in no response and in no log line", async () => {
  const secret = "never-to-be-seen-again";
  const { uid } = await createdRecord({ oidc: { ...OIDC, clientSecret: secret } });
  const answers = [
    await api.call("GET", `${PATH}/${uid}`),
    await api.call("GET", PATH, { query: { page_size: 200 } }),
    await patch(uid, { description: "d" }),
    await patch(uid, { oidc: { clientSecret: `${secret}-2` } }),
    // Refused: an error repeats no secret either.
    await patch(uid, { oidc: { clientSecret: secret.repeat(200) } }),
    await create({ name: "NO NAME", oidc: { ...OIDC, clientSecret: secret } }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 400, 400]);
  for (const { text } of answers) expect(text).not.toContain(secret);
  expect(api.log.join("\n")).not.toContain(secret);
});
