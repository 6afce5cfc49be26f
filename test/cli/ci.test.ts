// `irm ci` step by step: what ends it, and what it leaves for later steps. test/ci runs whole jobs.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { root } from "../../scripts/base/project.mjs";
import { startGithub, TOKEN } from "../harness/pipeline/posts.ts";
import { runIrm } from "../support/irm.ts";
import { createRepository } from "../support/repository.ts";
import { testFolder } from "../support/test-folder.ts";

const folder = testFolder();
const here = process.cwd();
const github = await startGithub(async () => "");
mkdirSync(folder.path("program"));
afterAll(() => github.close());

const env = (values: Record<string, string>): void => {
  for (const [name, value] of Object.entries(values)) vi.stubEnv(name, value);
};
beforeEach(() => {
  folder.write("event.json", JSON.stringify({ repository: { id: 1, default_branch: "main" } }));
  for (const name of ["output", "summary"]) folder.write(name, "");
  env({
    ...{ GITHUB_ACTIONS: "true", GITHUB_EVENT_NAME: "schedule", GITHUB_EVENT_PATH: folder.path("event.json") },
    ...{ GITHUB_REF: "refs/heads/main", GITHUB_REPOSITORY: "acme/access", GITHUB_RUN_ID: "12" },
    ...{ GITHUB_SERVER_URL: "https://github.example", GITHUB_API_URL: github.url },
    ...{ GITHUB_GRAPHQL_URL: `${github.url}/graphql`, GITHUB_OUTPUT: folder.path("output") },
    ...{ GITHUB_STEP_SUMMARY: folder.path("summary"), GITHUB_ACTION_PATH: root, RUNNER_TEMP: folder.path("temp") },
    ...{
      IRM_CI_STACK_NAME: "production",
      IRM_CI_WORK_DIR: folder.path("program"),
      IRM_CI_FOLDER: folder.path("files"),
    },
    PATH: [folder.path("bin"), process.env.PATH].join(delimiter),
  });
});
afterEach(() => {
  process.chdir(here);
  vi.unstubAllEnvs();
  rmSync(folder.path("files"), { recursive: true, force: true });
});

const UID = "cc2e6e8099dd7fdbd7d866059f72a7a3b5e6d502/1782c7386ec01ef2";
const ci = (step: string) => runIrm("ci", step);

const program = (name: string, ...lines: string[]): void => {
  chmodSync(folder.write(join("bin", name), ["#!/bin/sh", ...lines, ""].join("\n")), 0o755);
};
const read = (name: string): string => readFileSync(folder.path(name), "utf8");
const outputs = (): Record<string, string> =>
  Object.fromEntries([...read("output").matchAll(/^([\w-]+)<<(.+)\n([\s\S]*?)\n\2$/gm)].map((one) => [one[1], one[3]]));

test("exits with 2 where there is no job", async () => {
  env({ GITHUB_ACTIONS: "" });
  const sentence = "irm ci run: this is not a job of GitHub Actions or GitLab; elsewhere, use npx pulumi-irm review,";
  expect(await ci("run")).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) });
});

test("plan says what the next steps need: an engine only where none is there, a journal of the job only", async () => {
  program("pulumi");
  expect(await ci("plan")).toMatchObject({ code: 0, stderr: "" });
  expect(outputs()).toMatchObject({
    command: "drift",
    engine: "false",
    journal: expect.stringMatching(/\/pulumi-irm$/),
    "journal-key": expect.stringMatching(/^irm-journal:.*:production::$/),
    folder: expect.stringContaining(folder.path("temp")),
  });
  env({ IRM_JOURNAL: "/var/lib/pulumi-irm", PATH: "/nowhere" });
  await ci("plan");
  expect(outputs()).toMatchObject({ engine: "true", journal: "" });
  rmSync(folder.path("bin/pulumi"));
});

test("plan the journal of a stack is not that of another one in a folder of its name", async () => {
  const keyOf = async (workDir: string, stack: string): Promise<string> => {
    env({ IRM_CI_WORK_DIR: workDir, IRM_CI_STACK_NAME: stack, IRM_JOURNAL: "" });
    await ci("plan");
    return outputs()["journal-key"] as string;
  };
  const key = await keyOf(".", "production");
  expect(key).toBe("irm-journal:production::");
  mkdirSync(folder.path("production"), { recursive: true });
  expect((await keyOf("production", "dev")).startsWith(key)).toBe(false);
});

