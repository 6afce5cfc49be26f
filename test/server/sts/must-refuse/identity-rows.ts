// Rows 19 to 22, 24, 28 and 29: what turns on the identity: its patterns, its further claims, its own keys.

import type { Body } from "../../../support/http.ts";
import { OTHER_RSA, RSA, SUBJECT, sign } from "../fixture.ts";
import type { Row, Target } from "./target.ts";

const pattern =
  (subjectPattern: string) =>
  ({ issuer }: Target) => ({ claimMatch: { issuer: issuer.url, subjectPattern } });

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
const withClaims = ({ issuer }: Target) => ({
  claimMatch: {
    issuer: issuer.url,
    subject: SUBJECT,
    claims: wanted,
    claimPatterns: { ref: "refs/heads/(main|next)" },
  },
});
const CLAIMS: [what: string, changes: Body][] = [
  ["is missing", { env: undefined }],
  ["is null", { env: null }],
  ["is a list", { env: ["prod"] }],
  ["is an object", { env: { prod: true } }],
  ["is nested", { env: undefined, claims: { env: "prod" } }],
  ["is a path into an object", { "a.b": undefined, a: { b: "c" } }],
  ["is a number", { protected: 1 }],
  ["is another boolean", { protected: false }],
  ["is of another case", { env: "Prod" }],
  ["is what every object inherits", { constructor: undefined }],
  ["does not match in full", { ref: "refs/heads/main2" }],
  ["is longer than 4 KiB", { env: "prod".repeat(2000) }],
];

const ownKeys =
  (fields: Body = {}) =>
  ({ issuer }: Target) => ({
    staticKeys: {
      issuer: issuer.url,
      subject: SUBJECT,
      issuerKeys: JSON.stringify({ keys: [OTHER_RSA.jwk] }),
      ...fields,
    },
  });
const OWN_KEYS: [row: number, what: string, fields: Body, bearer: Row["bearer"], reason: string][] = [
  [28, "another audience than its own", { audiences: ["mine"] }, ({ claims }) => sign(claims(), OTHER_RSA), "audience"],
  [28, "another subject", {}, ({ claims }) => sign(claims({ sub: "evil" }), OTHER_RSA), "subject"],
  [28, "another issuer", { issuer: "https://a.example" }, ({ claims }) => sign(claims(), OTHER_RSA), "issuer"],
  [29, "a key of its issuer that it does not hold", {}, ({ claims }) => sign(claims(), RSA), "key"],
  [
    29,
    "a key by the name of the one that it holds",
    {},
    ({ claims }) => sign(claims(), RSA, { kid: OTHER_RSA.kid }),
    "signature",
  ],
  [
    29,
    "no name of a key when several could be meant",
    { issuerKeys: JSON.stringify({ keys: [RSA.jwk, OTHER_RSA.jwk] }) },
    ({ claims }) => sign(claims(), RSA, { kid: undefined }),
    "key",
  ],
];

export const identityRows: Row[] = [
  ...PATTERNS.map(([row, subjectPattern, sub]) => ({
    row,
    what: `the pattern «${subjectPattern}» and the subject «${sub.slice(0, 40)}»`,
    bearer: ({ claims }: Target) => sign(claims({ sub })),
    reason: "subject",
    relationship: pattern(subjectPattern),
  })),
  {
    row: 22,
    what: "an issuer pattern for everything and an issuer that is no URL",
    bearer: ({ claims }) => sign(claims({ iss: "evil" })),
    reason: "token_claims",
    relationship: () => ({ claimMatch: { issuerPattern: ".*", subject: SUBJECT } }),
    isOffline: true,
  },
  {
    row: 22,
    what: "an issuer pattern with an escaped dot and another issuer",
    bearer: ({ claims }) => sign(claims({ iss: "https://xaexample.com" })),
    reason: "issuer",
    relationship: () => ({ claimMatch: { issuerPattern: "https://x\\.example\\.com", subject: SUBJECT } }),
    isOffline: true,
  },
  ...CLAIMS.map(([what, changes]) => ({
    row: 24,
    what: `a further claim that ${what}`,
    bearer: ({ claims }: Target) => sign(claims({ ...given, ...changes })),
    reason: "claim",
    relationship: withClaims,
  })),
  ...OWN_KEYS.map(([row, what, fields, bearer, reason]) => ({
    row,
    what: `keys of its own and ${what}`,
    bearer,
    reason,
    relationship: ownKeys(fields),
    isOffline: true,
  })),
];

/** The same identities, with a token that they take. */
export const identityControls: Pick<Row, "what" | "bearer" | "relationship">[] = [
  {
    what: "a pattern that matches in full",
    bearer: ({ claims }) => sign(claims()),
    relationship: () => ({
      claimMatch: {
        issuerPattern: "http://127\\.0\\.0\\.1:[0-9]+",
        subjectPattern: "repo:.*",
        audiencePattern: "https?://.*",
      },
    }),
  },
  {
    what: "an alternative of a pattern",
    bearer: ({ claims }) => sign(claims({ sub: "b" })),
    relationship: pattern("a|b"),
  },
  {
    what: "further claims: an equal text, a boolean, a matching text",
    bearer: ({ claims }) => sign(claims(given)),
    relationship: withClaims,
  },
  {
    what: "keys of its own",
    bearer: ({ claims }) => sign(claims(), OTHER_RSA),
    relationship: ownKeys(),
  },
  {
    what: "keys of its own, for its own audience",
    bearer: ({ claims }) => sign(claims({ aud: "mine" }), OTHER_RSA),
    relationship: ownKeys({ audiences: ["mine"] }),
  },
];
