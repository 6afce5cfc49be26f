// Claims as published: https://docs.gitlab.com/ci/secrets/id_token_authentication/#token-payload.
import { describe, expect, test } from "vitest";
import { gitlab } from "../../../access/preset/index.ts";
import { matchesOf } from "./matching.ts";

const published = {
  namespace_id: "72",
  namespace_path: "my-group",
  project_id: "20",
  project_path: "my-group/my-project",
  user_id: "1",
  user_login: "sample-user",
  user_email: "sample-user@example.com",
  pipeline_id: "574",
  pipeline_source: "push",
  job_id: "302",
  ref: "feature-branch-1",
  ref_type: "branch",
  ref_path: "refs/heads/feature-branch-1",
  ref_protected: "false",
  runner_environment: "self-hosted",
  sha: "714a629c0b401fdce83e847fc9589983fc6f46bc",
  iss: "https://gitlab.com",
  aud: "https://vault.example.com",
  sub: "project_path:my-group/my-project:ref_type:branch:ref:feature-branch-1",
};

const of = (project: string, type: string, ref: string, claims: Record<string, unknown> = {}) => ({
  ...published,
  sub: `project_path:${project}:ref_type:${type}:ref:${ref}`,
  project_path: project,
  ...claims,
});

const project = "my-group/my-project";

const samples = {
  published,
  "protected main": of(project, "branch", "main", { ref_protected: "true" }),
  main: of(project, "branch", "main"),
  "main-2": of(project, "branch", "main-2"),
  "release/v1": of(project, "branch", "release/v1"),
  "tag main": of(project, "tag", "main"),
  "tag v1.0": of(project, "tag", "v1.0"),
  fork: of("somebody/my-project", "branch", "main"),
  "merge request of a fork": of("somebody/my-project", "branch", "main", { pipeline_source: "merge_request_event" }),
  "project of a longer name": of("my-group/my-project-2", "branch", "main"),
  subgroup: of("my-group/sub/my-project", "branch", "main"),
  "group of a longer name": of("my-group-2/my-project", "branch", "main"),
  "own instance": of(project, "branch", "main", { iss: "https://gitlab.example.com" }),
};

describe("gitlab matches the published claims of what it names, and not the neighbour:", () => {
  test.each<[string, Parameters<typeof gitlab>[0], string[]]>([
    ["a branch", { project, branch: "feature-branch-1" }, ["published"]],
    ["main, protected or not", { project, branch: "main" }, ["protected main", "main"]],
    ["main, protected", { project, branch: "main", protected: true }, ["protected main"]],
    ["branches by *", { project, branch: "main*" }, ["protected main", "main", "main-2"]],
    ["a branch with a slash", { project, branch: "release/v1" }, ["release/v1"]],
    ["a tag", { project, tag: "main" }, ["tag main"]],
    ["tags by *", { project, tag: "v*" }, ["tag v1.0"]],
    [
      "the projects directly in a group",
      { project: "my-group/*", branch: "main" },
      ["protected main", "main", "project of a longer name"],
    ],
    ["a project of a subgroup", { project: "my-group/sub/my-project", branch: "main" }, ["subgroup"]],
    ["another instance", { project, branch: "main", issuer: "https://gitlab.example.com" }, ["own instance"]],
  ])("%s", (_, args, names) => {
    expect(matchesOf(gitlab(args), samples)).toEqual(names);
  });
});

test("without * the subject is exact", () => {
  expect(gitlab({ project, branch: "main" })).toEqual({
    claimMatch: {
      issuer: "https://gitlab.com",
      subject: "project_path:my-group/my-project:ref_type:branch:ref:main",
    },
  });
});

describe("gitlab refuses, and says what to write instead:", () => {
  test.each<[object, string]>([
    [{ project: "images", branch: "main" }, "project must be a path such as acme/images"],
    [{ project: "/acme/images", branch: "main" }, "project must be a path such as acme/images"],
    [
      { project: "*/images", branch: "main" },
      "project must name one group: * may stand only after the first slash, as in acme/*",
    ],
    [{ project }, "one of branch, tag is required"],
    [{ project, branch: "main", tag: "v1" }, "tag only one of branch, tag may be given"],
    [{ project, branch: "main", protected: "yes" }, "protected must be true or false"],
    [{ project, branch: "main", issuer: "gitlab.com" }, "issuer must be an https URL: https://gitlab.com"],
  ])("%j", (args, message) => {
    expect(() => gitlab(args as never)).toThrow(`gitlab: ${message}`);
  });
});
