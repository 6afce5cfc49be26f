// A request on HTTP/2 that never ends: it has as much time as one of HTTP/1.1, and the end of the server does not wait for it.
// It is not carried out.
import { once } from "node:events";
import type { ClientHttp2Session, IncomingHttpHeaders } from "node:http2";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { REQUEST_MS } from "../../../server/connection/delivery.ts";
import { IAM, loggedRequests, serve, type TestServer } from "../../harness/api-server.ts";
import { errorInHeaders, grpcMethodOf } from "../../support/grpc.ts";
import { callHeaders, messageFrame, openHttp2 } from "../../support/http2.ts";

let api: TestServer;
let session: ClientHttp2Session;
beforeEach(async () => {
  api = await serve();
  session = openHttp2(api.baseUrl);
  await once(session, "connect");
});
afterEach(() => void vi.useRealTimers());

/** A stream that the client writes to and does not end, once the server has read what was written. */
const open = async (path: string, id: string, bytes: Buffer, type = "application/grpc") => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const headers: IncomingHttpHeaders = {};
  const stream = session.request({
    ...callHeaders(path, api.owner.token),
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
  messageFrame(create.requestSerialize({ parent: api.organization, group: { name: "late" } }) as Buffer);
const groupsNamed = async (name: string) => (await api.ok("GET", `${IAM}/groups`, { query: { name } })).groups;

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
    expect(await loggedRequests(api, id)).toMatchObject([
      { code: "DEADLINE_EXCEEDED", message: "Deadline exceeded: the request did not arrive in time" },
    ]);
    expect(await groupsNamed("late")).toEqual([]);
  });

  test.each(parts)("%s is UNAVAILABLE as soon as the server drains, without a wait", async (_, part) => {
    const call = await open(create.path, "drained", part(group()));
    await api.close();
    await call.closed;
    expect(errorInHeaders(call.headers)).toMatchObject({
      code: 14,
      message: "Unavailable: the server is draining",
      details: [{ reason: "UNAVAILABLE", domain: "iam.chainguard.dev" }],
    });
    expect(await loggedRequests(api, "drained")).toHaveLength(1);
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
    expect(await loggedRequests(api, "in-time")).toMatchObject([{ code: "OK" }]);
    expect(await groupsNamed("late")).toHaveLength(1);
  });

  test("a call that was refused already gets no second refusal", async () => {
    const call = await open(create.path, "refused", messageFrame(Buffer.alloc(0), { length: 2 ** 32 - 1 }));
    expect(call.stream.closed).toBe(false);
    await vi.advanceTimersByTimeAsync(REQUEST_MS);
    await call.closed;
    vi.useRealTimers();
    expect(errorInHeaders(call.headers)).toMatchObject({ code: 8 });
    expect(await loggedRequests(api, "refused")).toMatchObject([{ code: "RESOURCE_EXHAUSTED" }]);
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
  const path = () => `${IAM}/groups/${api.organization}`;
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
    expect(await loggedRequests(api, "rest")).toMatchObject([{ status: 408 }]);
    expect(await groupsNamed("late")).toEqual([]);
  });

  test("that was answered before its body arrived is closed", async () => {
    const call = await open("/nothing", "unrouted", Buffer.from("x"), JSON_TYPE);
    await vi.advanceTimersByTimeAsync(REQUEST_MS);
    await call.closed;
    expect(call.headers[":status"]).toBe(404);
  });
});
