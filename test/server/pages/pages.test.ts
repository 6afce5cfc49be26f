// The pages of our issuer (OpenID Connect Discovery 1.0, RFC 7517) and of the development issuer (docs/internals/contract.md#d33), and the
// result of `createServer`. The page at `/`, as text; test/interop/pages.test.ts opens it in a browser.
import { createRemoteJWKSet, jwtVerify } from "jose";
import { describe, expect, test } from "vitest";
import { createServer, type RunningServer, ServerOptionsError } from "../../../server/index.ts";
import { homeDocument } from "../../../server/pages/home-document.ts";
import type { Sts } from "../../../server/sts/index.ts";
import { atEnd, openHttp, serve, sharedKeys, type TestServer } from "../../harness/api-server.ts";
import { manualClock, START_MS } from "../../harness/clock.ts";
import { createService, NOW, payloadOf } from "../../harness/sts.ts";
import { expectInvalid } from "../../support/refusal.ts";

const api = await serve();

test.each([
  ["our issuer", () => api.authUrl, () => sharedKeys().signer],
  ["the development issuer", () => api.issuer, () => sharedKeys().devSigner],
])("discovery of %s names itself and its keys, which are only public", async (_, issuer, signer) => {
  const path = issuer().slice(api.authUrl.length);
  expect((await api.call("GET", `${path}/.well-known/openid-configuration`, { token: null })).json).toEqual({
    issuer: issuer(),
    jwks_uri: `${issuer()}/.well-known/jwks.json`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  });
  const keys = await api.call("GET", `${path}/.well-known/jwks.json`, { token: null });
  expect(keys.json).toEqual(signer().jwks());
  for (const key of keys.json.keys) expect(Object.keys(key).toSorted()).toEqual(["alg", "e", "kid", "kty", "n", "use"]);
});

/** As a standard client does it: discovery, key set, signature, issuer, audience, times. */
const relyingParty = async (server: TestServer) => {
  const discovery = await fetch(`${server.authUrl}/.well-known/openid-configuration`);
  const { issuer, jwks_uri: uri } = (await discovery.json()) as { issuer: string; jwks_uri: string };
  const keys = createRemoteJWKSet(new URL(uri));
  return (token: string) =>
    jwtVerify(token, keys, { issuer, audience: server.baseUrl, currentDate: new Date(server.clock()) });
};

test("an independent relying party (jose) verifies an API token of one hour, and reads its identity and capabilities", async () => {
  const verify = await relyingParty(api);
  const { payload, protectedHeader } = await verify(await api.token(api.identity, { subject: "owner" }));
  expect(protectedHeader).toMatchObject({ alg: "RS256", kid: sharedKeys().signer.jwks().keys[0]?.kid });
  expect(payload).toMatchObject({ sub: api.identity, cap: { [api.organization]: expect.any(String) } });
  expect((payload.exp as number) - (payload.iat as number)).toBe(3600);
});

