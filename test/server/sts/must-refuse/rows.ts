// Rows of docs/internals/faults.md#tokens-that-must-be-refused. 1 to 5 and 30: the header and the shape of a token. 6, 8 to 11,
// 24, 25 and 33: its claims, of an identity with an exact issuer and subject. 19 to 22, 24, 28 and 29: rules of the
// identity, its patterns, further claims and static keys. 3, 11, 12, 14, 15 and 18: the documents of an issuer that an
// identity trusts, by which the server must never be sent to the host `other`.
import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import {
  base64url,
  DISCOVERY,
  ec,
  type Issuer,
  NOW,
  OTHER_RSA,
  RSA,
  rsa,
  SUBJECT,
  sign,
} from "../../../harness/sts.ts";
import type { Body } from "../../../support/http.ts";
import { signatureBytes, signWithLeadingZero, withSignature } from "../../../support/signature.ts";
import { forgedByExponentOne, rsaWith } from "../weak-key.ts";
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

const headerRows: Row[] = ROWS.map(tokenRow);

// Spellings that URL parsers and people read differently. None is an issuer, and the server connects to none.
const ISSUERS = [
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
];

type Changes = Body | ((target: Target) => Body);

const CHANGED: [row: number, what: string, changes: Changes, reason: string][] = [
  [6, "no aud", { aud: undefined }, "token_claims"],
  [6, "an empty aud", { aud: "" }, "token_claims"],
  [6, "an empty list of auds", { aud: [] }, "token_claims"],
  [6, "a number as aud", { aud: 1 }, "token_claims"],
  [6, "a number beside our aud", ({ authUrl }) => ({ aud: [authUrl, 1] }), "token_claims"],
  [6, "hundreds of auds", ({ authUrl }) => ({ aud: new Array(21).fill(authUrl) }), "token_claims"],
  [6, "another aud", { aud: "https://elsewhere.example" }, "audience"],
  [6, "a list without our aud", { aud: ["a", "b"] }, "audience"],
  [6, "our aud and more", ({ authUrl }) => ({ aud: `${authUrl}.evil.example` }), "audience"],
  [6, "a part of our aud", ({ authUrl }) => ({ aud: authUrl.slice(0, -1) }), "audience"],
  [6, "our aud with a slash behind", ({ api }) => ({ aud: `${api}/` }), "audience"],
  [6, "our aud in another case", ({ authUrl }) => ({ aud: authUrl.toUpperCase() }), "audience"],
  [8, "exp just past the leeway", { iat: NOW - 600, exp: NOW - 60 }, "expired"],
  [8, "no exp", { exp: undefined }, "times"],
  [8, "exp as a text", { exp: String(NOW + 300) }, "times"],
  [8, "exp null, as NaN is written", { exp: Number.NaN }, "times"],
  [8, "exp before the epoch", { exp: -1, iat: undefined }, "times"],
  [8, "exp as a list", { exp: [NOW + 300] }, "times"],
  [9, "nbf in a while", { nbf: NOW + 61 }, "times"],
  [9, "nbf as a text", { nbf: "0" }, "times"],
  [9, "iat in a while", { iat: NOW + 61 }, "times"],
  [9, "iat behind exp", { iat: NOW + 30, exp: NOW + 29 }, "times"],
  [10, "a life of more than a day", { iat: NOW, exp: NOW + 86_401 }, "times"],
  [10, "more than a day left and no iat", { iat: undefined, exp: NOW + 86_401 }, "times"],
  [11, "an issuer with a slash behind", ({ issuer }) => ({ iss: `${issuer.url}/` }), "issuer"],
  [11, "an issuer over https", ({ issuer }) => ({ iss: issuer.url.replace("http", "https") }), "issuer"],
  [11, "an issuer by another name", ({ issuer }) => ({ iss: issuer.url.replace("127.0.0.1", "localhost") }), "issuer"],
  [11, "an issuer with a path", ({ issuer }) => ({ iss: `${issuer.url}/tenant` }), "issuer"],
  ...ISSUERS.map((iss): (typeof CHANGED)[number] => [11, `the issuer «${iss.slice(0, 40)}»`, { iss }, "token_claims"]),
  [11, "no issuer", { iss: undefined }, "token_claims"],
  [11, "a list of issuers", ({ issuer }) => ({ iss: [issuer.url] }), "token_claims"],
  [25, "NUL in the subject", { sub: `${SUBJECT}\0` }, "token_claims"],
  [25, "a newline in the subject", { sub: `${SUBJECT}\n` }, "token_claims"],
  [25, "a change of direction in the subject", { sub: `\u202e${SUBJECT}` }, "token_claims"],
  [25, "a zero-width space in the subject", { sub: `${SUBJECT}\u200b` }, "token_claims"],
  [25, "an overlong subject", { sub: "s".repeat(256) }, "token_claims"],
  [25, "an overlong audience", ({ authUrl }) => ({ aud: [authUrl, "a".repeat(256)] }), "token_claims"],
  [25, "an escape in the audience", ({ authUrl }) => ({ aud: [authUrl, "\u001b[2J"] }), "token_claims"],
  [25, "no subject", { sub: undefined }, "token_claims"],
  [25, "a look-alike of the subject", { sub: SUBJECT.replace("a", "а") }, "subject"],
  [33, "another subject", { sub: "repo:evil/app" }, "subject"],
];

