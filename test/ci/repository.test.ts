// The files that GitHub reads: the workflow and the form for bugs, which can be tried only there. And the changelog.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { binFolder, root } from "../../scripts/base/project.mjs";
import { runIrm } from "../support/irm.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const manifest = JSON.parse(read("package.json")) as {
  version: string;
  scripts: Record<string, string>;
  bin: Record<string, string>;
};

const text = read(".github/workflows/ci.yml");
const workflow = parse(text) as { permissions: Record<string, string>; jobs: Record<string, Job> };
const jobs = Object.values(workflow.jobs);
interface Job {
  "runs-on": string;
  "timeout-minutes": number;
  strategy?: { matrix: { os: string[] } };
  permissions?: Record<string, string>;
  steps: { run?: string }[];
}

test(".github/workflows/ci.yml runs everything on Linux and macOS, and the package on Windows", () => {
  const { all, windows } = workflow.jobs;
  expect(all?.strategy?.matrix.os.map((os) => os.replace(/-.*/, ""))).toEqual(["ubuntu", "macos"]);
  expect(all?.steps.at(-1)?.run).toBe(".ci/run");
  expect(windows?.["runs-on"]).toMatch(/^windows-/);
});

test(".github/workflows/ci.yml may read this repository and nothing else, and ends", () => {
  expect(workflow.permissions).toEqual({ contents: "read" });
  for (const job of jobs) {
    expect(job).not.toHaveProperty("permissions");
    expect(job["timeout-minutes"]).toBeLessThanOrEqual(45);
  }
  expect(text).not.toMatch(/secrets\.|pull_request_target/);
});

test(".github/workflows/ci.yml takes each action of others by one whole hash, that of action.yml", () => {
  const uses = [...`${read("action.yml")}${text}`.matchAll(/uses: (.*)/g)].map(([, one = ""]) => one);
  for (const one of uses) expect(one).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  // actions/cache/save is in the repository of actions/cache.
  const pins = new Set(uses.map((one) => one.replace(/^([\w-]+\/[\w-]+)[\w/-]*/, "$1")));
  const repositories = [...pins].map((pin) => pin.split("@")[0]);
  expect(repositories).toEqual([...new Set(repositories)]);
});

test(".github/workflows/ci.yml runs commands and files that exist, and writes no expression into them", () => {
  const lines = jobs.flatMap(({ steps }) => steps.flatMap(({ run = "" }) => run.trim().split("\n"))).filter(Boolean);
  expect(lines.filter((line) => !isCommand(line) || line.includes("${{"))).toEqual([]);
});

const isCommand = (line: string): boolean => {
  const [program = "", name = "", ...rest] = line.split(" ");
  if (!rest.filter((word) => word.startsWith("test/")).every((path) => existsSync(join(root, path)))) return false;
  if (program === "npx") return name in manifest.bin || existsSync(join(binFolder, name));
  if (program === "npm" && name === "run") return (rest[0] ?? "") in manifest.scripts;
  return program === "npm" ? ["ci", "init", "install", "pack"].includes(name) : existsSync(join(root, program));
};

test("the form for bugs asks in fields that GitHub has, for the output of commands that exist", async () => {
  const text = read(".github/ISSUE_TEMPLATE/bug.yml");
  const { body } = parse(text) as { body: { type: string; attributes: { label?: string } }[] };
  for (const { type, attributes } of body.filter((field) => field.type !== "markdown")) {
    expect(["checkboxes", "dropdown", "input", "textarea"]).toContain(type);
    expect(attributes.label).toEqual(expect.any(String));
  }
  const commands = [...text.matchAll(/npx pulumi-irm ([a-z]+)/g)].map(([, name = ""]) => name);
  expect(commands).toContain("doctor");
  for (const name of commands) expect(await runIrm("help", name)).toMatchObject({ code: 0 });
});

test("the changelog begins with this version, and has at most 40 lines about it", () => {
  const [, entry = ""] = read("CHANGELOG.md").split(/^## /m);
  expect(entry.split(" ")[0]).toBe(manifest.version);
  expect(entry.trim().split("\n").length).toBeLessThanOrEqual(40);
});
