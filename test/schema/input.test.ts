// The rules of a resource as input: every violation at once, by path, in the API's words (docs/internals/contract.md#d29).
import { describe, expect, test } from "vitest";
import {
  AccountAssociation,
  AdvisoryEvent,
  ClaimMatch,
  Group,
  Identity,
  IdentityProvider,
  inputFields,
  inputViolations,
  type Json,
  RoleBinding,
} from "../../schema/index.ts";

const CLAIM_MATCH = { issuer: "https://issuer.example", subject: "s" };
const ISSUER_TEXT = "must be an https URL in its normal form, without user, query or fragment, at most 255 characters";
const COSIGNED = "SERVICE_PRINCIPAL_COSIGNED";
const UNSET = "SERVICE_PRINCIPAL_UNSPECIFIED";
const NOT_BOTH = "only one of claimMatch, servicePrincipal may be set";
const ONE_USER = "one of userId, userIdPattern must be set";
const ONE_AUDIENCE = "must have at most one audience";
const TWELVE_DIGITS = 'awsAccount must match "^[0-9]{12}$"';
const NO_ARGUMENT = "missing argument to repetition operator";
const ONE_RELATIONSHIP = "one of claimMatch, staticKeys, awsIdentity, servicePrincipal must be set";

test("all problems of an identity are reported at once", () => {
  const violations = inputViolations(Identity, {
    name: "Not A Name",
    description: "two\nlines",
    claimMatch: { issuer: "ftp://issuer.example" },
  });
  expect(violations).toEqual([
    { field: "name", description: 'name must match "^[a-z0-9 ._-]{1,}$"' },
    { field: "description", description: String.raw`description must match "^[\S ]{0,512}$"` },
    { field: "claimMatch.issuer", description: ISSUER_TEXT },
    { field: "claimMatch.subject", description: "one of subject, subjectPattern must be set" },
  ]);
});

test("a client without a secret must use PKCE: false is as good as nothing", () => {
  const client = { issuer: CLAIM_MATCH.issuer, clientId: "c" };
  const violations = (more: Json) =>
    inputViolations(IdentityProvider, { name: "a", defaultRole: "f".repeat(40), oidc: { ...client, ...more } });
  const missing = [{ field: "oidc.clientSecret", description: "is required unless pkceEnabled is set" }];
  expect(violations({})).toEqual(missing);
  expect(violations({ pkceEnabled: false })).toEqual(missing);
  expect(violations({ pkceEnabled: true })).toEqual([]);
  expect(violations({ clientSecret: "s" })).toEqual([]);
});

test("a key of a map that is not one says what a key must be", () => {
  const installations = { installations: [{ installationId: "1", name: "acme" }] };
  const association = { name: "a", group: "", github: { appInstallations: { app: installations } } };
  expect(inputViolations(AccountAssociation, association)).toContainEqual({
    field: "github.appInstallations.app",
    description: "must be a decimal integer",
  });
});

test("a number or a boolean where a text belongs, as YAML reads it, asks for quotes", () => {
  const claimMatch = { issuer: CLAIM_MATCH.issuer, subject: 77, claims: { a: true } };
  expect(inputViolations(Identity, { name: 2024, claimMatch } as unknown as Json)).toEqual([
    { field: "name", description: "must be a string; got a number, so put it in quotes" },
    { field: "claimMatch.subject", description: "must be a string; got a number, so put it in quotes" },
    { field: "claimMatch.claims.a", description: "must be a string; got a boolean, so put it in quotes" },
  ]);
});

test("output-only fields are not checked as input", () => {
  const output = { uid: 7, createTime: "never", updateTime: {}, resourceLimits: "x", status: 99 };
  expect(inputViolations(Group, { name: "a", ...output } as Json)).toEqual([]);
  expect(inputFields(Group)).toEqual(["name", "description", "verified", "kind"]);
  expect(inputFields(RoleBinding)).toEqual(["identityUid", "roleUid"]);
});

