// Where a grant holds (docs/internals/contract.md#authorization): at its group and everything below, never beside or above.
// authorization.test.ts covers each method with a record beside the grant, or with a missing one. What a token may do
// (docs/internals/contract.md#d28): the caller's current bindings, intersected with the capabilities and scopes that the exchange
// requested; the `cap` claim informs clients. narrowed.test.ts: every method with such a token. A binding that is
// revoked: test/server/port/drain.test.ts.
import { describe, expect, test } from "vitest";
import { type Operation, operations, type Resource, resources } from "../../schema/index.ts";
import { parseSeed } from "../../server/index.ts";
import { type Actor, IAM, serve } from "../harness/api-server.ts";
import { HOUR_MS } from "../harness/clock.ts";
import { createRecord, createUid } from "../harness/records.ts";
import type { Body } from "../support/http.ts";
import { expectDenied, expectInvalid, expectNotFound } from "../support/refusal.ts";
import { WAYS } from "../support/way.ts";

// Two sibling groups with the same names of records in each, and a group below the first.
const each = (line: (group: string) => string) => ["left", "right", "left/deep"].map(line).join(", ");
const oidc = `{ issuer: "https://idp.example", clientId: c, pkceEnabled: true }`;
const artifact = "artifactName: a, artifactType: apk, artifactArchitecture: x";
const component = "componentName: c, componentLocation: l, componentType: t";
const seed = parseSeed(
  `
organization: { name: acme }
groups: [{ name: left }, { name: right }, { name: deep, parent: left }]
roles: [${each((group) => `{ name: r, group: ${group}, capabilities: [groups.list] }`)}]
identities: [${each((group) => `{ name: i, group: ${group}, servicePrincipal: SERVICE_PRINCIPAL_COSIGNED }`)}]
bindings: [${each((group) => `{ identity: ${group}/i, role: ${group}/r, group: ${group} }`)}]
repos: [${each((group) => `{ name: p, group: ${group}, tags: [{ name: t, digest: "sha256:${"a".repeat(64)}" }] }`)}]
accountAssociations: [${each((group) => `{ name: a, group: ${group} }`)}]
identityProviders: [${each((group) => `{ name: p, group: ${group}, defaultRole: viewer, oidc: ${oidc} }`)}]
externalGroupRoleMappings: [${each((group) => `{ identityProvider: ${group}/p, externalGroupId: g, role: viewer }`)}]
advisories: [${each((group) => `{ group: ${group}, advisoryId: CGA-aaaa-aaaa-aaaa, author: a, ${artifact}, ${component} }`)}]
`,
  "seed.yaml",
);

const pathOf = (plural: string): string =>
  Object.values<Operation>(operations)
    .find(({ method, path }) => method === "GET" && path.endsWith(`{version}/${plural}`))
    ?.path.replace("{version}", "v2beta1") as string;

const api = await serve({ seed });
const one = async (name: string): Promise<string> =>
  (await api.ok("GET", `${IAM}/groups`, { query: { name } })).groups[0].uid;
const [left, right, deep] = [await one("left"), await one("right"), await one("deep")];
for (const uid of [left, right, deep])
  await createRecord(api, "groupInvites", uid, { roleUid: await api.role("viewer"), ttl: "60s" });
// The identity lives at the organization; what it may do is decided by the binding alone.
const viewer: Actor = await api.actor("left-viewer", { role: "viewer", at: left });

