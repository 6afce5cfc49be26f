// Which command a job may run, by what it is about.
import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { githubHost, githubJob } from "../../ci/github.ts";
import { gitlabJob } from "../../ci/gitlab.ts";
import {
  type Command,
  commandOf,
  inputsText,
  type Job,
  keyOf,
  problemsOf,
  RefusedJob,
  readSettings,
} from "../../ci/settings.ts";
import { testFolder } from "../support/test-folder.ts";

const folder = testFolder();

const HASH = "a".repeat(40);
const HEAD = { sha: HASH, repo: { id: 1 } };
const pull = (head: object = HEAD, number: unknown = 7) => ({
  pull_request: { number, head, base: { sha: "b".repeat(40), repo: { id: 1 } } },
});

const onGithub = (event: string, payload: object = {}, ref = "refs/heads/main"): Job => {
  const content = { repository: { id: 1, default_branch: "main" }, ...payload };
  return githubJob({
    GITHUB_EVENT_NAME: event,
    GITHUB_EVENT_PATH: folder.write("event.json", JSON.stringify(content)),
    GITHUB_REF: ref,
    GITHUB_RUN_ID: "12",
    GITHUB_SERVER_URL: "https://github.example",
    GITHUB_REPOSITORY: "acme/access",
  });
};

const onGitlab = (source: string, variables: Record<string, string> = {}): Job =>
  gitlabJob({
    CI_PIPELINE_SOURCE: source,
    CI_COMMIT_BRANCH: source === "merge_request_event" ? "" : "main",
    CI_DEFAULT_BRANCH: "main",
    CI_PROJECT_ID: "42",
    CI_MERGE_REQUEST_PROJECT_ID: "42",
    CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "42",
    CI_MERGE_REQUEST_IID: "7",
    ...variables,
  });

const refusalOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(RefusedJob);
    return (error as Error).message;
  }
  throw new Error("nothing was refused");
};

test.each<[string, () => Job, Command]>([
  ["pull_request", () => onGithub("pull_request", pull()), "preview"],
  ["merge_group", () => onGithub("merge_group", { merge_group: { head_sha: HASH, base_sha: HASH } }), "preview"],
  ["push", () => onGithub("push"), "preview"],
  ["schedule", () => onGithub("schedule"), "drift"],
  ["schedule without a repository in its event", () => onGithub("schedule", { repository: null }), "drift"],
  ["merge_request_event", () => onGitlab("merge_request_event"), "preview"],
  ["push at GitLab", () => onGitlab("push"), "preview"],
  ["schedule at GitLab", () => onGitlab("schedule"), "drift"],
])("without an input, the event decides: %s", (_, job, command) => expect(commandOf(job(), {})).toBe(command));

test.each([
  ["workflow_dispatch", () => onGithub("workflow_dispatch")],
  ["web", () => onGitlab("web")],
])("without an input, the event decides: and for %s nothing does", (event, job) => {
  expect(refusalOf(() => commandOf(job(), {}))).toBe(
    `${event} may be for any command: give the input command, one of preview, apply, up, drift`,
  );
  expect(commandOf(job(), { command: "up" })).toBe("up");
});

test.each<[Command, () => Job, string]>([
  ["up", () => onGithub("pull_request", pull()), "pull_request"],
  ["drift", () => onGithub("pull_request", pull()), "pull_request"],
  ["apply", () => onGithub("pull_request", pull()), "pull_request"],
  ["up", () => onGithub("merge_group"), "merge_group"],
  ["up", () => onGitlab("merge_request_event"), "merge_request_event"],
])("a change is only previewed: %s is refused for %s", (command, job, event) => {
  expect(refusalOf(() => commandOf(job(), { command }))).toMatch(
    new RegExp(`^${command} runs on .* alone, after the merge: this job is of a ${event}, and its author chooses`),
  );
});

test("a change is only previewed: and says what it is about", () => {
  expect(onGithub("pull_request", pull())).toMatchObject({
    about: { change: { number: 7, head: HASH } },
    mainBranch: "main",
    run: { id: 12, url: "https://github.example/acme/access/actions/runs/12" },
  });
});

test.each<[string, () => Job, { branch?: string }, string]>([
  ["another branch", () => onGithub("push", {}, "refs/heads/change"), {}, "this job is of the branch change"],
  ["a tag", () => onGithub("push", {}, "refs/tags/main"), {}, "this job is of no branch"],
  ["a run by hand elsewhere", () => onGithub("workflow_dispatch", {}, "refs/heads/x"), {}, "of the branch x"],
  ["an input branch", () => onGithub("push"), { branch: "production" }, "up runs on the branch production alone"],
  ["no main branch", () => onGithub("push", { repository: null }), {}, "up runs on the main branch alone"],
  ["a branch at GitLab", () => onGitlab("push", { CI_COMMIT_BRANCH: "x" }), {}, "this job is of the branch x"],
  ["a tag at GitLab", () => onGitlab("push", { CI_COMMIT_BRANCH: "" }), {}, "this job is of no branch"],
])("apply, up and drift run on the main branch alone: not for %s", (_, job, settings, message) => {
  expect(refusalOf(() => commandOf(job(), { command: "up", ...settings }))).toContain(message);
  expect(() => commandOf(job(), { command: "apply", ...settings })).toThrow(RefusedJob);
});

test("apply, up and drift run on the main branch alone: which an input names", () => {
  const job = onGithub("push", {}, "refs/heads/production");
  expect(commandOf(job, { command: "up", branch: "production" })).toBe("up");
  expect(commandOf(onGithub("push", {}, "refs/heads/x"), { command: "preview" })).toBe("preview");
});

