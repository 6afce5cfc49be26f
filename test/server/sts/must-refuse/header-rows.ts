// Rows 1 to 5 and 30: attacks by the header and the shape of a token.
import { createHmac } from "node:crypto";
import { base64url, ec, NOW, OTHER_RSA, RSA, sign } from "../../../harness/sts.ts";
import { createRandom } from "../../../support/random.ts";
import { signatureBytes, signWithLeadingZero, withSignature } from "../../../support/seeded-signature.ts";
import { KEYS, type Row, type Target, type TokenRow, tokenRow } from "./target.ts";

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
    const token = signWithLeadingZero(createRandom(1), (jti) => claims({ jti }), privateKey, { alg, kid });
    return withSignature(token, change(signatureBytes(token)));
  };
const KEYS_BY_ALGORITHM = { PS256: RSA, PS512: RSA, RS256: RSA, ES256: KEYS.P256, ES512: KEYS.P521, EdDSA: KEYS.ED };
const withoutZero = (signature: Buffer) => signature.subarray(1);
const withTwo = (signature: Buffer) => Buffer.concat([Buffer.alloc(1), signature]);

const ROWS: TokenRow[] = [
  [1, "alg none", ({ claims }) => unsignedToken({ alg: "none" }, claims()), "token_header"],
  [1, "alg None", ({ claims }) => unsignedToken({ alg: "None" }, claims()), "token_header"],
  [1, "alg NONE", ({ claims }) => unsignedToken({ alg: "NONE", kid: "rsa-1" }, claims()), "token_header"],
  [1, "alg none and no signature", ({ claims }) => unsignedToken({ alg: "none" }, claims(), ""), "token_shape"],
  [1, "no alg", ({ claims }) => unsignedToken({}, claims()), "token_header"],
  [
    1,
    "an alg inherited by name",
    ({ claims }) => unsignedToken('{"__proto__":{"alg":"RS256"}}', claims()),
    "token_header",
  ],
  [1, "a list of algs", ({ claims }) => unsignedToken({ alg: ["RS256"] }, claims()), "token_header"],
  [
    1,
    "an empty signature",
    async ({ claims }) => `${(await sign(claims())).split(".").slice(0, 2).join(".")}.`,
    "token_shape",
  ],
  [
    1,
    "a signature of zeros",
    async ({ claims }) => `${(await sign(claims())).replace(/[^.]*$/, "")}${"A".repeat(342)}`,
    "signature",
  ],
  ...(["PS256", "PS512", "RS256", "ES256", "ES512", "EdDSA"] as const).map(
    (alg): TokenRow => [1, `a signature without its leading zero byte, ${alg}`, zero(alg, withoutZero), "signature"],
  ),
  ...(["PS256", "RS256", "ES256", "EdDSA"] as const).map(
    (alg): TokenRow => [1, `a signature behind a zero byte too many, ${alg}`, zero(alg, withTwo), "signature"],
  ),
  [2, "HS256 with the public key in PEM", (target) => hmac(target, pem), "token_header"],
  [2, "HS256 with the public key in JSON", (target) => hmac(target, JSON.stringify(RSA.jwk)), "token_header"],
  [
    2,
    "another key by the issuer's name of one",
    ({ claims }) => sign(claims(), OTHER_RSA, { kid: "rsa-1" }),
    "signature",
  ],
  [
    2,
    "another key by the issuer's name of one, of a token that has expired",
    ({ claims }) => sign(claims({ iat: NOW - 600, exp: NOW - 300 }), OTHER_RSA, { kid: "rsa-1" }),
    "signature",
  ],
  [3, "an alg that is not the key's", ({ claims }) => sign(claims(), RSA, { kid: "ec-256" }), "key"],
  [3, "a curve that is not the key's", ({ claims }) => sign(claims(), ec("ec-256", "P-384"), { alg: "ES384" }), "key"],
  [
    3,
    "EdDSA by the name of an RSA key",
    ({ claims }) => sign(claims(), KEYS.ED, { alg: "EdDSA", kid: "rsa-1" }),
    "key",
  ],
  [4, "a kid that is a path", ({ claims }) => sign(claims(), RSA, { kid: "../../dev/null" }), "token_header"],
  [4, "a kid that is SQL", ({ claims }) => sign(claims(), RSA, { kid: "x' UNION SELECT 'key" }), "token_header"],
  [4, "a kid that is no text", ({ claims }) => sign(claims(), RSA, { kid: 1 }), "token_header"],
  [4, "an overlong kid", ({ claims }) => sign(claims(), RSA, { kid: "k".repeat(256) }), "token_header"],
  [4, "a key that the issuer does not have", ({ claims }) => sign(claims(), OTHER_RSA), "key"],
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
      ({ claims }) => sign(claims(), OTHER_RSA, { kid: "rsa-1", ...own }),
      "signature",
    ],
  ),
  [5, "an unknown crit", ({ claims }) => sign(claims(), RSA, { crit: ["urn:test"], "urn:test": true }), "token_header"],
  [5, "an empty crit", ({ claims }) => unsignedToken({ alg: "RS256", crit: [] }, claims()), "token_header"],
  [24, "alg twice", ({ claims }) => unsignedToken('{"alg":"none","alg":"RS256"}', claims()), "token_header"],
  [30, "an encrypted token", async ({ claims }) => `${await sign(claims())}.c2ln.c2ln`, "token_shape"],
  [
    30,
    "the header of an encrypted token",
    ({ claims }) => unsignedToken({ alg: "RS256", enc: "A256GCM" }, claims()),
    "token_header",
  ],
  [30, "a compressed payload", ({ claims }) => unsignedToken({ alg: "RS256", zip: "DEF" }, claims()), "token_header"],
  [30, "typ JWE", ({ claims }) => sign(claims(), RSA, { typ: "JWE" }), "token_header"],
  [30, "typ of a proof", ({ claims }) => sign(claims(), RSA, { typ: "dpop+jwt" }), "token_header"],
  [30, "a token inside a token", async ({ claims }) => sign(await sign(claims())), "token_claims"],
  [30, "a payload that is a list", () => sign("[]"), "token_claims"],
  [30, "a detached payload", async ({ claims }) => (await sign(claims())).replace(/\..*\./, ".."), "token_shape"],
  [30, "an unencoded payload", ({ claims }) => unsignedToken({ alg: "RS256", b64: false }, claims()), "token_header"],
  [30, "a token of more than 16 KiB", ({ claims }) => sign(claims({ big: "x".repeat(16_384) })), "token_shape"],
  [30, "white space before", async ({ claims }) => ` ${await sign(claims())}`, "token_shape", "UNAUTHENTICATED"],
  [
    30,
    "white space inside",
    async ({ claims }) => (await sign(claims())).replace(".", " ."),
    "token_shape",
    "UNAUTHENTICATED",
  ],
  [30, "a newline behind", async ({ claims }) => `${await sign(claims())}\n`, "token_shape", "unsendable"],
  [30, "padding", async ({ claims }) => `${await sign(claims())}=`, "token_shape"],
  [30, "base64 of the other alphabet", async ({ claims }) => `${await sign(claims())}+/`, "token_shape"],
  [30, "a last character with bits to spare", async ({ claims }) => nonCanonical(await sign(claims())), "token_shape"],
  [30, "one part", () => "token", "token_shape"],
  [30, "dots", () => "..", "token_shape"],
];

export const headerRows: Row[] = ROWS.map(tokenRow);
