// The log (docs/internals/faults.md#row-34): it has everything that a run does, and no token, key or signature. Every response
// has a request id, and the log has one line with it; that includes requests that reach no method, and broken HTTP
// messages.
import { beforeEach, describe, expect, test } from "vitest";
import { createLog } from "../../../server/index.ts";
import { IAM, serve, type TestServer } from "../../harness/api-server.ts";
import { START_MS } from "../../harness/clock.ts";
import { statusBody } from "../../support/refusal.ts";
import { openConnection, openSocket, postHead } from "../../support/socket.ts";

const MIB = 1024 * 1024;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const api = await serve();
beforeEach(() => {
  api.log.length = 0;
});

const requestLines = () => api.log.map((line) => JSON.parse(line)).filter(({ event }) => event === "request");

test.each<[reason: string, status: number, send: () => ReturnType<TestServer["call"]>]>([
  ["a method", 200, () => api.call("GET", `${IAM}/groups`)],
  ["an unknown path", 404, () => api.call("GET", "/nowhere")],
  ["a body that is too large", 413, () => api.call("POST", `${IAM}/groups`, { body: "x".repeat(MIB + 1) })],
  ["a body of another type", 415, () => api.call("POST", `${IAM}/groups`, { body: "x", headers: XML })],
  ["an empty answer", 405, () => api.call("HEAD", `${IAM}/groups`)],
  ["health", 200, () => api.call("GET", "/healthz", { token: null })],
  ["a refused exchange", 403, () => api.exchange(api.owner.token, { aud: api.baseUrl, identity: api.identity })],
])("a response of %s and its log line have the same id", async (_, status, send) => {
  const answer = await send();
  const id = answer.headers["x-request-id"];
  expect(answer.status).toBe(status);
  expect(id).toMatch(UUID);
  expect(requestLines()).toEqual([expect.objectContaining({ requestId: id, status })]);
});

const XML = { "content-type": "application/xml" };

const HOST = "host: x\r\n";
const CLOSE = "connection: close\r\n";
const LARGE = "the head of the request is too large";
const BROKEN = "the message is not HTTP/1.1";
const CHUNKED = `${HOST}transfer-encoding: chunked\r\n`;

describe("a broken HTTP message gets an id and a status, and the connection ends", () => {
  test.each([
    ["a word", 400, "nonsense\r\n\r\n", BROKEN],
    ["a header without a colon", 400, `GET / HTTP/1.1\r\n${HOST}bad header\r\n\r\n`, BROKEN],
    ["a long head", 431, `GET / HTTP/1.1\r\n${HOST}x: ${"a".repeat(40_000)}\r\n\r\n`, LARGE],
    [
      "a bad chunk",
      400,
      `POST /sts/exchange HTTP/1.1\r\nauthorization: Bearer x\r\n${CHUNKED}\r\n3\r\nabcd\r\n`,
      BROKEN,
    ],
    ["no Host", 400, `GET / HTTP/1.1\r\n${CLOSE}\r\n`, "the Host header is missing"],
    ["two Hosts", 400, `GET / HTTP/1.1\r\n${CLOSE}${HOST}Host: y\r\n\r\n`, "there are several Host headers"],
    // As in request smuggling.
    ["both lengths", 400, `POST ${IAM}/groups HTTP/1.1\r\ncontent-length: 3\r\n${CHUNKED}\r\n0\r\n\r\n`, BROKEN],
  ])("%s", async (_, status, text, expected) => {
    const connection = await openConnection(api.baseUrl);
    connection.write(text);
    const [head, body] = (await connection.ended).split("\r\n\r\n") as [string, string];
    expect(head.split("\r\n")[0]).toMatch(new RegExp(`^HTTP/1.1 ${status} \\w`));
    expect(head).toMatch(/\r\nconnection: close(\r\n|$)/i);
    expect(JSON.parse(body)).toEqual(statusBody("INVALID_ARGUMENT", expected));
    const id = /\r\nx-request-id: (\S+)/.exec(head)?.[1];
    expect(id).toMatch(UUID);
    expect(requestLines()).toEqual([expect.objectContaining({ requestId: id, status })]);
  });

  test.each([
    ["reads", `GET /ping/v2beta1/ping HTTP/1.1\r\n${HOST}\r\n`],
    ["has a body", `POST ${IAM}/groups HTTP/1.1\r\n${HOST}content-length: 2\r\n\r\n{}`],
  ])("garbage after a request that %s does not change its response, which is the last", async (_, text) => {
    const connection = await openConnection(api.baseUrl);
    connection.write(`${text}nonsense\r\n\r\n`);
    const answer = await connection.ended;
    expect(answer).toMatch(text.startsWith("GET") ? /^HTTP\/1\.1 200 OK\r\n/ : /^HTTP\/1\.1 401 Unauthorized\r\n/);
    expect(answer.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
  });

  test.each(["http://other.example", "HTTP://127.0.0.1"])(
    "a target with %s before its path is that path",
    async (server) => {
      const connection = await openConnection(api.baseUrl);
      connection.write(`GET ${server}/ping/v2beta1/ping?x=1 HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`);
      expect(await connection.ended).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\{"response":"pong"\}$/s);
      expect(requestLines()).toEqual([expect.objectContaining({ path: "/ping/v2beta1/ping", status: 200 })]);
    },
  );

  test("CONNECT is refused: the server is not a proxy", async () => {
    const connection = await openConnection(api.baseUrl);
    connection.write(`CONNECT other.example:443 HTTP/1.1\r\n${HOST}\r\n`);
    expect(await connection.ended).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\n/);
    expect(requestLines()).toHaveLength(1);
  });

  test("a client that goes away in the middle of its body is logged, but not as a failure, and creates nothing", async () => {
    const half = `${postHead(`${IAM}/groups/${api.organization}`, api.owner.token, 100)}{"name":`;
    const socket = await openSocket(api.baseUrl);
    socket.write(half, () => socket.destroy());
    const message = expect.stringContaining("the client closed the connection");
    await expect.poll(requestLines).toMatchObject([{ level: "info", status: 499, message }]);
    expect((await api.ok("GET", `${IAM}/groups`)).totalCount).toBe("1");
  });

  test("a reset connection has no response and no log line", async () => {
    const socket = await openSocket(api.baseUrl);
    await new Promise<void>((resolve) => socket.write("GET / HT", () => resolve()));
    socket.resetAndDestroy();
    await api.ok("GET", `${IAM}/groups`);
    expect(requestLines()).toHaveLength(1);
  });
});

