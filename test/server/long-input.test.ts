// Inputs as long as a message or as deep as records can be. They are refused, or read in part, before they cost more than the
// parse. A step that is quadratic in a megabyte would block the process.
import { describe, expect, test } from "vitest";
import type { Json, OperationName } from "../../schema/index.ts";
import { IAM, openGrpc, REGISTRY, serve } from "../harness/api-server.ts";
import { createRecord, createUid } from "../harness/records.ts";
import type { Body } from "../support/http.ts";
import { badRequest, expectInvalid, expectRefusal, NO_UID, statusBody } from "../support/refusal.ts";

const SEGMENT = "/b74ce966caf448d1";
// The most that a gRPC message holds.
const LEVELS = 60_000;
const NO_GROUP = "is not a uid, and no group in scope has that name";
const api = await serve();
const grpc = openGrpc(api.baseUrl);

test.each<[string, OperationName, (uid: string) => Json, string, string]>([
  ["of a record", "GetGroup", (uid) => ({ uid }), "uid", NO_UID],
  ["of a parent", "CreateRole", (parent) => ({ parent, role: {} }), "parent", NO_UID],
  ["of a filter", "ListGroups", (uid) => ({ uidp: { ancestorsOf: uid } }), "uidp.ancestorsOf", "must be a uid"],
  ["without its root", "CreateGroup", (uid) => ({ parent: uid.slice(41), group: { name: "g" } }), "parent", NO_GROUP],
])("a uid of 60,000 levels is refused: %s", async (_, operation, requestOf, field, description) => {
  const request = requestOf(api.organization + SEGMENT.repeat(LEVELS));
  const { code, message, details } = await grpc.call(operation, request, { token: api.owner.token });
  const violations = [badRequest({ [field]: description })];
  const expected = statusBody("INVALID_ARGUMENT", `${field}: ${description}`, { details: violations });
  expect({ code, message, details }).toEqual(expected);
});

test("groups one in the other nest a hundred levels deep, with tags of a repo at the bottom", async () => {
  let parent = api.organization;
  for (let level = 1; level <= 100; level += 1) parent = await createUid(api, "groups", parent, { name: `g${level}` });
  const deeper = await api.call("POST", `${IAM}/groups/${parent}`, { body: { name: "deeper" } });
  expectInvalid(deeper, { parent: "is 100 levels below its organization" });
  const repo = await createRecord(api, "repos", parent, { name: "r" });
  const tag = { name: "latest", digest: `sha256:${"0".repeat(64)}` };
  const { uid } = await createRecord(api, "tags", repo.uid, tag);
  expect(await api.ok("GET", `${REGISTRY}/tags/${uid}`)).toMatchObject({ uid, name: "latest" });
});

describe("the source of a repo", () => {
  const repo = (name: string, further: Body = {}) =>
    api.call("POST", `${REGISTRY}/repos/${api.organization}`, { body: { name, ...further } });

  test("of half a million parts is refused for its length", async () => {
    const answer = await repo("r", { sync_config: { source: "a/".repeat(500_000) } });
    expect(answer.status).toBe(400);
    expect(answer.json.details[1]).toEqual(badRequest({ "sync_config.source": "must be at most 2048 characters" }));
  });

  test("is visible through ten others and not through eleven", async () => {
    const bundles = ["base"];
    let { uid } = (await repo("r0", { bundles })).json;
    for (let i = 1; i <= 11; i += 1) ({ uid } = (await repo(`r${i}`, { sync_config: { source: uid } })).json);
    const { repos } = await api.ok("GET", `${REGISTRY}/repos`, { query: { pageSize: 200 } });
    const shown = new Map(repos.map((own: Body) => [own.name, own.bundles]));
    expect([shown.get("r10"), shown.get("r11")]).toEqual([bundles, undefined]);
  });
});

describe("records as large as a request", async () => {
  const COUNT = 8;
  const blob = "a".repeat(900_000);
  const server = await serve();
  const customOverlay = { environment: { BLOB: blob } };
  for (let i = 0; i < COUNT; i += 1)
    await createRecord(server, "repos", server.organization, { name: `r${i}`, customOverlay });

  test("arrive in full, in pages that gRPC clients accept, shorter than requested", async () => {
    const client = openGrpc(server.baseUrl);
    const names: string[] = [];
    for (let pageToken: string | undefined, isFirst = true; isFirst || pageToken; isFirst = false) {
      const { json } = await client.call("ListRepos", { orderBy: "name", pageToken }, { token: server.owner.token });
      expect(json.repos).toHaveLength(names.length === 6 ? 2 : 3);
      expect(json.totalCount).toBe(String(COUNT));
      names.push(...json.repos.map(({ name }: Body) => name));
      pageToken = json.nextPageToken;
    }
    expect(names).toEqual(Array.from({ length: COUNT }, (_, i) => `r${i}`));
  });

  test("are too many for v1, which has no pages, once they exceed a response", async () => {
    const path = "/registry/v1/repos";
    expect((await server.ok("GET", path)).items).toHaveLength(COUNT);
    const customOverlay = { environment: { BLOB: blob } };
    for (let i = COUNT; i < 75; i += 1)
      await createRecord(server, "repos", server.organization, { name: `r${i}`, customOverlay });
    const text = "the list is too large for one answer; ask v2beta1";
    expectRefusal(await server.call("GET", path), "RESOURCE_EXHAUSTED", text, { domain: "registry" });
  });
});
