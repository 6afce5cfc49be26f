// The lists and the look-up of v1, as existing clients read them: everything at once, and an empty list for a missing
// record. And Validate (docs/internals/contract.md#validate): whose token it is.
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../../server/store/database.ts";
import { shapes } from "../../../server/store/shape.ts";
import { createStore } from "../../../server/store/store.ts";
import { IAM, serve } from "../../harness/api-server.ts";
import { createRecord, createUid } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectRefusal, resourceInfo } from "../../support/refusal.ts";

const V1 = "/iam/v1";
const UNKNOWN = "720909c9f5279097d847ad02a2f24ba8f59de36a/a033a6fabe0bfa0d";
const api = await serve();
const group: string = await createUid(api, "groups", api.organization, { name: "team" });
const items = async (path: string, query: Body = {}): Promise<Body[]> =>
  (await api.ok("GET", `${V1}/${path}`, { query })).items;

const KEYS = { issuer: "https://keys.example", subject: "k", issuerKeys: "keys", audiences: ["a"] };
const AWS = { awsAccount: "123456789012", arn: "arn:aws:iam::1:role/r", userIdPattern: ".*" };

test.each<[string, Body, Body]>([
  ["keys", { staticKeys: KEYS }, { static: { ...KEYS, expiration: "2027-01-28T12:54:21.189Z" } }],
  ["AWS", { awsIdentity: AWS }, { awsIdentity: AWS }],
  ["a service", { servicePrincipal: "SERVICE_PRINCIPAL_CATALOG_SYNCER" }, { servicePrincipal: "CATALOG_SYNCER" }],
])("an identity by %s has its relationship under the names of v1", async (_, fields, shown) => {
  const id = await createUid(api, "identities", group, fields);
  expect(await items("identities", { id })).toMatchObject([{ id, ...shown }]);
});

test("a group has its zeros and no times", async () => {
  const { items: found, ...more } = await api.ok("GET", `${V1}/groups`, { query: { id: group } });
  expect(more).toEqual({});
  expect(found).toEqual([{ id: group, name: "team", description: "", resourceLimits: {}, verified: false }]);
});

test("a repo has the tier without its prefix, and the time of its creation alone", async () => {
  const fields = {
    name: "curl",
    description: "A client",
    bundles: ["base"],
    aliases: ["curl:latest"],
    activeTags: ["latest"],
  };
  const id = await createUid(api, "repos", group, { ...fields, catalogTier: "CATALOG_TIER_BASE" });
  const { items: found, ...more } = await api.ok("GET", "/registry/v1/repos", { query: { name: "curl" } });
  expect(more).toEqual({});
  expect(found).toEqual([{ id, ...fields, catalogTier: "BASE", createTime: "2026-01-28T12:54:21.189Z" }]);
});

test.each(["0000000000000000000000000000000000000999", "no uid"])(
  "the list of groups is empty for the id %s",
  async (id) => expect((await api.call("GET", `${V1}/groups`, { query: { id } })).text).toBe('{"items":[]}'),
);

describe("the look-up of an identity", () => {
  const lookUp = (query: Body, token?: string) =>
    api.call("GET", `${V1}/identities/lookup`, { query, ...(token && { token }) });
  const missing = "there is no one identity with this issuer and subject that the caller may list";
  const expectMissing = async (query: Body, token?: string) =>
    expectRefusal(await lookUp(query, token), "NOT_FOUND", missing, { details: [resourceInfo("Identity", "")] });

  test("is by the exact issuer and subject, also of keys; it finds neither a missing one nor one that the caller may not list", async () => {
    const keys = { ...KEYS, subject: "looked up" };
    const { subject, issuer } = keys;
    const id = await createUid(api, "identities", group, { staticKeys: keys });
    expect((await lookUp({ issuer, subject })).json).toEqual((await items("identities", { id }))[0]);
    await expectMissing({ issuer, subject: "other" });
    await expectMissing({ issuer, subject }, (await api.actor("stranger")).token);
    const narrow = await api.token(api.identity, { subject: "owner", cap: ["groups.list"] });
    await expectMissing({ issuer, subject }, narrow);
  });

  test("finds none when two match", async () => {
    const claimMatch = { issuer: "https://twin.example", subject: "s" };
    for (const name of ["one", "two"]) await createRecord(api, "identities", api.organization, { name, claimMatch });
    await expectMissing(claimMatch);
  });
});

