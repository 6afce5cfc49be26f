// Rows 1 to 5 and 30: attacks by the header and the shape of a token.
import { createHmac } from "node:crypto";
import { base64url, ec, NOW, OTHER_RSA, RSA, sign } from "../../../harness/sts.ts";
import { signatureBytes, signWithLeadingZero, withSignature } from "../../../support/signature.ts";
import { KEYS, type Row, signed, type Target, type TokenRow, tokenRow } from "./target.ts";

const unsignedToken = (header: unknown, payload: unknown, signature = "c2ln") =>
  `${base64url(header)}.${base64url(payload)}.${signature}`;

const hmac = ({ claims }: Target, secret: string) => {
  const signed = `${base64url({ alg: "HS256", kid: "rsa-1" })}.${base64url(claims())}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
};

const pem = RSA.publicKey.export({ type: "spki", format: "pem" }).toString();
const der = OTHER_RSA.publicKey.export({ type: "spki", format: "der" }).toString("base64");

// 256 bytes are 342 characters, of which the last carries two bits: any other two behind them decode to the same bytes.
const nonCanonical = (token: string) => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = alphabet.indexOf(token.at(-1) as string);
  return token.slice(0, -1) + alphabet[last + 1];
};

// A good token in another spelling, which OpenSSL accepts of RSA-PSS (RFC 8017 section 8.1.2).
const zero =
  (alg: keyof typeof KEYS_BY_ALGORITHM, change: (signature: Buffer) => Buffer): Row["bearer"] =>
  ({ claims }) => {
    const { privateKey, kid } = KEYS_BY_ALGORITHM[alg];
    const token = signWithLeadingZero((jti) => claims({ jti }), privateKey, { alg, kid });
    return withSignature(token, change(signatureBytes(token)));
  };
const KEYS_BY_ALGORITHM = { PS256: RSA, PS512: RSA, RS256: RSA, ES256: KEYS.P256, ES512: KEYS.P521, EdDSA: KEYS.ED };
const withoutZero = (signature: Buffer) => signature.subarray(1);
const withTwo = (signature: Buffer) => Buffer.concat([Buffer.alloc(1), signature]);

/** With a signature that nobody made. */
const UNSIGNED: [row: number, what: string, header: unknown][] = [
  [1, "alg none", { alg: "none" }],
  [1, "alg None", { alg: "None" }],
  [1, "alg NONE", { alg: "NONE", kid: "rsa-1" }],
  [1, "no alg", {}],
  [1, "an alg inherited by name", '{"__proto__":{"alg":"RS256"}}'],
  [1, "a list of algs", { alg: ["RS256"] }],
  [5, "an empty crit", { alg: "RS256", crit: [] }],
  [24, "alg twice", '{"alg":"none","alg":"RS256"}'],
  [30, "the header of an encrypted token", { alg: "RS256", enc: "A256GCM" }],
  [30, "a compressed payload", { alg: "RS256", zip: "DEF" }],
  [30, "an unencoded payload", { alg: "RS256", b64: false }],
];

/** A good token in another spelling. */
const RESPELT: [row: number, what: string, respell: (token: string) => string, reason?: string, on?: Row["onWire"]][] =
  [
    [1, "an empty signature", (token) => token.replace(/[^.]*$/, "")],
    [1, "a signature of zeros", (token) => token.replace(/[^.]*$/, "A".repeat(342)), "signature"],
    [30, "an encrypted token", (token) => `${token}.c2ln.c2ln`],
    [30, "a detached payload", (token) => token.replace(/\..*\./, "..")],
    [30, "white space before", (token) => ` ${token}`, "token_shape", "UNAUTHENTICATED"],
    [30, "white space inside", (token) => token.replace(".", " ."), "token_shape", "UNAUTHENTICATED"],
    [30, "a newline behind", (token) => `${token}\n`, "token_shape", "unsendable"],
    [30, "padding", (token) => `${token}=`],
    [30, "base64 of the other alphabet", (token) => `${token}+/`],
    [30, "a last character with bits to spare", nonCanonical],
  ];

const RSA_1 = { kid: "rsa-1" };
const ROWS: TokenRow[] = [
  ...UNSIGNED.map(
    ([row, what, header]): TokenRow => [row, what, ({ claims }) => unsignedToken(header, claims()), "token_header"],
  ),
  ...RESPELT.map(
    ([row, what, respell, reason = "token_shape", on]): TokenRow => [
      row,
      what,
      async ({ claims }) => respell(await sign(claims())),
      reason,
      on,
    ],
  ),
  [1, "alg none and no signature", ({ claims }) => unsignedToken({ alg: "none" }, claims(), ""), "token_shape"],
  ...(["PS256", "PS512", "RS256", "ES256", "ES512", "EdDSA"] as const).map(
    (alg): TokenRow => [1, `a signature without its leading zero byte, ${alg}`, zero(alg, withoutZero), "signature"],
  ),
  ...(["PS256", "RS256", "ES256", "EdDSA"] as const).map(
    (alg): TokenRow => [1, `a signature behind a zero byte too many, ${alg}`, zero(alg, withTwo), "signature"],
  ),
  [2, "HS256 with the public key in PEM", (target) => hmac(target, pem), "token_header"],
  [2, "HS256 with the public key in JSON", (target) => hmac(target, JSON.stringify(RSA.jwk)), "token_header"],
  [2, "another key by the issuer's name of one", signed({}, OTHER_RSA, RSA_1), "signature"],
  [2, "the same, expired", signed({ iat: NOW - 600, exp: NOW - 300 }, OTHER_RSA, RSA_1), "signature"],
  [3, "an alg that is not the key's", signed({}, RSA, { kid: "ec-256" }), "key"],
  [3, "a curve that is not the key's", signed({}, ec("ec-256", "P-384"), { alg: "ES384" }), "key"],
  [3, "EdDSA by the name of an RSA key", signed({}, KEYS.ED, { alg: "EdDSA", ...RSA_1 }), "key"],
  [4, "a kid that is a path", signed({}, RSA, { kid: "../../dev/null" }), "token_header"],
  [4, "a kid that is SQL", signed({}, RSA, { kid: "x' UNION SELECT 'key" }), "token_header"],
  [4, "a kid that is no text", signed({}, RSA, { kid: 1 }), "token_header"],
  [4, "an overlong kid", signed({}, RSA, { kid: "k".repeat(256) }), "token_header"],
  [4, "a key that the issuer does not have", signed({}, OTHER_RSA), "key"],
  ...[
    { jwk: OTHER_RSA.jwk },
    { jku: "https://attacker.example/jwks" },
    { jku: "http://127.0.0.1:9/jwks" },
    { x5u: "https://attacker.example/certificate" },
    { x5c: [der] },
  ].map(
    (own): TokenRow => [
      4,
      `a key that the token brings along in ${JSON.stringify(own).slice(0, 40)}`,
      signed({}, OTHER_RSA, { ...RSA_1, ...own }),
      "signature",
    ],
  ),
  [5, "an unknown crit", signed({}, RSA, { crit: ["urn:test"], "urn:test": true }), "token_header"],
  [30, "typ JWE", signed({}, RSA, { typ: "JWE" }), "token_header"],
  [30, "typ of a proof", signed({}, RSA, { typ: "dpop+jwt" }), "token_header"],
  [30, "a token inside a token", async ({ claims }) => sign(await sign(claims())), "token_claims"],
  [30, "a payload that is a list", () => sign("[]"), "token_claims"],
  [30, "a token of more than 16 KiB", ({ claims }) => sign(claims({ big: "x".repeat(16_384) })), "token_shape"],
  [30, "one part", () => "token", "token_shape"],
  [30, "dots", () => "..", "token_shape"],
];

export const headerRows: Row[] = ROWS.map(tokenRow);
