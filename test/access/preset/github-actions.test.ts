// Claims as published: https://docs.github.com/actions/reference/security/oidc and
// https://docs.github.com/actions/concepts/security/openid-connect.
import { describe, expect, test } from "vitest";
import { aws, githubActions } from "../../../access/preset/index.ts";
import type { IdentityArgs } from "../../../provider/program/generated/identity.ts";
import { matchesOf } from "./matching.ts";

const iss = "https://token.actions.githubusercontent.com";

const published = {
  iss,
  aud: "https://github.com/octo-org",
  environment: "prod",
  ref: "refs/heads/main",
  sha: "example-sha",
  repository: "octo-org/octo-repo",
  repository_owner: "octo-org",
  actor_id: "12",
  repository_visibility: "private",
  repository_id: "74",
  repository_owner_id: "65",
  run_id: "example-run-id",
  run_number: "10",
  run_attempt: "2",
  runner_environment: "github-hosted",
  actor: "octocat",
  workflow: "example-workflow",
  head_ref: "",
  base_ref: "",
  event_name: "workflow_dispatch",
  ref_type: "branch",
  job_workflow_ref: "octo-org/octo-automation/.github/workflows/oidc.yml@refs/heads/main",
};

const of = (sub: string, claims: Record<string, unknown> = {}) => ({ ...published, sub, ...claims });

const samples = {
  main: of("repo:octo-org/octo-repo:ref:refs/heads/main", { event_name: "push" }),
  "demo-branch": of("repo:octo-org/octo-repo:ref:refs/heads/demo-branch", { ref: "refs/heads/demo-branch" }),
  "branch with a slash": of("repo:octo-org/octo-repo:ref:refs/heads/release/v1", { event_name: "push" }),
  "branch two levels deep": of("repo:octo-org/octo-repo:ref:refs/heads/release/v1/fix", { event_name: "push" }),
  "branch main-2": of("repo:octo-org/octo-repo:ref:refs/heads/main-2"),
  "tag main": of("repo:octo-org/octo-repo:ref:refs/tags/main", { ref_type: "tag" }),
  "tag demo-tag": of("repo:octo-org/octo-repo:ref:refs/tags/demo-tag", { ref_type: "tag" }),
  "tag v1.2": of("repo:octo-org/octo-repo:ref:refs/tags/v1.2", { ref_type: "tag" }),
  "pull request": of("repo:octo-org/octo-repo:pull_request", { event_name: "pull_request" }),
  "environment prod": of("repo:octo-org/octo-repo:environment:prod"),
  "environment Production": of("repo:octo-org/octo-repo:environment:Production"),
  "environment with a colon": of("repo:octo-org/octo-repo:environment:Production%3AV1"),
  fork: of("repo:somebody/octo-repo:ref:refs/heads/main"),
  "fork's pull request": of("repo:somebody/octo-repo:pull_request", { event_name: "pull_request" }),
  "repository of a longer name": of("repo:octo-org/octo-repo-2:ref:refs/heads/main"),
  "pull request of a longer name": of("repo:octo-org/octo-repo-2:pull_request", { event_name: "pull_request" }),
  "organization of a longer name": of("repo:octo-org-2/octo-repo:ref:refs/heads/main"),
  "another letter for the dot": of("repo:octo-org/octoXrepo:ref:refs/heads/main"),
  "other case": of("repo:Octo-Org/octo-repo:ref:refs/heads/main"),
  immutable: of("repo:octo-org@123456/octo-repo@456789:ref:refs/heads/main"),
  "immutable, recycled": of("repo:octo-org@999999/octo-repo@456789:ref:refs/heads/main"),
  "another issuer": { ...of("repo:octo-org/octo-repo:ref:refs/heads/main"), iss: "https://token.actions.example.com" },
  "an issuer that begins the same": { ...of("repo:octo-org/octo-repo:ref:refs/heads/main"), iss: `${iss}/evil` },
};

const repository = "octo-org/octo-repo";

