// The rules of identity providers (docs/contract.md#identity-providers) and of their external groups
// (docs/contract.md#external-groups).
import { describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { IAM, serve } from "../../harness/api-server.ts";
import { postRecord, recordOf } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid, expectNotFound, expectRefusal, resourceInfo } from "../../support/refusal.ts";

const PATH = `${IAM}/identityProviders`;
const SECRET = "s3cret-of-the-client";
const NO_SECRET = "is required unless pkceEnabled is set";
const RULE = "cannot be changed; create another identity provider";

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
const eng: string = (await api.ok("GET", `${IAM}/groups`, { query: { name: "eng" } })).groups[0].uid;
const roles: Record<string, string> = Object.fromEntries(
  (await api.ok("GET", `${IAM}/roles`)).roles.map(({ name, uid }: Body) => [name, uid]),
);
const viewer = roles.viewer as string;

const OIDC = { issuer: "https://idp.example", clientId: "client", clientSecret: SECRET };
const create = (body: Body = {}) =>
  api.call("POST", `${PATH}/${eng}`, { body: { name: "okta", defaultRole: viewer, oidc: OIDC, ...body } });
const createdRecord = (body: Body = {}) => recordOf(create(body));
const patch = (uid: string, body: Body, updateMask?: string) =>
  api.call("PATCH", `${PATH}/${uid}`, { body, query: { updateMask } });

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
    const { oidc } = await recordOf(patch(created.uid, { oidc: { ...OIDC, correlationRule: rule(after) } }, "oidc"));
    expect(oidc.correlationRule).toBe(created.oidc.correlationRule);
  });

  test("may not have another correlation rule", async () => {
    const { uid } = await createdRecord();
    const oidc = { correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID" };
    expectInvalid(await patch(uid, { oidc }), { "oidc.correlationRule": RULE });
    expectInvalid(await patch(uid, { oidc: { ...OIDC, ...oidc } }, "oidc"), { "oidc.correlationRule": RULE });
  });
});

test("the default role is built in, of the group or of one above", async () => {
  for (const role of [viewer, roles.pusher, roles.lister])
    expect((await create({ defaultRole: role })).status).toBe(200);
});

test("the default role of another group is refused like a missing one", async () => {
  const defaultRole = roles.seller as string;
  const violation = { defaultRole: `role ${defaultRole} does not exist at ${eng} or above` };
  expectInvalid(await create({ defaultRole }), violation);
  const { uid } = await createdRecord();
  expectInvalid(await patch(uid, { defaultRole }), violation);
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

const MAPPINGS = `${IAM}/externalGroupRoleMappings`;
const SRE = { externalGroupId: "Platform-SRE", roleUid: viewer, scope: api.organization };
const postMapping = (parent: string, fields: Body = {}) =>
  postRecord(api, "externalGroupRoleMappings", parent, { ...SRE, ...fields });
const createMapping = (parent: string, fields: Body = {}) => recordOf(postMapping(parent, fields));
const listMappings = async (query: Body) =>
  (await api.ok("GET", MAPPINGS, { query })).externalGroupRoleMappings as Body[];

test("a mapping exists once for provider, group, role and scope; another of each is another mapping", async () => {
  const [first, second] = [(await createdRecord()).uid, (await createdRecord()).uid];
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
  const parent = (await createdRecord()).uid;
  const { uid } = await createMapping(parent);
  await api.ok("DELETE", `${PATH}/${parent}`);
  expectNotFound(await api.call("GET", `${MAPPINGS}/${uid}`), "ExternalGroupRoleMapping", uid);
  expect(await listMappings({ identityProviderUid: parent })).toEqual([]);
});

describe("the delete of several", () => {
  const deleteMappings = (parent: string, names: string[], token?: string) =>
    api.call("POST", `${MAPPINGS}:batchDelete`, { body: { parent, names }, ...(token && { token }) });

  test("answers with those that it deleted, in order, and skips those that are gone", async () => {
    const parent = (await createdRecord()).uid;
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
    const [parent, other] = [(await createdRecord()).uid, (await createdRecord()).uid];
    const [own, theirs] = [await createMapping(parent), await createMapping(other)];
    const text = "must be the uid of a mapping of the identity provider";
    expectInvalid(await deleteMappings(parent, [own.uid, theirs.uid, parent]), { "names[1]": text, "names[2]": text });
    expect(await listMappings({ identityProviderUid: parent })).toEqual([own]);
  });
});