/** In texts that no library would write. */
const RESPELT_CLAIMS: [row: number, what: string, respell: (json: string) => string, reason: string][] = [
  [8, "exp 1e308", (json) => json.replace(/"exp":\d+/, '"exp":1e308'), "times"],
  [8, "exp 1e999", (json) => json.replace(/"exp":\d+/, '"exp":1e999'), "times"],
  [24, "a claim twice", (json) => json.replace("{", '{"sub":"evil",'), "token_claims"],
  [24, "a claim twice, once escaped", (json) => json.replace("{", '{"\\u0073ub":"evil",'), "token_claims"],
  [24, "a name twice inside a claim", (json) => json.replace("{", '{"a":{"b":1,"b":1},'), "token_claims"],
  [25, "half a character in the subject", (json) => json.replace(SUBJECT, "\\ud800"), "token_claims"],
  [25, "a byte order mark", (json) => `\ufeff${json}`, "token_claims"],
];

const notUtf8 = `${base64url({ alg: "RS256" })}.${Buffer.from('{"iss":"\xff"}', "latin1").toString("base64url")}.c2ln`;

const bearerWith =
  (changes: Changes): Row["bearer"] =>
  (target) =>
    sign(target.claims(typeof changes === "function" ? changes(target) : changes));

const claimRows: Row[] = [
  ...CHANGED.map(([row, what, changes, reason]) => tokenRow([row, what, bearerWith(changes), reason])),
  ...RESPELT_CLAIMS.map(([row, what, respell, reason]) =>
    tokenRow([row, what, ({ claims }) => sign(respell(JSON.stringify(claims()))), reason]),
  ),
  tokenRow([25, "bytes that are not UTF-8", () => notUtf8, "token_claims"]),
];

/** At the limits of these rows: accepted. */
const claimControls: Pick<Row, "what" | "bearer">[] = (
  [
    ["exp a moment within the leeway", { exp: NOW - 59, iat: NOW - 600 }],
    ["nbf and iat at the end of the leeway", { nbf: NOW + 60, iat: NOW + 60 }],
    ["a life of a day", { iat: NOW, exp: NOW + 86_400 }],
    ["neither iat nor nbf", { iat: undefined }],
    ["our aud among others", ({ api }) => ({ aud: ["other", api] })],
    ["the bare host as aud", ({ authUrl }) => ({ aud: new URL(authUrl).host })],
  ] as [string, Changes][]
).map(([what, changes]) => ({ what, bearer: bearerWith(changes) }));

type Fields = NonNullable<ReturnType<NonNullable<Row["relationship"]>>["claimMatch"]>;

/** Of the exact issuer, where the fields have none. */
const matching =
  (fields: Fields) =>
  ({ issuer }: Target) => ({ claimMatch: fields.issuerPattern ? fields : { issuer: issuer.url, ...fields } });

const PATTERNS: [row: number, pattern: string, subject: string][] = [
  [19, "repo:org/app", "xrepo:org/app-evil"],
  [19, "repo:org/app", "repo:org/app-evil"],
  [19, "repo:org/app", "xrepo:org/app"],
  [20, "a|b", "evil-b"],
  [20, "a|b", "a-evil"],
  [21, "^(a+)+$", `${"a".repeat(100)}!`],
  [21, "(.*)*b", "a".repeat(255)],
  [22, "repo:org/app\\.js", "repo:org/appxjs"],
];

