// A scripted read-after-create delay (docs/faults.md#f18): Get and List hide a new record for this time, and no other method
// does.

import { beforeEach, describe, expect, test } from "vitest";
import type { Json, OperationName } from "../../../schema/index.ts";
import { IAM, REGISTRY, serve } from "../../harness/api-server.ts";
import { createRecord, createUid } from "../../harness/records.ts";
import { expectNotFound } from "../../support/refusal.ts";
import { WAYS } from "../../support/way.ts";

const LAG_MS = 3000;
const api = await serve({ faults: {} });
api.clock.advance(1);
beforeEach(() => api.faults.set({ readAfterWriteLag: "3s" }));

const create = async (path: string, body: Json): Promise<string> =>
  (await api.ok("POST", `${path}/${api.organization}`, { body })).uid;
const callBy = (way: keyof typeof WAYS, operation: OperationName, request: Json) =>
  WAYS[way](api, { operation, request, token: api.owner.token });

describe.each(["REST in lowerCamel", "gRPC"] as const)("over %s", (way) => {
  test("Get says NOT_FOUND until the time has passed", async () => {
    const uid = await create(`${IAM}/groups`, { name: "hidden" });
    api.clock.advance(LAG_MS - 1);
    expect(await callBy(way, "GetGroup", { uid })).toMatchObject({
      code: "NOT_FOUND",
      message: `Not found: Group ${uid} does not exist`,
    });
    api.clock.advance(1);
    expect(await callBy(way, "GetGroup", { uid })).toMatchObject({ code: "OK", json: { uid, name: "hidden" } });
  });

  test("List has neither the record nor counts it until then", async () => {
    const name = `listed over ${way.split(" ", 1)[0]?.toLowerCase()}`;
    const uid = await create(`${IAM}/groups`, { name });
    const listNames = async () => {
      const { json } = await callBy(way, "ListGroups", { name });
      return { uids: json.groups.map((group: Json) => group.uid), totalCount: json.totalCount };
    };
    api.clock.advance(LAG_MS - 1);
    expect(await listNames()).toEqual({ uids: [], totalCount: "0" });
    api.clock.advance(1);
    expect(await listNames()).toEqual({ uids: [uid], totalCount: "1" });
  });
});

test("a list continues over pages while records become visible", async () => {
  const parent = await create(`${IAM}/groups`, { name: "walked" });
  const child = (name: string) => createUid(api, "groups", parent, { name });
  const query = { "uidp.childrenOf": parent, page_size: 1 };
  const first = [await child("a"), await child("b")];
  api.clock.advance(LAG_MS);
  const later = await child("c");
  const page = await api.ok("GET", `${IAM}/groups`, { query });
  expect(page.totalCount).toBe("2");
  api.clock.advance(LAG_MS);
  const uids = [page.groups[0].uid];
  let token = page.nextPageToken;
  while (token) {
    const next = await api.ok("GET", `${IAM}/groups`, { query: { ...query, page_token: token } });
    uids.push(...next.groups.map((group: Json) => group.uid));
    token = next.nextPageToken;
  }
  expect(uids).toEqual([...first, later]);
});

test("the lists of v1 hide new records too", async () => {
  const name = "new-in-v1";
  await create(`${IAM}/groups`, { name });
  await create(`${REGISTRY}/repos`, { name });
  const lists = async () => [
    (await api.ok("GET", "/iam/v1/groups", { query: { name } })).items.length,
    (await api.ok("GET", "/registry/v1/repos", { query: { name } })).items.length,
  ];
  api.clock.advance(LAG_MS - 1);
  expect(await lists()).toEqual([0, 0]);
  api.clock.advance(1);
  expect(await lists()).toEqual([1, 1]);
});

test("Get and List of the other kinds hide them as well", async () => {
  const claimMatch = { issuer: "https://issuer.example", subject: "s" };
  const role = await create(`${IAM}/roles`, { name: "new", capabilities: ["CAP_REPO_LIST"] });
  const identity = await create(`${IAM}/identities`, { name: "new", claimMatch });
  const binding = await create(`${IAM}/roleBindings`, { identityUid: identity, roleUid: role });
  const repo = await create(`${REGISTRY}/repos`, { name: "new-repo" });
  const found = async () => {
    const statuses = [];
    for (const path of [`${IAM}/roles/${role}`, `${IAM}/identities/${identity}`, `${IAM}/roleBindings/${binding}`])
      statuses.push((await api.call("GET", path)).status);
    const counts = [];
    for (const path of [`${IAM}/roles`, `${IAM}/identities`, `${IAM}/roleBindings`, `${REGISTRY}/repos`]) {
      const { totalCount } = await api.ok("GET", path, {
        query: { "uidp.ids": [role, identity, binding, repo] },
      });
      counts.push(totalCount);
    }
    return { statuses, counts };
  };
  expect(await found()).toEqual({ statuses: [404, 404, 404], counts: ["0", "0", "0", "0"] });
  api.clock.advance(LAG_MS);
  expect(await found()).toEqual({ statuses: [200, 200, 200], counts: ["1", "1", "1", "1"] });
});

test("writes see the record at once: it can get a child, be changed and be deleted", async () => {
  const uid = await create(`${IAM}/groups`, { name: "parent" });
  const child = await createRecord(api, "groups", uid, { name: "child" });
  const changed = await api.ok("PATCH", `${IAM}/groups/${uid}`, { body: { description: "changed" } });
  expect(changed).toMatchObject({ uid, description: "changed" });
  expectNotFound(await api.call("GET", `${IAM}/groups/${uid}`), "Group", uid);
  await api.ok("DELETE", `${IAM}/groups/${child.uid}`);
  await api.ok("DELETE", `${IAM}/groups/${uid}`);
});

test("a new actor can call at once: tokens and grants are not delayed", async () => {
  const actor = await api.actor("newcomer", { role: "viewer" });
  expect((await api.call("GET", `${IAM}/groups/${api.organization}`, { token: actor.token })).status).toBe(200);
});

test("records of the start are not hidden", async () => {
  const recent = await serve({ faults: { readAfterWriteLag: "3s" } });
  expect((await recent.ok("GET", `${IAM}/groups`)).totalCount).toBe("1");
  expect(await recent.role("viewer")).toMatch(/^[0-9a-f]{40}$/);
});

test("without a delay a record is visible at once", async () => {
  api.faults.clear();
  const uid = await create(`${IAM}/groups`, { name: "at once" });
  expect((await api.call("GET", `${IAM}/groups/${uid}`)).status).toBe(200);
});
