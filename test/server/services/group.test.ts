// The rules of groups (docs/internals/contract.md#groups, docs/internals/contract.md#values, docs/internals/contract.md#authorization). LookupGroup
// (docs/internals/contract.md#lookup-group): by the e-mail domain of the caller's token; all its refusals have one text. Account
// associations (docs/internals/contract.md#account-associations): one for each group, with the group's uid.
import { describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import {
  IAM,
  ownerToken,
  ownKeys,
  REGISTRY,
  serve,
  shuffledIds,
  signedToken,
  startPlainServer,
} from "../../harness/api-server.ts";
import { type Collection, createRecord, createUid, postRecord, recordOf } from "../../harness/records.ts";
import type { Answer, Body } from "../../support/http.ts";
import {
  expectDenied,
  expectInvalid,
  expectRefusal,
  preconditionFailure,
  resourceInfo,
} from "../../support/refusal.ts";

const seed = parseSeed(
  `
organization: { name: acme }
groups: [{ name: advised }]
advisories:
  - { group: advised, advisoryId: CGA-aaaa-aaaa-aaaa, author: a, artifactName: a, artifactType: apk, artifactArchitecture: a, componentName: c, componentLocation: l, componentType: t }
`,
  "seed.yaml",
);
const api = await serve({ seed });

const create = (parent: string, body: Body, token?: string) =>
  api.call("POST", `${IAM}/groups${parent && `/${parent}`}`, { body, ...(token && { token }) });

test("a root group can be created with any token, whose identity owns it at once", async () => {
  const founder = await api.actor("founder");
  const { json: root } = await create("", { name: "new org", kind: "ORG_KIND_STARTER" }, founder.token);
  expect(root.uid).toMatch(/^[0-9a-f]{40}$/);
  expect(root.kind).toBe("ORG_KIND_STARTER");
  const { roleBindings } = await api.ok("GET", `${IAM}/roleBindings`, {
    token: founder.token,
    query: { group: root.uid },
  });
  expect(roleBindings).toHaveLength(1);
  expect(roleBindings[0]).toMatchObject({
    identity: { uid: founder.uid },
    role: { name: "owner" },
    group: { name: "new org" },
  });
  expect((await create(root.uid, { name: "below" }, founder.token)).status).toBe(200);
  expectDenied(await api.call("GET", `${IAM}/groups/${root.uid}`), "groups.list", root.uid);
});

describe("a group below another", () => {
  test("inherits kind and status from its root", async () => {
    const seeded = await serve({ seed: parseSeed("organization: { name: a, kind: ORG_KIND_DEV }", "s") });
    const below = await createRecord(seeded, "groups", seeded.organization, { name: "g" });
    expect(below.kind).toBe("ORG_KIND_DEV");
  });

  test.each(["ORG_KIND_UNSPECIFIED", 0])(
    "may have the kind %j, which is the zero of the enum and so unset",
    async (kind) => expect(await recordOf(create(api.organization, { name: "g", kind }))).not.toHaveProperty("kind"),
  );

  test("cannot be verified by its creator", async () => {
    const text = "verified is set by the operator of the service";
    expectRefusal(await create(api.organization, { name: "g", verified: true }), "PERMISSION_DENIED", text);
    expectRefusal(await create("", { name: "g", verified: true }), "PERMISSION_DENIED", text);
    expect((await create(api.organization, { name: "g", verified: false })).status).toBe(200);
  });
});

describe("the parent of a new group may be", async () => {
  const groups: Record<string, string> = {};
  const server = await serve({
    seed: parseSeed(
      "{ organization: { name: acme }, groups: [{ name: eng }, { name: my team, parent: eng }, { name: dup }, { name: dup, parent: eng }] }",
      "s",
    ),
  });
  for (const { name, uid } of (await server.ok("GET", `${IAM}/groups`)).groups) groups[name] = uid;
  const under = (parent: string, token = server.owner.token) =>
    server.call("POST", `${IAM}/groups/${parent}`, { body: { name: "new" }, token });

  test.each<[string, () => string, string]>([
    ["the name of one group in scope", () => "eng", "eng"],
    ["the last segment of a uid", () => (groups.eng as string).split("/")[1] as string, "eng"],
    ["the last segments of a uid", () => (groups["my team"] as string).split("/").slice(1).join("/"), "my team"],
  ])("%s", async (_, parent, expected) => {
    const { uid } = await recordOf(under(parent()));
    expect(uid.replace(/\/[^/]+$/, "")).toBe(groups[expected]);
  });

  test.each([
    ["the name of no group", "nobody", "is not a uid, and no group in scope has that name"],
    ["the name of two groups", "dup", "is the name of several groups; use the uid"],
    ["the suffix of no group", "ffffffffffffffff", "is not a uid, and no group in scope has that name"],
  ])("but not %s", async (_, parent, description) => expectInvalid(await under(parent), { parent: description }));

  test("a name that the caller may not see counts as unknown", async () => {
    const viewer = await server.actor("viewer", { role: "viewer", at: groups["my team"] as string });
    expectInvalid(await under("eng", viewer.token), { parent: "is not a uid, and no group in scope has that name" });
    // It may see the group, but may not create in it.
    expectDenied(await under("my%20team", viewer.token), "groups.create", groups["my team"] as string);
  });
});

// What blocks a group's deletion (docs/internals/contract.md#d7): any child, one violation for each kind of child, all at once. The
// binding that made the creator owner of a root group goes with the group and does not block it.

const viewer = await api.role("viewer");

const group = (parent = api.organization) => createUid(api, "groups", parent);
const remove = (uid: string) => api.call("DELETE", `${IAM}/groups/${uid}`);
const expectBlocked = (answer: Answer, ...words: string[]) => {
  const texts = words.map((word) => `cannot delete group with child ${word}`);
  expectRefusal(answer, "FAILED_PRECONDITION", texts[0] as string, {
    details: [preconditionFailure("RESOURCE_NOT_EMPTY", ...texts)],
  });
};

const oidc = { issuer: "https://idp.example", clientId: "c", pkceEnabled: true };
/** In the order of the violations. */
const CHILDREN: [word: string, collection: Collection, fields: Body][] = [
  ["groups", "groups", {}],
  ["identities", "identities", {}],
  ["roles", "roles", {}],
  ["role bindings", "roleBindings", { identityUid: api.identity, roleUid: viewer }],
  ["repos", "repos", {}],
  ["identity providers", "identityProviders", { defaultRole: viewer, oidc }],
  ["group invites", "groupInvites", { roleUid: viewer }],
  ["account associations", "accountAssociations", {}],
];

test("a group with children of every kind has one violation for each, and is deleted after them", async () => {
  const uid = await group();
  const paths: string[] = [];
  // A second identity: it is one violation a kind, not one a child.
  for (const [, collection, fields] of [...CHILDREN, ["", "identities", {}] as const]) {
    const child = await createUid(api, collection, uid, fields);
    paths.push(`${collection === "repos" ? REGISTRY : IAM}/${collection}/${child}`);
  }
  expectBlocked(await remove(uid), ...CHILDREN.map(([word]) => word));
  for (const path of paths) await api.ok("DELETE", path);
  expect((await remove(uid)).status).toBe(200);
});

test("a group with advisories, which no method deletes, cannot be deleted", async () => {
  const { groups } = await api.ok("GET", `${IAM}/groups`, { query: { name: "advised" } });
  expectBlocked(await remove(groups[0].uid), "advisories");
  const query = { "uidp.childrenOf": groups[0].uid };
  expect((await api.ok("GET", "/vulnerabilities/v2beta1/advisories", { query })).totalCount).toBe("1");
});

test("a group with a neighbour that has children, and whose uid begins alike, is deleted", async () => {
  const [one, two] = [await group(), await group()];
  await group(two);
  expect((await remove(one)).status).toBe(200);
  expect((await api.call("GET", `${IAM}/groups/${two}`)).status).toBe(200);
});

const found = async (name: string) => {
  const founder = await api.actor(name);
  const { uid } = await createRecord(api, "groups", "", { name }, founder.token);
  return { ...founder, root: uid as string };
};
const asFounder = (token: string, method: string, path: string, body?: Body) =>
  api.call(method, `${IAM}/${path}`, { token, body });

test("a root group is deleted with the binding of its founding owner, who loses access", async () => {
  const { uid, token, root } = await found("alone");
  const query = { identity: uid };
  expect((await api.ok("GET", `${IAM}/roleBindings`, { token, query })).totalCount).toBe("1");
  expect((await asFounder(token, "DELETE", `groups/${root}`)).status).toBe(200);
  expect((await asFounder(token, "GET", `groups/${root}`)).status).toBe(403);
  expect((await api.ok("GET", `${IAM}/roleBindings`, { token, query })).totalCount).toBe("0");
});

test("a root group is blocked by any other binding, to the same identity too", async () => {
  const { uid, token, root } = await found("twice");
  const body = { identityUid: uid, roleUid: await api.role("owner") };
  const { json } = await asFounder(token, "POST", `roleBindings/${root}`, body);
  expectBlocked(await asFounder(token, "DELETE", `groups/${root}`), "role bindings");
  await asFounder(token, "DELETE", `roleBindings/${json.uid}`);
  expect((await asFounder(token, "DELETE", `groups/${root}`)).status).toBe(200);
});

const LOOKUP = `${IAM}/groups:lookupGroup`;
const EMAIL = { email: "me@acme.example", email_verified: true };

const expectMissing = (answer: Answer) =>
  expectRefusal(answer, "NOT_FOUND", "there is no group for the e-mail domain of the caller", {
    details: [resourceInfo("Group", "")],
  });
const verified = await serve({
  seed: parseSeed("organization: { name: acme.example, verified: true, kind: ORG_KIND_CUSTOMER }", "s"),
});
const person: string = (await verified.actor("person")).uid;
const other = await verified.actor("other");
// Any caller may choose any name for an organization, and for a group below one.
for (const name of ["claimed.example", "gmail.com"]) await createRecord(verified, "groups", "", { name }, other.token);
await createRecord(verified, "groups", verified.organization, { name: "below.example" });

/** Calls as an identity without a role, with these claims in its token. */
const lookUp = async (claims: Body): Promise<Answer> => {
  const identityToken = await verified.identityToken("person", { claims });
  const { json } = await verified.exchange(identityToken, { aud: verified.baseUrl, identity: person });
  return verified.call("GET", LOOKUP, { token: json.token });
};

test("finds the verified organization with the name of the domain, for a caller without any role", async () => {
  const expected = { group: await verified.ok("GET", `${IAM}/groups/${verified.organization}`) };
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
  ])("%s", async (_, claims) => expectMissing(await lookUp(claims)));

  test("an issuer in whose name an identity's own key signed, which vouches for nothing", async () => {
    const issuer = "https://accounts.google.com";
    const staticKeys = { issuer, subject: "s", issuerKeys: ownKeys() };
    const { uid } = await createRecord(verified, "identities", verified.organization, { staticKeys });
    const token = await signedToken({ iss: issuer, sub: "s", aud: verified.authUrl, ...EMAIL });
    const { json } = await verified.exchange(token, { aud: verified.baseUrl, identity: uid });
    expectMissing(await verified.call("GET", LOOKUP, { token: json.token }));
  });

  test("an issuer that does not verify addresses itself: a workload's own, whatever it claims", async () => {
    const plain = await startPlainServer("{ name: acme.example, verified: true, kind: ORG_KIND_CUSTOMER }");
    const token = await ownerToken(plain, EMAIL);
    expectMissing(await plain.call("GET", LOOKUP, { token }));
  });
});

