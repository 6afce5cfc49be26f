// Hostile calls: framing, compression, time limits and headers that no client should send. Each is refused in full or ignored,
// with one log line and its request id. The connection and the server serve the next call.
import { once } from "node:events";
import type { ClientHttp2Session, IncomingHttpHeaders } from "node:http2";
import { Duplex } from "node:stream";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Code, codes } from "../../../schema/index.ts";
import { createStreams } from "../../../server/grpc/arrival.ts";
import { addReflection } from "../../../server/grpc/reflection.ts";
import { loggedRequests, serve } from "../../harness/api-server.ts";
import { errorInHeaders, grpcMethodOf } from "../../support/grpc.ts";
import { callHeaders, messageFrame, openHttp2, rawStream } from "../../support/http2.ts";
import { openSocket } from "../../support/socket.ts";

const api = await serve();
const session: ClientHttp2Session = openHttp2(api.baseUrl);

const PING = grpcMethodOf("Ping").path;
const NOTHING = Buffer.alloc(0);
const MIB = 1024 * 1024;

const send = (path: string, headers: readonly string[], bytes: Buffer) => rawStream(session, path, headers, bytes);

/** The handler of reflection, for calls with any stream. */
const reflection = () => {
  let handle: (call: Duplex) => void = () => {};
  const register = (_path: string, own: typeof handle) => {
    handle = own;
  };
  const streams = createStreams();
  const record = { work: { connection: {} }, answering: { add: () => {} } };
  const calls = { of: () => record as never };
  addReflection({ register } as never, { services: [], streams, calls });
  return { handle: (call: Duplex) => handle(call), streams };
};

const gzip = ["grpc-encoding", "gzip"];
const noMessage = "Received no request message";
const tooMuch = "RESOURCE_EXHAUSTED";
const flagged = (bytes: Buffer | string) => messageFrame(Buffer.from(bytes), { flag: 1 });
const announcing = (length: number) => messageFrame(NOTHING, { length });
const bomb = gzipSync(Buffer.alloc(50 * MIB));
const unsupported = 'Received message compressed with unsupported encoding "zstd"';
const unpacked = "Received message that decompresses to a size larger than 1048576";

