// PATCH of identities and role bindings (docs/contract.md#updates): nested paths, oneofs that switch, neighbours that stay.

import { beforeEach, describe, expect, test } from "vitest";
import { IAM, serve, sharedKeys } from "../../harness/api-server.ts";
import { createRecord } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid, NO_NAME, NO_UID, type Violations } from "../../support/refusal.ts";

const CLAIM_MATCH = {
  issuer: "https://issuer.example",
  subject: "s",
  audience: "a",
  claims: { ref: "main", actor: "x" },
  claimPatterns: { sha: "[0-9a-f]+" },
};
const AWS = { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/r", userId: "u" };
const ONE_RELATIONSHIP = "one of claimMatch, staticKeys, awsIdentity, servicePrincipal must be set";
let identity: Body;
const api = await serve();
beforeEach(async () => {
  const body = { name: "i", description: "d", company: "c", claimMatch: CLAIM_MATCH };
  identity = await createRecord(api, "identities", api.organization, body);
});

const patch = (body: Body, updateMask?: string, uid = identity.uid) =>
  api.call("PATCH", `${IAM}/identities/${uid}`, { body, query: { updateMask } });
const stored = () => api.ok("GET", `${IAM}/identities/${identity.uid}`);

const expectChanged = async (body: Body, mask: string | undefined, changed: Body): Promise<void> => {
  const answer = await patch(body, mask);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.json).toEqual(JSON.parse(JSON.stringify({ ...identity, ...changed })));
  expect(await stored()).toEqual(answer.json);
};

describe("a nested path", () => {
  const changed = { ...CLAIM_MATCH, subject: "t" };
  test.each<[string, Body, string | undefined, Body]>([
    ["is implied by the body", { claimMatch: { subject: "t" } }, undefined, changed],
    [
      "does not validate those beside it",
      { claimMatch: { issuer: "nonsense", subject: "t" } },
      "claimMatch.subject",
      changed,
    ],
    [
      "of the message replaces it as a whole",
      { claimMatch: { issuer: "https://b.example", subject: "t" } },
      "claimMatch",
      { issuer: "https://b.example", subject: "t" },
    ],
  ])("%s", async (_, body, mask, claimMatch) => {
    await expectChanged(body, mask, { claimMatch });
  });
});

describe("a oneof", () => {
  const { issuer: _, ...others } = CLAIM_MATCH;
  const PATTERN = { claimMatch: { ...others, issuerPattern: "https://.*" } };

  test.each<[string, Body, string | undefined, Body]>([
    ["of an issuer becomes a pattern", { claimMatch: { issuerPattern: "https://.*" } }, undefined, PATTERN],
    ["of relationships becomes AWS", { awsIdentity: AWS }, undefined, { claimMatch: undefined, awsIdentity: AWS }],
    [
      "of relationships becomes a service principal",
      { servicePrincipal: 4 },
      "servicePrincipal",
      { claimMatch: undefined, servicePrincipal: "SERVICE_PRINCIPAL_APKO_BUILDER" },
    ],
  ])("%s, which clears the other one", async (_, body, mask, changed) => {
    await expectChanged(body, mask, changed);
  });

  test("switches the relationship to keys and back, and the exchange follows", async () => {
    const issuerKeys = JSON.stringify(sharedKeys().signer.jwks());
    const staticKeys = { issuer: "https://keys.example", subject: "k", issuerKeys };
    const keyed = await patch({ staticKeys });
    expect(keyed.json).toMatchObject({ staticKeys: { ...staticKeys, expirationTime: "2027-01-28T12:54:21.189Z" } });
    expect(keyed.json).not.toHaveProperty("claimMatch");
    const claimMatch = { issuer: api.issuer, subject: "back" };
    expect((await patch({ claimMatch })).json).not.toHaveProperty("staticKeys");
    expect(await api.token(identity.uid, { subject: "back" })).toMatch(/^ey/);
  });

  test.each<[string, Body, string | undefined, Violations]>([
    [
      "two members at once",
      { claimMatch: { issuer: "https://a.example", issuerPattern: ".*" } },
      undefined,
      { "claimMatch.issuerPattern": "only one of issuer, issuerPattern may be set" },
    ],
    [
      "a required one that is cleared by its member",
      {},
      "claimMatch.issuer",
      { "claimMatch.issuer": "one of issuer, issuerPattern must be set" },
    ],
    ["the relationship that is cleared", {}, "claimMatch", { claimMatch: ONE_RELATIONSHIP }],
  ])("is refused with %s", async (_, body, mask, violation) => {
    expectInvalid(await patch(body, mask), violation);
    expect(await stored()).toEqual(identity);
  });

  test("that is required and held by its second member cannot be cleared by that", async () => {
    const body = { name: "p", claimMatch: { issuerPattern: "https://.*", subjectPattern: "s" } };
    const { uid } = await createRecord(api, "identities", api.organization, body);
    const refused = await patch({}, "claimMatch.issuerPattern", uid);
    expectInvalid(refused, { "claimMatch.issuer": "one of issuer, issuerPattern must be set" });
    expect((await api.ok("GET", `${IAM}/identities/${uid}`)).claimMatch).toEqual(body.claimMatch);
  });

  test("of relationships cannot be cleared by the member that is set, whichever it is", async () => {
    const body = { name: "aws", awsIdentity: AWS };
    const { uid } = await createRecord(api, "identities", api.organization, body);
    expectInvalid(await patch({}, "awsIdentity", uid), { claimMatch: ONE_RELATIONSHIP });
    expectInvalid(await patch({ awsIdentity: null }, undefined, uid), { claimMatch: ONE_RELATIONSHIP });
    expect((await api.ok("GET", `${IAM}/identities/${uid}`)).awsIdentity).toEqual(AWS);
  });
});

