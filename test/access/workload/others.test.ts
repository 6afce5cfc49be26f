// Who else than before can assume an identity, and whether everybody can.
import { describe, expect, test } from "vitest";
import type { Budget } from "../../../access/pattern/budget.ts";
import { everyoneIn } from "../../../access/workload/everyone.ts";
import { openPatternsIn } from "../../../access/workload/open-pattern.ts";
import { othersIn } from "../../../access/workload/others.ts";
import type { Json } from "../../../schema/index.ts";

const GITHUB = "https://token.actions.githubusercontent.com";
const GITLAB = "https://gitlab.com";
const BUILDKITE = "https://agent.buildkite.com";
const GOOGLE = "https://accounts.google.com";
const CLUSTER = "https://oidc.eks.eu-west-1.amazonaws.com/id/0A1B";
const assumedBy = (match: Json): Json => ({ claimMatch: { issuer: GITHUB, ...match } });
const aws = (awsAccount: string): Json => ({ awsIdentity: { awsAccount, arnPattern: "arn:.*", userIdPattern: "A.*" } });
const MAIN = { subject: "repo:acme/shop:ref:refs/heads/main" };

describe("others than before", () => {
  test.each<[string | undefined, Json, Json]>([
    ['the owner "evil"', MAIN, { subject: "repo:evil/shop:ref:refs/heads/main" }],
    ['the owner "acmea"', MAIN, { subjectPattern: "repo:acme.*:ref:refs/heads/main" }],
    ['the owner "evil"', MAIN, { subjectPattern: "repo:(acme|evil)/shop:.*" }],
    [undefined, MAIN, { subject: "repo:acme/charts:ref:refs/heads/main" }],
    [undefined, MAIN, { subjectPattern: "repo:acme/.*" }],
    [undefined, { subjectPattern: "repo:.*" }, MAIN],
    [undefined, MAIN, { subject: "repo:acme@12/shop@9:ref:refs/heads/main" }],
    [
      'another owner, by number "12"',
      { subject: "repo:acme@13/shop@9:ref:refs/heads/main" },
      { subject: "repo:acme@12/shop@9:ref:refs/heads/main" },
    ],
    ['the issuer "https://x.example"', MAIN, { ...MAIN, issuer: "https://x.example" }],
    [
      `the issuer "${GITLAB}"`,
      MAIN,
      { ...MAIN, issuer: undefined, issuerPattern: `${GITHUB}|${GITLAB}`.replaceAll(".", "\\.") },
    ],
    [
      undefined,
      { subjectPattern: ".*", claims: { repository_owner: "acme" } },
      { subjectPattern: ".*", claims: { repository: "acme/x" } },
    ],
    [
      'the owner "evil"',
      { subjectPattern: ".*", claims: { repository_owner: "acme" } },
      { subjectPattern: ".*", claims: { repository: "evil/x" } },
    ],
    [
      'another owner, by repository_owner_id "2"',
      { subjectPattern: ".*", claims: { repository_owner_id: "1" } },
      { subjectPattern: ".*", claims: { repository_owner_id: "2" } },
    ],
    ['the subject "job_workflow_ref:acme/x"', MAIN, { subject: "job_workflow_ref:acme/x" }],
    [
      'the project "acme/charts"',
      { issuer: GITLAB, subject: "project_path:acme/images:ref_type:branch:ref:main" },
      { issuer: GITLAB, subject: "project_path:acme/charts:ref_type:branch:ref:main" },
    ],
    [
      'the organization "evil"',
      { issuer: BUILDKITE, subjectPattern: "organization:acme:pipeline:x:.*" },
      { issuer: BUILDKITE, subjectPattern: "organization:(acme|evil):pipeline:x:.*" },
    ],
    ['the account "8"', { issuer: GOOGLE, subject: "7" }, { issuer: GOOGLE, subject: "8" }],
    [
      'another account, by email "evil.iam.gserviceaccount.com"',
      { issuer: GOOGLE, subjectPattern: "[0-9]+", claims: { email: "a@acme.iam.gserviceaccount.com" } },
      { issuer: GOOGLE, subjectPattern: "[0-9]+", claims: { email: "a@evil.iam.gserviceaccount.com" } },
    ],
    [
      'the namespace "dev"',
      { issuer: CLUSTER, subject: "system:serviceaccount:prod:deployer" },
      { issuer: CLUSTER, subject: "system:serviceaccount:dev:deployer" },
    ],
    [
      undefined,
      { issuer: CLUSTER, subject: "system:serviceaccount:prod:deployer" },
      { issuer: CLUSTER, subject: "system:serviceaccount:prod:other" },
    ],
  ])("%s: from %j to %j", (expected, before, after) => {
    const others = othersIn(assumedBy(before), assumedBy(after));
    expect(others).toEqual(expected === undefined ? { is: "none" } : { is: "found", text: expected });
  });

  test("another kind, another account and another key are others", () => {
    const keys = (subject: string): Json => ({
      staticKeys: { issuer: "https://a.example", subject, issuerKeys: "{}" },
    });
    expect(othersIn(assumedBy(MAIN), aws("123456789012"))).toEqual({ is: "found", text: "principals of AWS" });
    expect(othersIn(aws("123456789012"), aws("210987654321"))).toEqual({
      is: "found",
      text: 'the account "210987654321"',
    });
    expect(othersIn(keys("a"), keys("b"))).toEqual({ is: "found", text: "the holder of another key" });
    expect(othersIn(keys("a"), keys("a"))).toEqual({ is: "none" });
    expect(othersIn(aws("123456789012"), aws("123456789012"))).toEqual({ is: "none" });
  });

  test("patterns that cannot be read are not decided", () => {
    expect(othersIn(assumedBy(MAIN), assumedBy({ subjectPattern: "(?=x)" }))).toEqual({ is: "undecided" });
    expect(othersIn(assumedBy({ subjectPattern: "(?=x)" }), assumedBy(MAIN))).toEqual({ is: "undecided" });
  });
});

