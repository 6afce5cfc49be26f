// A scripted read-after-create delay (docs/faults.md#f18): Get and List hide a new record for this time, and no other method
// does.

import { beforeEach, expect, test } from "vitest";
import type { Json } from "../../../schema/index.ts";
import { IAM, serve } from "../../harness/api-server.ts";
import { createRecord, createUid, listAll } from "../../harness/records.ts";
import { expectNotFound } from "../../support/refusal.ts";

const LAG_MS = 3000;
const api = await serve({ faults: {} });
api.clock.advance(1);
beforeEach(() => api.faults.set({ readAfterWriteLag: "3s" }));

const create = async (path: string, body: Json): Promise<string> =>
  (await api.ok("POST", `${path}/${api.organization}`, { body })).uid;

test("Get says NOT_FOUND, and List has neither the record nor counts it, until the time has passed", async () => {
  const uid = await create(`${IAM}/groups`, { name: "hidden" });
  const get = () => api.call("GET", `${IAM}/groups/${uid}`);
  const listed = async () => {
    const { groups, totalCount } = await api.ok("GET", `${IAM}/groups`, { query: { name: "hidden" } });
    return [groups.map((group: Json) => group.uid), totalCount];
  };
  api.clock.advance(LAG_MS - 1);
  expectNotFound(await get(), "Group", uid);
  expect(await listed()).toEqual([[], "0"]);
  api.clock.advance(1);
  expect((await get()).json).toMatchObject({ uid, name: "hidden" });
  expect(await listed()).toEqual([[uid], "1"]);
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
  const rest = await listAll(api, `${IAM}/groups`, { query: { ...query, page_token: page.nextPageToken } });
  expect([page.groups[0], ...rest].map(({ uid }) => uid)).toEqual([...first, later]);
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

test("records of the start are not hidden", async () => {
  const recent = await serve({ faults: { readAfterWriteLag: "3s" } });
  expect((await recent.ok("GET", `${IAM}/groups`)).totalCount).toBe("1");
  expect(await recent.role("viewer")).toMatch(/^[0-9a-f]{40}$/);
});
