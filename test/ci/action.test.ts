// action.yml and its documentation: what is pinned, what reaches a script, and that each input is one that docs/ci.md has.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../../scripts/base/project.mjs";
import { includeOf } from "../harness/pipeline/gitlab.ts";
import { temporaryFolder } from "../support/command.ts";
import { createRepository } from "../support/repository.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const text = read("action.yml");
const action = parse(text) as {
  inputs: Record<string, { description: string; default?: string; required?: boolean }>;
  outputs: Record<string, { value: string }>;
  runs: { using: string; steps: { uses?: string; run?: string; shell?: string; env?: Record<string, string> }[] };
};
const { steps } = action.runs;
const page = read("docs/ci.md");

test("no expression is written into a script, and none names a text of the event", () => {
  for (const { run = "", shell } of steps.filter((step) => step.run !== undefined)) {
    expect(run).not.toContain("${{");
    expect(shell).toBe("bash");
  }
  expect(text).not.toMatch(/github\.(?:event|head_ref)/);
});

test("the token of the comment reaches three steps, and not the one that runs the program", () => {
  const withToken = steps.filter((step) => JSON.stringify(step).includes("inputs.github-token"));
  expect(withToken.map(({ run, uses = "" }) => run ?? uses.replace(/@.*/, ""))).toEqual([
    'exec node "$GITHUB_ACTION_PATH/cli/main.ts" ci approval',
    "actions/download-artifact",
    'exec node "$GITHUB_ACTION_PATH/cli/main.ts" ci report',
  ]);
});

const [, inputs = "", outputs = ""] = /<!-- inputs -->([\s\S]*?)\n\n\| output([\s\S]*?)<!-- end -->/.exec(page) ?? [];
const namesIn = (table: string): string[] =>
  [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([\w-]+)`/g)].map(([, name = ""]) => name),
  );

test("each input and output of the action, those that the include for GitLab lacks or has besides, and an include with inputs that exist", () => {
  expect(namesIn(inputs).toSorted()).toEqual(Object.keys(action.inputs).toSorted());
  expect(namesIn(outputs).toSorted()).toEqual(Object.keys(action.outputs).toSorted());
  const gitlab = Object.keys(includeOf({ "base-url": "", audience: "", "stack-name": "", "up-identity": "" }).inputs);
  const own = Object.keys(action.inputs);
  expect(own.filter((name) => !gitlab.includes(name))).toEqual([
    ...["command", "change", "digest", "github-token", "pulumi-version", "node-version"],
  ]);
  expect(gitlab.filter((name) => !own.includes(name))).toEqual([
    ...["base-url", "audience", "image", "stage", "job-prefix"],
  ]);
  const include = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)]
    .map(([, one = ""]) => one)
    .find((one) => one.startsWith("include:"));
  const [given] = (parse(include ?? "") as { include: { file: string; inputs: Record<string, string> }[] }).include;
  expect(given?.file).toBe("templates/gitlab.yml");
  expect(includeOf(given?.inputs ?? {}).jobs).toHaveProperty("access-review");
});

test("each input of the action reaches the commands, by the name that they read", () => {
  const settings = read("ci/settings.ts");
  const elsewhere = ["github-token", "pulumi-version", "node-version"];
  const env = steps.find(({ run }) => run?.endsWith("ci plan"))?.env ?? {};
  const passed = Object.keys(action.inputs).filter((name) => !elsewhere.includes(name));
  expect(env).toEqual(
    Object.fromEntries(
      passed.map((name) => [`IRM_CI_${name.toUpperCase().replaceAll("-", "_")}`, `\${{ inputs.${name} }}`]),
    ),
  );
  for (const name of passed) expect(settings).toContain(`"${name}"`);
});

test("irm ci run loads no package but those that the action installs", () => {
  const folder = temporaryFolder();
  const repository = createRepository(folder.path("."));
  repository.git("update-ref", "refs/remotes/origin/main", repository.commit({ "review.yaml": "deny: []\n" }));
  // Git alone is on the PATH, outside the work tree.
  const bin = mkdtempSync(join(tmpdir(), "irm-bin-"));
  symlinkSync(join(repository.git("--exec-path"), "git"), join(bin, "git"));
  const event = folder.path("event.json");
  writeFileSync(event, JSON.stringify({ repository: { id: 1, default_branch: "main" } }));
  const env = {
    ...{ GITHUB_ACTIONS: "true", GITHUB_EVENT_NAME: "push", GITHUB_EVENT_PATH: event, GITHUB_REF: "refs/heads/main" },
    ...{ GITHUB_ACTION_PATH: root, IRM_CI_STACK_NAME: "x", IRM_CI_FOLDER: folder.path("files") },
    ...{ IRM_BASE_URL: "http://127.0.0.1:9", IRM_TOKEN: "t", PATH: bin },
  };
  const hook = join(root, "test", "support", "only-dependencies.mjs");
  const args = ["--import", hook, join(root, "cli", "main.ts"), "ci", "run"];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder.path("."), env, encoding: "utf8" });
  folder.remove();
  rmSync(bin, { recursive: true });
  expect(stderr).toMatch(/^irm ci run: there is no pulumi on the PATH/);
  expect(status).toBe(1);
});
