import { createPrivateKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createSigner, generateKey, jwksViolation, unauthenticated } from "../../../../server/sts/index.ts";
import { MAX_TOKEN_BYTES } from "../../../../server/sts/token/compact.ts";
import { NOON_MS } from "../../../harness/clock.ts";
import {
  ANYONE,
  API,
  API_KEY,
  AUTH_URL,
  CONSOLE,
  createService,
  DEV_KEY,
  GROUP,
  identity,
  NOW,
  ORG,
  OTHER_RSA,
  payloadOf,
  RSA,
  sign,
  UID,
  UNAUTHENTICATED,
} from "../../../harness/sts.ts";
import { signatureBytes, signWithLeadingZero, withSignature } from "../../../support/signature.ts";

const clock = () => NOON_MS;
const ours = createSigner({ clock, keys: [API_KEY] });
const claims = (changes: Record<string, unknown> = {}) => ({
  iss: AUTH_URL,
  sub: UID,
  aud: API,
  iat: NOW,
  exp: NOW + 3600,
  ...changes,
});

const withoutZero = (alg: string): string => {
  const key = createPrivateKey({ key: API_KEY.privateJwk, format: "jwk" });
  const token = signWithLeadingZero((jti) => claims({ jti }), key, { alg, kid: API_KEY.kid });
  return withSignature(token, signatureBytes(token).subarray(1));
};

describe("an API token", () => {
  it.each<[string, { aud?: string | string[]; exp?: number; iat?: number }]>([
    ["for the base address", {}],
    ["for another of our audiences", { aud: CONSOLE }],
    ["for ours among others", { aud: ["x", API] }],
    ["that ends in a second", { exp: NOW + 1 }],
    ["from before the clock was set back by a minute", { iat: NOW + 60 }],
  ])("is accepted %s", async (_, changes) => {
    const token = await ours.sign(claims(changes));
    const expiresAtMs = (changes.exp ?? NOW + 3600) * 1000;
    expect(await createService([]).sts.verifyApiToken(token)).toEqual({ subject: UID, expiresAtMs });
  });

  it.each<[string, () => string | Promise<string>]>([
    ["empty", () => ""],
    ["no token", () => "token"],
    ["from the development issuer's key", () => createSigner({ clock, keys: [DEV_KEY] }).sign(claims())],
    ["from a stranger's key by our key's name", () => sign(claims(), RSA, { kid: API_KEY.kid })],
    ["with a signature without its leading zero byte", () => withoutZero("RS256")],
    ["with another alg's signature without its leading zero byte", () => withoutZero("PS256")],
    ["without a kid", () => sign(claims(), RSA, { kid: undefined })],
    ["of another alg", () => sign(claims(), OTHER_RSA, { alg: "PS256", kid: API_KEY.kid })],
    ["of another issuer", () => ours.sign(claims({ iss: `${AUTH_URL}/` }))],
    ["of the development issuer", () => ours.sign(claims({ iss: `${AUTH_URL}/dev-issuer` }))],
    ["for no audience", () => ours.sign(claims({ aud: undefined }))],
    ["for another audience", () => ours.sign(claims({ aud: [`${API}/`, AUTH_URL] }))],
    ["at its end", () => ours.sign(claims({ exp: NOW }))],
    ["without an end", () => ours.sign(claims({ exp: undefined }))],
    ["without a beginning", () => ours.sign(claims({ iat: undefined }))],
    ["from the future", () => ours.sign(claims({ iat: NOW + 61 }))],
    ["for later", () => ours.sign(claims({ nbf: NOW }))],
    ["for longer than an hour", () => ours.sign(claims({ exp: NOW + 3601 }))],
    ["with a text as its end", () => ours.sign(claims({ exp: "9999999999" }))],
    ["of a subject that is no uid", () => ours.sign(claims({ sub: "me" }))],
    ["with limits that are no list", () => ours.sign(claims({ internal: { scopes: ORG } }))],
    ["with limits that are no bits", () => ours.sign(claims({ internal: { cap: ["groups.list"] } }))],
    ["with limits that are cut", () => ours.sign(claims({ internal: { cap: "AAAA" } }))],
  ])("is refused when it is %s, with the text of every refusal", async (_, token) => {
    const refused = createService([]).sts.verifyApiToken(await token());
    await expect(refused).rejects.toMatchObject(UNAUTHENTICATED);
    await expect(refused).rejects.toHaveProperty("cause", expect.any(Error));
  });

  it("ends by the clock that is passed in", async () => {
    const { sts, clock } = createService([]);
    const token = await ours.sign(claims());
    clock.advance(3_600_000 - 1);
    expect(await sts.verifyApiToken(token)).toMatchObject({ subject: UID });
    clock.advance(1);
    await expect(sts.verifyApiToken(token)).rejects.toMatchObject(UNAUTHENTICATED);
  });

  it("is refused with one character changed, whichever it is", async () => {
    const { sts } = createService([]);
    const token = await ours.sign(claims());
    for (const [i, character] of [...token].entries()) {
      const changed = token.slice(0, i) + (character === "A" ? "B" : "A") + token.slice(i + 1);
      await expect(sts.verifyApiToken(changed)).rejects.toMatchObject(UNAUTHENTICATED);
    }
  });

  it("is refused with the text for a missing one", () => {
    expect(unauthenticated()).toMatchObject(UNAUTHENTICATED);
  });

  it("fits in a header, however many groups its identity is bound in, with the roots first", async () => {
    const groups = Array.from({ length: 1000 }, (_, i) => `${GROUP}/${i.toString(16).padStart(16, "0")}`);
    const capabilitiesOf = () => new Map([...groups, ORG].map((group) => [group, new Set(["CAP_TERMS_LIST"])]));
    const { sts } = createService([], { capabilitiesOf });
    const bearer = (await sts.devIssuer?.mint({ subject: "me" })) ?? "";
    const { token = "" } = await sts.exchange({ identity: ANYONE }, bearer);
    const groupUids = Object.keys(payloadOf(token).cap as object);
    expect(groupUids.slice(0, 2)).toEqual([ORG, groups[0]]);
    expect(groupUids.length).toBeGreaterThan(20);
    expect(token.length).toBeLessThan(MAX_TOKEN_BYTES / 2);
  });
});

