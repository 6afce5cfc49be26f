// The must-refuse list of the exchange (faults, section 2.1): one row, one test. Each asserts the answer, the reason in the
// audit line, that nobody was seen, and where the list says so that nothing was connected to.
import { createHmac } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import type { Identity } from "../../../schema/index.ts";
import {
  API,
  AUTH_URL,
  base64url,
  claimsFrom,
  createService,
  DENIED,
  ec,
  expectDenied,
  identity,
  NOW,
  OTHER_RSA,
  RSA,
  SUBJECT,
  sign,
  startIssuer,
  UID,
  UNAUTHENTICATED,
} from "./fixture.ts";

const EC = ec("ec-1", "P-256");
const issuer = await startIssuer([RSA, EC]);
afterAll(() => issuer.close());

const claims = (changes: Record<string, unknown> = {}) => claimsFrom(issuer.url, changes);
const trusting = (claimMatch: Identity["claimMatch"] = { issuer: issuer.url, subject: SUBJECT }) =>
  identity({ claimMatch });

/** Denied, for this reason; answers how many connections were made meanwhile. */
const denied = async (bearer: string, reason: string, record = trusting()) => {
  const before = issuer.connections();
  await expectDenied(bearer, reason, record);
  return issuer.connections() - before;
};

type Row = [row: number, what: string, bearer: () => string | Promise<string>, reason: string];

const unsigned = (header: unknown, payload: unknown, signature = "c2ln") =>
  `${base64url(header)}.${base64url(payload)}.${signature}`;

