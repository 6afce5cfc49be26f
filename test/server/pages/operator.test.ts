// The pages for the operator of the server, on every port and without a token. Pages for a developer: a browser on this
// machine does not reach them for another site, neither by a name of that site that resolves to loopback (DNS
// rebinding) nor from a page of another origin. A server without their option does not have them.
import { beforeEach, describe, expect, test } from "vitest";
import { operations } from "../../../schema/index.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { createStore } from "../../../server/store/store.ts";
import { IAM, loggedRequests, openGrpc, openHttp, serve } from "../../harness/api-server.ts";
import { scrape } from "../../harness/metrics.ts";
import { startHeldIssuer } from "../../support/held-issuer.ts";
import { expectRefusal } from "../../support/refusal.ts";

test("/healthz and /readyz answer ok on both ports where the exchange has its own, and so does /metrics", async () => {
  const api = await serve({ authPort: 0 });
  expect(api.authUrl).not.toBe(api.baseUrl);
  for (const url of [api.baseUrl, api.authUrl]) {
    const client = openHttp(url);
    for (const target of ["/healthz", "/readyz"]) {
      const { status, json } = await client.send({ method: "GET", target });
      expect({ status, json }, url).toEqual({ status: 200, json: { status: "ok" } });
      expect(await client.send({ method: "HEAD", target })).toMatchObject({ status: 200, text: "" });
    }
    expect((await client.send({ method: "GET", target: "/metrics" })).status, url).toBe(200);
  }
});

test("/healthz and /readyz distinguish a live process from a database failure, which the log has", async () => {
  const store = createStore(openDatabase(":memory:"));
  // Closed by the test below; the server closes it once more.
  const api = await serve({ store: { ...store, close: () => {} } });
  store.close();
  expect((await api.call("GET", "/healthz")).status).toBe(200);
  expectRefusal(await api.call("GET", "/readyz"), "UNAVAILABLE", "the database does not answer");
  expect(api.log.join("")).toContain("database is not open");
});

test("/healthz and /readyz are logged for debugging only, except failures", async () => {
  const api = await serve();
  api.log.length = 0;
  for (const path of ["/healthz", "/readyz", "/metrics"]) await api.call("GET", path);
  expect(api.log.map((line) => JSON.parse(line).level)).toEqual(["debug", "debug", "debug"]);
});

