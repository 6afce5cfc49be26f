// An unauthenticated caller is refused after the head of a request: the server does not wait for, read or decode the
// body. The bodies here never end, so a response shows that the server did not wait for them. The end of a server on
// both wires: requests under way are answered, idle connections are closed, new ones are refused, and ten seconds are
// the limit.
import { once } from "node:events";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createServer, DRAIN_MS } from "../../../server/index.ts";
import { type Actor, IAM, openGrpc, serve, sharedKeys } from "../../harness/api-server.ts";
import { HOUR_MS } from "../../harness/clock.ts";
import { grpcMethodOf } from "../../support/grpc.ts";
import { startHeldIssuer } from "../../support/held-issuer.ts";
import { messageFrame, openHttp2, rawCall } from "../../support/http2.ts";
import { openConnection, postHead } from "../../support/socket.ts";

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

const api = await serve();

const TYPE = "application/json";
const target = () => `${IAM}/groups/${api.organization}`;

/** A request of HTTP/1.1 whose body lacks its end, until its response arrives. */
const half = async (headers: readonly string[], path = target(), body = '{"name":') => {
  const connection = await openConnection(api.baseUrl);
  connection.write([`POST ${path} HTTP/1.1`, "host: x", ...headers, "", body].join("\r\n"));
  const answer = await connection.until(/\r\n\r\n.*\}$/s);
  connection.reset();
  return answer;
};

/** The same on HTTP/2: the answer's head and the code that the stream was closed with. */
const halfOnHttp2 = async (path: string, headers: Record<string, string>, bytes: Buffer) => {
  const session = openHttp2(api.baseUrl);
  const stream = session.request(
    { ":method": "POST", ":path": path, te: "trailers", ...headers },
    { endStream: false },
  );
  stream.write(bytes);
  const [head] = await once(stream, "response");
  const trailers: Record<string, unknown> = {};
  stream.on("trailers", (own) => Object.assign(trailers, own)).resume();
  await once(stream, "close");
  return { ...head, ...trailers, rstCode: stream.rstCode };
};

const bodies: [string, string[]][] = [
  ["a length", [`content-type: ${TYPE}`, "content-length: 100"]],
  ["chunks", [`content-type: ${TYPE}`, "transfer-encoding: chunked"]],
  ["a type that is not JSON", ["content-type: text/plain", "content-length: 100"]],
];

describe("without a valid token", () => {
  test.each(bodies)("a body with %s is only 401", async (_, headers) => {
    for (const authorization of [[], ["authorization: Bearer x"]]) {
      const answer = await half([...authorization, ...headers]);
      expect(answer).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
      expect(answer).toContain('"Unauthenticated: a valid bearer token is required"');
    }
  });

  test("a client with Expect: 100-continue gets no 100", async () => {
    const answer = await half(["expect: 100-continue", "content-length: 100"], target(), "");
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });

  test("a form at the exchange is 401", async () => {
    const answer = await half(
      ["content-type: application/x-www-form-urlencoded", "content-length: 9"],
      "/sts/exchange",
    );
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });

  test("a request of REST on HTTP/2 is 401, and its stream is closed", async () => {
    const answer = await halfOnHttp2(target(), { "content-type": TYPE }, Buffer.from('{"name":'));
    expect(answer).toMatchObject({ ":status": 401, rstCode: 0 });
  });

  test.each(["CreateGroup", "Exchange"] as const)(
    "a call of %s is UNAUTHENTICATED, and its stream is closed",
    async (name) => {
      const message = messageFrame(Buffer.alloc(10), { length: 1_000_000 });
      const answer = await halfOnHttp2(grpcMethodOf(name).path, { "content-type": "application/grpc" }, message);
      expect(answer).toMatchObject({ "grpc-status": "16", rstCode: 0 });
    },
  );
});

test("with a token a client with Expect: 100-continue gets 100, and is served", async () => {
  const connection = await openConnection(api.baseUrl);
  const body = '{"name":"asked"}';
  connection.write(postHead(target(), api.owner.token, body.length, "expect: 100-continue"));
  await connection.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  connection.write(body);
  expect(await connection.until(/\}$/)).toMatch(/HTTP\/1\.1 200 OK\r\n/);
  connection.reset();
});

test.each<[what: string, status: string, change: (own: Actor) => Promise<unknown>]>([
  [
    "a grant that is revoked",
    "403 Forbidden",
    async ({ uid }) => {
      const { roleBindings } = await api.ok("GET", `${IAM}/roleBindings`, { query: { identity: uid } });
      await api.ok("DELETE", `${IAM}/roleBindings/${roleBindings[0].uid}`);
    },
  ],
  ["an identity that is deleted", "401 Unauthorized", ({ uid }) => api.ok("DELETE", `${IAM}/identities/${uid}`)],
  [
    "a token that expires",
    "401 Unauthorized",
    async () => {
      api.clock.advance(24 * HOUR_MS);
      api.owner.token = await api.token(api.identity, { subject: "owner" });
    },
  ],
])("with a token %s while the body arrives does not count: %s", async (_, status, change) => {
  const leaver = await api.actor("leaver", { role: "owner" });
  const connection = await openConnection(api.baseUrl);
  const body = '{"name":"too late"}';
  connection.write(postHead(target(), leaver.token, body.length, "expect: 100-continue"));
  await connection.until(/100 Continue/);
  await change(leaver);
  connection.write(body);
  expect(await connection.until(/\}$/)).toContain(`HTTP/1.1 ${status}\r\n`);
  connection.reset();
  expect((await api.ok("GET", `${IAM}/groups`, { query: { name: "too late" } })).groups).toEqual([]);
});
