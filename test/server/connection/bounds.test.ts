// The bounds of a server for all clients together: bytes of incomplete requests, connections, idle time, and what waits
// for clients that ask and do not read. A client that sends its request at once, and reads, is served all the while.
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { type BoundOptions, createByteBuffer } from "../../../server/connection/bounds.ts";
import { type Connection, createConnections } from "../../../server/connection/connections.ts";
import { createAnswerMemory, createBodyMemory, PIPELINED_MAX, UNREAD_MAX } from "../../../server/connection/memory.ts";
import { createServer, type ServerOptions } from "../../../server/index.ts";
import { openapiPage } from "../../../server/pages/pages.ts";
import { pagesAt } from "../../../server/rest/page.ts";
import { atEnd, IAM, openGrpc, serve, sharedKeys, type TestServer } from "../../harness/api-server.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../../support/certificate.ts";
import { grpcMethodOf } from "../../support/grpc.ts";
import { callHeaders, messageFrame, openHttp2 } from "../../support/http2.ts";
import { openConnection, openSocket, postHead } from "../../support/socket.ts";

let api: TestServer;
const start = async (options: Pick<ServerOptions, "faults"> & BoundOptions = {}) => {
  api = await serve(options);
};

const KIB = 1024;

const gauge = async (name: string): Promise<number> => {
  const { text } = await api.call("GET", "/metrics", { token: null });
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
};

/** A reset and GOAWAY close it too: `once` of node:events would reject with the error. */
// A reset closes it too: `once` of node:events would reject with the error.
const closeOf = (connection: Socket | ClientHttp2Session) => {
  connection.on("error", () => {});
  return new Promise<void>((resolve) => connection.once("close", () => resolve()));
};

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

const MIB = 1024 * KIB;

const heldBytes = () => gauge("irm_answer_memory_bytes");

const closeReasons = () =>
  api.log.flatMap((line) => /"event":"connection closed","reason":"([^"]+)"/.exec(line)?.[1] ?? []);

/** HTTP/2 whose client has closed its window: nothing of an answer can be sent. */
const openDeaf = async (): Promise<ClientHttp2Session> => {
  const session = openHttp2(api.baseUrl, { settings: { initialWindowSize: 0 } });
  session.on("error", () => {});
  await once(session, "connect");
  return session;
};

const ask = (session: ClientHttp2Session, path: string) => session.request({ ":path": path }).on("error", () => {});

/** The server has read what was sent before this. */
const ping = (session: ClientHttp2Session) => new Promise<void>((resolve) => session.ping(() => resolve()));

const openapiBytes = async () => (await api.call("GET", "/openapi.json", { token: null })).text.length;

describe("a connection of HTTP/2 with a closed window", () => {
  test("is closed when its requests wait for it, while another client is served", async () => {
    await start({ idleTimeoutMs: 300 });
    const session = await openDeaf();
    const end = closeOf(session);
    for (let i = 0; i < 100; i += 1) ask(session, "/openapi.json");
    await end;
    expect(closeReasons()).toEqual(["unread answers"]);
    expect(await openapiBytes()).toBeGreaterThan(0);
    await expect.poll(heldBytes).toBeLessThan(20 * KIB);
  });

  test("is closed when the answers of all connections need its memory, and the newest are read", async () => {
    await start({ maxAnswerMemory: MIB });
    const size = await openapiBytes();
    const sessions = [await openDeaf(), await openDeaf(), await openDeaf()];
    const ended = sessions.map((session) => closeOf(session));
    for (const session of sessions) {
      for (let i = 0; i < Math.floor(MIB / size) - 1; i += 1) ask(session, "/openapi.json");
      await ping(session);
    }
    await Promise.all(ended.slice(0, 2));
    expect(closeReasons()).toEqual(["too many unread answers", "too many unread answers"]);
    expect(await heldBytes()).toBeLessThanOrEqual(MIB);
    expect(sessions[2]?.closed).toBe(false);
  });

  test("counts its calls of gRPC", async () => {
    await start({ idleTimeoutMs: 300 });
    for (let i = 0; i < 20; i += 1)
      await api.ok("POST", `${IAM}/groups/${api.organization}`, {
        body: { name: `g${i}`, description: "x".repeat(500) },
      });
    const method = grpcMethodOf("ListGroups");
    const session = await openDeaf();
    const end = closeOf(session);
    const one = (): void => {
      const stream = session.request(callHeaders(method.path, api.owner.token));
      stream.on("error", () => {}).end(messageFrame(method.requestSerialize({}) as Buffer));
    };
    const before = await heldBytes();
    one();
    await expect.poll(heldBytes).toBeGreaterThan(before + 12 * KIB);
    session.destroy();
    await end;
    await expect.poll(heldBytes).toBe(before);
  });
});

