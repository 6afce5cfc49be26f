// What waits for clients that ask and do not read is bounded, for all of them together. A client that reads is served all the while.
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { describe, expect, test } from "vitest";
import type { BoundOptions } from "../../../server/connection/bounds.ts";
import type { Connection } from "../../../server/connection/connections.ts";
import { createAnswerMemory, PIPELINED_MAX, UNREAD_MAX } from "../../../server/connection/memory.ts";
import type { ServerOptions } from "../../../server/index.ts";
import { openapiPage } from "../../../server/pages/pages.ts";
import { pagesAt } from "../../../server/rest/page.ts";
import { IAM, serve, type TestServer } from "../../harness/api-server.ts";
import { scrape } from "../../harness/metrics.ts";
import { grpcMethodOf } from "../../support/grpc.ts";
import { callHeaders, messageFrame, openHttp2 } from "../../support/http2.ts";
import { closeOf, openSocket } from "../../support/socket.ts";

let api: TestServer;
const start = async (options: Pick<ServerOptions, "faults"> & BoundOptions = {}) => {
  api = await serve(options);
};

const KIB = 1024;
const MIB = 1024 * KIB;

const heldBytes = async () => (await scrape(api)).get("irm_answer_memory_bytes") as number;

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
