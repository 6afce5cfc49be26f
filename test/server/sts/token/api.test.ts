import { createPrivateKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { capabilityBits, type ExchangeRequest } from "../../../../schema/index.ts";
import { createSigner, generateKey, jwksViolation } from "../../../../server/sts/index.ts";
import { MAX_TOKEN_BYTES, ownValue, parseStrictJson } from "../../../../server/sts/token/compact.ts";
import { limitGrants } from "../../../../server/sts/token/limit.ts";
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
  rsa,
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
    ["of another issuer, as a workload's is (row 7)", () => ours.sign(claims({ iss: `${AUTH_URL}/` }))],
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

  it("is refused with one character changed, whichever it is", async () => {
    const { sts } = createService([]);
    const token = await ours.sign(claims());
    for (const [i, character] of [...token].entries()) {
      const changed = token.slice(0, i) + (character === "A" ? "B" : "A") + token.slice(i + 1);
      await expect(sts.verifyApiToken(changed)).rejects.toMatchObject(UNAUTHENTICATED);
    }
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

const WEAK = rsa("weak", 1024).privateKey.export({ format: "jwk" });
const older = { ...generateKey(NOON_MS - 1), kid: "older" };

it("a signer publishes public keys only, named by their thumbprint", () => {
  const jwks = createService([]).sts.jwks() as { keys: object[] };
  expect(jwks).toEqual({
    keys: [{ kty: "RSA", n: API_KEY.privateJwk.n, e: "AQAB", kid: API_KEY.kid, alg: "RS256", use: "sig" }],
  });
  expect(API_KEY.kid).toMatch(/^[\w-]{43}$/);
  expect(jwksViolation(JSON.stringify(jwks))).toBeUndefined();
});

it("a signer generates a key when none is stored", () => expect(createSigner({ clock }).jwks().keys).toHaveLength(1));

it.each([
  ["no key", [], "a signer needs a key"],
  ["a key of 1024 bits", [{ ...older, privateJwk: WEAK }], "the signing key older is not an RSA key of 2048 bits"],
  ["a name twice", [API_KEY, { ...older, kid: API_KEY.kid }], "two signing keys have the same kid"],
  ["a curve", [{ ...older, privateJwk: { kty: "EC", crv: "P-256", x: "", y: "", d: "" } }], "Invalid JWK EC key"],
])("a signer is not made of %s", (_, keys, message) => expect(() => createSigner({ clock, keys })).toThrow(message));

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

// The server does not verify a signature again.
describe("a token that was verified before is refused", async () => {
  const signer = ours;
  const token = await ours.sign(claims());
  const { sts: before } = createService([], { signer });
  expect(await before.verifyApiToken(token)).toMatchObject({ subject: UID });

  it.each([
    ["with the key of another signer", { signer: createSigner({ clock }) }],
    ["at another issuer", { authUrl: "https://other.irm.example" }],
    ["for another audience", { audiences: ["https://other.irm.example"] }],
  ])("%s", async (_, options) => {
    const { sts } = createService([], { signer, ...options });
    await expect(sts.verifyApiToken(token)).rejects.toMatchObject(UNAUTHENTICATED);
  });

  it("once its key has ended", async () => {
    let hasEnded = false;
    const publicKey = (kid: string) => (hasEnded ? undefined : signer.publicKey(kid));
    const { sts } = createService([], { signer: { ...signer, publicKey } });
    expect(await sts.verifyApiToken(token)).toMatchObject({ subject: UID });
    expect(await sts.verifyApiToken(token)).toMatchObject({ subject: UID });
    hasEnded = true;
    await expect(sts.verifyApiToken(token)).rejects.toMatchObject(UNAUTHENTICATED);
  });

  it("with its own signature on other claims, or another signature on its claims", async () => {
    const [head, own, signature] = token.split(".");
    const [, otherClaims, otherSignature] = (await signer.sign(claims({ exp: NOW + 3599 }))).split(".");
    for (const changed of [`${head}.${otherClaims}.${signature}`, `${head}.${own}.${otherSignature}`])
      await expect(before.verifyApiToken(changed)).rejects.toMatchObject(UNAUTHENTICATED);
  });
});

it("the JSON of a token is refused in bytes that are not UTF-8", () => {
  expect(() => parseStrictJson(Buffer.from('"\xff"', "latin1"))).toThrow(new TypeError("not UTF-8"));
});

it("ownValue reads what the object itself has", () => {
  const object = JSON.parse('{"__proto__":"x"}');
  expect([ownValue(object, "__proto__"), ownValue(object, "constructor"), ownValue(object, "toString")]).toEqual([
    "x",
    undefined,
    undefined,
  ]);
});

// Limits only remove grants, and reveal nothing (docs/internals/faults.md#row-27).
const LIST = "CAP_IAM_GROUPS_LIST";
const CREATE = "CAP_IAM_GROUPS_CREATE";
const ROLES = "CAP_IAM_ROLES_LIST";
const OTHER = "0475f6ba00000000000000000000000000005b60";
const heldCapabilities = () =>
  new Map([
    [ORG, new Set([LIST, CREATE])],
    [GROUP, new Set([ROLES])],
  ]);
const bits = (grants: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(grants).map(([group, names]) => [group, capabilityBits(names)]));

const exchange = async (request: ExchangeRequest) => {
  const records = [identity({})];
  const { sts } = createService(records, { capabilitiesOf: heldCapabilities });
  records[0] = identity({ claimMatch: { issuer: "https://issuer.irm.example/dev-issuer", subject: "ci" } });
  const bearer = (await sts.devIssuer?.mint({ subject: "ci" })) ?? "";
  const { token = "" } = await sts.exchange({ identity: UID, ...request }, bearer);
  return { cap: payloadOf(token).cap, claims: await sts.verifyApiToken(token) };
};

it("the limits of an exchange are absent by default", async () => {
  const { cap, claims } = await exchange({ cap: [], scope: "", scopes: [] });
  expect(cap).toEqual(bits({ [ORG]: [LIST, CREATE], [GROUP]: [ROLES] }));
  expect(claims).not.toHaveProperty("capabilities");
  expect(claims).not.toHaveProperty("scopes");
});

const BOTH = [GROUP, ORG];
const ALL = { [ORG]: [LIST, CREATE], [GROUP]: [ROLES] };
const LISTS = ["groups.list", "roles.list"];
const LISTED = { capabilities: new Set([LIST, ROLES]), scopes: [GROUP] };
it.each<[string, ExchangeRequest, Record<string, string[]>, object]>([
  ["one capability of two", { cap: ["groups.list"] }, { [ORG]: [LIST] }, { capabilities: new Set([LIST]) }],
  ["one that is not held", { cap: ["repo.create"] }, {}, { capabilities: new Set(["CAP_REPO_CREATE"]) }],
  ["one that does not exist", { cap: ["no.such"] }, {}, { capabilities: new Set() }],
  ["one of two", { cap: ["no.such", "roles.list"] }, { [GROUP]: [ROLES] }, { capabilities: new Set([ROLES]) }],
  ["a scope and what is below it", { scopes: [ORG] }, ALL, { scopes: [ORG] }],
  ["a scope that inherits", { scopes: [GROUP] }, { [GROUP]: [LIST, CREATE, ROLES] }, { scopes: [GROUP] }],
  ["a scope in the old spelling", { scope: GROUP }, { [GROUP]: [LIST, CREATE, ROLES] }, { scopes: [GROUP] }],
  ["both spellings and one twice", { scope: GROUP, scopes: BOTH }, ALL, { scopes: BOTH }],
  ["another tenant's scope", { scopes: [OTHER] }, {}, { scopes: [OTHER] }],
  ["a scope that is not a uid", { scopes: ["*"] }, {}, { scopes: [] }],
  ["capabilities and a scope", { cap: LISTS, scopes: [GROUP] }, { [GROUP]: [LIST, ROLES] }, LISTED],
])("the limits of an exchange limit the token to %s", async (_, request, cap, limits) => {
  const token = await exchange(request);
  expect(token.cap).toEqual(bits(cap));
  expect(token.claims).toMatchObject({ subject: UID, ...limits });
});

it("the limits of an exchange are at most fifty scopes", async () => {
  const scopes = Array.from({ length: 51 }, (_, i) => `${ORG}/${i.toString(16).padStart(16, "0")}`);
  await expect(exchange({ scopes })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: "Invalid argument: scopes: must have at most 50 uids",
    fieldViolations: [{ field: "scopes", description: "must have at most 50 uids" }],
  });
  expect((await exchange({ scopes: scopes.slice(1) })).claims.scopes).toHaveLength(50);
});

const grants = new Map([
  ["foo", new Set(["rb1"])],
  ["foo/bar", new Set(["rb2"])],
]);

it.each<[string[], Record<string, string[]>]>([
  [["foo", "foo/bar"], { foo: ["rb1"], "foo/bar": ["rb2"] }],
  [["foo/bar"], { "foo/bar": ["rb1", "rb2"] }],
  [["foo"], { foo: ["rb1"], "foo/bar": ["rb2"] }],
  [["foo/bar/baz", "foo/qux"], { "foo/bar/baz": ["rb1", "rb2"], "foo/qux": ["rb1"] }],
  [["fo", "foo/ba", "foobar"], { "foo/ba": ["rb1"] }],
  [[], {}],
])("limitGrants, from the published example on scopes %j", (scopes, expected) => {
  expect(limitGrants(grants, { scopes })).toEqual(
    new Map(Object.entries(expected).map(([scope, names]) => [scope, new Set(names)])),
  );
});
