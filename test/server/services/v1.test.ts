// The lists and the look-up of v1, as existing clients read them: everything at once, and an empty list for a missing record.

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
const made: Record<string, Body> = {};

const api = await serve();
const group: string = await createUid(api, "groups", api.organization, { name: "team" });
const make = async (kind: string, name: string, body: Body) => {
  made[name] = await api.ok("POST", `${IAM}/${kind}/${group}`, { body });
};
const identity = (name: string, body: Body) => make("identities", name, { name, ...body });
await identity("exact", { claimMatch: { issuer: "https://issuer.example", subject: "s", claims: { a: "b" } } });
await identity("keys", {
  staticKeys: { issuer: "https://keys.example", subject: "k", issuerKeys: "keys", audiences: ["a"] },
});
await identity("aws", {
  awsIdentity: { awsAccount: "123456789012", arn: "arn:aws:iam::1:role/r", userIdPattern: ".*" },
});
await identity("service", { servicePrincipal: "SERVICE_PRINCIPAL_CATALOG_SYNCER" });
await make("roles", "role", { name: "lister", description: "d", capabilities: ["CAP_IAM_GROUPS_LIST"] });
await make("roleBindings", "binding", { identityUid: made.exact?.uid, roleUid: made.role?.uid });
await make("groupInvites", "invite", {
  roleUid: made.role?.uid,
  ttl: "60s",
  email: "a@example.org",
  singleUse: true,
});
await make("accountAssociations", "cloud", {
  name: "cloud",
  google: { projectId: "p", projectNumber: "1" },
  github: { appInstallations: { 7: { installations: [{ installationId: "8", name: "acme" }] } } },
});

const items = async (path: string, query: Body = {}): Promise<Body[]> =>
  (await api.ok("GET", `${V1}/${path}`, { query })).items;
const only = async (path: string, query: Body = {}): Promise<Body> => {
  const [item, ...others] = await items(path, query);
  expect(others).toEqual([]);
  return item as Body;
};

describe("an identity", () => {
  test("has its times and its relationship under the names of v1", async () => {
    const { createTime, updateTime, lastSeenTime } = made.exact as Body;
    expect(await only("identities", { id: made.exact?.uid })).toEqual({
      id: made.exact?.uid,
      name: "exact",
      description: "",
      createdAt: createTime,
      updatedAt: updateTime,
      lastSeen: lastSeenTime,
      claimMatch: { issuer: "https://issuer.example", subject: "s", claims: { a: "b" } },
    });
  });

  test.each([
    ["keys", { static: { issuer: "https://keys.example", subject: "k", issuerKeys: "keys", audiences: ["a"] } }],
    ["aws", { awsIdentity: { awsAccount: "123456789012", arn: "arn:aws:iam::1:role/r", userIdPattern: ".*" } }],
    ["service", { servicePrincipal: "CATALOG_SYNCER" }],
  ])("of %s", async (name, relationship) => {
    const identity = await only("identities", { id: made[name]?.uid });
    expect(identity).toMatchObject(relationship);
    if (name === "keys") expect(identity.static.expiration).toBe(made.keys?.staticKeys.expirationTime);
  });
});

describe("the look-up of an identity", () => {
  const lookUp = (query: Body, token?: string) =>
    api.call("GET", `${V1}/identities/lookup`, { query, ...(token && { token }) });
  const missing = "there is no one identity with this issuer and subject that the caller may list";
  const expectMissing = async (query: Body, token?: string) =>
    expectRefusal(await lookUp(query, token), "NOT_FOUND", missing, { details: [resourceInfo("Identity", "")] });

  test("is by the exact issuer and subject, of a claim match or of keys", async () => {
    const found = await lookUp({ issuer: "https://issuer.example", subject: "s" });
    expect(found.json).toEqual(await only("identities", { id: made.exact?.uid }));
    const { json } = await lookUp({ issuer: "https://keys.example", subject: "k" });
    expect(json).toMatchObject({ id: made.keys?.uid, name: "keys" });
  });

  test("finds neither a missing one nor one that the caller may not list", async () => {
    await expectMissing({ issuer: "https://issuer.example", subject: "other" });
    const { token } = await api.actor("stranger");
    await expectMissing({ issuer: "https://issuer.example", subject: "s" }, token);
    const narrow = await api.token(api.identity, { subject: "owner", cap: ["groups.list"] });
    await expectMissing({ issuer: "https://issuer.example", subject: "s" }, narrow);
  });

  test("finds none when two match", async () => {
    const claimMatch = { issuer: "https://twin.example", subject: "s" };
    for (const name of ["one", "two"]) await createRecord(api, "identities", api.organization, { name, claimMatch });
    await expectMissing(claimMatch);
  });
});

test("a role has its capabilities by their friendly names; `/` is the parent of those that are built in", async () => {
  const role = { id: made.role?.uid, name: "lister", description: "d", capabilities: ["groups.list"] };
  for (const query of [{ id: role.id }, { name: "lister" }, { parent: group }, { "uidp.childrenOf": group }])
    expect(await only("roles", query)).toEqual(role);
  expect(await only("roles", { name: "viewer" })).toMatchObject({ id: await api.role("viewer") });
  const builtIn = await items("roles", { parent: "/" });
  expect(builtIn.map(({ name }) => name)).toContain("owner");
  expect(builtIn.map(({ name }) => name)).not.toContain("lister");
  expect(await items("roles", { parent: UNKNOWN })).toEqual([]);
});

test("an invite shows its role and never its code", async () => {
  const { uid, keyId, expirationTime, createTime } = made.invite as Body;
  const invite = {
    id: uid,
    expiration: expirationTime,
    keyId,
    role: await only("roles", { id: made.role?.uid }),
    email: "a@example.org",
    createdAt: createTime,
    singleUse: true,
  };
  for (const query of [{ id: uid }, { group }, { key_id: keyId }])
    expect(await only("group_invites", query)).toEqual(invite);
  expect(await items("group_invites", { group: api.organization })).toEqual([]);
});

test("an account association has the id of its group", async () => {
  const association = {
    group,
    name: "cloud",
    google: { projectId: "p", projectNumber: "1" },
    github: { appId: "7", installationId: "8", name: "acme" },
  };
  for (const query of [{ group }, { name: "cloud" }])
    expect(await only("account_associations", query)).toEqual(association);
  expect(await items("account_associations", { group: api.organization })).toEqual([]);
  const two = {
    github: { appInstallations: { 7: { installations: [{ installationId: "8" }, { installationId: "9" }] } } },
  };
  await api.ok("PATCH", `${IAM}/accountAssociations/${group}`, { body: two });
  expect(await only("account_associations", { group })).not.toHaveProperty("github");
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