test("a value that is unknown in a preview is no violation, nor anything below it", () => {
  const unknown = Symbol("unknown");
  const isUnknown = (value: unknown) => value === unknown;
  const input = { name: "Bad", claimMatch: unknown } as unknown as Json;
  expect(inputViolations(Identity, input, isUnknown)).toEqual([
    { field: "name", description: 'name must match "^[a-z0-9 ._-]{1,}$"' },
  ]);
  const link = { identityUid: unknown, roleUid: "x" } as unknown as Json;
  expect(inputViolations(RoleBinding, link, isUnknown).map(({ field }) => field)).toEqual(["roleUid"]);
  const bound = (uid: unknown) =>
    ({ name: "a", chainguard: { serviceBindings: { [COSIGNED]: uid } } }) as unknown as Json;
  expect(inputViolations(AccountAssociation, bound(unknown), isUnknown)).toEqual([]);
  expect(inputViolations(AccountAssociation, bound("x"), isUnknown)).toHaveLength(1);
});

describe("the oneofs of an identity", () => {
  test.each([
    ["issuer and subject", CLAIM_MATCH],
    ["patterns for both", { issuerPattern: "https://.*", subjectPattern: "a|b" }],
    ["an audience", { ...CLAIM_MATCH, audience: "a" }],
    ["claims and patterns of claims", { ...CLAIM_MATCH, claims: { a: "b" }, claimPatterns: { c: "d.*" } }],
  ])("take %s", (_, match) => expect(inputViolations(ClaimMatch, match)).toEqual([]));

  test.each([
    ["neither issuer", { subject: "s" }, "issuer", "one of issuer, issuerPattern must be set"],
    ["neither subject", { issuer: CLAIM_MATCH.issuer }, "subject", "one of subject, subjectPattern must be set"],
  ])("refuse %s", (_, match, field, description) => {
    expect(inputViolations(ClaimMatch, match)).toEqual([{ field, description }]);
  });

  test.each(["issuer", "subject", "audience"])("refuse a pattern beside the %s", (name) => {
    const field = `${name}Pattern`;
    const description = `only one of ${name}, ${field} may be set`;
    const match = { ...CLAIM_MATCH, audience: "a", [field]: "x" };
    expect(inputViolations(ClaimMatch, match)).toEqual([{ field, description }]);
  });

  const aws = (members: Json) => ({ awsIdentity: { awsAccount: "123456789012", ...members } });
  const keys = (members: Json) => ({ staticKeys: { ...CLAIM_MATCH, ...members } });
  const short = aws({ awsAccount: "12345678901", arn: "a", userId: "u" });
  const forTwo = keys({ issuerKeys: "{}", audiences: ["a", "b"] });
  test.each<[string, Json, string, string]>([
    ["no relationship", {}, "claimMatch", ONE_RELATIONSHIP],
    ["two relationships", { claimMatch: CLAIM_MATCH, servicePrincipal: COSIGNED }, "servicePrincipal", NOT_BOTH],
    ["the unset service principal alone", { servicePrincipal: UNSET }, "claimMatch", ONE_RELATIONSHIP],
    ["an AWS identity without an ARN", aws({ userId: "u" }), "awsIdentity.arn", "one of arn, arnPattern must be set"],
    ["an AWS identity without a user", aws({ arn: "a" }), "awsIdentity.userId", ONE_USER],
    ["an AWS account of 11 digits", short, "awsIdentity.awsAccount", TWELVE_DIGITS],
    ["static keys without keys", keys({}), "staticKeys.issuerKeys", "is required"],
    ["static keys for two audiences", forTwo, "staticKeys.audiences", ONE_AUDIENCE],
  ])("refuse %s", (_, relationship, field, description) => {
    expect(inputViolations(Identity, { name: "i", ...relationship })).toEqual([{ field, description }]);
  });

  const matching = (members: Json) => ({ claimMatch: { ...CLAIM_MATCH, ...members } });
  test.each<[string, Json, string]>([
    ["claimMatch.issuerPattern", matching({ issuer: undefined, issuerPattern: "a)|(b" }), "unexpected ): `a)|(b`"],
    ["claimMatch.subjectPattern", matching({ subject: undefined, subjectPattern: "(" }), "missing closing ): `(`"],
    ["claimMatch.claimPatterns.ref", matching({ claimPatterns: { ref: "*" } }), `${NO_ARGUMENT}: \`*\``],
    ["awsIdentity.arnPattern", aws({ arnPattern: "+", userId: "u" }), `${NO_ARGUMENT}: \`+\``],
    [
      "awsIdentity.userIdPattern",
      aws({ arn: "a", userIdPattern: "(?=x)" }),
      "invalid or unsupported Perl syntax: `(?=`",
    ],
  ])("refuse a pattern that does not compile alone, with its path: %s", (field, relationship, reason) => {
    const description = `must be an RE2 pattern: error parsing regexp: ${reason}`;
    expect(inputViolations(Identity, { name: "i", ...relationship })).toEqual([{ field, description }]);
  });
});

