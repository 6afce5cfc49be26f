// The pages of our issuer (OpenID Connect Discovery 1.0, RFC 7517) and of the development issuer (decision 33), and what
// `createServer` gives.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServer, ServerOptionsError } from "../../server/index.ts";
import { badRequest, expectRefusal } from "../support/refusal.ts";
import { IAM, START_MS, sharedKeys, startServer, type TestServer } from "../support/server.ts";

let api: TestServer;
beforeAll(async () => {
  api = await startServer();
});
afterAll(() => api.close());

describe("discovery", () => {
  test.each([
    ["our issuer", () => api.authUrl, () => sharedKeys().signer],
    ["the development issuer", () => api.issuer, () => sharedKeys().devSigner],
  ])("of %s names itself and its keys, which are public and nothing more", async (_, issuer, signer) => {
    const path = issuer().slice(api.authUrl.length);
    const answer = await api.call("GET", `${path}/.well-known/openid-configuration`, { token: null });
    expect(answer.json).toEqual({
      issuer: issuer(),
      jwks_uri: `${issuer()}/.well-known/jwks.json`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    });
    const keys = await api.call("GET", `${path}/.well-known/jwks.json`, { token: null });
    expect(keys.json).toEqual(signer().jwks());
    for (const key of keys.json.keys)
      expect(Object.keys(key).toSorted()).toEqual(["alg", "e", "kid", "kty", "n", "use"]);
  });

  test("keys of the two issuers are not the same", () => {
    expect(sharedKeys().signer.jwks()).not.toEqual(sharedKeys().devSigner.jwks());
  });
});

describe("the development issuer", () => {
  const mint = (body: unknown) => api.call("POST", "/dev-issuer/token", { token: null, body });

  test("mints for anyone who asks, for an hour, as its own clock says", async () => {
    const { json } = await mint({
      subject: "s",
      audience: ["a", "b"],
      claims: { ref: "main", iss: "https://evil.example" },
    });
    const claims = JSON.parse(Buffer.from(json.token.split(".")[1], "base64url").toString());
    const iat = Math.floor(START_MS / 1000);
    expect(claims).toEqual({
      iss: api.issuer,
      sub: "s",
      aud: ["a", "b"],
      ref: "main",
      iat,
      exp: iat + 3600,
      jti: expect.any(String),
    });
    expect(Object.keys(json)).toEqual(["token"]);
  });

  test.each([
    ["no subject", {}, "subject"],
    ["an empty subject", { subject: "" }, "subject"],
    ["a subject that is no text", { subject: 7 }, "subject"],
    ["a life of more than a day", { subject: "s", lifetimeSeconds: 86_401 }, "lifetimeSeconds"],
    ["a life of no time", { subject: "s", lifetimeSeconds: 0 }, "lifetimeSeconds"],
    ["an empty list of audiences", { subject: "s", audience: [] }, "audience"],
    ["a list", [], ""],
    ["no JSON", "subject=s", ""],
  ])("refuses %s", async (_, body, field) => {
    const answer = await mint(body);
    const { description } = answer.json.details[1].fieldViolations[0];
    const text = field ? `${field}: ${description}` : description;
    expectRefusal(answer, "INVALID_ARGUMENT", text, { details: [badRequest([field, description])] });
  });
});

describe("createServer", () => {
  test("needs no options: it listens on a free port of loopback and gives its addresses and its end", async () => {
    const server = await createServer();
    expect(Object.keys(server).toSorted()).toEqual(["anyone", "authUrl", "baseUrl", "close", "rotateKeys"]);
    expect(server.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(server.authUrl).toBe(server.baseUrl);
    await server.close();
  });

  test.each(["0.0.0.0", "::", "192.168.1.7", "example.com"])("refuses dev on %s, and listens nowhere", async (host) => {
    const text = `the development issuer mints tokens for anyone who reaches it, so --dev is refused on ${host}; leave out --host`;
    await expect(createServer({ dev: true, host })).rejects.toThrow(new ServerOptionsError(text));
  });

  test.each([
    ["its address", (url: string) => url],
    ["another name of loopback", (url: string) => url.replace("127.0.0.1", "localhost")],
  ])("takes tokens for %s as audience", async (_, name) => {
    const answer = await api.exchange(await api.identityToken("owner"), {
      aud: name(api.baseUrl),
      identity: api.identity,
    });
    expect(answer.status, answer.text).toBe(200);
    expect((await api.call("GET", `${IAM}/groups`, { token: answer.json.token })).status).toBe(200);
  });
});