describe("/metrics", () => {
  test("is Prometheus text", async () => {
    const api = await serve();
    const answer = await api.call("GET", "/metrics", { token: null });
    expect(answer.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(answer.text).toMatch(/^# HELP irm_requests_total .+\n# TYPE irm_requests_total counter\n/);
    expect(answer.text.endsWith("\n")).toBe(true);
    // The request of the scrape itself.
    expect(answer.text).toContain('irm_requests_in_flight{wire="rest"} 1\n');
  });

  test("counts requests by operation, wire and code, and has their durations by operation", async () => {
    const api = await serve();
    await api.ok("GET", `${IAM}/groups`);
    await api.ok("GET", `${IAM}/groups`);
    await api.call("GET", `${IAM}/groups`, { token: null });
    await api.call("POST", `${IAM}/groups/${api.organization}`, { body: {} });
    await api.call("DELETE", `${IAM}/groups/${api.organization}`);
    const samples = await scrape(api);
    expect(Object.fromEntries([...samples].filter(([name]) => /^irm_requests_total.*Groups?"/.test(name)))).toEqual({
      'irm_requests_total{operation="ListGroups",wire="rest",code="OK"}': 2,
      'irm_requests_total{operation="ListGroups",wire="rest",code="UNAUTHENTICATED"}': 1,
      'irm_requests_total{operation="CreateGroup",wire="rest",code="INVALID_ARGUMENT"}': 1,
      'irm_requests_total{operation="DeleteGroup",wire="rest",code="FAILED_PRECONDITION"}': 1,
    });
    expect(samples.get('irm_request_duration_seconds_count{operation="ListGroups"}')).toBe(3);
    expect(samples.get('irm_request_duration_seconds_bucket{le="+Inf",operation="ListGroups"}')).toBe(3);
    expect(samples.get('irm_request_duration_seconds_sum{operation="ListGroups"}')).toBeGreaterThan(0);
  });

  test("counts gRPC calls that are answered, refused by the server or by grpc-js, and under way", async () => {
    const api = await serve();
    const grpc = openGrpc(api.baseUrl);
    await grpc.call("ListGroups", {}, { token: api.owner.token });
    await grpc.call("ListGroups", {});
    await grpc.call("GetGroup", { uid: "nope" }, { token: api.owner.token, metadata: { "x-request-id": "last" } });
    await grpc.bytes("/nobody/Nothing", Buffer.alloc(0), { metadata: { "x-request-id": "unknown" } });
    await loggedRequests(api, "last");
    await loggedRequests(api, "unknown");
    const samples = await scrape(api);
    expect(Object.fromEntries([...samples].filter(([name]) => /^irm_requests_total.*wire="grpc"/.test(name)))).toEqual({
      'irm_requests_total{operation="ListGroups",wire="grpc",code="OK"}': 1,
      'irm_requests_total{operation="ListGroups",wire="grpc",code="UNAUTHENTICATED"}': 1,
      'irm_requests_total{operation="GetGroup",wire="grpc",code="INVALID_ARGUMENT"}': 1,
      'irm_requests_total{operation="none",wire="grpc",code="UNIMPLEMENTED"}': 1,
    });
    expect(samples.get('irm_requests_in_flight{wire="grpc"}')).toBe(0);
    const held = await startHeldIssuer(api);
    const answer = grpc.call("Exchange", { aud: [api.baseUrl], identity: held.identity }, { token: held.token });
    await held.asked;
    expect((await scrape(api)).get('irm_requests_in_flight{wire="grpc"}')).toBe(1);
    held.release();
    await answer;
  });

  test("counts exchanges by the reason of their decision", async () => {
    const api = await serve();
    await api.exchange("no.token.really", { aud: api.baseUrl, identity: api.identity });
    await api.exchange(await api.identityToken("stranger"), { aud: api.baseUrl, identity: api.identity });
    const samples = await scrape(api);
    expect(Object.fromEntries([...samples].filter(([name]) => name.startsWith("irm_exchanges_total")))).toEqual({
      // The owner's token, when the test server started.
      'irm_exchanges_total{reason="granted"}': 1,
      'irm_exchanges_total{reason="token_shape"}': 1,
      'irm_exchanges_total{reason="subject"}': 1,
    });
  });

  test("has labels of the table of methods only: no path, uid or text of a caller", async () => {
    const api = await serve();
    for (const path of ["/nowhere", "/iam/v2beta1/groups/x", `${IAM}/groups/${api.organization}/0123456789abcdef`]) {
      await api.call("GET", path);
      await api.call("PUT", path);
      await api.call("GET", `${path}?operation=forged`, { headers: { "x-request-id": "forged" } });
    }
    await api.call("GET", `${IAM}/groups:checkEligibility`);
    const labels = [...(await scrape(api)).keys()].flatMap((name) => [...name.matchAll(/operation="([^"]*)"/g)]);
    const names = new Set(labels.map(([, name]) => name as string));
    expect([...names].filter((name) => name !== "none" && !(name in operations))).toEqual([]);
    expect(names).toContain("none");
    expect(names).toContain("GetGroup");
  });
});

const api = await serve({ faults: {} });
const plain = await serve({ dev: false });
const SCRIPT = { rules: [{ operation: "ListRoles" as const, steps: [{ status: 503 }] }] };
beforeEach(() => api.faults.set(SCRIPT));

const PAGES: [method: string, path: string, subject: string, body?: string][] = [
  ["POST", "/dev-issuer/token", "the development issuer is", '{"subject":"owner"}'],
  ["POST", "/dev/reset", "the reset is"],
  ["GET", "/faults", "the scripted failures are"],
  ["PUT", "/faults", "the scripted failures are", "{}"],
  ["POST", "/faults/release", "the scripted failures are"],
];

describe.each(PAGES)("%s %s", (method, path, subject, body) => {
  const send = (headers: Record<string, string>, target = path, url = api.baseUrl) =>
    openHttp(url).send({
      method,
      target,
      headers: { "content-type": "application/json", ...headers },
      ...(body && { body }),
    });
  const expectRefused = async (answer: ReturnType<typeof send>, text: string) => {
    expectRefusal(await answer, "PERMISSION_DENIED", `${subject} ${text}`);
    expect(Object.keys((await answer).headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect((await api.call("GET", "/faults")).json.faults).toEqual(SCRIPT);
  };

  test.each(["127.0.0.1", "localhost:8080", "LOCALHOST", "[::1]:1", "127.1.2.3"])("is reached at %s", async (host) => {
    expect((await send({ host })).status).toBe(200);
  });

  test.each([
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "localhost@evil.example",
    "localhost/",
    "evil.example#localhost",
  ])("is not reached at «%s»", (host) => expectRefused(send({ host }), "reached by a name of loopback only"));

  test("is not reached by a target with another host than the header", () =>
    expectRefused(send({ host: "localhost" }, `http://evil.example${path}`), "reached by a name of loopback only"));

  test.each(["https://evil.example", "null", "http://127.0.0.1:1"])("is not for pages of %s", (origin) =>
    expectRefused(send({ origin }), "not for pages of another origin"),
  );

  test("is for pages of the server itself", async () => {
    expect((await send({ origin: api.baseUrl })).status).toBe(200);
  });

  test("does not exist without its option", async () => {
    expectRefusal(await send({}, path, plain.baseUrl), "NOT_FOUND", `there is no ${path}`);
  });
});

test("a server without them has no documents of the development issuer, and no functions for the others", async () => {
  for (const name of ["openid-configuration", "jwks.json"])
    expect((await plain.call("GET", `/dev-issuer/.well-known/${name}`)).status).toBe(404);
  expect(plain.faults).toBeUndefined();
  expect(plain).not.toHaveProperty("reset");
});
