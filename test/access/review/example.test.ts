// Examples of patterns are right by the matcher of the server.
import { expect, test } from "vitest";
import { newReviewBudget } from "../../../access/pattern/budget.ts";
import { assumptionOf, examplesOf } from "../../../access/review/assume.ts";
import { newBudget } from "../../../schema/index.ts";
import { ruleFromClaimMatch } from "../../../server/sts/rule/match.ts";

const PATTERNS = [
  "repo:acme/.*:ref:refs/heads/main",
  "repo:acme/[^/:]*:pull_request",
  "repo:acme(?:@1)?/[^/:]*(?:@[0-9]+)?:pull_request",
  "repo:acme/(images|charts):ref:refs/(heads|tags)/[^:]+",
  "\\Qrepo:acme/x\\E:environment:\\w+",
  "organization:acme:pipeline:p:ref:refs/heads/main:commit:[0-9a-f]{40}:step:.*",
  "a|b|",
  "x{2,5}y?[0-9]+",
  "[^a-c]\\d\\.com",
  "(?i)repo:acme/\\w*",
  ".*",
];

test.each(PATTERNS)("examples: %s", (pattern) => {
  const { matches, differs } = examplesOf("subject", pattern);
  const { subject } = ruleFromClaimMatch(
    { issuer: "https://a.example.com", subjectPattern: pattern } as never,
    () => true,
  );
  expect(matches.length).toBeGreaterThan(0);
  const judged = [...matches, ...differs].map((text) => subject(text, newBudget()));
  expect(judged).toEqual([...matches.map(() => true), ...differs.map(() => false)]);
});

test.each([
  ["acme", ["acme/images", "acme/charts", "acme/other-1", "acme-evil/images"]],
  ["acme@1", ["acme@1/images@7", "acme@1/charts@8", "acme@1/other-1@9", "acme-evil@1/images@7"]],
])("examples of a branch of %s show the near ones that look the same", (owner, names) => {
  const main = names.map((name) => `repo:${name}:ref:refs/heads/main`);
  expect(examplesOf("subject", `repo:${owner}/.*:ref:refs/heads/main`)).toMatchObject({
    matches: main.slice(0, 3),
    differs: [`repo:${names[0]}:pull_request`, `repo:${names[0]}:ref:refs/heads/other`, main[3]],
  });
});

test.each([
  ["repo:(acme|evil)/.*:ref:refs/heads/main", ["acme", "evil"]],
  ["repo:acme.*:ref:refs/heads/main", []],
  ["(?i)repo:acme/.*|repo:other/x:pull_request", ["acme", "other"]],
  ["project_path:.*:ref_type:branch:ref:main", ["someone-else"]],
])("examples: of whoever else «%s» lets in are among them", (pattern, expected) => {
  const { matches } = examplesOf("subject", pattern, newReviewBudget());
  const owners = [...new Set(matches.map((text) => text.split(/[/:]/)[1]))];
  expect(owners).toEqual(expect.arrayContaining(expected));
  expect(owners.length).toBeGreaterThan(1);
});

test("a pattern whose texts are all long has what an automaton finds, where there is time", () => {
  expect(examplesOf("subject", "x{301}")).toMatchObject({ matches: [], differs: [] });
  expect(examplesOf("subject", "x{301}", newReviewBudget())).toMatchObject({ matches: ["x".repeat(301)] });
  expect(examplesOf("subject", "x{301}", { steps: 0 })).toMatchObject({ matches: [] });
});

const exact = { issuer: "https://a.example.com", subject: "s" };
const textOf = (match: object) => assumptionOf({ claimMatch: { ...exact, ...match } })?.text;

test.each([
  [
    { claimMatch: { issuer: "https://a.example.com", subjectPattern: "x.*", claims: { ref: "main" } } },
    'a workload whose token has issuer "https://a.example.com", subject matching "x.*" and ref "main"',
  ],
  [
    { staticKeys: { ...exact, issuerKeys: "{}", expirationTime: "2026-12-01T00:00:00Z" } },
    'a workload that signs with one of the identity\'s own keys (SHA-256 44136fa355b3678a…), as issuer "https://a.example.com" and subject "s", until 2026-12-01T00:00:00Z',
  ],
  [
    { awsIdentity: { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/r", userIdPattern: "A.*" } },
    'an AWS principal of account 123456789012 with ARN "arn:aws:iam::123456789012:role/r" and user id matching "A.*"',
  ],
  [{ servicePrincipal: "INGESTER" }, "the platform's own service INGESTER"],
])("in words: %j", (relationship, text) => expect(assumptionOf(relationship)?.text).toBe(text));

test("in words: a character that is written out differs from the backslash of another subject", () => {
  expect(textOf({ subject: "a\u202eb" })).toContain(String.raw` and subject "a\u202eb"`);
  expect(textOf({ subject: String.raw`a\u202eb` })).toContain(String.raw` and subject "a\\u202eb"`);
});

test.each(["claims", "claimPatterns"])(
  "in words: a name in %s that holds the text of two claims is quoted",
  (field) => {
    const textFor = (claims: Record<string, string>) => textOf({ [field]: claims });
    const verb = field === "claims" ? "" : "matching ";
    expect(textFor({ repo: "acme/app", ref: "main" })).toContain(`, repo ${verb}"acme/app" and ref ${verb}"main"`);
    expect(textFor({ [`repo ${verb}"acme/app" and ref`]: "main" })).toContain(
      ` and ${JSON.stringify(`repo ${verb}"acme/app" and ref`)} ${verb}"main"`,
    );
    expect(textFor({ "https://claims.example/team": "a" })).toContain(` and https://claims.example/team ${verb}"a"`);
    expect(textFor({ subject: "a" })).toContain(`subject "s" and "subject" ${verb}"a"`);
    expect(textFor({ "": "a", and: "b" })).toContain(`"" ${verb}"a" and and ${verb}"b"`);
  },
);

test("in words: of nothing known is null", () => expect(assumptionOf(null)).toBeNull());