describe("a signer", () => {
  const older = { ...generateKey(NOON_MS - 1), kid: "older" };

  it("publishes public keys only, named by their thumbprint", () => {
    const jwks = createService([]).sts.jwks() as { keys: object[] };
    expect(jwks).toEqual({
      keys: [{ kty: "RSA", n: API_KEY.privateJwk.n, e: "AQAB", kid: API_KEY.kid, alg: "RS256", use: "sig" }],
    });
    expect(API_KEY.kid).toMatch(/^[\w-]{43}$/);
    expect(jwksViolation(JSON.stringify(jwks))).toBeUndefined();
  });

  it("generates a key when none is stored", () => {
    expect(createSigner({ clock }).jwks().keys).toHaveLength(1);
  });

  it.each([
    ["no key", [], "a signer needs a key"],
    ["a name twice", [API_KEY, { ...older, kid: API_KEY.kid }], "two signing keys have the same kid"],
    [
      "an elliptic key",
      [{ kid: "ec", createdMs: 0, privateJwk: { kty: "EC", crv: "P-256", x: "", y: "", d: "" } }],
      "Invalid JWK EC key",
    ],
  ])("is not made of %s", (_, keys, message) => {
    expect(() => createSigner({ clock, keys })).toThrow(message);
  });
});

describe("a token of an operator", () => {
  const twin = createService([], { operators: true }).sts;
  const { sts: other } = createService([]);

  it("names its identity, or none, and is one for a twin alone", async () => {
    const [own, nobody] = [await twin.mintOperator(UID), await twin.mintOperator(undefined)];
    const expiresAtMs = NOON_MS + 3_600_000;
    expect(await twin.verifyApiToken(own)).toEqual({ subject: UID, expiresAtMs, isOperator: true });
    expect(await twin.verifyApiToken(nobody)).toEqual({ subject: "", expiresAtMs, isOperator: true });
    expect(await other.verifyApiToken(own)).toEqual({ subject: UID, expiresAtMs });
    await expect(other.verifyApiToken(nobody)).rejects.toMatchObject(UNAUTHENTICATED);
  });

  it("comes from no exchange: a claim of the workload's token is not taken over", async () => {
    const keys = { issuer: "https://keys.example", subject: "s", issuerKeys: JSON.stringify({ keys: [RSA.jwk] }) };
    const { sts } = createService([identity({ staticKeys: keys })], { operators: true });
    const upstream = {
      ...claims({ iss: keys.issuer, sub: keys.subject, aud: AUTH_URL }),
      internal: { operator: true },
    };
    const { token } = await sts.exchange({ identity: UID }, await sign(upstream));
    expect(await sts.verifyApiToken(token ?? "")).toEqual({ subject: UID, expiresAtMs: NOON_MS + 3_600_000 });
  });
});