const ASSOCIATIONS = `${IAM}/accountAssociations`;

const associate = async (fields: Body = {}) => createRecord(api, "accountAssociations", await group(), fields);

const CLOUDS = {
  amazon: { account: "123456789012" },
  google: { projectId: "my-project", projectNumber: "42" },
  azure: { tenantId: "t", clientIds: { syncer: "c" } },
};

test("a second one in a group is ALREADY_EXISTS with the first", async () => {
  const { uid, ...before } = await associate({ description: "first" });
  const text = `the group ${uid} has an account association already`;
  expectRefusal(await postRecord(api, "accountAssociations", uid, { description: "second" }), "ALREADY_EXISTS", text, {
    details: [resourceInfo("AccountAssociation", uid)],
  });
  expect(await api.ok("GET", `${ASSOCIATIONS}/${uid}`)).toEqual({ uid, ...before });
});

const check = async (uid: string, providerType: string | number) =>
  (await api.call("POST", `${ASSOCIATIONS}/${uid}:checkAccountAssociation`, { body: { providerType } })).json;
const notReady = (message: string) => ({
  status: "CHECK_STATUS_NOT_READY",
  reason: "not configured",
  message: `the account association of ${message}`,
});

test.each([
  ["ACCOUNT_PROVIDER_TYPE_GOOGLE", "google", "Google Cloud"],
  ["ACCOUNT_PROVIDER_TYPE_AMAZON", "amazon", "Amazon"],
  ["ACCOUNT_PROVIDER_TYPE_AZURE", "azure", "Azure"],
] as const)(
  "the check of %s is READY when that is configured, and NOT_READY when all but that is",
  async (type, member, name) => {
    const ready = await associate({ [member]: CLOUDS[member] });
    expect(await check(ready.uid, type)).toEqual({ status: "CHECK_STATUS_READY" });
    const { uid } = await associate({ ...CLOUDS, [member]: undefined });
    expect(await check(uid, type)).toEqual(notReady(`${uid} has no ${name} account`));
  },
);

test("the check of a group without an association is NOT_READY", async () => {
  const uid = await group();
  expect(await check(uid, 2)).toEqual(notReady(`${uid} does not exist`));
});

test("a list of account associations is in the order of the groups, both ways", async () => {
  const own = await serve({ ids: shuffledIds(12) });
  const uids = [own.organization, await createUid(own, "groups", own.organization)];
  for (const uid of uids) await createUid(own, "accountAssociations", uid);
  const listed = async (order_by?: string): Promise<string[]> =>
    (await own.ok("GET", ASSOCIATIONS, { query: { order_by } })).accountAssociations.map(({ uid }: Body) => uid);
  for (const order of [undefined, "group", "group asc", "uid"]) expect(await listed(order)).toEqual(uids.toSorted());
  expect(await listed("group desc")).toEqual(uids.toSorted().toReversed());
});
