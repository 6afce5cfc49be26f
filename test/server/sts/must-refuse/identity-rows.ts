// Rows 19 to 22, 24, 28 and 29: rules of the identity: its patterns, its further claims, its static keys.
import { NOW, OTHER_RSA, RSA, SUBJECT } from "../../../harness/sts.ts";
import type { Body } from "../../../support/http.ts";
import { forgedByExponentOne, rsaWith } from "../weak-key.ts";
import { type Row, signed, type Target } from "./target.ts";

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
const ISSUERS: [row: number, what: string, changes: Body, reason: string, fields: Fields, isOffline: boolean][] = [
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

export const identityRows: Row[] = [
  ...PATTERNS.map(([row, subjectPattern, sub]) => {
    const what = `the pattern «${subjectPattern}» and the subject «${sub.slice(0, 40)}»`;
    return rowOf(row, what, signed({ sub }), "subject", matching({ subjectPattern }), { invalid: "sub" });
  }),
  ...ISSUERS.map(([row, what, changes, reason, fields, isOffline]) => {
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
export const identityControls: Pick<Row, "what" | "bearer" | "relationship">[] = (
  [
    ["a pattern that matches in full", signed(), matching({ issuerPattern: LOOPBACK, ...IN_FULL })],
    ["an alternative of a pattern", signed({ sub: "b" }), matching({ subjectPattern: "a|b" })],
    ["further claims: an equal text, a boolean, a matching text", signed(given), withClaims],
    ["keys of its own", signed({}, OTHER_RSA), ownKeys()],
    ["keys of its own, for its own audience", signed({ aud: "mine" }, OTHER_RSA), ownKeys({ audiences: ["mine"] })],
  ] as const
).map(([what, bearer, relationship]) => ({ what, bearer, relationship }));