describe("a viewer of one group", () => {
  test("gets an empty list for a filter that names another group", async () => {
    for (const filter of ["descendantsOf", "childrenOf"]) {
      const query = { [`uidp.${filter}`]: api.organization };
      const { groups } = await api.ok("GET", `${IAM}/groups`, { token: viewer.token, query });
      expect(groups.map(({ uid }: Body) => uid)).toEqual(filter === "childrenOf" ? [left] : [left, deep]);
    }
    const query = { "uidp.ids": [left, right, api.organization] };
    const { groups } = await api.ok("GET", `${IAM}/groups`, { token: viewer.token, query });
    expect(groups.map(({ uid }: Body) => uid)).toEqual([left]);
    const above = await api.ok("GET", `${IAM}/groups`, { token: viewer.token, query: { "uidp.ancestorsOf": deep } });
    expect(above.groups.map(({ uid }: Body) => uid)).toEqual([left]);
  });

  test.each(Object.values<Resource>(resources).map(({ plural }) => plural))(
    "lists the %s of that group and below",
    async (plural) => {
      const listed = await api.ok("GET", pathOf(plural), { token: viewer.token, query: { page_size: 200 } });
      const uids: string[] = listed[plural].map(({ uid }: Body) => uid);
      // Built-in roles are readable by all.
      const own = plural === "roles" ? uids.filter((uid) => uid.includes("/")) : uids;
      // How many levels a record is below its group.
      const levels = { externalGroupRoleMappings: 2, tags: 2, accountAssociations: 0, groups: 0 }[plural] ?? 1;
      const groups = own.map((uid) =>
        uid
          .split("/")
          .toSpliced(-levels || Infinity)
          .join("/"),
      );
      expect(new Set(groups)).toEqual(new Set([left, deep]));
      expect(listed.totalCount).toBe(String(uids.length));
    },
  );
});

