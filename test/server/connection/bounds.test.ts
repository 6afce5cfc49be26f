// The bounds of a server for all clients together: bytes of incomplete requests, connections and idle time. A client that
// sends its request at once is served all the while.
import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { type BoundOptions, createByteBuffer } from "../../../server/connection/bounds.ts";
import { createConnections } from "../../../server/connection/connections.ts";
import { createBodyMemory } from "../../../server/connection/memory.ts";
import { createServer, type ServerOptions } from "../../../server/index.ts";
import { atEnd, IAM, openGrpc, serve, sharedKeys, type TestServer } from "../../harness/api-server.ts";
import { scrape } from "../../harness/metrics.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../../support/certificate.ts";
import { grpcMethodOf } from "../../support/grpc.ts";
import { callHeaders, messageFrame, openHttp2 } from "../../support/http2.ts";
import { closeOf, openConnection, openSocket, postHead } from "../../support/socket.ts";

let api: TestServer;
const start = async (options: Pick<ServerOptions, "faults"> & BoundOptions = {}) => {
  api = await serve(options);
};

const KIB = 1024;

const gauge = async (name: string): Promise<number> => (await scrape(api)).get(name) as number;

/** A request whose body lacks its end. */
const unfinished = async (path: string, bytes: number, token = api.owner.token) => {
  const connection = await openConnection(api.baseUrl);
  atEnd(connection.reset);
  connection.write(postHead(path, token, bytes + 1) + "x".repeat(bytes));
  return connection;
};

const groups = () => `${IAM}/groups/${api.organization}`;

describe("incomplete bodies", () => {
  const MAX = 1024 * KIB;

  test("stay within their total limit when there are 600, and a client that sends at once is served", async () => {
    await start({ maxBodyMemory: MAX, maxConnections: 2000 });
    const before = await gauge("irm_request_memory_bytes");
    const held: Promise<unknown>[] = [];
    for (let i = 0; i < 600; i += 1) held.push(unfinished(groups(), 60 * KIB));
    const attackers = (await Promise.all(held)) as Awaited<ReturnType<typeof unfinished>>[];
    // The first one gave way to others.
    const answer = await attackers[0]?.until(/\}$/);
    expect(answer).toMatch(/^HTTP\/1\.1 503 .*\r\nretry-after: 1\r\n.*Unavailable: too many requests are arriving/s);
    expect(await gauge("irm_request_memory_bytes")).toBeLessThanOrEqual(MAX);
    expect((await api.ok("POST", groups(), { body: { name: "served" } })).name).toBe("served");
    const client = openGrpc(api.baseUrl);
    const request = { parent: api.organization, group: { name: "over grpc" } };
    expect(await client.call("CreateGroup", request, { token: api.owner.token })).toMatchObject({ code: 0 });
    for (const { reset } of attackers) reset();
    await expect.poll(() => gauge("irm_request_memory_bytes")).toBe(before);
  });

  test("of gRPC give way with the same error", async () => {
    await start({ maxBodyMemory: 200 * KIB });
    const session = openHttp2(api.baseUrl);
    const open = () => {
      const stream = session.request(callHeaders(grpcMethodOf("CreateGroup").path, api.owner.token));
      stream.write(messageFrame(Buffer.alloc(50 * KIB), { length: 60 * KIB }));
      return stream;
    };
    const [first] = [open(), open(), open(), open(), open()] as const;
    const [head] = await once(first, "response");
    expect(head).toMatchObject({ "grpc-status": "14" });
    expect(decodeURI(String(head["grpc-message"]))).toBe(
      "Unavailable: too many requests are arriving at once; try again later",
    );
    expect(await gauge("irm_request_memory_bytes")).toBeLessThanOrEqual(200 * KIB);
    session.destroy();
  });

  test("of unauthenticated callers use no memory", async () => {
    await start();
    const before = await gauge("irm_request_memory_bytes");
    const connection = await unfinished(groups(), 60 * KIB, "x");
    await connection.until(/^HTTP\/1\.1 401 .*\}$/s);
    expect(await gauge("irm_request_memory_bytes")).toBe(before);
  });

  test("give way from the oldest on, and complete ones do not", () => {
    const memory = createBodyMemory(100 * KIB);
    const refused: string[] = [];
    const begin = (name: string) => memory.begin(() => refused.push(name));
    const complete = begin("complete");
    complete.add(50 * KIB);
    complete.complete();
    const [second, third] = [begin("second"), begin("third")];
    second.add(20 * KIB);
    third.add(20 * KIB);
    expect(refused).toEqual(["second"]);
    third.add(50 * KIB);
    expect(refused).toEqual(["second", "third"]);
    complete.release();
    second.release();
    expect(memory.held()).toBe(0);
  });
});