describe("githubActions matches the published claims of what it names, and not the neighbour:", () => {
  test.each<[string, Parameters<typeof githubActions>[0], string[]]>([
    ["a branch", { repository, branch: "main" }, ["main"]],
    ["a branch with a slash", { repository, branch: "release/v1" }, ["branch with a slash"]],
    ["branches by *", { repository, branch: "main*" }, ["main", "branch main-2"]],
    ["branches below a slash, one level", { repository, branch: "release/*" }, ["branch with a slash"]],
    ["every branch without a slash", { repository, branch: "*" }, ["main", "demo-branch", "branch main-2"]],
    ["a tag", { repository, tag: "demo-tag" }, ["tag demo-tag"]],
    ["tags by *, a dot is a dot", { repository, tag: "v1.*" }, ["tag v1.2"]],
    ["an environment", { repository, environment: "Production" }, ["environment Production"]],
    ["an environment with a colon", { repository, environment: "Production:V1" }, ["environment with a colon"]],
    ["pull requests", { repository, event: "pull_request" }, ["pull request"]],
    ["another event", { repository, event: "push" }, ["main", "branch with a slash", "branch two levels deep"]],
    [
      "every repository of an organization, and of no other",
      { repository: "octo-org/*", branch: "main" },
      ["main", "repository of a longer name", "another letter for the dot"],
    ],
    [
      "pull requests of every repository",
      { repository: "octo-org/*", event: "pull_request" },
      ["pull request", "pull request of a longer name"],
    ],
    ["the immutable subject", { repository: "octo-org@123456/octo-repo@456789", branch: "main" }, ["immutable"]],
    ["every repository of an immutable owner", { repository: "octo-org@123456/*", branch: "main" }, ["immutable"]],
    [
      "one repository by its ids",
      { repository, ownerId: "123456", repositoryId: "456789", branch: "main" },
      ["immutable"],
    ],
    [
      "every repository of an owner by its id, those without ids too",
      { repository: "octo-org/*", ownerId: "123456", branch: "main" },
      ["main", "repository of a longer name", "another letter for the dot", "immutable"],
    ],
    [
      "pull requests of repositories by *, of an owner by its id",
      { repository: "octo-org/octo-*", ownerId: "123456", event: "pull_request" },
      ["pull request", "pull request of a longer name"],
    ],
    ["another issuer", { repository, branch: "main", issuer: "https://token.actions.example.com" }, ["another issuer"]],
  ])("%s", (_, args, names) => {
    expect(matchesOf(githubActions(args), samples)).toEqual(names);
  });

  test("a dot in the name of a repository is a dot", () => {
    const relationship = githubActions({ repository: "octo-org/octo.repo*", branch: "main" });
    expect(matchesOf(relationship, samples)).toEqual([]);
  });

  test("an audience is compared", () => {
    const audience = "https://github.com/octo-org";
    expect(matchesOf(githubActions({ repository, branch: "main", audience }), samples)).toEqual(["main"]);
    expect(matchesOf(githubActions({ repository, branch: "main", audience: "https://x.example" }), samples)).toEqual(
      [],
    );
  });
});

test("what the presets return are arguments of an Identity", () => {
  const fields = { parent: "p", name: "n" };
  const identities: IdentityArgs[] = [
    { ...fields, ...githubActions({ repository: "acme/images", branch: "main" }) },
    { ...fields, ...aws({ account: "123456789012", role: "deployer" }) },
  ];
  expect(identities.map((args) => Object.keys(args).at(-1))).toEqual(["claimMatch", "awsIdentity"]);
});

test("without * the subject is exact", () => {
  expect(githubActions({ repository: "acme/images", branch: "main" })).toEqual({
    claimMatch: { issuer: iss, subject: "repo:acme/images:ref:refs/heads/main" },
  });
  expect(githubActions({ repository: "acme/*", event: "pull_request" })).toEqual({
    claimMatch: { issuer: iss, subjectPattern: "repo:acme/[^/:]*:pull_request" },
  });
});

describe("githubActions refuses, and says what to write instead:", () => {
  test.each<[object, string]>([
    [{ repository: "acme", branch: "main" }, "repository must be owner/name, such as acme/images"],
    [{ repository: "https://github.com/acme/images.git", branch: "m" }, "repository must be owner/name: acme/images"],
    [{ repository: "git@github.com:acme/images.git", branch: "m" }, "repository must be owner/name: acme/images"],
    [
      { repository: "*/images", branch: "main" },
      "repository must name one owner: * may stand only after the slash, as in acme/*",
    ],
    [
      { repository: "acme*/images", branch: "main" },
      "repository must name one owner: * may stand only after the slash, as in acme/*",
    ],
    [{ repository, branch: "refs/heads/main" }, "branch must be the name of the branch alone: main"],
    [{ repository, tag: "refs/tags/v1" }, "tag must be the name of the tag alone: v1"],
    [{ repository, branch: "a:b" }, 'branch must not contain ":", which separates the parts of the subject'],
    [{ repository, event: "pull-request" }, "event is not an event of GitHub; did you mean pull_request?"],
    [{ repository }, "one of branch, tag, environment, event is required"],
    [{ repository, branch: "main", tag: "v1" }, "tag only one of branch, tag, environment, event may be given"],
    [{ branch: "main" }, "repository is required"],
    [{ repository, branch: 1 }, 'branch must be a string: write "1", in quotes'],
    [{ repository, branch: "" }, "branch must not be empty"],
    [{ repository, branch: "a\nb" }, "branch must not contain control characters"],
    [{ repository, branchh: "a", branch: "main" }, "branchh unknown argument; did you mean branch?"],
    [{ repository, branch: "main", issuer: "http://ghe.example.com" }, "issuer must be https: https://ghe.example.com"],
    [{ repository, branch: "main", ownerId: 12 }, 'ownerId must be a string: write "12", in quotes'],
    [
      { repository, branch: "main", ownerId: "octo-org", repositoryId: "012" },
      'ownerId must be a number, as gh api repos/acme/images --jq ".owner.id, .id" prints it; repositoryId must be a number',
    ],
    [{ repository, branch: "main", ownerId: "12" }, "ownerId needs repositoryId too: a subject has both ids, or none"],
    [{ repository, branch: "main", repositoryId: "34" }, "repositoryId needs ownerId too: a subject has both ids"],
    [
      { repository: "acme/*", branch: "main", ownerId: "12", repositoryId: "34" },
      "repositoryId is of one repository; leave it out beside *",
    ],
    [
      { repository: "acme@12/images@34", branch: "main", ownerId: "12", repositoryId: "34" },
      "ownerId is given twice: repository has ids already",
    ],
    [{ repository: "acme", brnch: "main" }, "repository must be owner/name, such as acme/images; brnch"],
  ])("%j", (args, message) => {
    expect(() => githubActions(args as never)).toThrow(`githubActions: ${message}`);
  });
});
