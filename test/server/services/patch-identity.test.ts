// PATCH of identities and role bindings (docs/contract.md#updates): oneofs that switch, and what a change must not break.

import { beforeEach, describe, expect, test } from "vitest";
import { IAM, serve, sharedKeys } from "../../harness/api-server.ts";
import { createRecord } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectInvalid } from "../../support/refusal.ts";

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

describe("a oneof", () => {
  test("of relationships becomes AWS, which clears the claims", async () => {
    const { json } = await patch({ awsIdentity: AWS });
    const { claimMatch: _, ...rest } = identity;
    expect(json).toEqual({ ...rest, awsIdentity: AWS });
    expect(await stored()).toEqual(json);
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
});
