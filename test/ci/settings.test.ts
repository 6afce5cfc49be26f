// The inputs of the action and of the include, as the commands read them from variables.
import { describe, expect, test } from "vitest";
import { inputsText, keyOf, problemsOf, readSettings } from "../../ci/settings.ts";

const UID = "cc2e6e8099dd7fdbd7d866059f72a7a3b5e6d502/1782c7386ec01ef2";
const read = (env: Record<string, string>) => readSettings(env);

test("lists have one entry a line, and what is empty counts as not given", () => {
  const { settings, problems } = read({
    IRM_CI_STACK_NAME: "acme/access/production",
    IRM_CI_WORK_DIR: "./infra//access/",
    IRM_CI_POLICY: "",
    IRM_CI_DENY: "gains-owner\n\n  last-owner-goes \n",
    IRM_CI_UP_IDENTITY: UID,
    IRM_CI_COMMENT_ON_PR: "false",
  });
  expect(problems).toEqual([]);
  expect(settings).toEqual({
    stack: "acme/access/production",
    workDir: "infra/access",
    deny: ["gains-owner", "last-owner-goes"],
    ...{ allow: [], driftAllow: [], services: [] },
    identities: { apply: UID, up: UID },
    apply: "approved",
    comment: false,
    issue: true,
  });
});

test("all problems are named at once", () => {
  const { problems } = read({
    IRM_CI_COMMAND: "previw",
    IRM_CI_STACK_NAME: "prod; rm -rf /",
    IRM_CI_PREVIEW_IDENTITY: "release",
    IRM_CI_OPEN_ISSUE: "yes",
    IRM_CI_POLICY: "a.yaml",
    IRM_CI_CHANGE: "b.json",
    IRM_CI_APPLY: "merge",
    IRM_CI_DIGEST: "sha256:0",
  });
  expect(problems).toEqual([
    'command: "previw" is not one of preview, apply, up, drift; did you mean preview?',
    'apply: "merge" is not approved or merged',
    'preview-identity: "release" is not the uid of an identity',
    'stack-name: "prod; rm -rf /" is not the name of a stack, such as production or acme/access/production',
    'digest: "sha256:0" is not the digest of a change, as sha256: and 64 hexadecimal digits',
    'open-issue: "yes" is not true or false',
    "policy and change cannot be combined",
  ]);
});

test("one identity for pull requests and the main branch is refused", () => {
  const { problems } = read({ IRM_CI_PREVIEW_IDENTITY: UID, IRM_CI_UP_IDENTITY: UID });
  expect(problems).toEqual([expect.stringContaining("preview-identity and up-identity are the same")]);
});

describe("what a command needs", () => {
  test("is the stack where an engine runs", () => {
    expect(problemsOf(read({}).settings, "up", {})).toEqual(["stack-name: up needs the name of the stack"]);
    const { settings } = read({ IRM_CI_POLICY: "access.yaml" });
    expect(problemsOf(settings, "preview", {})).toEqual(["stack-name: preview needs the name of the stack"]);
    expect(problemsOf(read({ IRM_CI_CHANGE: "change.json" }).settings, "preview", {})).toEqual([]);
  });

  test("is a digest to apply a change", () => {
    const { settings } = read({ IRM_CI_STACK_NAME: "production" });
    expect(problemsOf(settings, "apply", {})).toEqual([
      "digest: apply needs the digest of the review, an output of the job that made it. A review that did not end with 0 has none",
    ]);
    expect(problemsOf({ ...settings, digest: `sha256:${"0".repeat(64)}` }, "apply", {})).toEqual([]);
  });

  test("is no token beside the identity, which would not count", () => {
    const { settings: own } = read({ IRM_CI_STACK_NAME: "production", IRM_CI_UP_IDENTITY: UID });
    expect(problemsOf(own, "up", { IRM_TOKEN: "secret" })).toEqual([
      "IRM_TOKEN is set, and would count in the place of the identity of up: leave out the variable or the input",
    ]);
    expect(problemsOf(own, "preview", { IRM_TOKEN: "secret" })).toEqual([]);
  });
});

test("later steps get the inputs as one text, without a token", () => {
  const env = {
    IRM_CI_STACK_NAME: "a",
    IRM_CI_DENY: "x\ny",
    IRM_CI_RULES: "",
    IRM_CI_TOKEN: "t",
    IRM_TOKEN: "t",
    HOME: "h",
  };
  const text = inputsText(env);
  expect(JSON.parse(text)).toEqual({ IRM_CI_STACK_NAME: "a", IRM_CI_DENY: "x\ny" });
  expect(read({ IRM_CI_INPUTS: text }).settings).toMatchObject({ stack: "a", deny: ["x", "y"] });
});

test.each([
  [{ IRM_CI_STACK_NAME: "a--b" }, "a%2d%2db"],
  [{ IRM_CI_STACK_NAME: "b", IRM_CI_WORK_DIR: "é,>" }, "%c3%a9%2c%3e:b"],
  [{ IRM_CI_POLICY: "a.yaml\nteams/c.yaml", IRM_CI_STACK_NAME: "b" }, "a.yaml:teams/c.yaml:b"],
  [{}, "."],
])("the key of a subject %j ends no comment, and is no list: %s", (env, key) => {
  expect(keyOf(read(env).settings)).toBe(key);
});
