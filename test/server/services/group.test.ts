// The rules of groups (docs/contract.md#groups, docs/contract.md#values, docs/contract.md#authorization).
import { describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { IAM, REGISTRY, serve } from "../../harness/api-server.ts";
import { type Collection, createRecord, createUid, recordOf } from "../../harness/records.ts";
import type { Answer, Body } from "../../support/http.ts";
import { expectDenied, expectInvalid, expectRefusal, preconditionFailure } from "../../support/refusal.ts";

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
    async (kind) => {
      expect(await recordOf(create(api.organization, { name: "g", kind }))).not.toHaveProperty("kind");
    },
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
  ])("but not %s", async (_, parent, description) => {
    expectInvalid(await under(parent), { parent: description });
  });

  test("a name that the caller may not see counts as unknown", async () => {
    const viewer = await server.actor("viewer", { role: "viewer", at: groups["my team"] as string });
    expectInvalid(await under("eng", viewer.token), { parent: "is not a uid, and no group in scope has that name" });
    // It may see the group, but may not create in it.
    expectDenied(await under("my%20team", viewer.token), "groups.create", groups["my team"] as string);
  });
});

// What blocks a group's deletion (docs/contract.md#d7): any child, one violation for each kind of child, all at once. The
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