test("a role has its capabilities by their friendly names; `/` is the parent of those that are built in", async () => {
  const id = await createUid(api, "roles", group, { name: "lister", description: "d" });
  const role = { id, name: "lister", description: "d", capabilities: ["groups.list"] };
  for (const query of [{ id }, { name: "lister" }, { parent: group }, { "uidp.childrenOf": group }])
    expect(await items("roles", query)).toEqual([role]);
  expect(await items("roles", { name: "viewer" })).toMatchObject([{ id: await api.role("viewer") }]);
  const builtIn = (await items("roles", { parent: "/" })).map(({ name }) => name);
  expect([builtIn.includes("owner"), builtIn.includes("lister")]).toEqual([true, false]);
  expect(await items("roles", { parent: UNKNOWN })).toEqual([]);
});

test("an account association has the id of its group, and an installation of GitHub if it is the only one", async () => {
  const google = { projectId: "p", projectNumber: "1" };
  const installed = (...ids: string[]) => ({
    appInstallations: { 7: { installations: ids.map((installationId) => ({ installationId })) } },
  });
  await createUid(api, "accountAssociations", group, { name: "cloud", google, github: installed("8") });
  for (const query of [{ group }, { name: "cloud" }])
    expect(await items("account_associations", query)).toEqual([
      { group, name: "cloud", google, github: { appId: "7", installationId: "8" } },
    ]);
  expect(await items("account_associations", { group: api.organization })).toEqual([]);
  await api.ok("PATCH", `${IAM}/accountAssociations/${group}`, { body: { github: installed("8", "9") } });
  expect((await items("account_associations", { group }))[0]).not.toHaveProperty("github");
});

test("a list is refused when its response would be too large, counting repeated groups and roles", async () => {
  const store = createStore(openDatabase(":memory:"));
  const server = await serve({ store });
  const { capabilities } = (await server.ok("GET", `${IAM}/roles`, { query: { name: "owner" } })).roles[0];
  const body = { name: "r".repeat(255), description: "d".repeat(512), capabilities };
  const { uid: roleUid } = await createRecord(server, "roles", server.organization, body);
  const role = await server.ok("GET", `${V1}/roles`, { query: { id: roleUid } });
  const count = Math.ceil((64 * 1024 * 1024) / JSON.stringify(role.items[0]).length);
  const link = { identityUid: server.identity, roleUid };
  const insert = (from: number, to: number) =>
    store.transaction(() => {
      for (let i = from; i < to; i += 1) {
        const uid = `${server.organization}/e${i.toString(16).padStart(15, "0")}`;
        const now = server.clock();
        store.insert(shapes.roleBinding, { uid, createTime: now, updateTime: now, body: link });
      }
    });
  const list = () => server.call("GET", `${V1}/rolebindings`);
  insert(0, 10);
  expect((await list()).json.items).toHaveLength(11);
  insert(10, count);
  expectRefusal(await list(), "RESOURCE_EXHAUSTED", "the list is too large for one answer; ask v2beta1");
});

const eng = await createUid(api, "groups", api.organization, { name: "eng" });
const sales = await createUid(api, "groups", api.organization, { name: "sales" });