describe("everybody", () => {
  test.each<[string | undefined, Json]>([
    ['every owner of GitHub, such as "someone-else"', { subjectPattern: "repo:[^/]+/images:ref:refs/heads/main" }],
    ['every owner of GitHub, such as "acmea"', { subjectPattern: "repo:acme.*:ref:refs/heads/main" }],
    ['every owner of GitHub, such as "someone-else"', { subjectPattern: ".*", claims: { event_name: "push" } }],
    [
      'every owner of GitHub, such as "someone-else"',
      { subjectPattern: ".*", claims: { job_workflow_ref: "acme/ci/x.yml@refs/heads/main" } },
    ],
    [
      'every owner of GitHub, whose subjects can be the same, such as "environment:prod"',
      { subject: "environment:prod" },
    ],
    [
      'every owner of GitHub, whose subjects can be the same, such as "job_workflow_ref:acme/ci/x.yml@main"',
      { subject: "job_workflow_ref:acme/ci/x.yml@main" },
    ],
    [undefined, MAIN],
    [undefined, { subjectPattern: "repo:acme/.*" }],
    [undefined, { subjectPattern: "(?i)repo:a-long-name-of-an-organization/.*" }],
    [undefined, { subjectPattern: "repo:(acme|other)/.*" }],
    [undefined, { subjectPattern: ".*", claims: { repository_owner: "acme" } }],
    [undefined, { subjectPattern: ".*", claims: { repository: "acme/x" } }],
    [undefined, { subjectPattern: ".*", claimPatterns: { repository: "acme/.*" } }],
    ['every owner of GitHub, such as "someone-else"', { subjectPattern: ".*", claimPatterns: { repository: ".*/x" } }],
    [undefined, { subjectPattern: ".*", claims: { repository_owner_id: "7" } }],
    ['every project of GitLab, such as "someone-else"', { issuer: GITLAB, subjectPattern: "project_path:.*:ref:main" }],
    [undefined, { issuer: GITLAB, subjectPattern: "project_path:acme/.*" }],
    [undefined, { issuer: GITLAB, subjectPattern: ".*", claims: { namespace_path: "acme" } }],
    [
      'every organization of Buildkite, such as "someone-else"',
      { issuer: BUILDKITE, subjectPattern: "organization:.*" },
    ],
    [undefined, { issuer: BUILDKITE, subjectPattern: "organization:acme:.*" }],
    [
      'every organization of HCP Terraform, such as "someone-else"',
      { issuer: "https://app.terraform.io", subjectPattern: "organization:.*:project:p:workspace:w:run_phase:apply" },
    ],
    [undefined, { issuer: "https://app.terraform.io", subjectPattern: "organization:acme:.*" }],
    [
      'every organization of Pulumi Cloud, such as "someone-else"',
      { issuer: "https://api.pulumi.com/oidc", subjectPattern: "pulumi:deploy:org:.*" },
    ],
    [undefined, { issuer: "https://api.pulumi.com/oidc", subjectPattern: "pulumi:deploy:org:acme:.*" }],
    ...[
      ["every organization of Okta", "https://[a-z-]+\\.okta\\.com"],
      ["every tenant of Auth0", "https://[a-z-]+\\.eu\\.auth0\\.com/"],
      ["every account of Spacelift", "https://[a-z-]+\\.app\\.spacelift\\.io"],
      ["every organization of Semaphore", "https://[a-z-]+\\.semaphoreci\\.com"],
    ].map(([words, issuerPattern]): [string, Json] => [
      `${words}, such as "someone-else"`,
      { issuer: undefined, issuerPattern, subject: "x" },
    ]),
    ['every account of Google, such as "1"', { issuer: GOOGLE, subjectPattern: "[0-9]+" }],
    [undefined, { issuer: GOOGLE, subjectPattern: "[0-9]+", claims: { email: "a@acme.iam.gserviceaccount.com" } }],
    [
      'every cluster of Amazon EKS, such as "someone-else"',
      {
        issuer: undefined,
        issuerPattern: "https://oidc\\.eks\\.[a-z0-9-]+\\.amazonaws\\.com/id/.*",
        subject: "system:serviceaccount:prod:deployer",
      },
    ],
    [
      'anyone who registers a host, such as "someone-else"',
      { issuer: undefined, issuerPattern: "https://oidc\\.eks\\..*", subject: "system:serviceaccount:prod:deployer" },
    ],
    [undefined, { issuer: CLUSTER, subjectPattern: ".*" }],
    [
      'anyone who registers a host, such as "someone-else"',
      { issuer: undefined, issuerPattern: "https://.*\\.example\\.com", subject: "x" },
    ],
    [undefined, { issuer: undefined, issuerPattern: "https://[a-z]+\\.example\\.com/id/[0-9]+", subject: "x" }],
  ])("%s: %j", (expected, match) => {
    expect(everyoneIn(assumedBy(match))).toEqual(
      expected === undefined ? { is: "none" } : { is: "found", text: expected },
    );
  });

  test("a pattern that cannot be read is not decided", () => {
    expect(everyoneIn(assumedBy({ subjectPattern: "(?=x)" }))).toEqual({ is: "undecided" });
    // Other patterns of a policy may have taken all steps: that is no way to hide one.
    const match = { issuer: "https://token.actions.githubusercontent.com", subjectPattern: "repo:.*:pull_request" };
    const texts = (budget?: Budget) => openPatternsIn(match, budget).map(({ path, text }) => `${path} ${text}`);
    expect(texts({ steps: 0 })).toEqual([
      expect.stringMatching(/^subjectPattern may match the workloads of every customer: it takes too many steps/),
    ]);
    expect(texts()).toEqual([expect.stringMatching(/^subjectPattern matches the workloads of every customer/)]);
    expect(openPatternsIn({ issuer: match.issuer, subject: "repo:acme/x:pull_request" }, { steps: 0 })).toEqual([]);
  });

  test("no principal of AWS, and nobody of whom nothing is known", () => {
    expect([everyoneIn(aws("123456789012")), everyoneIn(null)]).toEqual([{ is: "none" }, { is: "none" }]);
  });
});