test("uids whose text begins alike are not below one another: a grant at one does not hold at the other", async () => {
  // Ids that differ in the last digit only, and a root whose digits the other's begin with.
  const roots = ["a".repeat(40), "a".repeat(39).concat("b")];
  let segment = 0;
  const ids = { root: () => roots.shift() as string, segment: () => (++segment).toString(16).padStart(16, "0") };
  const twins = await serve({ ids });
  const other = await twins.actor("other");
  const { uid } = await createRecord(twins, "groups", "", { name: "twin" }, other.token);
  expect(uid).toBe("a".repeat(39).concat("b"));
  expectDenied(await twins.call("GET", `${IAM}/groups/${uid}`), "groups.list", uid);
  const { groups } = await twins.ok("GET", `${IAM}/groups`);
  expect(groups.map((group: Body) => group.uid)).toEqual(["a".repeat(40)]);
  const below = { "uidp.descendantsOf": "a".repeat(40), page_size: 200 };
  for (const { uid: found } of (await twins.ok("GET", `${IAM}/identities`, { query: below })).identities)
    expect(found).toMatch(/^a{40}\//);
});

test("roles that are built in are readable by every caller", async () => {
  const stranger = await api.actor("stranger");
  const uid = await api.role("owner");
  expect((await api.ok("GET", `${IAM}/roles/${uid}`, { token: stranger.token })).name).toBe("owner");
  const { roles } = await api.ok("GET", `${IAM}/roles`, { token: stranger.token });
  expect(roles.map(({ name }: Body) => name)).toEqual(expect.arrayContaining(["viewer", "editor", "owner"]));
  for (const role of roles) expect(role.uid).toMatch(/^[0-9a-f]{40}$/);
});

test("roles that are missing and would be built in are NOT_FOUND for every caller", async () => {
  const uid = "e".repeat(40);
  expectNotFound(await api.call("GET", `${IAM}/roles/${uid}`, { token: viewer.token }), "Role", uid);
});

const list = (token: string) => api.ok("GET", `${IAM}/groups`, { token });
const bind = async (identityUid: string, role: string, at: string): Promise<string> => {
  const body = { identityUid, roleUid: role.length >= 40 ? role : await api.role(role) };
  return await createUid(api, "roleBindings", at, body);
};

test("a changed role counts at once for the identities that are bound to it", async () => {
  const role = await createUid(api, "roles", api.organization);
  const { uid, token } = await api.actor("bound");
  await bind(uid, role, left);
  expect((await list(token)).totalCount).toBe("2");
  await api.ok("PATCH", `${IAM}/roles/${role}`, { body: { capabilities: ["CAP_REPO_LIST"] } });
  expect((await list(token)).totalCount).toBe("0");
});

describe("a limited token cannot create an organization, which would grant its identity everything", () => {
  test.each([
    ["a capability", () => ({ cap: ["groups.list"] })],
    ["a scope", () => ({ scopes: [left] })],
    ["a scope that is no uid", () => ({ scopes: ["*"] })],
  ])("%s", async (_, limits) => {
    const token = await api.token(api.identity, { subject: "owner", ...limits() });
    for (const version of ["v2beta1", "v2"])
      for (const [wire, way] of Object.entries(WAYS)) {
        const request = { group: { name: "new root" } };
        const { code, message } = await way(api, { operation: "CreateGroup", request, token, version });
        expect([wire, code, message]).toEqual([
          wire,
          "PERMISSION_DENIED",
          "Permission denied: a token that was narrowed cannot create an organization; exchange again without cap and scopes",
        ]);
      }
    expect((await api.ok("GET", `${IAM}/groups`, { query: { name: "new root" } })).totalCount).toBe("0");
  });

  test("and a token without limits can", async () => {
    expect(await createRecord(api, "groups", "", { name: "a root" })).toMatchObject({ name: "a root" });
  });
});

test("the exchange moves lastSeenTime and no other field", async () => {
  const own = await serve();
  const claimMatch = { issuer: own.issuer, subject: "seen" };
  const before = await createRecord(own, "identities", own.organization, { name: "seen", claimMatch });
  own.clock.advance(HOUR_MS / 2);
  await own.token(before.uid, { subject: "seen" });
  const after = await own.ok("GET", `${IAM}/identities/${before.uid}`);
  expect(after).toEqual({ ...before, lastSeenTime: "2026-01-28T13:24:21.189Z" });
});

describe("the identity that anyone may assume", () => {
  const token = async (subject = "any-subject") => api.token(api.anyone, { subject });

  test("holds nothing: it reads built-in roles, and all other lists are empty", async () => {
    const own = await token();
    expect((await list(own)).totalCount).toBe("0");
    expectDenied(await api.call("GET", `${IAM}/groups/${left}`, { token: own }), "groups.list", left);
    expect((await api.ok("GET", `${IAM}/roles`, { token: own })).roles.length).toBeGreaterThan(2);
  });

  test("cannot get a binding, by a create, a batch or a change", async () => {
    const description = "is the identity that anyone may assume, which holds no bindings";
    const link = { identityUid: api.anyone, roleUid: await api.role("viewer") };
    expectInvalid(await api.call("POST", `${IAM}/roleBindings/${left}`, { body: link }), { identityUid: description });
    const batch = { parent: left, requests: [{ roleBinding: link }] };
    expectInvalid(await api.call("POST", `${IAM}/roleBindings:batchCreate`, { body: batch }), {
      "requests[0].roleBinding.identityUid": description,
    });
    const { uid } = await api.actor("someone");
    const binding = await bind(uid, "viewer", left);
    const change = { body: { identityUid: api.anyone } };
    expectInvalid(await api.call("PATCH", `${IAM}/roleBindings/${binding}`, change), { identityUid: description });
  });

  test("cannot create an organization, which anyone would own", async () => {
    const answer = await api.call("POST", `${IAM}/groups`, { token: await token(), body: { name: "everybody's" } });
    expect(answer.status).toBe(403);
    expect(answer.json).toMatchObject({
      code: 7,
      message:
        "Permission denied: the identity that anyone may assume cannot own an organization; assume an identity of your own",
    });
    expect((await api.ok("GET", `${IAM}/groups`, { query: { name: "everybody's" } })).totalCount).toBe("0");
  });

  test("is in no list, and cannot be changed or deleted", async () => {
    const { identities } = await api.ok("GET", `${IAM}/identities`, { query: { page_size: 200 } });
    expect(identities.map(({ uid }: Body) => uid)).not.toContain(api.anyone);
    const root = await api.ok("GET", `${IAM}/identities`, { query: { "uidp.in_root": true } });
    expect(root.totalCount).toBe("0");
    const path = `${IAM}/identities/${api.anyone}`;
    expectDenied(await api.call("GET", path), "identity.list", api.anyone);
    expectDenied(await api.call("DELETE", path), "identity.delete", api.anyone);
    expectDenied(await api.call("PATCH", path, { body: { name: "x" } }), "identity.update", api.anyone);
  });
});