const idOf = async (given: string | string[]) => {
  const answer = await api.call("GET", `${IAM}/groups`, { headers: { "x-request-id": given } });
  return answer.headers["x-request-id"];
};

test.each(["a.b_C-9", "x".repeat(64)])("a client's own x-request-id is accepted: %s", async (given) => {
  expect(await idOf(given)).toBe(given);
  expect(requestLines()).toEqual([expect.objectContaining({ requestId: given })]);
});

test.each<[reason: string, given: string | string[]]>([
  ["as long as a token", "x".repeat(65)],
  ["with a space", "a b"],
  ["with a byte outside ASCII", "caf\u00e9"],
  ["given twice", ["a", "b"]],
])("a client's own x-request-id is replaced when it is %s", async (_, given) => {
  expect(await idOf(given)).toMatch(UUID);
});

test("every log line of a request has its id: the cause of a refusal, the decision of the exchange", async () => {
  const headers = { "x-request-id": "refused-1" };
  await api.call("GET", `${IAM}/groups`, { token: null, headers });
  await api.call("GET", "/sts/exchange", { token: "no.token.really", headers: { "x-request-id": "refused-2" } });
  const lines = api.log.map((line) => JSON.parse(line)).map(({ event, requestId }) => `${event} ${requestId}`);
  expect(lines).toEqual([
    "unauthenticated refused-1",
    "request refused-1",
    "sts.exchange refused-2",
    "request refused-2",
  ]);
});

describe("the log", () => {
  test("is one line of JSON for each request, with its id, method, path, operation, status and time", async () => {
    const query = { page_size: 7, order_by: "name", "uidp.children_of": api.organization, token: "x" };
    await api.call("GET", `${IAM}/groups`, { query, headers: { "x-request-id": "run-1" } });
    await api.call("PATCH", `${IAM}/groups/${api.organization}`, {
      body: { description: "d", name: "dev" },
      query: { updateMask: "description" },
      headers: { "x-request-id": "run-2" },
    });
    await api.call("GET", "/nowhere", { headers: { "x-request-id": "run-3" } });
    const time = new Date(START_MS).toISOString();
    const common = { time, level: "info", event: "request", ms: expect.any(Number) };
    const [list, update] = [`${IAM}/groups`, `${IAM}/groups/${api.organization}`];
    const { token: _, ...shown } = { ...query, page_size: "7" };
    const masked = { query: { updateMask: "description" }, fields: "name,description", status: 200 };
    expect(api.log.map((line) => JSON.parse(line))).toEqual(
      [
        { requestId: "run-1", method: "GET", path: list, operation: "ListGroups", query: shown, status: 200 },
        { requestId: "run-2", method: "PATCH", path: update, operation: "UpdateGroup", ...masked },
        {
          requestId: "run-3",
          method: "GET",
          path: "/nowhere",
          status: 404,
          message: "Not found: there is no /nowhere",
        },
      ].map((line) => ({ ...common, ...line })),
    );
    for (const line of api.log) expect(line.endsWith("\n") && line.indexOf("\n") === line.length - 1).toBe(true);
  });

  test("has the cause of an UNAUTHENTICATED, which the caller does not see", async () => {
    const api = await serve();
    const causes = async (token: string | null) => {
      api.log.length = 0;
      await api.call("GET", `${IAM}/groups`, { token });
      return api.log.map((line) => JSON.parse(line)).find(({ event }) => event === "unauthenticated")?.reason;
    };
    expect(await causes(null)).toBe("no Authorization header");
    expect(await causes("a b")).toBe("the Authorization header is not one bearer token");
    expect(await causes(await api.identityToken("owner"))).toBe("iss is not ours");
    const { uid, token } = await api.actor("gone");
    // Used: the server does not verify its signature again.
    expect(await causes(token)).toBeUndefined();
    await api.ok("DELETE", `${IAM}/identities/${uid}`);
    expect(await causes(token)).toBe("the identity of the token was deleted");
    api.clock.advance(60 * 60 * 1000);
    expect(await causes(api.owner.token)).toBe("exp has passed");
  });

  test("is text for people without --json, in which no value looks like an event", () => {
    const lines: string[] = [];
    const log = createLog({ level: "info", json: false, clock: () => START_MS, write: (line) => lines.push(line) });
    log("info", "request", { path: "/x", status: 200, message: "two\n00:00:00 error forged\r\u001b[2J\u009b" });
    log("debug", "hidden");
    expect(lines).toEqual([
      "12:54:21 info  request path=/x status=200 message=two\n    00:00:00 error forged\\u000d\\u001b[2J\\u009b\n",
    ]);
  });
});