const hmac = (secret: string) => {
  const signed = `${base64url({ alg: "HS256", kid: "rsa-1" })}.${base64url(claims())}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
};

const withoutNetwork: Row[] = [
  [1, "alg none", () => unsigned({ alg: "none" }, claims()), "token_header"],
  [1, "alg None", () => unsigned({ alg: "None" }, claims()), "token_header"],
  [1, "alg none and no signature", () => unsigned({ alg: "none" }, claims(), ""), "token_shape"],
  [1, "no alg", () => unsigned({}, claims()), "token_header"],
  [1, "an alg inherited by name", () => unsigned('{"__proto__":{"alg":"RS256"}}', claims()), "token_header"],
  [1, "a list of algs", () => unsigned({ alg: ["RS256"] }, claims()), "token_header"],
  [1, "an empty signature", async () => `${(await sign(claims())).split(".").slice(0, 2).join(".")}.`, "token_shape"],
  [2, "HS256 with the public key in PEM", () => hmac(pem()), "token_header"],
  [2, "HS256 with the public key in JSON", () => hmac(JSON.stringify(RSA.jwk)), "token_header"],
  [4, "a kid that is a path", () => sign(claims(), RSA, { kid: "../../dev/null" }), "token_header"],
  [4, "a kid that is SQL", () => sign(claims(), RSA, { kid: "x' UNION SELECT 'key" }), "token_header"],
  [4, "a kid that is no text", () => sign(claims(), RSA, { kid: 1 as unknown as string }), "token_header"],
  [4, "an overlong kid", () => sign(claims(), RSA, { kid: "k".repeat(256) }), "token_header"],
  [5, "an unknown crit", () => sign(claims(), RSA, { crit: ["urn:test"], "urn:test": true }), "token_header"],
  [5, "an empty crit", () => unsigned({ alg: "RS256", crit: [] }, claims()), "token_header"],
  [6, "no aud", () => sign(claims({ aud: undefined })), "token_claims"],
  [6, "an empty aud", () => sign(claims({ aud: "" })), "token_claims"],
  [6, "an empty list of auds", () => sign(claims({ aud: [] })), "token_claims"],
  [6, "a number as aud", () => sign(claims({ aud: 1 })), "token_claims"],
  [6, "a number beside our aud", () => sign(claims({ aud: [AUTH_URL, 1] })), "token_claims"],
  [6, "hundreds of auds", () => sign(claims({ aud: new Array(21).fill(AUTH_URL) })), "token_claims"],
  [11, "an issuer with a slash behind", () => sign(claims({ iss: `${issuer.url}/` })), "issuer"],
  [11, "an issuer over https", () => sign(claims({ iss: issuer.url.replace("http", "https") })), "issuer"],
  [
    11,
    "an issuer by another name",
    () => sign(claims({ iss: issuer.url.replace("127.0.0.1", "localhost") })),
    "issuer",
  ],
  [11, "an issuer with a path", () => sign(claims({ iss: `${issuer.url}/tenant` })), "issuer"],
  ...[
    "https://ISSUER.example",
    "HTTPS://issuer.example",
    "https://issuer.example:443",
    "https://user@issuer.example",
    "https://issuer.example/a/../b",
    "https://issuer.example/%2e%2e/b",
    "https://issuer.example//b",
    "https://issuer.example\\b",
    "https://issuer.example?a=b",
    "https://issuer.example?",
    "https://issuer.example#a",
    "https://issuеr.example",
    "http://issuer.example",
    "ftp://issuer.example",
    "issuer.example",
    "https://2130706433",
    "https://0177.0.0.1",
    "https://127.1",
    " https://issuer.example",
    `https://issuer.example/${"a".repeat(255)}`,
    "",
  ].map((iss): Row => [11, `the issuer «${iss.slice(0, 40)}»`, () => sign(claims({ iss })), "token_claims"]),
  [11, "no issuer", () => sign(claims({ iss: undefined })), "token_claims"],
  [11, "a list of issuers", () => sign(claims({ iss: [issuer.url] })), "token_claims"],
  [24, "a claim twice", () => sign(JSON.stringify(claims()).replace("{", '{"sub":"evil",')), "token_claims"],
  [
    24,
    "a claim twice, once escaped",
    () => sign(JSON.stringify(claims()).replace("{", '{"\\u0073ub":"evil",')),
    "token_claims",
  ],
  [
    24,
    "a name twice inside a claim",
    () => sign(JSON.stringify(claims({ a: 1 })).replace('"a":1', '"a":{"b":1,"b":1}')),
    "token_claims",
  ],
  [24, "alg twice", () => unsigned('{"alg":"none","alg":"RS256"}', claims()), "token_header"],
  [25, "NUL in the subject", () => sign(claims({ sub: `${SUBJECT}\0` })), "token_claims"],
  [25, "a newline in the subject", () => sign(claims({ sub: `${SUBJECT}\n` })), "token_claims"],
  [25, "a change of direction in the subject", () => sign(claims({ sub: `\u202e${SUBJECT}` })), "token_claims"],
  [25, "a zero-width space in the subject", () => sign(claims({ sub: `${SUBJECT}\u200b` })), "token_claims"],
  [
    25,
    "half a character in the subject",
    () => sign(JSON.stringify(claims({ sub: "x" })).replace('"x"', '"\\ud800"')),
    "token_claims",
  ],
  [25, "an overlong subject", () => sign(claims({ sub: "s".repeat(256) })), "token_claims"],
  [25, "an overlong audience", () => sign(claims({ aud: [AUTH_URL, "a".repeat(256)] })), "token_claims"],
  [25, "an escape in the audience", () => sign(claims({ aud: [AUTH_URL, "\u001b[2J"] })), "token_claims"],
  [25, "no subject", () => sign(claims({ sub: undefined })), "token_claims"],
  [
    25,
    "bytes that are not UTF-8",
    () => `${base64url({ alg: "RS256" })}.${Buffer.from('{"iss":"\xff"}', "latin1").toString("base64url")}.c2ln`,
    "token_claims",
  ],
  [25, "a byte order mark", () => sign(`\ufeff${JSON.stringify(claims())}`), "token_claims"],
  [30, "an encrypted token", async () => `${await sign(claims())}.c2ln.c2ln`, "token_shape"],
  [30, "the header of an encrypted token", () => unsigned({ alg: "RS256", enc: "A256GCM" }, claims()), "token_header"],
  [30, "a compressed payload", () => unsigned({ alg: "RS256", zip: "DEF" }, claims()), "token_header"],
  [30, "typ JWE", () => sign(claims(), RSA, { typ: "JWE" }), "token_header"],
  [30, "typ of a proof", () => sign(claims(), RSA, { typ: "dpop+jwt" }), "token_header"],
  [30, "a token inside a token", async () => sign(await sign(claims())), "token_claims"],
  [30, "a payload that is a list", () => sign("[]"), "token_claims"],
  [30, "a detached payload", async () => (await sign(claims())).replace(/\..*\./, ".."), "token_shape"],
  [30, "an unencoded payload", () => unsigned({ alg: "RS256", b64: false }, claims()), "token_header"],
  [30, "a token of more than 16 KiB", () => sign(claims({ big: "x".repeat(16_384) })), "token_shape"],
  [30, "white space before", async () => ` ${await sign(claims())}`, "token_shape"],
  [30, "a newline behind", async () => `${await sign(claims())}\n`, "token_shape"],
  [30, "padding", async () => `${await sign(claims())}=`, "token_shape"],
  [30, "base64 of the other alphabet", async () => `${await sign(claims())}+/`, "token_shape"],
  [30, "a last character with bits to spare", async () => nonCanonical(await sign(claims())), "token_shape"],
  [30, "one part", () => "token", "token_shape"],
  [30, "dots", () => "..", "token_shape"],
];