test("plan names all problems of the inputs at once", async () => {
  env({ IRM_CI_COMMAND: "up", IRM_CI_OPEN_ISSUE: "maybe", IRM_CI_STACK_NAME: "" });
  const { code, stderr } = await ci("plan");
  expect(code).toBe(2);
  for (const problem of ['open-issue: "maybe" is not true or false', "stack-name: up needs the name of the stack"])
    expect(stderr).toContain(problem);
});

test("plan exits with 1 for an event that may be of others, and writes it where people look", async () => {
  env({ GITHUB_EVENT_NAME: "pull_request_target" });
  const { code, stdout, stderr } = await ci("plan");
  expect(code).toBe(1);
  const reason = "this job is of pull_request_target: it has the rights of the main branch";
  expect(stdout).toContain(`::error::${reason}`);
  expect(stderr).toContain(`irm ci plan: ${reason}`);
  expect(read("summary")).toContain(`**Not run:** ${reason}`);
  expect(read("output")).toBe("");
});

describe("run", () => {
  beforeEach(() => {
    // The command sets these for the engine.
    for (const name of ["IRM_IDENTITY", "PULUMI_BACKEND_URL"]) vi.stubEnv(name, undefined);
    env({ GITHUB_EVENT_NAME: "push", IRM_CI_COMMAND: "up", IRM_CI_UP_IDENTITY: UID, IRM_CI_CLOUD_URL: "s3://state" });
  });

  test("updates as its own identity, without the token, and tells the log and the summary", async () => {
    env({ IRM_CI_TOKEN: "a token" });
    program("pulumi", 'echo "::warning::$* as $IRM_IDENTITY in $PWD at $PULUMI_BACKEND_URL with \\"$IRM_CI_TOKEN\\""');
    const { code, stdout } = await ci("run");
    expect(code).toBe(0);
    const args = "up --yes --refresh --non-interactive --color never --stack production";
    const printed = `::warning::${args} as ${UID} in ${folder.path("program")} at s3://state with ""`;
    expect(stdout).toMatch(/^::stop-commands::(\S+)\n::warning::up [\s\S]*\n::\1::\n$/);
    expect(stdout).toContain(printed);
    expect(read("summary")).toContain("## The update of `production` succeeded");
    expect(read("summary")).toContain(printed);
    expect(outputs()).toEqual({ "exit-code": "0" });
  });

  test("exits with 1 where the engine fails, or is missing", async () => {
    program("pulumi", "echo '```'; exit 255");
    const { code, stdout } = await ci("run");
    expect(code).toBe(1);
    expect(stdout).toMatch(/::error::up failed\n$/);
    expect(read("summary")).toContain("## The update of `production` failed");
    expect(read("summary")).toContain("````text\n```\n````");
    rmSync(folder.path("bin/pulumi"));
    env({ PATH: "/nowhere" });
    const missing = await ci("run");
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("irm ci run: cannot run pulumi: ") });
  });

  test("installs the packages of a lock file once, and stops where that fails", async () => {
    program("pulumi");
    program("npm", 'echo "npm $*" >> log', "mkdir node_modules");
    await ci("run");
    expect(existsSync(folder.path("program/log"))).toBe(false);
    folder.write("program/package-lock.json", "{}");
    await ci("run");
    await ci("run");
    expect(read("program/log")).toBe("npm ci --no-audit --no-fund\n");
    rmSync(folder.path("program/node_modules"), { recursive: true });
    program("npm", "exit 7");
    program("pulumi", "touch updated");
    const stderr = expect.stringContaining("irm ci run: npm ci ended with 7");
    expect(await ci("run")).toMatchObject({ code: 1, stderr });
    expect(existsSync(folder.path("program/updated"))).toBe(false);
    rmSync(folder.path("program/package-lock.json"));
  });

  test("exits with 2 for a folder that is missing, and for wrong rules", async () => {
    env({ IRM_CI_WORK_DIR: folder.path("infra") });
    const missing = await ci("run");
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain(`work-dir: cannot enter "${folder.path("infra")}": ENOENT`);
    const repository = createRepository();
    repository.git("update-ref", "refs/remotes/origin/main", repository.commit());
    env({ IRM_CI_WORK_DIR: repository.root, IRM_CI_COMMAND: "preview", IRM_CI_POLICY: "a.yaml" });
    env({ IRM_CI_DENY: "gains-ownr" });
    const wrong = await ci("run");
    process.chdir(here);
    repository.remove();
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('--deny: there is no rule "gains-ownr"; did you mean gains-owner?');
    expect(wrong.stdout).toContain('::error::--deny: there is no rule "gains-ownr"');
  });

  test("exits with 1 where the job names neither the default branch nor another one, which rules come from", async () => {
    folder.write("event.json", "{}");
    env({ GITHUB_EVENT_NAME: "workflow_dispatch", GITHUB_REF: "refs/heads/change", IRM_CI_COMMAND: "preview" });
    const message =
      "this job of workflow_dispatch does not name the default branch, which rules and tests come from: give the input branch";
    expect(await ci("run")).toMatchObject({ code: 1, stderr: expect.stringContaining(`irm ci run: ${message}\n`) });
  });

  test("writes into no folder to which the change has made a link", async () => {
    folder.write("elsewhere/kept", "");
    symlinkSync(folder.path("elsewhere"), folder.path("files"));
    program("pulumi");
    expect((await ci("run")).code).toBe(0);
    expect(existsSync(folder.path("elsewhere/exit-code"))).toBe(false);
    expect(existsSync(folder.path("elsewhere/kept"))).toBe(true);
    expect(read("files/exit-code")).toBe("0");
  });
});

