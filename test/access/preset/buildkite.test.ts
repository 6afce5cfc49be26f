// Claims as published: https://buildkite.com/docs/pipelines/security/oidc, and without a step key:
// https://github.com/rubygems/rubygems.org/issues/5412.
import { describe, expect, test } from "vitest";
import { buildkite } from "../../../access/preset/index.ts";
import { matchesOf } from "./matching.ts";

const commit = "9f3182061f1e2cca4702c368cbc039b7dc9d4485";
const published = {
  iss: "https://agent.buildkite.com",
  sub: `organization:acme-inc:pipeline:super-duper-app:ref:refs/heads/main:commit:${commit}:step:build`,
  aud: "https://buildkite.com/acme-inc",
  organization_slug: "acme-inc",
  pipeline_slug: "super-duper-app",
  build_number: 1,
  build_branch: "main",
  build_tag: "v1.0.0",
  build_commit: commit,
  step_key: "build",
  job_id: "0184990a-477b-4fa8-9968-496074483cee",
  agent_id: "0184990a-4782-42b5-afc1-16715b10b8ff",
  build_source: "ui",
  runner_environment: "buildkite-hosted",
};

const of = (organization: string, pipeline: string, ref: string, end = `commit:${commit}:step:build`) => ({
  ...published,
  sub: `organization:${organization}:pipeline:${pipeline}:ref:${ref}:${end}`,
});

const [org, app] = ["acme-inc", "super-duper-app"];
const samples = {
  published,
  "without a step key": of(org, app, "refs/heads/main", "commit:b5ffe3aeea51cec6c41aef16e45ee6bce47d8810:step:"),
  "commit HEAD": of(org, app, "refs/heads/main", "commit:HEAD:step:test"),
  "another branch": of(org, app, "refs/heads/main-2"),
  "branch with a slash": of(org, app, "refs/heads/release/v1"),
  tag: of(org, app, "refs/tags/v1.0.0"),
  "tag main": of(org, app, "refs/tags/main"),
  "pull request of a fork": of(org, app, "refs/heads/somebody:main"),
  "a branch that imitates the end": of(org, app, "refs/heads/main:commit:x:step:y"),
  "pipeline of a longer name": of(org, `${app}-2`, "refs/heads/main"),
  "another organization": of("acme-inc-2", app, "refs/heads/main"),
};

describe("buildkite matches the published claims of what it names, and not the neighbour:", () => {
  test.each<[string, Parameters<typeof buildkite>[0], string[]]>([
    [
      "a branch",
      { organization: org, pipeline: app, branch: "main" },
      ["published", "without a step key", "commit HEAD"],
    ],
    ["a branch with a slash", { organization: org, pipeline: app, branch: "release/v1" }, ["branch with a slash"]],
    ["a tag", { organization: org, pipeline: app, tag: "v1.0.0" }, ["tag"]],
    ["tags by *", { organization: org, pipeline: app, tag: "*" }, ["tag", "tag main"]],
    [
      "every pipeline",
      { organization: org, pipeline: "*", branch: "main" },
      ["published", "without a step key", "commit HEAD", "pipeline of a longer name"],
    ],
  ])("%s", (_, args, names) => {
    expect(matchesOf(buildkite(args), samples)).toEqual(names);
  });
});

describe("buildkite refuses, and says what to write instead:", () => {
  test.each<[object, string]>([
    [
      { organization: "*", pipeline: app, branch: "main" },
      "organization must name one organization: * is not allowed here",
    ],
    [{ organization: org, pipeline: "a/b", branch: "main" }, 'pipeline must not contain "/"'],
    [{ organization: org, pipeline: app }, "one of branch, tag is required"],
    [{ pipeline: app, branch: "main" }, "organization is required"],
  ])("%j", (args, message) => {
    expect(() => buildkite(args as never)).toThrow(`buildkite: ${message}`);
  });
});