const pem = () => RSA.publicKey.export({ type: "spki", format: "pem" }).toString();

// 256 bytes are 342 characters, of which the last carries two bits: any other two behind them decode to the same bytes.
const nonCanonical = (token: string) => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = alphabet.indexOf(token.at(-1) as string);
  return token.slice(0, -1) + alphabet[last + 1];
};

describe("refused without a connection", () => {
  it.each(withoutNetwork)("row %i: %s", async (_row, _what, bearer, reason) => {
    expect(await denied(await bearer(), reason)).toBe(0);
  });
});

const withNetwork: Row[] = [
  [
    1,
    "a signature of zeros",
    async () => `${(await sign(claims())).replace(/[^.]*$/, "")}${"A".repeat(342)}`,
    "signature",
  ],
  [2, "another key by the issuer's name of one", () => sign(claims(), OTHER_RSA, { kid: "rsa-1" }), "signature"],
  [3, "an alg that is not the key's", () => sign(claims(), RSA, { kid: "ec-1" }), "key"],
  [3, "a curve that is not the key's", () => sign(claims(), ec("ec-1", "P-384"), { alg: "ES384" }), "key"],
  [4, "a key that the issuer does not have", () => sign(claims(), OTHER_RSA), "key"],
  [6, "another aud", () => sign(claims({ aud: "https://elsewhere.example" })), "audience"],
  [6, "a list without our aud", () => sign(claims({ aud: ["a", "b"] })), "audience"],
  [6, "our aud and more", () => sign(claims({ aud: `${AUTH_URL}.evil.example` })), "audience"],
  [6, "a part of our aud", () => sign(claims({ aud: AUTH_URL.slice(0, -1) })), "audience"],
  [6, "our aud with a slash behind", () => sign(claims({ aud: `${API}/` })), "audience"],
  [8, "no exp", () => sign(claims({ exp: undefined })), "times"],
  [8, "exp as a text", () => sign(claims({ exp: String(NOW + 300) })), "times"],
  [8, "exp null, as NaN is written", () => sign(claims({ exp: Number.NaN })), "times"],
  [8, "exp 1e308", () => sign(JSON.stringify(claims({ exp: 0 })).replace('"exp":0', '"exp":1e308')), "times"],
  [8, "exp 1e999", () => sign(JSON.stringify(claims({ exp: 0 })).replace('"exp":0', '"exp":1e999')), "times"],
  [8, "exp before the epoch", () => sign(claims({ exp: -1, iat: undefined })), "times"],
  [9, "nbf in a while", () => sign(claims({ nbf: NOW + 61 })), "times"],
  [9, "nbf as a text", () => sign(claims({ nbf: "0" })), "times"],
  [9, "iat in a while", () => sign(claims({ iat: NOW + 61 })), "times"],
  [9, "iat behind exp", () => sign(claims({ iat: NOW + 30, exp: NOW + 29 })), "times"],
  [10, "a life of more than a day", () => sign(claims({ iat: NOW, exp: NOW + 86_401 })), "times"],
  [10, "more than a day left and no iat", () => sign(claims({ iat: undefined, exp: NOW + 86_401 })), "times"],
  [25, "a look-alike of the subject", () => sign(claims({ sub: SUBJECT.replace("a", "а") })), "subject"],
  [33, "another subject", () => sign(claims({ sub: "repo:evil/app" })), "subject"],
];

