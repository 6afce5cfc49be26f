// The bounds of a request, and of the errors that quote it: the same over both wires, whatever the size of the request.
import { describe, expect, test } from "vitest";
import { invalidArgument, statusFromError } from "../../../schema/index.ts";
import { unlimited } from "../../../server/base/rate-limit.ts";
import { tooManyValues } from "../../../server/grpc/count.ts";
import { methodIn } from "../../../server/grpc/registry.ts";
import { createPipeline } from "../../../server/pipeline/pipeline.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { createStore } from "../../../server/store/store.ts";
import { IAM, openGrpc, REGISTRY, serve } from "../../harness/api-server.ts";
import { createRecord } from "../../harness/records.ts";
import { grpcMethodOf } from "../../support/grpc.ts";
import { badRequest, expectInvalid } from "../../support/refusal.ts";

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
])("broken bytes are left to the reader: %s", (_, bytes) => {
  expect(tooManyValues(input, bytes)).toBeUndefined();
});

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
    const answer = await grpc.call("UpdateGroup", request, { token: api.owner.token });
    // As a list of the binary message it has too many values.
    expect(answer).toMatchObject({ code: 3 });
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
