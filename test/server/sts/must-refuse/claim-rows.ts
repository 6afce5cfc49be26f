// Rows 6, 8 to 11, 24, 25 and 33: attacks by the claims of a token on an identity with an exact issuer and subject.
import { base64url, NOW, SUBJECT, sign } from "../../../harness/sts.ts";
import type { Body } from "../../../support/http.ts";
import { type Row, type Target, tokenRow } from "./target.ts";

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
const RESPELT: [row: number, what: string, respell: (json: string) => string, reason: string][] = [
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

export const claimRows: Row[] = [
  ...CHANGED.map(([row, what, changes, reason]) => tokenRow([row, what, bearerWith(changes), reason])),
  ...RESPELT.map(([row, what, respell, reason]) =>
    tokenRow([row, what, ({ claims }) => sign(respell(JSON.stringify(claims()))), reason]),
  ),
  tokenRow([25, "bytes that are not UTF-8", () => notUtf8, "token_claims"]),
];

/** At the limits of these rows: accepted. */
export const claimControls: Pick<Row, "what" | "bearer">[] = (
  [
    ["exp a moment within the leeway", { exp: NOW - 59, iat: NOW - 600 }],
    ["nbf and iat at the end of the leeway", { nbf: NOW + 60, iat: NOW + 60 }],
    ["a life of a day", { iat: NOW, exp: NOW + 86_400 }],
    ["neither iat nor nbf", { iat: undefined }],
    ["our aud among others", ({ api }) => ({ aud: ["other", api] })],
    ["the bare host as aud", ({ authUrl }) => ({ aud: new URL(authUrl).host })],
  ] as [string, Changes][]
).map(([what, changes]) => ({ what, bearer: bearerWith(changes) }));