describe("refused by what is verified", () => {
  it.each(withNetwork)("row %i: %s", async (_row, _what, bearer, reason) => {
    await denied(await bearer(), reason);
  });

  it.each([
    ["exp a moment within the leeway", { exp: NOW - 59, iat: NOW - 600 }],
    ["nbf and iat at the end of the leeway", { nbf: NOW + 60, iat: NOW + 60 }],
    ["a life of a day", { iat: NOW, exp: NOW + 86_400 }],
    ["neither iat nor nbf", { iat: undefined }],
    ["our aud among others", { aud: ["other", API] }],
    ["the bare host as aud", { aud: "issuer.irm.example" }],
  ])("but taken with %s", async (_, changes) => {
    const { sts } = createService([trusting()]);
    expect(await sts.exchange({ identity: UID }, await sign(claims(changes)))).toHaveProperty("token");
  });
});

describe("row 4: a key that the token brings along", () => {
  it.each(["jwk", "jku", "x5u", "x5c"])("in %s is not looked at", async (name) => {
    const attacker = await startIssuer([OTHER_RSA]);
    const certificate = OTHER_RSA.publicKey.export({ type: "spki", format: "der" }).toString("base64");
    const values = { jwk: OTHER_RSA.jwk, jku: `${attacker.url}/jwks`, x5u: attacker.url, x5c: [certificate] };
    const header = { kid: "rsa-1", [name]: values[name as keyof typeof values] };
    await denied(await sign(claims(), OTHER_RSA, header), "signature");
    expect(attacker.connections()).toBe(0);
    await attacker.close();
    const { sts } = createService([trusting()]);
    expect(await sts.exchange({ identity: UID }, await sign(claims(), RSA, header))).toHaveProperty("token");
  });
});

describe("row 7: a token in the wrong place", () => {
  it("of the API is not exchanged again, whatever the identity's pattern", async () => {
    const { sts, events } = createService([trusting({ issuerPattern: ".*", subjectPattern: ".*" })]);
    const { token = "" } = await sts.exchange({ identity: UID }, await sign(claims()));
    await expect(sts.exchange({ identity: UID }, token)).rejects.toMatchObject(DENIED);
    expect(events).toMatchObject([{ decision: "granted" }, { decision: "denied", reason: "own_issuer" }]);
  });

  it("of a workload is not accepted by the API", async () => {
    const { sts } = createService([trusting()]);
    await expect(sts.verifyApiToken(await sign(claims({ aud: API })))).rejects.toMatchObject(UNAUTHENTICATED);
  });
});

describe("a token of which one character is changed", () => {
  it("is refused, whichever it is", async () => {
    const { sts, events } = createService([trusting()]);
    const token = await sign(claims());
    expect(await sts.exchange({ identity: UID }, token)).toHaveProperty("token");
    for (const [i, character] of [...token].entries()) {
      const changed = token.slice(0, i) + (character === "A" ? "B" : "A") + token.slice(i + 1);
      await expect(sts.exchange({ identity: UID }, changed)).rejects.toMatchObject(DENIED);
    }
    expect(events.filter(({ decision }) => decision === "granted")).toHaveLength(1);
  });
});
