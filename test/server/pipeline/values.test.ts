// The bounds of a request, and of the errors that quote it: the same over both wires, whatever the size of the request.
// Inputs as long as a message or as deep as records can be are refused, or read in part, before they cost more than the
// parse: a step that is quadratic in a megabyte would block the process. And `strictBodies`: a field that does not
// exist is refused instead of ignored.
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { describe, expect, test } from "vitest";
import { invalidArgument, type Json, type OperationName, statusFromError } from "../../../schema/index.ts";
import { unlimited } from "../../../server/base/rate-limit.ts";
import { tooManyValues } from "../../../server/grpc/count.ts";
import { methodIn } from "../../../server/grpc/registry.ts";
import { createPipeline } from "../../../server/pipeline/pipeline.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { createStore } from "../../../server/store/store.ts";
import { IAM, openGrpc, REGISTRY, serve } from "../../harness/api-server.ts";
import { createRecord, createUid } from "../../harness/records.ts";
import { grpcMethodOf } from "../../support/grpc.ts";
import type { Body } from "../../support/http.ts";
import { badRequest, expectInvalid, expectRefusal, NO_UID, statusBody } from "../../support/refusal.ts";

const api = await serve();
const grpc = openGrpc(api.baseUrl);

const TOO_MANY = "has too many values: a request may hold 1000 items of lists and entries of maps";
const many = (count: number) => Array.from({ length: count }, (_, i) => `a${i}`);
const mapOf = (count: number) => Object.fromEntries(many(count).map((name) => [name, "x"]));

describe("a list or a map with too many values is refused with its name, over REST and over gRPC:", () => {
  const REPO = ["CreateRepo", "repo", `${REGISTRY}/repos`] as const;
  const users = many(1001).map((username) => ({ username }));
  const capabilities = Array(1001).fill("CAP_IAM_GROUPS_LIST");

  test.each([
    ["a list", REPO, { aliases: many(1001) }, "aliases"],
    ["a map", REPO, { customOverlay: { environment: mapOf(1001) } }, "customOverlay.environment"],
    ["two lists together", REPO, { bundles: many(501), aliases: many(500) }, "aliases"],
    ["a list of messages", REPO, { customOverlay: { accounts: { users } } }, "customOverlay.accounts.users"],
    ["a packed list", ["CreateRole", "role", `${IAM}/roles`], { capabilities }, "capabilities"],
  ] as const)("%s", async (_, [operation, field, path], fields, at) => {
    const body = { name: "r", ...fields };
    const rest = await api.call("POST", `${path}/${api.organization}`, { body });
    expect(rest.status).toBe(400);
    expect(rest.json.details[1]).toEqual(badRequest({ [at]: TOO_MANY }));
    const answer = await grpc.call(operation, { parent: api.organization, [field]: body }, { token: api.owner.token });
    expect(answer.code).toBe(3);
    expect((answer.details[1] as { fieldViolations: object[] }).fieldViolations[0]).toEqual({
      field: at,
      description: TOO_MANY,
    });
  });

  test("a list at its limit is read", async () => {
    const body = { name: "full", capabilities: Array(1000).fill("CAP_IAM_GROUPS_LIST") };
    const made = await createRecord(api, "roles", api.organization, body);
    expect(made.capabilities).toEqual(["CAP_IAM_GROUPS_LIST"]);
  });
});

const { input } = methodIn("chainguard.platform.iam.v2beta1.RolesService", "CreateRole");
const times = (count: number, ...bytes: number[]) => Buffer.concat(Array(count).fill(Buffer.from(bytes)));

test.each([
  ["unknown fields", times(4001, 0x98, 0x06, 0x01), "has more than 4000 fields"],
  ["groups one in the other", times(4001, 0x9b, 0x06), "has more than 4000 fields"],
  ["the same field again and again", times(4001, 0x0a, 0), "has more than 4000 fields"],
])("a binary message is counted before it is read: %s", (_, bytes, description) => {
  expect(tooManyValues(input, bytes)).toEqual({ field: "", description });
  expect(tooManyValues(input, bytes.subarray(0, 12))).toBeUndefined();
});