describe("the wildcard on an identity", () => {
  test("replaces the identity in full", async () => {
    const claimMatch = { issuer: "https://b.example", subject: "t" };
    const { company: _, ...rest } = identity;
    expect((await patch({ name: "after", claimMatch }, "*")).json).toEqual({
      ...rest,
      name: "after",
      description: "",
      claimMatch,
    });
  });

  test("needs a name and a relationship", async () => {
    const answer = await patch({}, "*");
    expectInvalid(answer, { name: NO_NAME, claimMatch: ONE_RELATIONSHIP });
  });
});

test("the rules of the server hold for a change as for a create", async () => {
  const own = [`${api.baseUrl}`, "must not be the issuer of this service"] as const;
  expectInvalid(await patch({ claimMatch: { issuer: own[0] } }), { "claimMatch.issuer": own[1] });
  const answer = await patch({ claimMatch: { subjectPattern: "(" } });
  expect(answer.json.message).toMatch(/^Invalid argument: claimMatch\.subjectPattern: must be an RE2 pattern: /);
  expect(await stored()).toEqual(identity);
});

describe("a role binding", () => {
  let binding: Body;
  beforeEach(async () => {
    const body = { identityUid: identity.uid, roleUid: await api.role("viewer") };
    binding = await createRecord(api, "roleBindings", api.organization, body);
  });
  const change = (body: Body, updateMask?: string) =>
    api.call("PATCH", `${IAM}/roleBindings/${binding.uid}`, { body, query: { updateMask } });

  test("changes its role and keeps its identity, and the other way round", async () => {
    const roleUid = await api.role("editor");
    const { json } = await change({ roleUid });
    expect(json).toEqual({ ...binding, role: { uid: roleUid, name: "editor", description: "Built-in role: editor" } });
    const other = (await api.actor("other")).uid;
    const { json: handed } = await change({ identityUid: other });
    expect([handed.identity.uid, handed.role.uid]).toEqual([other, roleUid]);
  });

  test("accepts the wildcard with both uids, as the Terraform provider sends it", async () => {
    const body = { identityUid: identity.uid, roleUid: await api.role("editor") };
    expect((await change(body, "*")).json.role.uid).toBe(body.roleUid);
  });

  test.each<[string, Body, string | undefined, Violations]>([
    ["a role that is cleared", {}, "roleUid", { roleUid: NO_UID }],
    [
      "a hydrated path in the mask is output-only, an unknown one is not",
      {},
      "role,colour",
      { updateMask: '"colour" is not a field of the resource' },
    ],
  ])("is refused with %s", async (_, body, mask, violation) => {
    expectInvalid(await change(body, mask), violation);
  });

  test("is refused with a missing identity or role", async () => {
    const missing = `${api.organization}/ffffffffffffffff`;
    expectInvalid(await change({ identityUid: missing, roleUid: missing }), {
      identityUid: `identity ${missing} does not exist`,
      roleUid: `role ${missing} does not exist at ${api.organization} or above`,
    });
    expect(await api.ok("GET", `${IAM}/roleBindings/${binding.uid}`)).toEqual(binding);
  });
});