test("a connection of HTTP/1.1 that sends requests without reading is closed, and holds nothing after it", async () => {
  await start();
  const socket = await openSocket(api.baseUrl);
  const end = closeOf(socket);
  socket.pause().write("GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n".repeat(2 * PIPELINED_MAX));
  await expect.poll(closeReasons).toEqual(["too many pipelined requests"]);
  socket.resume();
  await end;
  await expect.poll(heldBytes).toBeLessThan(20 * KIB);
});

test("a client that reads gets all of 500 large answers that it asks for at once", async () => {
  // 500 requests with their heads, what may be unread at a time, and one answer more.
  await start({ maxAnswerMemory: 500 * 8.5 * KIB + UNREAD_MAX + 512 * KIB, idleTimeoutMs: 20_000 });
  const size = await openapiBytes();
  const session = openHttp2(api.baseUrl);
  const one = () =>
    new Promise<number>((resolve, reject) => {
      let bytes = 0;
      const stream = session.request({ ":path": "/openapi.json" }).on("error", reject);
      stream.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      stream.on("end", () => resolve(bytes));
    });
  const sizes = await Promise.all(Array.from({ length: 500 }, one));
  expect(new Set(sizes)).toEqual(new Set([size]));
});

test("a page that does not change is one buffer for all its answers", async () => {
  const page = pagesAt(openapiPage());
  const request = {
    method: "GET",
    path: "/openapi.json",
    body: async () => Buffer.alloc(0),
    host: "x",
    origin: undefined,
  };
  const [first, second] = [await page(request), await page(request)];
  expect(first?.bytes).toBeInstanceOf(Buffer);
  expect(second?.bytes).toBe(first?.bytes);
});

describe("the memory of answers", () => {
  const connection = (name: string, ended: string[]): Connection => ({
    close: (reason) => void ended.push(`${name}: ${reason}`),
    progress: () => 0,
  });
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

  test("lets requests of a connection wait, and go on once an answer was read", async () => {
    const memory = createAnswerMemory(64 * MIB);
    const own = connection("own", []);
    const [first, second] = [memory.begin(own, 0), memory.begin(own, 0)];
    expect(await first.room()).toBe(true);
    first.add(UNREAD_MAX);
    let hasRoom: boolean | undefined;
    void second.room().then((room) => {
      hasRoom = room;
    });
    await turn();
    expect(hasRoom).toBe(undefined);
    first.release();
    await turn();
    expect(hasRoom).toBe(true);
    second.release();
    expect(memory.held()).toBe(0);
  });

  test("admits one request after the other, and does not wait for one that takes its time", async () => {
    const memory = createAnswerMemory(64 * MIB);
    const own = connection("own", []);
    const [slow, ...others] = Array.from({ length: 3 }, () => memory.begin(own, 0));
    expect(await slow?.room()).toBe(true);
    const rooms = others.map((other) => other.room());
    expect(await Promise.all(rooms)).toEqual([true, true]);
  });

  test("lets one answer be larger than all of it, where it is the only one", () => {
    const ended: string[] = [];
    const memory = createAnswerMemory(MIB);
    const [one, other] = ["one", "other"].map((name) => memory.begin(connection(name, ended), 0));
    one?.release();
    other?.add(2 * MIB);
    expect(ended).toEqual([]);
    const next = memory.begin(connection("next", ended), 0);
    next.add(KIB);
    expect(ended).toEqual(["other: too many unread answers"]);
    // What a closed connection still does counts no more.
    other?.add(MIB);
    other?.release();
    next.release();
    expect(memory.held()).toBe(0);
  });

  test("sends those away that wait on a connection that has closed", async () => {
    const memory = createAnswerMemory(64 * MIB);
    const own = connection("own", []);
    const [first, second, third] = [memory.begin(own, 0), memory.begin(own, 0), memory.begin(own, 0)];
    first.add(UNREAD_MAX);
    const [left, ended] = [second.room(), third.room()];
    second.release();
    expect(await left).toBe(false);
    memory.forget(own);
    expect(await ended).toBe(false);
    expect(await first.room()).toBe(false);
    expect(memory.held()).toBe(0);
  });
});