describe("the development issuer", () => {
  const mint = (body: unknown) => api.call("POST", "/dev-issuer/token", { token: null, body });

  test.each([
    ["for our exchange, for an hour", {}, { aud: api.authUrl }, 3600],
    ["for an audience, a lifetime", { audience: "a", lifetimeSeconds: 60 }, { aud: "a" }, 60],
    ["for several, with claims", { audience: ["a", "b"], claims: { r: "m" } }, { aud: ["a", "b"], r: "m" }, 3600],
  ])("mints for any caller, %s, by its own clock", async (_, options, claims, lifetime) => {
    const { json } = await mint({ subject: "s", ...options });
    const iat = Math.floor(START_MS / 1000);
    const times = { iat, exp: iat + lifetime };
    expect(payloadOf(json.token)).toEqual({ iss: api.issuer, sub: "s", ...claims, ...times, jti: expect.any(String) });
    expect(Object.keys(json)).toEqual(["token"]);
  });

  test.each([
    ["arrays", "[", "", "]"],
    ["objects", '{"a":', "0", "}"],
  ])("mints claims of a hundred levels of %s, and refuses deeper ones", async (_, open, inside, close) => {
    const mintNested = (levels: number) =>
      mint(`{"subject":"s","claims":{"x":${open.repeat(levels - 1)}${inside}${close.repeat(levels - 1)}}}`);
    expect((await mintNested(100)).status).toBe(200);
    for (const levels of [101, 5_000, 100_000])
      expectInvalid(await mintNested(levels), { claims: "must not be nested in more than 100 levels" });
  });

  const AUDIENCE = "must be a string, or a list of strings, none of them empty";
  test.each<[string, unknown, string, string]>([
    ["no subject", {}, "subject", "is required"],
    ["more than a day", { subject: "s", lifetimeSeconds: 86_401 }, "lifetimeSeconds", "must be at most 86400"],
    ["an empty list of audiences", { subject: "s", audience: [] }, "audience", AUDIENCE],
    ["a field that does not exist", { subject: "s", colour: "red" }, "colour", "there is no such field here"],
    ["a list", [], "", "the body must be a JSON object"],
    ["a field that appears twice", '{"subject":"a","subject":"b"}', "subject", "must be given once"],
  ])("refuses %s with the API's error", async (_, body, field, description) => {
    expectInvalid(await mint(body), { [field]: description });
  });
});

test("createServer needs no options: it listens on a free port of loopback, and returns its addresses and close", async () => {
  const server = await createServer();
  atEnd(server.close);
  expect(Object.keys(server).toSorted()).toEqual([
    ...["anyone", "authUrl", "baseUrl", "close", "localAuthUrl", "localUrl", "rotateKeys", "tokenOf"],
  ]);
  expect(server.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(server.authUrl).toBe(server.baseUrl);
});

test.each(["0.0.0.0", "::", "192.168.1.7", "example.com"])(
  "createServer refuses dev on %s, and listens nowhere",
  async (host) => {
    const text = `the development issuer mints tokens for anyone who reaches it, so --dev is refused on ${host}; leave out --host`;
    await expect(createServer({ dev: true, host })).rejects.toThrow(new ServerOptionsError(text));
  },
);

type Minted = Parameters<NonNullable<Sts["devIssuer"]>["mint"]>[0];
const mintBy = async (input: Minted) => payloadOf(await createService([]).sts.devIssuer?.mint(input));

test.each<[string, object, object]>([
  ["exp", { exp: NOW - 60 }, { exp: NOW - 60, iat: NOW - 60 }],
  ["exp and iat", { exp: NOW + 60, iat: NOW + 30 }, { exp: NOW + 60, iat: NOW + 30 }],
  ["nbf", { nbf: NOW + 600 }, { nbf: NOW + 600, iat: NOW, exp: NOW + 3600 }],
  ["iss", { iss: "https://other.example" }, { iss: "https://other.example" }],
  ["jti", { jti: "1" }, { jti: "1" }],
  ["an exp that is not a time", { exp: "soon" }, { exp: "soon", iat: NOW }],
])("the development issuer, in process, writes %s of the claims", async (_, claims, expected) => {
  expect(await mintBy({ subject: "me", claims: { ...claims } })).toMatchObject(expected);
});

const EXP = "claims.exp: must not be given with a lifetime";
test.each([
  ["no subject", { subject: "" }, "subject: is required"],
  ["a lifetime of NaN", { subject: "me", lifetimeSeconds: NaN }, "lifetimeSeconds: must be a number of seconds"],
  ["a claim sub beside the subject", { subject: "me", claims: { sub: "evil" } }, "claims.sub: is given as subject"],
  ["a claim aud beside the audience", { subject: "me", claims: { aud: "a" } }, "claims.aud: is given as audience"],
  ["a claim exp", { subject: "me", lifetimeSeconds: 1, claims: { exp: 1 } }, EXP],
])("the development issuer, in process, refuses %s", async (_, input, text) => {
  await expect(mintBy(input)).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: `Invalid argument: ${text}`,
  });
});

const start = async (options: Parameters<typeof createServer>[0]): Promise<RunningServer> => {
  const server = await createServer({ clock: manualClock(), keys: sharedKeys(), ...options });
  atEnd(server.close);
  return server;
};

