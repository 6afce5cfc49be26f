// Rows 19 to 22, 24, 28 and 29: rules of the identity: its patterns, its further claims, its static keys.

import { NOW, OTHER_RSA, RSA, SUBJECT, sign } from "../../../harness/sts.ts";
import type { Body } from "../../../support/http.ts";
import { forgedByExponentOne, WEAK_KEYS } from "../weak-key.ts";
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
    staticKeys: {
      issuer: issuer.url,
      subject: SUBJECT,
      issuerKeys: JSON.stringify({ keys: [OTHER_RSA.jwk] }),
      ...fields,
    },
  });
const OWN_KEYS: [row: number, what: string, fields: Body, bearer: Row["bearer"], reason: string, invalid?: string][] = [
  [
    28,
    "another audience than its own",
    { audiences: ["mine"] },
    ({ claims }) => sign(claims(), OTHER_RSA),
    "audience",
    "aud",
  ],
  [28, "another subject", {}, ({ claims }) => sign(claims({ sub: "evil" }), OTHER_RSA), "subject", "sub"],
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
  ...WEAK_KEYS.map(([what, jwk]): (typeof OWN_KEYS)[number] => {
    const issuerKeys = JSON.stringify({ keys: [jwk] });
    return [28, `a key of ${what}`, { issuerKeys }, ({ claims }) => forgedByExponentOne(claims()), "key"];
  }),
];

export const identityRows: Row[] = [
  ...PATTERNS.map(([row, subjectPattern, sub]) => ({
    row,
    what: `the pattern «${subjectPattern}» and the subject «${sub.slice(0, 40)}»`,
    bearer: ({ claims }: Target) => sign(claims({ sub })),
    reason: "subject",
    invalid: "sub",
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
  {
    row: 33,
    what: "an issuer that a pattern matches and another subject",
    bearer: ({ claims }) => sign(claims()),
    reason: "subject",
    relationship: () => ({ claimMatch: { issuerPattern: "http://127\\.0\\.0\\.1:[0-9]+", subject: "x" } }),
  },
  {
    row: 33,
    what: "another subject, of a token that has expired",
    bearer: ({ claims }) => sign(claims({ iat: NOW - 600, exp: NOW - 60 })),
    reason: "subject",
    relationship: ({ issuer }) => ({ claimMatch: { issuer: issuer.url, subject: "x" } }),
  },
  ...CLAIMS.map(([what, changes, invalid]) => ({
    row: 24,
    what: `a further claim that ${what}`,
    bearer: ({ claims }: Target) => sign(claims({ ...given, ...changes })),
    reason: "claim",
    invalid,
    relationship: withClaims,
  })),
  ...OWN_KEYS.map(([row, what, fields, bearer, reason, invalid]) => ({
    row,
    what: `keys of its own and ${what}`,
    bearer,
    reason,
    ...(invalid && { invalid }),
    relationship: ownKeys(fields),
    isOffline: true,
  })),
];

/** The same identities, with a token that they accept. */
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
