// LookupGroup (docs/contract.md#lookup-group): by the e-mail domain of the caller's token. All refusals have one text.
import { describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { IAM, ownerToken, ownKeys, serve, signedToken, startPlainServer } from "../../harness/api-server.ts";
import { createRecord } from "../../harness/records.ts";
import type { Answer, Body } from "../../support/http.ts";
import { expectRefusal, resourceInfo } from "../../support/refusal.ts";

const PATH = `${IAM}/groups:lookupGroup`;
const EMAIL = { email: "me@acme.example", email_verified: true };

const expectMissing = (answer: Answer) =>
  expectRefusal(answer, "NOT_FOUND", "there is no group for the e-mail domain of the caller", {
    details: [resourceInfo("Group", "")],
  });
const api = await serve({
  seed: parseSeed("organization: { name: acme.example, verified: true, kind: ORG_KIND_CUSTOMER }", "s"),
});
const person: string = (await api.actor("person")).uid;
const other = await api.actor("other");
// Any caller may choose any name for an organization, and for a group below one.
for (const name of ["claimed.example", "gmail.com"]) await createRecord(api, "groups", "", { name }, other.token);
await createRecord(api, "groups", api.organization, { name: "below.example" });

/** Calls as an identity without a role, with these claims in its token. */
const lookUp = async (claims: Body): Promise<Answer> => {
  const identityToken = await api.identityToken("person", { claims });
  const { json } = await api.exchange(identityToken, { aud: api.baseUrl, identity: person });
  return api.call("GET", PATH, { token: json.token });
};

test("finds the verified organization with the name of the domain, for a caller without any role", async () => {
  const expected = { group: await api.ok("GET", `${IAM}/groups/${api.organization}`) };
  expect((await lookUp(EMAIL)).json).toEqual(expected);
  expect((await lookUp({ ...EMAIL, email: "Me@ACME.Example" })).json).toEqual(expected);
  expect((await lookUp({ ...EMAIL, email: '"a@claimed.example"@acme.example' })).json).toEqual(expected);
});

describe("refuses with one text", () => {
  test.each<[string, Body]>([
    ["no address", {}],
    ["an address without email_verified", { email: EMAIL.email }],
    ["an address that is declared unverified", { ...EMAIL, email_verified: false }],
    ["an address that is verified by a text", { ...EMAIL, email_verified: "true" }],
    ["a domain that no organization has", { ...EMAIL, email: "me@nobody.example" }],
    ["a domain below", { ...EMAIL, email: "me@mail.acme.example" }],
    ["a domain that is longer", { ...EMAIL, email: "me@notacme.example" }],
    ["a domain without an address", { ...EMAIL, email: "acme.example" }],
    ["a domain without a name before it", { ...EMAIL, email: "@acme.example" }],
    ["an organization that is not verified", { ...EMAIL, email: "me@claimed.example" }],
    ["a domain where anyone can have an address", { ...EMAIL, email: "me@gmail.com" }],
    ["a group that is not an organization", { ...EMAIL, email: "me@below.example" }],
    ["an address that is not text", { ...EMAIL, email: ["me@acme.example"] }],
  ])("%s", async (_, claims) => {
    expectMissing(await lookUp(claims));
  });

  test("an issuer in whose name an identity's own key signed, which vouches for nothing", async () => {
    const issuer = "https://accounts.google.com";
    const staticKeys = { issuer, subject: "s", issuerKeys: ownKeys() };
    const { uid } = await createRecord(api, "identities", api.organization, { staticKeys });
    const token = await signedToken({ iss: issuer, sub: "s", aud: api.authUrl, ...EMAIL });
    const { json } = await api.exchange(token, { aud: api.baseUrl, identity: uid });
    expectMissing(await api.call("GET", PATH, { token: json.token }));
  });

  test("an issuer that does not verify addresses itself: a workload's own, whatever it claims", async () => {
    const plain = await startPlainServer("{ name: acme.example, verified: true, kind: ORG_KIND_CUSTOMER }");
    const token = await ownerToken(plain, EMAIL);
    expectMissing(await plain.call("GET", PATH, { token }));
  });
});
