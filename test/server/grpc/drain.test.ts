// The end of a server on the gRPC wire: calls under way are answered, idle connections get GOAWAY, new ones are refused, and ten
// seconds are the limit.
import { once } from "node:events";
import { afterEach, describe, expect, test, vi } from "vitest";
import { DRAIN_MS } from "../../../server/index.ts";
import { atEnd, openGrpc, serve } from "../../harness/api-server.ts";
import { grpcMethodOf } from "../../support/grpc.ts";
import { startHeldIssuer } from "../../support/held-issuer.ts";
import { openHttp2 } from "../../support/http2.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** A server that is busy with an exchange, which asks an issuer that does not answer yet. */
const busy = async () => {
  const api = await serve();
  const held = await startHeldIssuer(api);
  atEnd(held.close);
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
  const ping = grpcMethodOf("Ping").path;
  const stream = session.request({ ":method": "POST", ":path": ping, "content-type": "application/grpc" });
  stream.end(Buffer.alloc(5));
  await once(stream.resume(), "close");
  const goaway = once(session, "goaway");
  await api.close();
  const [code] = await goaway;
  expect(code).toBe(0);
  await (session.closed ? undefined : once(session, "close"));
});

test("a new connection is refused while a call is under way", async () => {
  const server = await busy();
  const closed = server.api.close();
  const late = openGrpc(server.api.baseUrl);
  expect(await late.call("Ping", {})).toMatchObject({ code: 14 });
  server.held.release();
  await Promise.all([closed, server.answer]);
});

test("a new call on an open connection is refused while a call is under way", async () => {
  const server = await busy();
  const closed = server.api.close();
  expect(await server.grpc.call("Ping", {})).toMatchObject({ code: 14 });
  server.held.release();
  expect(await server.answer).toMatchObject({ code: 0 });
  await closed;
});

describe("a call that does not end", () => {
  test("is cut off after ten seconds", async () => {
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