describe("an issuer", () => {
  test.each([
    ["a path", "https://gitlab.example/group"],
    ["http on loopback by address", "http://127.0.0.1:8080/dev-issuer"],
    ["http on loopback, IPv6", "http://[::1]:8080"],
    ["255 characters", `https://issuer.example/${"x".repeat(232)}`],
  ])("may have %s", (_, issuer) => expect(inputViolations(ClaimMatch, { issuer, subject: "s" })).toEqual([]));

  test.each([
    ["http elsewhere", "http://issuer.example"],
    ["http on a name that looks like loopback", "http://localhost.issuer.example"],
    ["another scheme", "ftp://issuer.example"],
    ["a user", "https://user@issuer.example"],
    ["a query", "https://issuer.example?a=b"],
    ["an empty fragment", "https://issuer.example#"],
    ["a newline", "https://issuer.example\n"],
    ["a host beyond ASCII", "https://іssuer.example"],
    ["256 characters", `https://issuer.example/${"x".repeat(233)}`],
    ["an upper-case host, which is fetched in lower case", "https://Issuer.example"],
    ["the default port", "https://issuer.example:443"],
    ["a dot segment", "https://issuer.example/a/../b"],
    ["an empty segment", "https://issuer.example//a"],
    ["a number for an address", "http://2130706433:8080"],
  ])("must not have %s", (_, issuer) => {
    expect(inputViolations(ClaimMatch, { issuer, subject: "s" })).toEqual([
      { field: "issuer", description: ISSUER_TEXT },
    ]);
  });
});

const patterns = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`c${i}`, "x"]));

const byPattern = (length: number) => ({ subject: undefined, subjectPattern: "s".repeat(length) });
const TWENTY = "must have at most 20 patterns";
const PATTERN = "must have patterns of at most 1024 characters";
const long = (text: string) => `must ${text} characters`;
test.each<[string, (length: number) => Json, number, string, string]>([
  ["a subject", (length) => ({ subject: "s".repeat(length) }), 255, "subject", long("be at most 255")],
  ["a pattern", byPattern, 1024, "subjectPattern", long("be at most 1024")],
  ["patterns of claims", (count) => ({ claimPatterns: patterns(count) }), 20, "claimPatterns", TWENTY],
  ["a pattern of a claim", (length) => ({ claimPatterns: { a: "x".repeat(length) } }), 1024, "claimPatterns", PATTERN],
  ["a claim", (length) => ({ claims: { a: "x".repeat(length) } }), 4096, "claims", long("have values of at most 4096")],
])(
  "the bounds of an identity allow %s of that length, and none that is longer",
  (_, matchOf, length, field, description) => {
    expect(inputViolations(ClaimMatch, { ...CLAIM_MATCH, ...matchOf(length) })).toEqual([]);
    expect(inputViolations(ClaimMatch, { ...CLAIM_MATCH, ...matchOf(length + 1) })).toEqual([{ field, description }]);
  },
);

test("the rules of a message apply in the messages of a map and of a list; those about its oneofs apply below it", () => {
  const github = { appInstallations: { 7: { installations: [{ installationId: "1" }, {}] } } };
  expect(inputViolations(AccountAssociation, { name: "a", github })).toEqual([
    { field: "github.appInstallations.7.installations[1].installationId", description: "is required" },
  ]);
  const event = { author: "a", reviewState: "REVIEW_STATE_PENDING" };
  expect(inputViolations(AdvisoryEvent, { ...event, detection: {} })).toEqual([
    { field: "detection.nvdapi", description: "one of nvdapi, manual, scanv1 must be set" },
  ]);
  expect(inputViolations(AdvisoryEvent, event).map(({ field }) => field)).toEqual(["detection"]);
});