describe("connections", () => {
  const request = (connection: Awaited<ReturnType<typeof openConnection>>) => {
    connection.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
    return connection.until(/"ok"\}$/);
  };

  test("at the limit, the one that has been silent longest is closed and the new one is served", async () => {
    await start({ maxConnections: 8 });
    const idle = await openConnection(api.baseUrl);
    const others = [await openConnection(api.baseUrl), await openConnection(api.baseUrl)];
    for (const other of others) await request(other);
    // Four of the eight are one address's; the client of this test has the first of them.
    const next = await openConnection(api.baseUrl);
    await request(next);
    const last = await openConnection(api.baseUrl);
    expect(await request(last)).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(await idle.ended).toBe("");
    expect(await gauge("irm_connections")).toBeLessThanOrEqual(4);
    expect(api.log.join("")).toContain('"event":"connection closed","reason":"too many connections"');
    for (const { reset } of [...others, next, last]) reset();
  });

  test("at the limit, busy ones are not closed, and the new one is refused", () => {
    const log: string[] = [];
    const connections = createConnections(2, (_, event) => log.push(event));
    const ended: number[] = [];
    const socket = (remotePort: number) =>
      ({
        remoteAddress: `192.0.2.${remotePort}`,
        remotePort,
        once: () => {},
        destroy: () => ended.push(remotePort),
      }) as unknown as Socket;
    const [one, two] = [socket(1), socket(2)];
    expect([connections.admit(one), connections.admit(two)]).toEqual([true, true]);
    const works = [connections.begin(one), connections.begin(two)];
    expect(connections.admit(socket(3))).toBe(false);
    works[1]?.wait();
    expect(connections.admit(socket(4))).toBe(true);
    expect(ended).toEqual([2]);
    expect(connections.isIdle(one)).toBe(false);
    works[0]?.end();
    expect(connections.isIdle(one)).toBe(true);
    expect(log).toEqual(["connection refused", "connection closed"]);
  });
});

describe("a connection is closed after the idle time:", () => {
  const closed = async (socket: Socket) => {
    socket.on("error", () => {}).resume();
    if (!socket.closed) await closeOf(socket);
  };
  const opened = () => openSocket(api.baseUrl);

  test.each([
    ["one that never sends a byte", ""],
    ["half a head", "GET /healthz HTT"],
    ["a head without its end", "GET /healthz HTTP/1.1\r\nhost: x\r\n"],
    ["one that waits for its next request", "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["half a preface of HTTP/2", "PRI * HTTP/2.0\r\n"],
    ["a preface of HTTP/2 and nothing else", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ])("%s", async (_, text) => {
    await start({ idleTimeoutMs: 100 });
    const socket = await opened();
    socket.write(text);
    await closed(socket);
  });

  test("one of HTTP/2 without a call, even with pings", async () => {
    await start({ idleTimeoutMs: 100 });
    const session = openHttp2(api.baseUrl);
    let isClosed = false;
    const end = closeOf(session).then(() => {
      isClosed = true;
    });
    const ping = () =>
      new Promise<void>((resolve) => (session.destroyed ? resolve() : session.ping(() => resolve()) || resolve()));
    while (!isClosed) {
      await ping();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await end;
  });

  test.each([
    ["that never begins", Buffer.alloc(0)],
    // A record of 512 bytes that holds a ClientHello, and its first byte (RFC 8446, 5.1).
    ["of which half comes", Buffer.from([22, 3, 1, 2, 0, 1])],
  ])("one with a TLS handshake %s", async (_, bytes) => {
    const tls = { cert: CERTIFICATE, key: CERTIFICATE_KEY };
    const server = await createServer({ dev: true, keys: sharedKeys(), tls, idleTimeoutMs: 100 });
    atEnd(server.close);
    const socket = await openSocket(server.baseUrl);
    socket.write(bytes);
    await closed(socket);
  });

  test("one whose client does not read its responses", async () => {
    await start({ idleTimeoutMs: 500 });
    const socket = await opened();
    socket.on("error", () => {}).pause();
    // More responses than the buffers of the system hold.
    socket.write("GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n".repeat(200));
    // That of the question is left.
    await expect.poll(() => gauge("irm_connections"), { timeout: 10_000 }).toBe(1);
    const { text } = await api.call("GET", "/openapi.json", { token: null });
    await closed(socket);
    // It was being answered, and not one that never sent a byte.
    expect(socket.bytesRead).toBeGreaterThan(0);
    expect(socket.bytesRead).toBeLessThan(200 * text.length);
  });

  test("but not one with a watch, or with a request under way", async () => {
    await start({ idleTimeoutMs: 100, faults: { rules: [{ operation: "Ping", steps: [{ hold: true }] }] } });
    const session = openHttp2(api.baseUrl);
    const watch = session.request(callHeaders("/grpc.health.v1.Health/Watch"));
    watch.end(messageFrame(Buffer.alloc(0)));
    await once(watch, "data");
    const held = api.call("GET", "/ping/v2beta1/ping");
    const silent = await opened();
    await closed(silent);
    await closed(await opened());
    expect(session.closed).toBe(false);
    api.faults?.release();
    expect((await held).json).toEqual({ response: "pong" });
    session.destroy();
  });
});

// The body of a request as it arrives: the same bytes, whatever the chunks.
const BYTES = Buffer.from(Array.from({ length: 70_000 }, (_, i) => i % 251));

test.each([
  ["one by one", [1]],
  ["in chunks of 100", [100]],
  ["in chunks of 64 KiB", [65_536]],
  ["in chunks of any size", [1, 5000, 3, 1023, 1024, 17]],
])("bytes that arrive %s are unchanged", (_, sizes) => {
  const buffer = createByteBuffer();
  for (let at = 0, i = 0; at < BYTES.length; i += 1) {
    const size = sizes[i % sizes.length] as number;
    buffer.add(BYTES.subarray(at, at + size));
    at += size;
  }
  expect(buffer.take().equals(BYTES)).toBe(true);
  expect(buffer.take()).toHaveLength(0);
});

test("bytes that arrive in chunks that are overwritten later are copied, except the first and the large ones", () => {
  const buffer = createByteBuffer();
  buffer.add(Buffer.from("a"));
  const chunk = Buffer.from("b");
  buffer.add(chunk);
  chunk.write("c");
  expect(buffer.take().toString()).toBe("ab");
});