// 24: only strings and booleans compare, own properties only.
const wanted = { env: "prod", protected: "true", "a.b": "c", constructor: "x" };
const given = { env: "prod", protected: true, "a.b": "c", constructor: "x", ref: "refs/heads/main" };
const withClaims = matching({ subject: SUBJECT, claims: wanted, claimPatterns: { ref: "refs/heads/(main|next)" } });
const CLAIMS: [what: string, changes: Body, invalid: string][] = [
  ["is missing", { env: undefined }, "env"],
  ["is null", { env: null }, "env"],
  ["is a list", { env: ["prod"] }, "env"],
  ["is an object", { env: { prod: true } }, "env"],
  ["is nested", { env: undefined, claims: { env: "prod" } }, "env"],
  ["is a path into an object", { "a.b": undefined, a: { b: "c" } }, "a.b"],
  ["is a number", { protected: 1 }, "protected"],
  ["is another boolean", { protected: false }, "protected"],
  ["is of another case", { env: "Prod" }, "env"],
  ["is what every object inherits", { constructor: undefined }, "constructor"],
  ["does not match in full", { ref: "refs/heads/main2" }, "ref"],
  ["is longer than 4 KiB", { env: "prod".repeat(2000) }, "env"],
];

const ownKeys =
  (fields: Body = {}) =>
  ({ issuer }: Target) => ({
    staticKeys: { issuer: issuer.url, subject: SUBJECT, issuerKeys: setOf(OTHER_RSA.jwk), ...fields },
  });
const setOf = (...keys: Body[]) => JSON.stringify({ keys });
const TWO_KEYS = { issuerKeys: setOf(RSA.jwk, OTHER_RSA.jwk) };
const OWN_KEYS: [row: number, what: string, fields: Body, bearer: Row["bearer"], reason: string, invalid?: string][] = [
  [28, "another audience than its own", { audiences: ["mine"] }, signed({}, OTHER_RSA), "audience", "aud"],
  [28, "another subject", {}, signed({ sub: "evil" }, OTHER_RSA), "subject", "sub"],
  [28, "another issuer", { issuer: "https://a.example" }, signed({}, OTHER_RSA), "issuer"],
  [29, "a key of its issuer that it does not hold", {}, signed({}, RSA), "key"],
  [29, "a key by the name of the one that it holds", {}, signed({}, RSA, { kid: OTHER_RSA.kid }), "signature"],
  [29, "no name of a key when several could be meant", TWO_KEYS, signed({}, RSA, { kid: undefined }), "key"],
  [28, "a weak key", { issuerKeys: setOf(rsaWith({ e: 1n })) }, ({ claims }) => forgedByExponentOne(claims()), "key"],
];

const LOOPBACK = "http://127\\.0\\.0\\.1:[0-9]+";
const X = "https://x\\.example\\.com";
const ISSUER_PATTERNS: [
  row: number,
  what: string,
  changes: Body,
  reason: string,
  fields: Fields,
  isOffline: boolean,
][] = [
  [22, "for everything and an issuer that is no URL", { iss: "evil" }, "token_claims", { issuerPattern: ".*" }, true],
  [22, "with an escaped dot, and another", { iss: "https://xaexample.com" }, "issuer", { issuerPattern: X }, true],
  [33, "that matches and another subject", { sub: "x" }, "subject", { issuerPattern: LOOPBACK }, false],
];

const IN_FULL = { subjectPattern: "repo:.*", audiencePattern: "https?://.*" };

const rowOf = (
  row: number,
  what: string,
  bearer: Row["bearer"],
  reason: string,
  relationship: NonNullable<Row["relationship"]>,
  further: Pick<Row, "invalid" | "isOffline"> = {},
): Row => ({ row, what, bearer, reason, relationship, ...further });

const LATE = { iat: NOW - 600, exp: NOW - 60 };

const identityRows: Row[] = [
  ...PATTERNS.map(([row, subjectPattern, sub]) => {
    const what = `the pattern «${subjectPattern}» and the subject «${sub.slice(0, 40)}»`;
    return rowOf(row, what, signed({ sub }), "subject", matching({ subjectPattern }), { invalid: "sub" });
  }),
  ...ISSUER_PATTERNS.map(([row, what, changes, reason, fields, isOffline]) => {
    const relationship = matching({ ...fields, subject: SUBJECT });
    return rowOf(row, `an issuer pattern ${what}`, signed(changes), reason, relationship, { isOffline });
  }),
  rowOf(33, "another subject, of a token that has expired", signed(LATE), "subject", matching({ subject: "x" })),
  ...CLAIMS.map(([what, changes, invalid]) =>
    rowOf(24, `a further claim that ${what}`, signed({ ...given, ...changes }), "claim", withClaims, { invalid }),
  ),
  ...OWN_KEYS.map(([row, what, fields, bearer, reason, invalid]) => {
    const further = { isOffline: true, ...(invalid && { invalid }) };
    return rowOf(row, `keys of its own and ${what}`, bearer, reason, ownKeys(fields), further);
  }),
];

