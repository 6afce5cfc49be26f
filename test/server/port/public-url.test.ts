// The address that clients use differs from the one that the server listens on: behind a proxy, in a container.
import { afterAll, describe, expect, test } from "vitest";
import { createLog } from "../../../server/base/log.ts";
import { createServer, parseSeed, type RunningServer, ServerOptionsError } from "../../../server/index.ts";
import { openGrpc, openHttp, ownKeys, sharedKeys, signedToken } from "../../harness/api-server.ts";
import { START_MS } from "../../harness/clock.ts";
import { payloadOf } from "../../harness/sts.ts";
import type { createHttpClient } from "../../support/http.ts";
import { expectInvalid } from "../../support/refusal.ts";
import { type ReverseProxy, startReverseProxy } from "../../support/reverse-proxy.ts";

const clock = () => START_MS;

describe("behind a proxy with its own name", async () => {
  const PUBLIC = "https://irm.example.com";
  const AUTH = "https://issuer.irm.example.com";
  let proxy: ReverseProxy;
  let server: RunningServer;
  let rest: ReturnType<typeof createHttpClient>;

  proxy = await startReverseProxy(() => server.localUrl);
  const keys = {
    issuer: "https://ci.example.com",
    subject: "job",
    issuerKeys: ownKeys(),
  };
  const seed = parseSeed(
    JSON.stringify({
      organization: { name: "acme" },
      identities: [{ name: "ci", staticKeys: keys }],
      bindings: [{ identity: "ci", role: "owner" }],
    }),
    "seed.yaml",
  );
  server = await createServer({ publicUrl: `${PUBLIC}/`, publicAuthUrl: AUTH, seed, clock, keys: sharedKeys() });
  rest = openHttp(proxy.url);
  const grpc = openGrpc(proxy.grpcUrl);
  const workload: string = await signedToken({ iss: keys.issuer, sub: "job", aud: AUTH });
  afterAll(async () => {
    await Promise.all([proxy.close(), server.close()]);
  });

  const get = (target: string, token?: string, host = "irm.example.com") =>
    rest.send({ method: "GET", target, headers: { host, ...(token && { authorization: `Bearer ${token}` }) } });

  test("the server returns the public addresses, and where it listens", () => {
    expect(server).toMatchObject({ baseUrl: PUBLIC, authUrl: AUTH });
    expect(server.localUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(server.localAuthUrl).toBe(server.localUrl);
  });

  test("the discovery document names them", async () => {
    expect((await get("/.well-known/openid-configuration", undefined, "issuer.irm.example.com")).json).toMatchObject({
      issuer: AUTH,
      jwks_uri: `${AUTH}/.well-known/jwks.json`,
    });
  });

  test("a token is exchanged over REST for the public audience, and calls the API on both wires", async () => {
    const { status, json, text } = await get(`/sts/exchange?aud=${PUBLIC}`, workload);
    expect(status, text).toBe(200);
    expect(payloadOf(json.token)).toMatchObject({ iss: AUTH, aud: PUBLIC });
    expect((await get("/iam/v2beta1/groups", json.token)).json.groups).toMatchObject([{ name: "acme" }]);
    expect((await grpc.call("ListGroups", {}, { token: json.token })).json.groups).toMatchObject([{ name: "acme" }]);
  });

  test("the listening address is not an audience", async () => {
    const description = `must be ${PUBLIC}`;
    expectInvalid(await get(`/sts/exchange?aud=${server.localUrl}`, workload), { aud: description });
  });
});

describe("with dev, behind a proxy on this machine", async () => {
  let proxy: ReverseProxy;
  let server: Awaited<ReturnType<typeof start>>;
  let rest: ReturnType<typeof createHttpClient>;
  const start = () => createServer({ dev: true, publicUrl: proxy.url, clock, keys: sharedKeys() });
  afterAll(async () => {
    await Promise.all([proxy.close(), server.close()]);
  });
  const mint = (host: string) =>
    rest.send({ method: "POST", target: "/dev-issuer/token", headers: { host }, body: '{"subject":"owner"}' });

  proxy = await startReverseProxy(() => server.localUrl);
  server = await start();
  rest = openHttp(proxy.url);

  test("the development issuer is at the public address, and its tokens are exchanged there", async () => {
    const { host } = new URL(proxy.url);
    expect(server.issuer).toBe(`${proxy.url}/dev-issuer`);
    const { token: workload } = (await mint(host)).json;
    expect(payloadOf(workload)).toMatchObject({ iss: server.issuer, aud: proxy.url });
    const headers = { host, authorization: `Bearer ${workload}` };
    const target = `/sts/exchange?aud=${proxy.url}&identity=${server.identity}`;
    const { token } = (await rest.send({ method: "GET", target, headers })).json;
    expect(payloadOf(token)).toMatchObject({ iss: proxy.url, aud: proxy.url });
    const page = await rest.send({ method: "GET", target: "/", headers: { host } });
    expect(page.text).toContain(`export IRM_BASE_URL=${proxy.url}`);
  });
});

const ORIGIN =
  "takes the scheme, host and port that clients use, and nothing after them, such as https://irm.example.com";

const [AUTH_ALONE, ONE_OF_TWO, DEV] = [
  "--public-auth-url needs --public-url: clients use both addresses",
  "--public-url needs --public-auth-url where --auth-port gives the exchange its own port",
  "the development issuer mints tokens for anyone who reaches it, so --dev is refused with the public address https://irm.example.com; use a name of loopback, or leave out --dev",
] as const;
test.each<[string, object, string]>([
  ["no URL", { publicUrl: "irm example" }, `--public-url ${ORIGIN}`],
  ["no scheme", { publicUrl: "irm.example.com" }, "--public-url has no scheme; write https://irm.example.com"],
  ["a path", { publicUrl: "https://example.com/irm" }, `--public-url ${ORIGIN}`],
  ["a password, which is not repeated", { publicUrl: "https://ann:secret@example.com" }, `--public-url ${ORIGIN}`],
  ["an address of the exchange alone", { publicAuthUrl: "https://b.example" }, AUTH_ALONE],
  ["two ports and one address", { publicUrl: "https://a.example", authPort: 0 }, ONE_OF_TWO],
  ["dev beyond loopback", { dev: true, publicUrl: "https://irm.example.com" }, DEV],
])("options that cannot be served are refused: %s", async (_, options, text) => {
  await expect(createServer(options)).rejects.toThrow(new ServerOptionsError(text));
});

test("a server on every address without a public one logs where clients can sign in", async () => {
  const lines: string[] = [];
  const log = createLog({ level: "warn", json: false, clock, write: (line) => lines.push(line) });
  const server = await createServer({ host: "0.0.0.0", log, keys: sharedKeys() });
  expect(lines).toEqual([
    `12:54:21 warn  address message=clients can sign in at ${server.baseUrl} only; give --public-url with the address that they use\n`,
  ]);
  await server.close();
  lines.length = 0;
  await (await createServer({ host: "0.0.0.0", publicUrl: "http://a.example", log, keys: sharedKeys() })).close();
  expect(lines).toEqual([]);
});