test.each([
  ["a varint without an end", Buffer.alloc(20, 0xff)],
  ["a length beyond the end", Buffer.of(0x0a, 0x7f)],
  ["an unknown wire type", Buffer.of(0x0f)],
])("broken bytes are left to the reader: %s", (_, bytes) => expect(tooManyValues(input, bytes)).toBeUndefined());

describe("parameters and masks", () => {
  test("a query of more than 1000 parameters is refused, and none is read", async () => {
    const answer = await api.call("GET", `${IAM}/groups?pageSize=x&${Array(1000).fill("k").join("&")}`);
    expectInvalid(answer, { "": "must have at most 1000 parameters; got 1001" });
  });

  test("so is a form of an exchange", async () => {
    const answer = await api.call("POST", `/sts/exchange?aud=${api.baseUrl}`, {
      token: await api.identityToken("owner"),
      body: Array(1001).fill("cap=a").join("&"),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expectInvalid(answer, { "": "must have at most 1000 parameters; got 1001" });
  });

  test("a body of an exchange has at most 64 KiB, over both wires", async () => {
    const token = await api.identityToken("owner");
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const rest = await api.call("POST", "/sts/exchange", { token, body: "a".repeat(65_537), headers });
    expect(rest).toMatchObject({
      status: 413,
      json: { message: "Invalid argument: the body is larger than 65536 bytes" },
    });
    const { path } = grpcMethodOf("Exchange");
    const message = Buffer.concat([Buffer.of(0x12, 0x80, 0x80, 0x04), Buffer.alloc(65_536, "a")]);
    expect(await grpc.bytes(path, message, { token })).toMatchObject({
      code: 8,
      message: "Resource exhausted: Received message larger than max (65540 vs 65536)",
    });
  });

  test("a mask of more than 1000 paths is refused", async () => {
    const request = { group: { uid: api.organization }, updateMask: Array(1001).fill("name").join(",") };
    // As a list of the binary message it has too many values.
    expect(await grpc.call("UpdateGroup", request, { token: api.owner.token })).toMatchObject({ code: 3 });
    const rest = await api.call("PATCH", `${IAM}/groups/${api.organization}?updateMask=${request.updateMask}`, {
      body: {},
    });
    expect(rest.json.message).toBe("Invalid argument: updateMask: must have at most 1000 paths");
  });
});

describe("an error", () => {
  const violations = (count: number, text = "is wrong") =>
    Array.from({ length: count }, (_, i) => ({ field: `f${i}`, description: text }));
  const sent = (error: ReturnType<typeof invalidArgument>) => {
    const status = statusFromError(error, "iam.chainguard.dev");
    const violationsSent = (status.details[1] as { fieldViolations: { field: string; description: string }[] })
      .fieldViolations;
    return { bytes: Buffer.byteLength(JSON.stringify(status)), violationsSent };
  };

  test("has the first 100 violations and the number of the others", () => {
    const { violationsSent } = sent(invalidArgument(violations(1234)));
    expect(violationsSent).toHaveLength(101);
    expect(violationsSent.at(-1)).toEqual({ field: "", description: "and 1134 more" });
    expect(sent(invalidArgument(violations(100))).violationsSent).toEqual(violations(100));
  });

  test.each([
    ["letters", "a"],
    ["characters that JSON writes with six", "\u0001"],
    ["characters of four bytes", "😀"],
  ])("is at most 64 KiB, whatever it quotes: %s", (_, character) => {
    const { bytes, violationsSent } = sent(invalidArgument(violations(100, character.repeat(1_000_000))));
    expect(bytes).toBeLessThan(64 * 1024);
    expect(violationsSent.at(-1)?.description).toMatch(/^and \d+ more$/);
    for (const { description } of violationsSent) expect(description.isWellFormed()).toBe(true);
  });

  test("is small even for a name of a megabyte, over both wires", async () => {
    const name = "x".repeat(900_000);
    const body = { name: "r", customOverlay: { environment: { [`CHAINGUARD_${name}`]: 1 } } };
    const rest = await api.call("POST", `${REGISTRY}/repos/${api.organization}`, { body });
    expect(rest.status).toBe(400);
    expect(rest.text.length).toBeLessThan(8 * 1024);
    const request = { parent: api.organization, roleBinding: { identityUid: name, roleUid: "x" } };
    const answer = await grpc.call("CreateRoleBinding", request, { token: api.owner.token });
    expect(answer.code).toBe(3);
    expect(JSON.stringify(answer.details).length).toBeLessThan(4 * 1024);
  });
});

test.each([
  ["CANCELLED", "Cancelled: the caller is no longer waiting"],
  ["DEADLINE_EXCEEDED", "Deadline exceeded: the caller is no longer waiting"],
] as const)("a refresh whose caller has stopped waiting is %s, and uses up no token", async (code, message) => {
  const exchanged: string[] = [];
  const exchangeRefreshToken = async (_: unknown, bearer: string) => {
    exchanged.push(bearer);
    return { token: { token: "t" } };
  };
  const pipeline = createPipeline({
    authenticate: { bearer: () => "bearer", token: () => Promise.reject() },
    sts: { exchangeRefreshToken } as never,
    store: createStore(openDatabase(":memory:")),
    limit: unlimited,
    log: () => {},
    context: () => ({}) as never,
  });
  const decode = async () => ({ request: {}, violations: [] });
  const call = { operation: "ExchangeRefreshToken", wire: "grpc", decode, authorization: [], peer: "" } as const;
  await expect(pipeline({ ...call, endedBy: () => code })).rejects.toMatchObject({ code, message });
  expect(exchanged).toEqual([]);
  expect(await pipeline(call)).toMatchObject({ token: { token: "t" } });
  expect(exchanged).toEqual(["bearer"]);
});

const strict = await serve({ strictBodies: true });

const identity = { name: "i", claimMatch: { issuer: "https://a.example", subjct: "s" }, descripton: "d", other: 1 };

test("with strictBodies over REST each unknown field is named, with the nearest name", async () => {
  expectInvalid(await strict.call("POST", `${IAM}/identities/${strict.organization}`, { body: identity }), {
    "claimMatch.subjct": "there is no such field; did you mean subject?",
    descripton: "there is no such field; did you mean description?",
    other: "there is no such field",
  });
});

test("with strictBodies over REST ten of very many are named", async () => {
  const body = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`none${i}`, 1]));
  const answer = await strict.call("POST", `${IAM}/groups/${strict.organization}`, { body: { name: "g", ...body } });
  expect(answer.json.details[1].fieldViolations).toHaveLength(10);
});