const get = async (url: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(url, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

const tokenIn = (html: string): string | undefined => /data-token="([^"]+)"/.exec(html)?.[1];

describe("with --dev", async () => {
  const server = await start({ dev: true });

  test("shows the addresses, the organization and its owner", async () => {
    const { status, headers, text } = await get(`${server.baseUrl}/`);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(text).toContain(`<dt>API</dt><dd><code>${server.baseUrl}</code></dd>`);
    expect(text).toContain(`<dt>gRPC</dt><dd><code>${new URL(server.baseUrl).host}</code></dd>`);
    expect(text).toContain(`${server.authUrl}/sts/exchange`);
    expect(text).toContain(`<dt>Organization</dt><dd><code>${server.organization}</code></dd>`);
    expect(text).toContain(`<dt>Owner</dt><dd><code>${server.identity}</code></dd>`);
  });

  test("has a token of the owner that the API accepts", async () => {
    const token = tokenIn((await get(`${server.baseUrl}/`)).text);
    const { status } = await get(`${server.baseUrl}/iam/v2beta1/groups/${server.organization}`, {
      authorization: `Bearer ${token}`,
    });
    expect(status).toBe(200);
  });

  test("loads nothing from another host, and forbids it", async () => {
    const { headers, text } = await get(`${server.baseUrl}/`);
    const loaded = [...text.matchAll(/(?:src|rel="(?:stylesheet|icon)" href)="([^"]+)"/g)].map(([, url]) => url);
    expect(loaded).toEqual([
      "data:,",
      "/assets/swagger-ui.css",
      "/assets/home.css",
      "/assets/swagger-ui.js",
      "/assets/home.js",
    ]);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  });

  test.each([
    ["/assets/swagger-ui.css", "text/css; charset=utf-8"],
    ["/assets/home.css", "text/css; charset=utf-8"],
    ["/assets/swagger-ui.js", "text/javascript; charset=utf-8"],
    ["/assets/home.js", "text/javascript; charset=utf-8"],
  ])("serves %s as %s", async (path, type) => {
    const { status, headers, text } = await get(`${server.baseUrl}${path}`);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe(type);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(text.length).toBeGreaterThan(500);
  });

  test("shows neither token nor organization to a browser that names another host, as after DNS rebinding", async () => {
    const client = openHttp(server.baseUrl);
    const { status, text } = await client.send({ method: "GET", target: "/", headers: { host: "evil.example" } });
    expect(status).toBe(200);
    expect(tokenIn(text)).toBeUndefined();
    expect(text).not.toContain(server.organization as string);
  });

  test("answers HEAD without a body, and no methods except GET and HEAD", async () => {
    const head = await fetch(`${server.baseUrl}/`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect((await fetch(`${server.baseUrl}/`, { method: "POST" })).status).toBe(404);
  });

  test("has no token once its owner is deleted", async () => {
    const own = await start({ dev: true });
    const token = tokenIn((await get(`${own.baseUrl}/`)).text);
    const url = `${own.baseUrl}/iam/v2beta1/identities/${own.identity}`;
    expect((await fetch(url, { method: "DELETE", headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    const { status, text } = await get(`${own.baseUrl}/`);
    expect([status, tokenIn(text)]).toEqual([200, undefined]);
  });
});

test("shows neither token nor organization without --dev", async () => {
  const { baseUrl } = await start({});
  const { status, text } = await get(`${baseUrl}/`);
  expect(status).toBe(200);
  expect(text).toContain(`<dt>API</dt><dd><code>${baseUrl}</code></dd>`);
  expect(tokenIn(text)).toBeUndefined();
  expect(text).not.toContain("<dt>Organization</dt>");
});

test("escapes the values that it shows", () => {
  const html = homeDocument({
    baseUrl: "http://127.0.0.1:1",
    authUrl: `http://127.0.0.1:1/"><script>`,
    organization: "<b>&'",
  });
  expect(html).not.toContain('"><script>');
  expect(html).toContain("&lt;b&gt;&amp;&#39;");
});