/** The same identities, with a token that they accept. */
const identityControls: Pick<Row, "what" | "bearer" | "relationship">[] = (
  [
    ["a pattern that matches in full", signed(), matching({ issuerPattern: LOOPBACK, ...IN_FULL })],
    ["an alternative of a pattern", signed({ sub: "b" }), matching({ subjectPattern: "a|b" })],
    ["further claims: an equal text, a boolean, a matching text", signed(given), withClaims],
    ["keys of its own", signed({}, OTHER_RSA), ownKeys()],
    ["keys of its own, for its own audience", signed({ aud: "mine" }, OTHER_RSA), ownKeys({ audiences: ["mine"] })],
  ] as const
).map(([what, bearer, relationship]) => ({ what, bearer, relationship }));

/** By what is wrong. */
export const TOKEN_ROWS: [what: string, rows: Row[]][] = [
  ["header", headerRows],
  ["claims", claimRows],
  ["identity", identityRows],
];
export const CONTROL_ROWS: (typeof identityControls)[number][] = [...claimControls, ...identityControls];

type Change = (issuer: Issuer, other: Issuer) => void;

const keysAt =
  (jwks_uri?: string): Change =>
  (issuer) =>
    issuer.describe({ issuer: issuer.url, jwks_uri });
const answering =
  (path: string, answer: (response: ServerResponse, other: Issuer) => unknown): Change =>
  (issuer, other) => {
    issuer.handlers[path] = (_, response) => void answer(response, other);
  };
const redirecting = (path: string, status: number) =>
  answering(path, (response, other) => response.writeHead(status, { location: `${other.url}${path}` }).end());
const describedAs =
  (nameOf: (issuer: Issuer, other: Issuer) => string): Change =>
  (issuer, other) =>
    issuer.describe({ issuer: nameOf(issuer, other), jwks_uri: `${issuer.url}/jwks` });
const HUGE = "x".repeat(102_400);
const keysIn = (text: string) => answering("/jwks", (response) => response.end(text));

const endless = (response: ServerResponse) => {
  const more = () => {
    while (response.write("x".repeat(1024)));
  };
  response.on("drain", more);
  more();
};

const compressed = (response: ServerResponse) =>
  response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("x".repeat(10_000_000)));

const overflowing = (response: ServerResponse) => {
  for (let i = 0; i < 5; i += 1) response.setHeader(`x-${i}`, "x".repeat(8000));
  response.end("{}");
};

const CUT = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}";
const ANOTHER = "the discovery document names another issuer";

/** Refused while they are fetched, with the reason in the log. */
export const DOCUMENT_ROWS: [row: number, what: string, detail: string, change: Change][] = [
  [11, "a discovery document of another spelling", ANOTHER, describedAs(({ url }) => `${url}/`)],
  [12, "a discovery document of another issuer", ANOTHER, describedAs((_, other) => other.url)],
  [12, "a discovery document of none", ANOTHER, (issuer) => issuer.describe({})],
  [12, "a discovery document without keys", "the discovery document has no jwks_uri", keysAt()],
  [12, "keys over http", "not https", keysAt("http://keys.example/jwks")],
  [14, "a redirect of the discovery document", "answered 302", redirecting(DISCOVERY, 302)],
  [14, "a redirect of the keys", "answered 307", redirecting("/jwks", 307)],
  [15, "a huge document", "longer than 100 KiB", (issuer) => issuer.describe({ issuer: issuer.url, x: HUGE })],
  [15, "a document without an end", "longer than 100 KiB", answering(DISCOVERY, endless)],
  [15, "a compressed document", "a compressed answer", answering(DISCOVERY, compressed)],
  [15, "a head of more than 16 KiB", "Headers Overflow Error", answering(DISCOVERY, overflowing)],
  [15, "a part of a document", "answered 206", answering(DISCOVERY, (response) => response.writeHead(206).end("{}"))],
  [15, "less than it promised", "other side closed", answering(DISCOVERY, ({ socket }) => socket?.end(CUT))],
  [15, "too many keys", "more than 100 keys", (issuer) => issuer.publish(new Array(101).fill(RSA.jwk))],
  [18, "a member twice", "a JSON object has the same name twice", keysIn('{"keys":[],"keys":[]}')],
  [18, "no set of keys", 'not an object with a list of "keys"', keysIn("[]")],
  [18, "a page", "not JSON", keysIn("<html>")],
];

const publishing =
  (...keys: Body[]): Change =>
  (issuer) =>
    issuer.publish(keys);

/** Fetched, and no key for a token that is signed with RSA. */
export const KEY_ROWS: [row: number, what: string, change: Change][] = [
  [3, "a key of another alg", publishing({ ...RSA.jwk, alg: "PS256" })],
  [18, "a kid twice", publishing(RSA.jwk, { ...rsa("other").jwk, kid: RSA.kid })],
  [17, "a key that it has removed", publishing()],
];
