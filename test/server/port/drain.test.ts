// The end of a server on both wires: requests under way are answered, idle connections are closed, new ones are refused, and
// ten seconds are the limit.
import { once } from "node:events";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createServer, DRAIN_MS } from "../../../server/index.ts";
import { IAM, openGrpc, serve, sharedKeys } from "../../harness/api-server.ts";
import { grpcMethodOf } from "../../support/grpc.ts";
import { startHeldIssuer } from "../../support/held-issuer.ts";
import { openHttp2, rawCall } from "../../support/http2.ts";
import { openConnection } from "../../support/socket.ts";

const start = () => createServer({ dev: true, keys: sharedKeys() });
const HEAD = "HTTP/1.1\r\nhost: localhost\r\n";
const GET = (path: string) => `GET ${path} ${HEAD}\r\n`;
const body = '{"subject":"s"}';
const POST = `POST /dev-issuer/token ${HEAD}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;

afterEach(() => {
  vi.useRealTimers();
});

describe("while the server drains", () => {
  test("a slow request is answered with `connection: close` before the server ends, and a new connection is refused", async () => {
    const server = await start();
    const slow = await openConnection(server.baseUrl);
    slow.write(POST + body.slice(0, 5));
    await waitForAnswer(server.baseUrl, "/healthz");
    const closed = server.close();
    await expect(openConnection(server.baseUrl)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    slow.write(body.slice(5));
    const answer = await slow.ended;
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
    expect(answer).toContain('{"token":"');
    await closed;
  });

  test("a connection that is kept alive is closed at once, and so is one that has sent nothing", async () => {
    const server = await start();
    const kept = await openConnection(server.baseUrl);
    kept.write(GET("/healthz"));
    expect(await kept.until(/\{"status":"ok"\}/)).toMatch(/\r\nconnection: keep-alive\r\n/i);
    const silent = await openConnection(server.baseUrl);
    await server.close();
    await Promise.all([kept.ended, silent.ended]);
  });

  test("it is live but not ready", async () => {
    const server = await start();
    const [ready, alive] = [await openConnection(server.baseUrl), await openConnection(server.baseUrl)];
    // The heads are not complete: the requests come when the drain has begun.
    ready.write(GET("/readyz").slice(0, -2));
    alive.write(GET("/healthz").slice(0, -2));
    await waitForAnswer(server.baseUrl, "/healthz");
    const closed = server.close();
    ready.write("\r\n");
    alive.write("\r\n");
    const answer = await ready.ended;
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toContain('"code":14,"message":"Unavailable: the server is draining"');
    expect(await alive.ended).toMatch(/^HTTP\/1\.1 200 .*connection: close/is);
    await closed;
  });
});

const hang = async () => {
  const server = await start();
  const hanging = await openConnection(server.baseUrl);
  hanging.write(POST + body.slice(0, 5));
  await waitForAnswer(server.baseUrl, "/healthz");
  return { server, hanging };
};

test("a client that hangs is cut off after ten seconds", async () => {
  const { server, hanging } = await hang();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const closed = server.close();
  await vi.advanceTimersByTimeAsync(DRAIN_MS - 1);
  expect(await settled(closed)).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await hanging.ended).toBe("");
  await closed;
});

test.each([
  ["before the drain begins", true],
  ["while it is under way", false],
])("a client that hangs is cut off at once on request %s", async (_, before) => {
  const { server, hanging } = await hang();
  const cut = new AbortController();
  if (before) cut.abort();
  const closed = server.close(cut.signal);
  cut.abort();
  expect(await hanging.ended).toBe("");
  await closed;
});

test("a server with two ports drains both", async () => {
  const server = await createServer({ dev: true, keys: sharedKeys(), authPort: 0 });
  const api = await openConnection(server.baseUrl);
  const auth = await openConnection(server.authUrl);
  api.write(GET(`${IAM}/groups`).slice(0, -2));
  auth.write(POST);
  await waitForAnswer(server.baseUrl, "/readyz");
  await waitForAnswer(server.authUrl, "/readyz");
  const closed = server.close();
  api.write("\r\n");
  auth.write(body);
  expect(await api.ended).toMatch(/^HTTP\/1\.1 401 .*connection: close/is);
  expect(await auth.ended).toMatch(/^HTTP\/1\.1 200 .*connection: close/is);
  await closed;
});

/** Waits for the response on another connection: by then the server has read everything before it. */
async function waitForAnswer(baseUrl: string, path: string): Promise<void> {
  const connection = await openConnection(baseUrl);
  connection.write(GET(path));
  await connection.until(/\r\n\r\n/);
}

describe("on the wire of gRPC", () => {
  /** A server that is busy with an exchange, which asks an issuer that does not answer yet. */
  const busy = async () => {
    const api = await serve();
    const held = await startHeldIssuer(api);
    const grpc = openGrpc(api.baseUrl);
    const answer = grpc.call("Exchange", { aud: [api.baseUrl], identity: held.identity }, { token: held.token });
    await held.asked;
    return { api, held, grpc, answer };
  };

  test("a call under way is answered before the server ends", async () => {
    const server = await busy();
    const closed = server.api.close();
    server.held.release();
    expect(await server.answer).toMatchObject({ code: 0, json: { token: expect.stringMatching(/^ey/) } });
    await closed;
  });

  test("an idle connection gets GOAWAY, and the server does not wait for it", async () => {
    const api = await serve();
    const session = openHttp2(api.baseUrl);
    await once(session, "connect");
    await rawCall(session, grpcMethodOf("Ping").path, []);
    const goaway = once(session, "goaway");
    await api.close();
    const [code] = await goaway;
    expect(code).toBe(0);
    await (session.closed ? undefined : once(session, "close"));
  });

  test("a new call on an open connection is refused while a call is under way", async () => {
    const server = await busy();
    const closed = server.api.close();
    expect(await server.grpc.call("Ping", {})).toMatchObject({ code: 14 });
    server.held.release();
    expect(await server.answer).toMatchObject({ code: 0 });
    await closed;
  });

  test("a call that does not end is cut off after ten seconds", async () => {
    const server = await busy();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const closed = server.api.close();
    await vi.advanceTimersByTimeAsync(DRAIN_MS - 1);
    expect(await settled(closed)).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await closed;
    vi.useRealTimers();
    expect(await server.answer).toMatchObject({ code: expect.toBeOneOf([1, 14]) });
  });
});

const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  const pending = Symbol("pending");
  const first = await Promise.race([promise, new Promise((resolve) => setImmediate(() => resolve(pending)))]);
  return first !== pending;
};