test.each<[string, () => Job]>([
  ["another repository", () => onGithub("pull_request", pull({ ...HEAD, repo: { id: 2 } }))],
  ["a fork that is gone", () => onGithub("pull_request", pull({ ...HEAD, repo: null }))],
  ["an event without the repositories", () => onGithub("pull_request", { pull_request: { number: 7 } })],
  ["an event without anything", () => onGithub("pull_request")],
  ["another project", () => onGitlab("merge_request_event", { CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "43" })],
  ["a pipeline in the fork", () => onGitlab("merge_request_event", { CI_PROJECT_ID: "43" })],
  ["no project", () => onGitlab("merge_request_event", { CI_MERGE_REQUEST_PROJECT_ID: "" })],
])("a change that may be from a fork is refused: %s", (_, job) => {
  expect(refusalOf(job)).toMatch(/^this (?:pull|merge) request comes from a fork, .* neither a token nor a comment/);
});

test.each([
  ["pull_request_target", "also where a stranger has caused it: use pull_request"],
  ["workflow_run", "such as the author of the pull request that the other workflow was about: use pull_request"],
  ["issue_comment", "also where a stranger has caused it: anyone who can write a comment can"],
  ["pull_request_review", "Use pull_request, merge_group, push, schedule, workflow_dispatch"],
  ["repository_dispatch", "Use pull_request"],
  ["toString", "Use pull_request"],
  ["", "this job is of no event"],
])("an event with rights for others is refused: %s", (event, message) => {
  expect(refusalOf(() => onGithub(event, pull()))).toContain(message);
});

test.each(["trigger", "api", "pipeline", "chat", "parent_pipeline", ""])(
  "an event for others is refused: %s at GitLab",
  (source) => expect(refusalOf(() => onGitlab(source))).toContain("use merge_request_event, push, schedule, web"),
);

test("an event that cannot be read, or has no number, is refused", () => {
  expect(refusalOf(() => githubJob({ GITHUB_EVENT_NAME: "push" }))).toContain("GITHUB_EVENT_PATH cannot be read: ");
  expect(refusalOf(() => onGithub("pull_request", pull(HEAD, "7; rm")))).toContain("does not name the pull request");
  expect(refusalOf(() => onGitlab("merge_request_event", { CI_MERGE_REQUEST_IID: "../1" }))).toContain(
    "CI_MERGE_REQUEST_IID does not name the merge request",
  );
});

afterEach(() => vi.restoreAllMocks());

const printedBy = async (act: () => unknown): Promise<string> => {
  let printed = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += text;
    return true;
  });
  await act();
  vi.restoreAllMocks();
  return printed;
};

test("no value can end its output and begin another one", () => {
  const file = folder.write("output", "");
  githubHost({ GITHUB_OUTPUT: file }).setOutputs({ page: "a\npage=/etc/passwd\nEOF" });
  expect(readFileSync(file, "utf8")).toMatch(/^page<<([\da-f-]{36})\na\npage=\/etc\/passwd\nEOF\n\1\n$/);
});

test("what is printed for others is no command, also after an error", async () => {
  const host = githubHost({});
  const printed = await printedBy(() =>
    host
      .withoutCommands(() => {
        process.stdout.write("::warning::approved");
        return Promise.reject(new Error("failed"));
      })
      .catch(() => undefined),
  );
  expect(printed).toMatch(/^::stop-commands::([\da-f-]{36})\n::warning::approved\n::\1::\n$/);
});

test("an annotation is one line", async () => {
  const printed = await printedBy(() => githubHost({}).annotate("error", "100 %\nsecond\r::warning::x"));
  expect(printed).toBe("::error::100 %25%0Asecond\\u000d::warning::x\n");
});

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

test("what a command needs is the stack where an engine runs", () => {
  expect(problemsOf(read({}).settings, "up", {})).toEqual(["stack-name: up needs the name of the stack"]);
  const { settings } = read({ IRM_CI_POLICY: "access.yaml" });
  expect(problemsOf(settings, "preview", {})).toEqual(["stack-name: preview needs the name of the stack"]);
  expect(problemsOf(read({ IRM_CI_CHANGE: "change.json" }).settings, "preview", {})).toEqual([]);
});

test("what a command needs is a digest to apply a change, and no token beside the identity", () => {
  const { settings } = read({ IRM_CI_STACK_NAME: "production" });
  expect(problemsOf(settings, "apply", {})).toEqual([
    "digest: apply needs the digest of the review, an output of the job that made it. A review that did not end with 0 has none",
  ]);
  expect(problemsOf({ ...settings, digest: `sha256:${"0".repeat(64)}` }, "apply", {})).toEqual([]);
  const { settings: own } = read({ IRM_CI_STACK_NAME: "production", IRM_CI_UP_IDENTITY: UID });
  expect(problemsOf(own, "up", { IRM_TOKEN: "secret" })).toEqual([
    "IRM_TOKEN is set, and would count in the place of the identity of up: leave out the variable or the input",
  ]);
  expect(problemsOf(own, "preview", { IRM_TOKEN: "secret" })).toEqual([]);
});

test("later steps get the inputs as one text, without a token", () => {
  const env = { IRM_CI_STACK_NAME: "a", IRM_CI_DENY: "x\ny", IRM_CI_RULES: "", IRM_CI_TOKEN: "t", IRM_TOKEN: "t" };
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
