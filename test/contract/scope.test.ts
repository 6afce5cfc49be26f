// Where a grant holds (docs/contract.md#authorization): at its group and everything below, never beside or above.
// authorization.test.ts covers each method with a record beside the grant, or with a missing one.
import { describe, expect, test } from "vitest";
import { type Operation, operations, type Resource, resources } from "../../schema/index.ts";
import { parseSeed } from "../../server/index.ts";
import { type Actor, IAM, serve } from "../harness/api-server.ts";
import { createRecord } from "../harness/records.ts";
import type { Body } from "../support/http.ts";
import { expectDenied, expectNotFound } from "../support/refusal.ts";

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
  test("lists and counts only that group and those below", async () => {
    const { groups, totalCount } = await api.ok("GET", `${IAM}/groups`, { token: viewer.token });
    expect(groups.map(({ uid }: Body) => uid).toSorted()).toEqual([left, deep].toSorted());
    expect(totalCount).toBe("2");
    const v1 = await api.ok("GET", "/iam/v1/groups", { token: viewer.token });
    expect(v1.items.map(({ id }: Body) => id).toSorted()).toEqual([left, deep].toSorted());
  });

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