describe("is refused in full with one log line, and the connection serves the next call:", () => {
  test.each<[string, string[], Buffer, Code, string]>([
    ["no message", [], NOTHING, "UNIMPLEMENTED", noMessage],
    ["two messages", [], Buffer.concat([announcing(0), announcing(0)]), "UNIMPLEMENTED", "Received a second request"],
    ["half a prefix", [], Buffer.alloc(2), "UNIMPLEMENTED", noMessage],
    ["a message that is cut short", [], announcing(100), "UNIMPLEMENTED", noMessage],
    ["a length of 4 GiB", [], announcing(2 ** 32 - 1), tooMuch, "Received message larger"],
    ["bytes that are not gzip", gzip, flagged("x"), "INTERNAL", "Failed to decompress message"],
    ["a small message that unpacks to more than 1 MiB", gzip, flagged(bomb), tooMuch, unpacked],
    ["an unknown compression", ["grpc-encoding", "zstd"], flagged("x"), "UNIMPLEMENTED", unsupported],
    ["a message of no compression", [], flagged("x"), "INVALID_ARGUMENT", "the message is not of its type: "],
    ["a malformed time limit", ["grpc-timeout", "soon"], announcing(0), "INTERNAL", "Invalid grpc-timeout value"],
  ])("%s", async (name, headers, bytes, code, text) => {
    const id = name.replaceAll(" ", "-");
    const answer = await send(PING, ["x-request-id", id, ...headers], bytes);
    expect(answer.headers["x-request-id"]).toBe(id);
    const refusal = errorInHeaders(answer.headers);
    expect(refusal.code).toBe(codes[code].number);
    expect(refusal.message.startsWith(`${codes[code].category}: ${text}`), refusal.message).toBe(true);
    expect(refusal.details[0]).toMatchObject({ reason: code, domain: "iam.chainguard.dev" });
    expect(await loggedRequests(api, id)).toMatchObject([{ code, message: refusal.message.slice(0, 1024) }]);
    expect((await send(PING, [], messageFrame(NOTHING))).headers["grpc-status"]).toBe("0");
  });

  test("an unknown method of another domain, with that domain in the error", async () => {
    const path = "/chainguard.platform.registry.v2.ReposService/PaintRepo";
    const { headers } = await send(path, ["x-request-id", "paint"], messageFrame(NOTHING));
    expect(errorInHeaders(headers)).toMatchObject({
      code: 12,
      message: `Unimplemented: The server does not implement the method ${path}`,
      details: [{ reason: "UNIMPLEMENTED", domain: "registry.chainguard.dev" }],
    });
    expect(await loggedRequests(api, "paint")).toMatchObject([{ path, code: "UNIMPLEMENTED" }]);
  });

  test.each([
    ["health", "/grpc.health.v1.Health/Check"],
    ["a watch of health", "/grpc.health.v1.Health/Watch"],
    ["reflection", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"],
  ])("bytes that are not a message of %s", async (_, path) => {
    const { headers } = await send(path, [], messageFrame(Buffer.from("garbage")));
    expect(errorInHeaders(headers)).toMatchObject({ code: 13, message: "Internal: Error deserializing request" });
    expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("a stream without an end", () => {
  test("that arrives while the server drains is ended at once", () => {
    const streams = createStreams();
    const ended: string[] = [];
    streams.opened(new Duplex(), () => ended.push("early"));
    streams.end();
    streams.opened(new Duplex(), () => ended.push("late"));
    expect(ended).toEqual(["early", "late"]);
  });

  test("is one of at most a thousand: one more ends the one that has been open longest", () => {
    const streams = createStreams();
    const ended: number[] = [];
    const calls = Array.from({ length: 1002 }, () => new Duplex({ read() {}, write() {} }));
    for (const [i, call] of calls.entries())
      streams.opened(call, () => {
        ended.push(i);
        call.emit("finish");
      });
    expect(ended).toEqual([0, 1]);
    // One that has left makes room.
    calls[2]?.emit("cancelled");
    streams.opened(new Duplex(), () => ended.push(1002));
    expect(ended).toEqual([0, 1]);
  });

  test("gets no answer after its end: a later request of reflection is ignored", async () => {
    const { handle, streams } = reflection();
    const answers: unknown[] = [];
    const call = new Duplex({
      objectMode: true,
      read() {},
      write(answer, _encoding, done) {
        answers.push(answer);
        done();
      },
    });
    const errors: Error[] = [];
    call.on("error", (error) => errors.push(error));
    handle(call);
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    call.push({ listServices: "" });
    await turn();
    streams.end();
    await turn();
    call.push({ listServices: "" });
    await turn();
    expect(errors).toEqual([]);
    expect(answers).toHaveLength(1);
  });

  test("gets 2 MiB of descriptions for all streams of its connection, and another connection gets its own", async () => {
    const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    // file_containing_symbol, of a file with many imports; each stream gets its files once.
    const symbol = Buffer.from("chainguard.platform.iam.v2.GroupsService");
    const request = messageFrame(Buffer.concat([Buffer.from([0x22, symbol.length]), symbol]));
    const own = openHttp2(api.baseUrl);
    let bytes = 0;
    let last: IncomingHttpHeaders = {};
    for (let streams = 0; last["grpc-status"] !== "8" && streams < 1000; streams += 1) {
      const answer = await rawStream(own, path, [], request);
      bytes += answer.bytes.length;
      last = answer.headers;
    }
    expect(errorInHeaders(last).message).toBe(
      "Resource exhausted: this connection has read too many descriptions; open another one",
    );
    expect(bytes).toBeGreaterThan(1024 * 1024);
    expect(bytes).toBeLessThan(2.1 * MIB);
    // What the connection asks the API is served as before.
    expect((await rawStream(own, PING, [], messageFrame(NOTHING))).headers["grpc-status"]).toBe("0");
    expect((await rawStream(session, path, [], request)).headers["grpc-status"]).toBe("0");
  });
});

const list = grpcMethodOf("ListGroups");

test.each<[string, string[], (bytes: Buffer) => Buffer]>([
  ["a compressed message", gzip, (bytes) => messageFrame(gzipSync(bytes), { flag: 1 })],
  ["a plain message beside a compression that is not used", gzip, (bytes) => messageFrame(bytes)],
  ["a time limit that 32 bits make negative", ["grpc-timeout", "1000H"], (bytes) => messageFrame(bytes)],
  ["a -bin entry that is not base64", ["x-bin", "***"], (bytes) => messageFrame(bytes)],
  ["an entry with a name that the server uses internally", ["irm-call", "1"], (bytes) => messageFrame(bytes)],
])("is served: %s", async (_, headers, wrap) => {
  const bytes = list.requestSerialize({ name: "dev" }) as Buffer;
  const own = ["authorization", `Bearer ${api.owner.token}`, ...headers];
  const answer = await send(list.path, own, wrap(bytes));
  expect(answer.headers["grpc-status"]).toBe("0");
  expect(list.responseDeserialize(answer.bytes.subarray(5))).toMatchObject({ groups: [{ name: "dev" }] });
});

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** A frame of HTTP/2 (RFC 9113, 4.1). */
const frame = (type: number, flags: number, stream: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};

/** HEADERS with all fields as literals (RFC 7541, 6.2.2), and RST_STREAM behind them. */
const openAndReset = (stream: number, path: string, id: string): Buffer => {
  const text = (own: string) => Buffer.concat([Buffer.of(own.length), Buffer.from(own)]);
  const entries = { ":method": "POST", ":scheme": "http", ":authority": "x", ":path": path };
  const fields = Object.entries({ ...entries, "content-type": "application/grpc", "x-request-id": id });
  const block = Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]));
  const END_HEADERS = 0x4;
  return Buffer.concat([frame(0x1, END_HEADERS, stream, block), frame(0x3, 0, stream, Buffer.of(0, 0, 0, 8))]);
};

describe("a flood", () => {
  test("of calls on one connection is limited to 1000 at a time by the settings of HTTP/2", async () => {
    const own = openHttp2(api.baseUrl);
    const [settings] = await once(own, "remoteSettings");
    expect(settings.maxConcurrentStreams).toBe(1000);
  });

  test("of calls that are cancelled at once leaves one log line for each, and a server that still serves", async () => {
    const own = openHttp2(api.baseUrl);
    await once(own, "connect");
    const count = 300;
    const closed = Array.from({ length: count }, async (_, i) => {
      const stream = own.request({ ...callHeaders(PING), "x-request-id": "reset" });
      stream.on("error", () => {});
      // Some before the message, some in the middle of it, some after it.
      if (i % 3 > 0) stream.write(messageFrame(Buffer.alloc(64)).subarray(0, i % 3 === 1 ? 10 : undefined));
      if (i % 6 === 5) stream.end();
      await new Promise<void>((resolve) => own.ping(() => resolve()));
      stream.close(8);
      await once(stream, "close");
    });
    await Promise.all(closed);
    expect(await loggedRequests(api, "reset", count)).toHaveLength(count);
    expect((await send(PING, [], messageFrame(NOTHING))).headers["grpc-status"]).toBe("0");
  });

  test.each([
    ["an unknown method", "/nobody/Nothing"],
    ["a method", PING],
    ["a watch of health", "/grpc.health.v1.Health/Watch"],
    ["reflection", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"],
  ])("of calls that are reset in the packet that opens them does not affect other calls: %s", async (name, path) => {
    const uncaught: Error[] = [];
    const seen = (error: Error) => uncaught.push(error);
    process.on("uncaughtExceptionMonitor", seen);
    const socket = await openSocket(api.baseUrl);
    const id = `packet-${name.replaceAll(" ", "-")}`;
    const calls = Array.from({ length: 20 }, (_, i) => openAndReset(2 * i + 1, path, id));
    socket.write(Buffer.concat([PREFACE, frame(0x4, 0, 0, NOTHING), ...calls]));
    expect(await loggedRequests(api, id, 20)).toHaveLength(20);
    socket.destroy();
    process.off("uncaughtExceptionMonitor", seen);
    expect(uncaught).toEqual([]);
    expect((await send(PING, [], messageFrame(NOTHING))).headers["grpc-status"]).toBe("0");
  });

  test("of requests with unread responses is paused, and all are answered once the client reads", async () => {
    const count = 1000;
    let asked = 0;
    let answered = 0;
    let isRead = false;
    let release = () => {};
    // A call as grpc-js presents it: a response is sent when the client's window has room for it.
    const call = new Duplex({
      objectMode: true,
      read() {
        asked += 1;
        this.push(asked > count ? null : { fileContainingSymbol: "grpc.health.v1.Health" });
      },
      write(_answer, _encoding, done) {
        answered += 1;
        if (isRead) done();
        else release = done;
      },
    });
    reflection().handle(call);
    for (let turn = 0; turn < 2 * count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(asked).toBeLessThan(100);
    isRead = true;
    release();
    await once(call, "finish");
    expect(answered).toBe(count);
  });
});
