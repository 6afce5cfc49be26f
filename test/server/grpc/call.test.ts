// The parts of a gRPC call besides its message: the token, the request id, a deadline. Also its line in the log.
import { once } from "node:events";
import { status as codes } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { IAM, loggedRequests, openGrpc, serve } from "../../harness/api-server.ts";
import { createUid } from "../../harness/records.ts";
import { grpcMethodOf } from "../../support/grpc.ts";
import { startHeldIssuer } from "../../support/held-issuer.ts";
import type { Body } from "../../support/http.ts";
import { openHttp2, rawCall } from "../../support/http2.ts";

const api = await serve();
const grpc = openGrpc(api.baseUrl);
const held = await startHeldIssuer(api);

const LIST = "/chainguard.platform.iam.v2beta1.GroupsService/ListGroups";
const BAD_REQUEST = { "@type": "type.googleapis.com/google.rpc.BadRequest" };

const lineOf = async (requestId: string): Promise<Body | undefined> => (await loggedRequests(api, requestId))[0];

describe("the request id", () => {
  test("of a client is returned and is in the log, whose line has the operation but no token", async () => {
    const request = { parent: api.organization, group: { name: "made" } };
    const options = { token: api.owner.token, metadata: { "x-request-id": "run-8" } };
    const { metadata } = await grpc.call("CreateGroup", request, options);
    expect(metadata["x-request-id"]).toBe("run-8");
    expect(await lineOf("run-8")).toMatchObject({
      level: "info",
      path: "/chainguard.platform.iam.v2beta1.GroupsService/CreateGroup",
      operation: "CreateGroup",
      fields: "name",
      code: "OK",
      ms: expect.any(Number),
    });
    expect(api.log.join("")).not.toContain(api.owner.token);
  });

  test("is generated when the client sends none, or one that could forge a log line", async () => {
    const { metadata } = await grpc.call("Ping", {}, { metadata: { "x-request-id": "a b" } });
    expect(metadata["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(await lineOf(String(metadata["x-request-id"]))).toMatchObject({ operation: "Ping", code: "OK" });
  });

  test("may be the same for two concurrent calls: each has its log line", async () => {
    const options = { token: api.owner.token, metadata: { "x-request-id": "twin" } };
    await Promise.all([grpc.call("ListGroups", {}, options), grpc.call("ListRoles", {}, options)]);
    const lines = await loggedRequests(api, "twin", 2);
    expect(lines.map(({ operation }) => operation).toSorted()).toEqual(["ListGroups", "ListRoles"]);
  });
});

describe("an abandoned call", () => {
  const exchange = grpcMethodOf("Exchange").path;
  const request = () =>
    grpcMethodOf("Exchange").requestSerialize({ aud: [api.baseUrl], identity: held.identity }) as Buffer;

  test("ends when the client cancels it, and is logged as cancelled", async () => {
    const options = { token: held.token, metadata: { "x-request-id": "taken-back" } };
    const answer = grpc.bytes(exchange, request(), { ...options, cancelled: held.asked });
    expect(await answer).toMatchObject({ code: 1 });
    expect(await lineOf("taken-back")).toMatchObject({ operation: "Exchange", code: "CANCELLED" });
  });

  test("whose deadline has passed before it begins does nothing and fails", async () => {
    const method = grpcMethodOf("CreateGroup");
    const bytes = method.requestSerialize({ parent: api.organization, group: { name: "too late" } }) as Buffer;
    const session = openHttp2(api.baseUrl);
    const headers = ["authorization", `Bearer ${api.owner.token}`, "grpc-timeout", "1n", "x-request-id", "too-late"];
    const answer = await rawCall(session, method.path, headers, bytes);
    expect(answer.headers["grpc-status"]).toBe("4");
    expect(decodeURI(String(answer.headers["grpc-message"]))).toMatch(
      /^Deadline exceeded: the (caller is no longer waiting|call took too long)$/,
    );
    expect(await lineOf("too-late")).toMatchObject({ operation: "CreateGroup", code: "DEADLINE_EXCEEDED" });
    expect(await grpc.call("ListGroups", { name: "too late" }, { token: api.owner.token })).toMatchObject({
      code: 0,
      json: { totalCount: "0" },
    });
  });

  test("is DEADLINE_EXCEEDED when its deadline passes", async () => {
    const session = openHttp2(api.baseUrl);
    const headers = ["authorization", `Bearer ${held.token}`, "grpc-timeout", "1m", "x-request-id", "late"];
    const answer = await rawCall(session, exchange, headers, request());
    expect(answer.headers["grpc-status"]).toBe("4");
    expect(await lineOf("late")).toMatchObject({ operation: "Exchange", code: "DEADLINE_EXCEEDED" });
  });
});

describe("bytes that are not a message", () => {
  test.each([
    ["half a field", Buffer.from([0x0a, 0x7f, 0x61])],
    ["a text that is not UTF-8", Buffer.from([0x12, 0x02, 0xff, 0xfe])],
  ])("are a violation of the message: %s", async (_, bytes) => {
    const answer = await grpc.bytes(LIST, bytes, { token: api.owner.token });
    const { description } = answer.details[1]?.fieldViolations[0] ?? {};
    expect(description).toMatch(/^the message is not of its type: /);
    expect(answer).toMatchObject({ code: 3, message: `Invalid argument: ${description}` });
    // In protobuf, the field "" (the message itself) does not exist.
    expect(answer.details[1]).toEqual({ ...BAD_REQUEST, fieldViolations: [{ description }] });
  });

  test("are a violation for a time after the year 9999, which JSON cannot express", async () => {
    const method = grpcMethodOf("ListTags");
    const bytes = method.requestSerialize({ updated_since: { seconds: "253402300800" } });
    const answer = await grpc.bytes(method.path, bytes, { token: api.owner.token });
    expect(answer).toMatchObject({ code: 3, message: expect.stringContaining("the message is not of its type") });
  });

  test("and an unknown field is ignored", async () => {
    const unknown = Buffer.from([0xfa, 0x3e, 0x01, 0x61]);
    expect(await grpc.bytes(LIST, unknown, { token: api.owner.token })).toMatchObject({ code: 0 });
  });
});

// The bounds of the gRPC wire: size of a message, size of an error's details, pings, what is not served.

const MIB = 1024 * 1024;
const CREATE = "/chainguard.platform.iam.v2beta1.GroupsService/CreateGroup";

const named = (bytes: number) => {
  const own = { parent: api.organization, group: { name: "a".repeat(bytes) } };
  return grpcMethodOf("CreateGroup").requestSerialize(own) as Buffer;
};

test("a message of more than 1 MiB is RESOURCE_EXHAUSTED, and the connection serves the next call", async () => {
  const answer = await grpc.bytes(CREATE, named(MIB), { token: api.owner.token });
  expect(answer.code).toBe(codes.RESOURCE_EXHAUSTED);
  expect(answer.message).toMatch(/^Resource exhausted: Received message larger than max \(\d+ vs 1048576\)$/);
  expect(await grpc.call("Ping", {})).toMatchObject({ code: 0, json: { response: "pong" } });
});

test("a message of 1 MiB is read: its name is refused as a name", async () => {
  const bytes = named(MIB - 100);
  expect(bytes.length).toBeGreaterThan(MIB - 100);
  const answer = await grpc.bytes(CREATE, bytes, { token: api.owner.token });
  expect(answer.message).toBe("Invalid argument: name: name must be at most 255 characters");
});

// gRPC over HTTP/2: clients need not accept more than 8 KiB of headers.
const sizeOf = async (message: Buffer, path = CREATE) => {
  const session = openHttp2(api.baseUrl);
  const { headers } = await rawCall(session, path, ["authorization", `Bearer ${api.owner.token}`], message);
  return Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + String(value).length + 32, 0);
};

test("the details of an error name the first violations of many, within the limit of every client", async () => {
  const capabilities = Array.from({ length: 1000 }, () => 9_999_999);
  const own = { parent: api.organization, role: { name: "a", capabilities } };
  const method = grpcMethodOf("CreateRole");
  const bytes = method.requestSerialize(own) as Buffer;
  const answer = await grpc.bytes(method.path, bytes, { token: api.owner.token });
  const { fieldViolations } = answer.details[1] as { fieldViolations: object[] };
  expect(fieldViolations[0]).toEqual({ field: "capabilities[0]", description: "is not a known value of its enum" });
  expect(fieldViolations.length).toBeGreaterThan(10);
  expect(await sizeOf(bytes, method.path)).toBeLessThan(8 * 1024);
});

test("the details of an error have no half of a character, which no header can hold", async () => {
  const method = grpcMethodOf("UpdateGroup");
  const own = { group: { uid: api.organization }, update_mask: { paths: ["😀".repeat(600)] } };
  const answer = await grpc.bytes(method.path, method.requestSerialize(own) as Buffer, { token: api.owner.token });
  expect(answer.code).toBe(codes.INVALID_ARGUMENT);
  expect(answer.message.isWellFormed()).toBe(true);
});

test("pings far more often than every 30 s are answered without a call and between calls, and end no connection", async () => {
  const session = openHttp2(api.baseUrl);
  await once(session, "connect");
  let goneAway = 0;
  session.on("goaway", () => {
    goneAway += 1;
  });
  const ping = () =>
    new Promise<void>((resolve, reject) => session.ping((error) => (error ? reject(error) : resolve())));
  for (let count = 0; count < 300; count += 1) await ping();
  const path = grpcMethodOf("Ping").path;
  expect((await rawCall(session, path, [])).headers["grpc-status"]).toBe("0");
  for (let count = 0; count < 300; count += 1) await ping();
  expect((await rawCall(session, path, [])).headers["grpc-status"]).toBe("0");
  expect(goneAway).toBe(0);
});

// Update masks on both wires (docs/contract.md#updates, AIP-134), in either spelling. Without a mask, gRPC applies the populated
// fields, and REST the keys of the body.

const claimMatch = { issuer: "https://issuer.example", subject: "s", claims: { a: "b" } };

const identity = async (): Promise<string> => {
  const body = { name: "before", description: "before", company: "before", claimMatch };
  return await createUid(api, "identities", api.organization, body);
};
const read = (uid: string) => api.ok("GET", `${IAM}/identities/${uid}`);

const update = async (own: Body, paths?: string[]) => {
  const method = grpcMethodOf("UpdateIdentity");
  const request = method.requestSerialize({ identity: own, ...(paths && { update_mask: { paths } }) }) as Buffer;
  return grpc.bytes(method.path, request, { token: api.owner.token });
};

test.each<[what: string, change: Body, paths: string[] | undefined, expected: Body]>([
  ["changes populated fields alone", { name: "after", claim_match: { subject: "t" } }, undefined, { name: "after" }],
  ["clears none without a mask: a zero counts as absent", { description: "", company: "" }, undefined, {}],
  ["takes an empty mask for none", { name: "after" }, [], { name: "after" }],
  ["clears what a mask names", {}, ["description", "company"], { description: "", company: undefined }],
])("an update over gRPC %s", async (_, change, paths, expected) => {
  const uid = await identity();
  const before = await read(uid);
  expect((await update({ uid, ...change }, paths)).code).toBe(0);
  const claims = { ...claimMatch, ...change.claim_match };
  expect(await read(uid)).toEqual({ ...before, ...expected, claimMatch: claims });
});

test("a message without its resource counts as one with an empty resource", async () => {
  const create = grpcMethodOf("CreateIdentity");
  const request = create.requestSerialize({ parent: api.organization }) as Buffer;
  const answer = await grpc.bytes(create.path, request, { token: api.owner.token });
  expect(answer).toMatchObject({ code: 3, message: 'Invalid argument: name: name must match "^[a-z0-9 ._-]{1,}$"' });
  const empty = await grpc.bytes(grpcMethodOf("UpdateIdentity").path, Buffer.alloc(0), { token: api.owner.token });
  expect(empty).toMatchObject({ code: 3, message: "Invalid argument: uid: is required" });
});

test("half a character is refused over REST, since no gRPC message can hold it", async () => {
  const body = { name: "a", description: "\ud83d", claimMatch: { ...claimMatch, claims: { "\ud83d": "x" } } };
  const answer = await api.call("POST", `${IAM}/identities/${api.organization}`, { body });
  expect(answer.json.details[1].fieldViolations).toEqual([
    { field: "description", description: "must be Unicode text" },
    { field: "claimMatch.claims.\ud83d", description: "must be Unicode text" },
  ]);
});
