// Filters (docs/internals/contract.md#uids, docs/internals/contract.md#d16): every member of the hierarchy filter for every kind, the filters of
// each kind, exact names, all of them ANDed.
import { describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { IAM, REGISTRY, serve, shuffledIds } from "../../harness/api-server.ts";
import type { Body } from "../../support/http.ts";

// One record of each kind in each group: the name says where it is.
const GROUPS = ["", "eng", "eng/platform", "eng/platform/ci", "sales"];
const own = (path: string) => path.replaceAll("/", ".") || "acme";
const each = (line: (path: string) => string) => GROUPS.map(line).join(", ");
const seed = parseSeed(
  `
organization: { name: acme }
groups: [{ name: eng }, { name: platform, parent: eng }, { name: ci, parent: eng/platform }, { name: sales }]
identities: [${each((path) => `{ name: ${own(path)}, group: ${path || '""'}, claimMatch: { issuer: "https://issuer.example", subject: s } }`)}]
roles: [${each((path) => `{ name: ${own(path)}, group: ${path || '""'}, capabilities: [groups.list] }`)}]
bindings: [${each((path) => `{ identity: ${path ? `${path}/` : ""}${own(path)}, role: ${path ? `${path}/` : ""}${own(path)}, group: ${path || '""'} }`)}]
identityProviders: [${each((path) => `{ name: ${own(path)}, group: ${path || '""'}, defaultRole: viewer, oidc: { issuer: "https://issuer.example", clientId: c, pkceEnabled: true } }`)}]
accountAssociations: [${each((path) => `{ name: ${path.split("/").at(-1) || "acme"}, group: ${path || '""'} }`)}]
advisories: [${each((path) => `{ artifactName: ${own(path)}, group: ${path || '""'}, advisoryId: CGA-aaaa-aaaa-aaaa, artifactType: t, artifactArchitecture: x, componentName: c, componentLocation: l, componentType: t, author: a }`)}]
repos: [${each((path) => `{ name: ${own(path)}, group: ${path || '""'} }`)}]
`,
  "seed.yaml",
);
const groups: Record<string, string> = {};

const at = (path: string) => groups[path] as string;

// The place of a record, as it shows it.
const KINDS: [plural: string, path: string, place: (row: Body) => string][] = [
  ["identities", `${IAM}/identities`, ({ name }) => name],
  ["roles", `${IAM}/roles`, ({ name }) => name],
  ["roleBindings", `${IAM}/roleBindings`, ({ identity }) => identity.name],
  ["repos", `${REGISTRY}/repos`, ({ name }) => name],
  ["identityProviders", `${IAM}/identityProviders`, ({ name }) => name],
  ["advisories", "/vulnerabilities/v2beta1/advisories", ({ artifactName }) => artifactName],
];

const places = async ([plural, path, place]: (typeof KINDS)[number], query: Body): Promise<string[]> => {
  const page = await api.ok("GET", path, { query: { page_size: 200, ...query } });
  // The development owner and its binding are not of this fixture.
  const found: string[] = page[plural].map(place).filter((name: string) => name !== "owner");
  return found.toSorted();
};
const sorted = (...paths: string[]) => paths.map(own).toSorted();

const api = await serve({ seed, ids: shuffledIds(4) });
groups[""] = api.organization;
const { groups: found } = await api.ok("GET", `${IAM}/groups`);
for (const path of GROUPS.slice(1)) groups[path] = found.find(({ name }: Body) => name === path.split("/").at(-1)).uid;

describe.each(KINDS)("%s", (...kind) => {
  test.each([
    ["descendantsOf the organization: everything, its own records too", "descendantsOf", "", GROUPS],
    ["descendantsOf a group: inside it and below", "descendantsOf", "eng", ["eng", "eng/platform", "eng/platform/ci"]],
    ["descendantsOf a leaf: inside it", "descendantsOf", "eng/platform/ci", ["eng/platform/ci"]],
    ["childrenOf a group: one level", "childrenOf", "eng", ["eng"]],
    ["childrenOf the organization: one level", "childrenOf", "", [""]],
  ])("%s", async (_, filter, path, expected) => {
    expect(await places(kind, { [`uidp.${filter}`]: at(path) })).toEqual(sorted(...expected));
  });

  test("ancestorsOf: those in the groups above", async () => {
    expect(await places(kind, { "uidp.ancestorsOf": at("eng/platform/ci") })).toEqual(
      sorted("", "eng", "eng/platform"),
    );
    expect(await places(kind, { "uidp.ancestorsOf": at("") })).toEqual([]);
  });

  test("inRoot: none of these, for all of them live in a group", async () => {
    const query = { "uidp.inRoot": true, page_size: 200 };
    const found = (await api.ok("GET", kind[1], { query }))[kind[0]];
    expect(found.every(({ uid }: Body) => !uid.includes("/"))).toBe(true);
    expect(found.length > 0).toBe(kind[0] === "roles");
  });

  test("ids: exactly these, whatever their order, and none that is missing", async () => {
    const page = await api.ok("GET", kind[1], { query: { "uidp.childrenOf": at("eng"), page_size: 200 } });
    const [{ uid }] = page[kind[0]];
    const missing = `${at("eng")}/ffffffffffffffff`;
    const ids = [missing, uid, uid];
    const found = await api.ok("GET", kind[1], { query: { "uidp.ids": ids } });
    expect(found[kind[0]].map((row: Body) => row.uid)).toEqual([uid]);
    expect(found.totalCount).toBe("1");
  });

  test("several filters are ANDed", async () => {
    const above = { "uidp.ancestorsOf": at("eng/platform/ci") };
    expect(await places(kind, { ...above, "uidp.descendantsOf": at("eng") })).toEqual(sorted("eng", "eng/platform"));
    expect(await places(kind, { ...above, "uidp.childrenOf": at("eng") })).toEqual(sorted("eng"));
    expect(await places(kind, { "uidp.childrenOf": at("sales"), "uidp.descendantsOf": at("eng") })).toEqual([]);
    expect(await places(kind, { "uidp.inRoot": true, "uidp.descendantsOf": at("eng") })).toEqual([]);
  });
});

// An account association has the uid of its group.
describe.each(["groups", "accountAssociations"])("%s", (plural) => {
  const names = async (query: Body): Promise<string[]> =>
    (await api.ok("GET", `${IAM}/${plural}`, { query }))[plural].map(({ name }: Body) => name).toSorted();

  test.each([
    ["descendantsOf is exclusive of the group itself", { "uidp.descendantsOf": "eng" }, ["ci", "platform"]],
    ["descendantsOf the organization", { "uidp.descendantsOf": "" }, ["ci", "eng", "platform", "sales"]],
    ["descendantsOf a leaf", { "uidp.descendantsOf": "sales" }, []],
    ["childrenOf is one level", { "uidp.childrenOf": "" }, ["eng", "sales"]],
    ["ancestorsOf is exclusive too", { "uidp.ancestorsOf": "eng/platform/ci" }, ["acme", "eng", "platform"]],
    ["ancestorsOf the root", { "uidp.ancestorsOf": "" }, []],
    ["between two groups", { "uidp.ancestorsOf": "eng/platform/ci", "uidp.descendantsOf": "" }, ["eng", "platform"]],
  ])("%s", async (_, filter, expected) => {
    const query = Object.fromEntries(Object.entries(filter).map(([key, path]) => [key, at(path)]));
    expect(await names(query)).toEqual(expected);
  });

  test("ids: exactly these", async () => {
    expect(await names({ "uidp.ids": [at("eng"), at("sales")] })).toEqual(["eng", "sales"]);
  });

  test("inRoot are the organizations", async () => {
    expect(await names({ "uidp.inRoot": true })).toEqual(["acme"]);
    expect(await names({ "uidp.inRoot": true, name: "eng" })).toEqual([]);
  });
});

test.each([
  ["the name", "eng.platform", 1],
  ["a prefix", "eng.plat", 0],
  ["a pattern of SQL", "eng%", 0],
  ["another case", "ENG.platform", 0],
])("a name is matched exactly: %s", async (_, name, count) => {
  for (const [plural, path] of KINDS.filter(([own]) => own !== "roleBindings" && own !== "advisories"))
    expect((await api.ok("GET", path, { query: { name } }))[plural]).toHaveLength(count);
});

const bindings = (query: Body) => places(KINDS[2] as (typeof KINDS)[number], query);
const uidOf = async (path: string, plural: string, name: string): Promise<string> =>
  (await api.ok("GET", path, { query: { name } }))[plural][0].uid;

test("the filters of role bindings identity, group and role are exact, and ANDed", async () => {
  const identity = await uidOf(`${IAM}/identities`, "identities", "eng");
  const role = await uidOf(`${IAM}/roles`, "roles", "eng");
  expect(await bindings({ identity })).toEqual(["eng"]);
  expect(await bindings({ role })).toEqual(["eng"]);
  expect(await bindings({ group: at("eng") })).toEqual(["eng"]);
  expect(await bindings({ identity, role, group: at("eng"), "uidp.descendantsOf": at("") })).toEqual(["eng"]);
  expect(await bindings({ identity, group: at("sales") })).toEqual([]);
  expect(await bindings({ identity: `${identity}0` })).toEqual([]);
});
