// The parts of a gRPC call besides its message: the token, the request id, a deadline; and its line in the log. A
// request on HTTP/2 that never ends: it has as much time as one of HTTP/1.1, and the end of the server does not wait
// for it. It is not carried out.
import { once } from "node:events";
import type { ClientHttp2Session, IncomingHttpHeaders } from "node:http2";
import { status as codes } from "@grpc/grpc-js";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { REQUEST_MS } from "../../../server/connection/delivery.ts";
import { IAM, loggedRequests, openGrpc, serve, type TestServer } from "../../harness/api-server.ts";
import { createUid } from "../../harness/records.ts";
import { errorInHeaders, grpcMethodOf } from "../../support/grpc.ts";
import { startHeldIssuer } from "../../support/held-issuer.ts";
import type { Body } from "../../support/http.ts";
import { callHeaders, messageFrame, openHttp2, rawCall } from "../../support/http2.ts";

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
    expect((await rawCall(session, exchange, headers, request())).headers["grpc-status"]).toBe("4");
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

// Update masks on both wires (docs/internals/contract.md#updates, AIP-134), in either spelling. Without a mask, gRPC applies the populated
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

describe("a request that never ends:", () => {
  let own: TestServer;
  let session: ClientHttp2Session;
  beforeEach(async () => {
    own = await serve();
    session = openHttp2(own.baseUrl);
    await once(session, "connect");
  });
  afterEach(() => void vi.useRealTimers());

  /** A stream that the client writes to and does not end, once the server has read what was written. */
  const open = async (path: string, id: string, bytes: Buffer, type = "application/grpc") => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const headers: IncomingHttpHeaders = {};
    const stream = session.request({
      ...callHeaders(path, own.owner.token),
      "content-type": type,
      "x-request-id": id,
    });
    stream.on("response", (own) => Object.assign(headers, own)).on("trailers", (own) => Object.assign(headers, own));
    let body = "";
    stream.setEncoding("utf8").on("data", (chunk) => {
      body += chunk;
    });
    const closed = once(stream, "close");
    if (bytes.length > 0) stream.write(bytes);
    await ping();
    return { stream, headers, closed, body: () => body };
  };

  /** When the time of a request is over, and not before. */
  const lateEnd = async ({ stream, closed }: Awaited<ReturnType<typeof open>>): Promise<void> => {
    await vi.advanceTimersByTimeAsync(REQUEST_MS - 1);
    await ping();
    expect(stream.closed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await closed;
    vi.useRealTimers();
  };

  /** The server has read what was sent before this. */
  const ping = () => new Promise<void>((resolve) => session.ping(() => resolve()));

  const create = grpcMethodOf("CreateGroup");
  const group = () =>
    messageFrame(create.requestSerialize({ parent: own.organization, group: { name: "late" } }) as Buffer);
  const groupsNamed = async (name: string) => (await own.ok("GET", `${IAM}/groups`, { query: { name } })).groups;

  const parts: [string, (whole: Buffer) => Buffer][] = [
    ["no message", () => Buffer.alloc(0)],
    ["half a prefix", (whole) => whole.subarray(0, 3)],
    ["half a message", (whole) => whole.subarray(0, 20)],
    ["a message and no end", (whole) => whole],
  ];

  describe("a call with", () => {
    test.each(parts)("%s is DEADLINE_EXCEEDED after the time that REST gives a request", async (name, part) => {
      const id = `late-${name.replaceAll(" ", "-")}`;
      const call = await open(create.path, id, part(group()));
      await lateEnd(call);
      expect(errorInHeaders(call.headers)).toMatchObject({
        code: 4,
        message: "Deadline exceeded: the request did not arrive in time",
        details: [{ reason: "DEADLINE_EXCEEDED", domain: "iam.chainguard.dev" }],
      });
      expect(call.headers["x-request-id"]).toBe(id);
      expect(call.stream.rstCode).toBe(0);
      expect(await loggedRequests(own, id)).toMatchObject([
        { code: "DEADLINE_EXCEEDED", message: "Deadline exceeded: the request did not arrive in time" },
      ]);
      expect(await groupsNamed("late")).toEqual([]);
    });

    test.each(parts)("%s is UNAVAILABLE as soon as the server drains, without a wait", async (_, part) => {
      const call = await open(create.path, "drained", part(group()));
      await own.close();
      await call.closed;
      expect(errorInHeaders(call.headers)).toMatchObject({
        code: 14,
        message: "Unavailable: the server is draining",
        details: [{ reason: "UNAVAILABLE", domain: "iam.chainguard.dev" }],
      });
      expect(await loggedRequests(own, "drained")).toHaveLength(1);
    });

    test("a request that ends in time is answered once", async () => {
      const whole = group();
      const call = await open(create.path, "in-time", whole.subarray(0, 20));
      await vi.advanceTimersByTimeAsync(REQUEST_MS - 1);
      call.stream.end(whole.subarray(20));
      await call.closed;
      await vi.advanceTimersByTimeAsync(REQUEST_MS);
      vi.useRealTimers();
      expect(call.headers["grpc-status"]).toBe("0");
      expect(await loggedRequests(own, "in-time")).toMatchObject([{ code: "OK" }]);
      expect(await groupsNamed("late")).toHaveLength(1);
    });

    test("a call that was refused already gets no second refusal", async () => {
      const call = await open(create.path, "refused", messageFrame(Buffer.alloc(0), { length: 2 ** 32 - 1 }));
      expect(call.stream.closed).toBe(false);
      await vi.advanceTimersByTimeAsync(REQUEST_MS);
      await call.closed;
      vi.useRealTimers();
      expect(errorInHeaders(call.headers)).toMatchObject({ code: 8 });
      expect(await loggedRequests(own, "refused")).toMatchObject([{ code: "RESOURCE_EXHAUSTED" }]);
    });
  });

  test("requests of reflection have no time limit", async () => {
    const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    const call = await open(path, "reflection", Buffer.alloc(0));
    await vi.advanceTimersByTimeAsync(2 * REQUEST_MS);
    await ping();
    expect(call.stream.closed).toBe(false);
    call.stream.end();
    await call.closed;
    expect(call.headers["grpc-status"]).toBe("0");
  });

  describe("a request of REST on HTTP/2", () => {
    const path = () => `${IAM}/groups/${own.organization}`;
    const JSON_TYPE = "application/json";

    test("that does not end is 408, as on HTTP/1.1", async () => {
      const call = await open(path(), "rest", Buffer.from('{"name":'), JSON_TYPE);
      await lateEnd(call);
      expect(call.headers).toMatchObject({ ":status": 408, "x-request-id": "rest" });
      expect(JSON.parse(call.body())).toMatchObject({
        code: 4,
        message: "Deadline exceeded: the request did not arrive in time",
        details: [{ reason: "DEADLINE_EXCEEDED" }],
      });
      expect(await loggedRequests(own, "rest")).toMatchObject([{ status: 408 }]);
      expect(await groupsNamed("late")).toEqual([]);
    });

    test("that was answered before its body arrived is closed", async () => {
      const call = await open("/nothing", "unrouted", Buffer.from("x"), JSON_TYPE);
      await vi.advanceTimersByTimeAsync(REQUEST_MS);
      await call.closed;
      expect(call.headers[":status"]).toBe(404);
    });
  });
});