describe("who am I", () => {
  const ask = (token: string) => api.ok("GET", "/auth/v1/ok", { token });

  test("returns the claims of the token and the roles of its holder, in the form of v1", async () => {
    const { uid } = await api.actor("reader");
    for (const [group, role] of [
      [eng, "viewer"],
      [sales, "registry.pull"],
    ] as const)
      await createRecord(api, "roleBindings", group, { identityUid: uid, roleUid: await api.role(role) });
    const claims = { email: "reader@acme.example", email_verified: true };
    const workload = await api.identityToken("reader", { claims });
    const { json } = await api.exchange(workload, { aud: api.baseUrl, identity: uid });
    const { capabilities, ...said } = await ask(json.token);
    expect(said).toEqual({
      issuer: api.authUrl,
      subject: uid,
      audience: [api.baseUrl],
      issuedAt: "2026-01-28T12:54:21.000Z",
      expiry: "2026-01-28T13:54:21.000Z",
      email: "reader@acme.example",
    });
    expect(capabilities.map(({ group, role }: Body) => [group.id, group.name, role.id, role.name])).toEqual([
      [eng, "eng", await api.role("viewer"), "viewer"],
      [sales, "sales", await api.role("registry.pull"), "registry.pull"],
    ]);
    const { items } = await api.ok("GET", "/iam/v1/roles", { query: { name: "registry.pull" } });
    expect(capabilities[1].role).toEqual(items[0]);
  });

  const shown = (capabilities: Body[]) =>
    capabilities.map(({ group, role, capabilities: held }: Body) => [group.name, role ? role.name : held]);

  test("returns what the limits of the token leave, as the role that grants just that, or as capabilities", async () => {
    const { uid } = await api.actor("limited", { role: "viewer" });
    const body = { identityUid: uid, roleUid: await api.role("registry.pull") };
    for (const group of [eng, sales]) await createRecord(api, "roleBindings", group, body);
    const limited = async (limits: { cap?: string[]; scopes?: string[] }) =>
      (await ask(await api.token(uid, { subject: "limited", ...limits }))).capabilities;
    // A binding above the scope counts inside it; one beside it does not.
    const narrow = await limited({ cap: ["tag.list", "repo.list"], scopes: [eng] });
    expect(shown(narrow)).toEqual([
      ["eng", ["repo.list", "tag.list"]],
      ["dev", ["repo.list", "tag.list"]],
    ]);
    expect(narrow.every((one: Body) => !("role" in one))).toBe(true);
    const { capabilities: pull } = (await api.ok("GET", `${IAM}/roles/${await api.role("registry.pull")}`)) as Body;
    expect(shown(await limited({ cap: pull, scopes: [eng] }))).toEqual([
      ["eng", "registry.pull"],
      ["dev", "registry.pull"],
    ]);
    const wide = await limited({ scopes: [api.organization] });
    expect(shown(wide).toSorted()).toEqual([
      ["dev", "viewer"],
      ["eng", "registry.pull"],
      ["sales", "registry.pull"],
    ]);
    expect(wide.every((one: Body) => !("capabilities" in one))).toBe(true);
  });

  test("returns one set for a group where the limits leave a part of what several roles grant", async () => {
    const { uid } = await api.actor("several");
    for (const role of ["apk.pull", "registry.pull"])
      await createRecord(api, "roleBindings", eng, { identityUid: uid, roleUid: await api.role(role) });
    const limited = async (cap: string[]) =>
      shown((await ask(await api.token(uid, { subject: "several", cap }))).capabilities);
    const apk = ["apk.blobs.get", "apk.list", "groups.list"];
    expect(await limited(apk)).toEqual([["eng", "apk.pull"]]);
    expect(await limited([...apk, "tag.list"])).toEqual([["eng", [...apk, "tag.list"]]]);
    expect(await limited(["advisories.list"])).toEqual([["eng", undefined]]);
    const { capabilities } = await ask(await api.token(uid, { subject: "several" }));
    expect(shown(capabilities).toSorted()).toEqual([
      ["eng", "apk.pull"],
      ["eng", "registry.pull"],
    ]);
  });

  test("is served at the address of the API, when the exchange has another", async () => {
    const split = await serve({ authPort: 0 });
    expect(split.authUrl).not.toBe(split.baseUrl);
    expect((await split.ok("GET", "/auth/v1/ok")).issuer).toBe(split.authUrl);
  });
});