test("without strictBodies an unknown field is ignored, as in the published API", async () => {
  const body = { name: "g", descripton: "d" };
  expect((await api.call("POST", `${IAM}/groups/${api.organization}`, { body })).status).toBe(200);
});

test("with strictBodies over gRPC the number of an unknown field is refused, also in a nested message", async () => {
  const request = new BinaryWriter()
    .tag(1, 2)
    .string(strict.organization)
    .tag(98, 0)
    .int32(1)
    .tag(2, 2)
    .bytes(new BinaryWriter().tag(99, 2).string("x").tag(2, 2).string("g").finish())
    .finish();
  const path = "/chainguard.platform.iam.v2beta1.GroupsService/CreateGroup";
  const answer = await openGrpc(strict.baseUrl).bytes(path, Buffer.from(request), { token: strict.owner.token });
  expect(answer.code).toBe(3);
  const [violations] = answer.details.filter(({ fieldViolations }) => fieldViolations);
  expect(violations?.fieldViolations).toEqual([
    { field: "98", description: "is not the number of a field of the request" },
    { field: "group.99", description: "is not the number of a field of the request" },
  ]);
});

const SEGMENT = "/b74ce966caf448d1";
// The most that a gRPC message holds.
const LEVELS = 60_000;
const NO_GROUP = "is not a uid, and no group in scope has that name";
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