describe("report", () => {
  test("replaces the review of an earlier commit where the next one has none, and keeps one comment", async () => {
    const payload = { pull_request: { number: 7, head: { repo: { id: 1 } }, base: { repo: { id: 1 } } } };
    folder.write("event.json", JSON.stringify(payload));
    env({ GITHUB_EVENT_NAME: "pull_request", IRM_CI_WORK_DIR: "." });
    left(3, "## Change in access: 1 finding\n");
    await ci("report");
    expect(github.comments).toMatchObject([{ body: expect.stringContaining("## Change in access: 1 finding") }]);
    rmSync(folder.path("files"), { recursive: true });
    expect(await ci("report")).toMatchObject({ code: 0, stderr: "" });
    expect(github.comments).toHaveLength(1);
    expect(github.comments[0]?.body).toContain("## No review of this pull request");
    expect(github.comments[0]?.body).not.toContain("1 finding");
    env({ IRM_CI_COMMENT_ON_PR: "false" });
    const requests = github.requests.length;
    expect((await ci("report")).code).toBe(0);
    expect(github.requests).toHaveLength(requests);
  });

  const left = (code: number, text = "## Drift: 1 record differs\n"): void => {
    folder.write("files/report.md", text);
    folder.write("files/exit-code", String(code));
  };
  beforeEach(() => env({ IRM_CI_TOKEN: TOKEN }));

  test("opens the issue for drift, updates it, leaves it after an error, and closes it where nothing differs", async () => {
    env({ IRM_CI_WORK_DIR: "infra" });
    left(3);
    expect(await ci("report")).toMatchObject({ code: 0, stderr: "" });
    expect(github.issues).toMatchObject([{ title: "Access differs from the program: infra production", isOpen: true }]);
    const [issue] = github.issues;
    expect(issue?.body).toMatch(/^<!-- irm drift infra:production run 12 -->\n## Drift: 1 record differs\n/);
    expect(outputs()).toEqual({ "issue-url": `https://github.example/issues/${issue?.id}` });
    left(3, "## Drift: 2 records differ\n");
    await ci("report");
    expect(github.issues).toHaveLength(1);
    expect(issue?.body).toContain("2 records");
    rmSync(folder.path("files"), { recursive: true });
    await ci("report");
    expect(issue?.isOpen).toBe(true);
    left(0);
    await ci("report");
    expect(issue).toMatchObject({
      isOpen: false,
      comments: [{ body: expect.stringContaining("Nothing differs any more") }],
    });
  });

  test("writes nothing where the inputs say so, and drift is not lost without a token", async () => {
    left(3);
    const requests = github.requests.length;
    env({ IRM_CI_OPEN_ISSUE: "false" });
    expect((await ci("report")).code).toBe(0);
    env({ IRM_CI_OPEN_ISSUE: "true", IRM_CI_TOKEN: "" });
    expect(await ci("report")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("irm ci report: no issue: github-token is not set"),
    });
    expect(github.requests).toHaveLength(requests);
  });

  test("exits with 1 where the issue cannot be written", async () => {
    github.isReadOnly = true;
    left(3);
    const { code, stdout, stderr } = await ci("report");
    github.isReadOnly = false;
    expect(code).toBe(1);
    const message =
      "GitHub answered 403 to POST /repos/acme/access/issues: Resource not accessible by integration; the job needs `permissions: issues: write`";
    expect(stderr).toContain(`irm ci report: ${message}`);
    expect(stdout).toContain(`::error::${message}`);
  });
});
