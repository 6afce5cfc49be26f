// An unauthenticated caller is refused after the head of a request: the server does not wait for, read or decode the body. The
// bodies here never end, so a response shows that the server did not wait for them.
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { type Actor, IAM, serve } from "../../harness/api-server.ts";
import { HOUR_MS } from "../../harness/clock.ts";
import { grpcMethodOf } from "../../support/grpc.ts";
import { messageFrame, openHttp2 } from "../../support/http2.ts";
import { openConnection, postHead } from "../../support/socket.ts";

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
