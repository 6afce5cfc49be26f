// The update repeats no sentence that the engine's preview has shown. And variables that differ from the engine's.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sentencesWith } from "../../../provider/run/sentences.ts";
import { environmentProblems } from "../../../provider/run/stored-stack.ts";
import { type EngineProcess, engineAbove, startOf } from "../../../pulumi/process.ts";
import { root } from "../../../scripts/base/project.mjs";
import { testFolder } from "../../support/test-folder.ts";

const folder = testFolder();

let run = 0;
beforeEach(() => {
  run += 1;
  const own = folder.path(String(run));
  mkdirSync(own);
  vi.stubEnv("TMPDIR", own);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const ENGINE: EngineProcess = { pid: process.pid, start: startOf(process.pid) };

/** What a process of the engine logs, which knows whether it serves a preview, or not. */
const logged = (
  isPreview: boolean | undefined,
  sentences: readonly [key: string, text: string][],
  { engine = ENGINE, masked }: { engine?: EngineProcess | undefined; masked?: (text: string) => string } = {},
): string[] => {
  const lines: string[] = [];
  const own = sentencesWith({ log: (text) => lines.push(text), masked, engine: () => engine });
  own.noteRun(isPreview);
  for (const [key, text] of sentences) own.log(key, text);
  return lines;
};

const A: [string, string] = ["acme/p/dev/irm:Role::a", "Role a is new"];
const B: [string, string] = ["acme/p/dev/irm:Role::b", "Role b is new"];

const unknown: [string, string] = [A[0], "Identity a is new: a workload that is not known yet can assume it"];
const known: [string, string] = [A[0], "Identity a is new: anyone can assume it"];
it.each<[string, [string, string][] | undefined, [string, string][], string[]]>([
  ["nothing that the preview of the same engine has shown", [A, B], [A, B], []],
  ["all of it without a preview", undefined, [A, B], [A[1], B[1]]],
  ["what the preview did not know, or the program has changed since", [unknown], [known, B], [known[1], B[1]]],
  ["a sentence that the preview has shown of another resource", [A], [[B[0], A[1]]], [A[1]]],
])("an update logs %s", (_, previewed, updated, expected) => {
  if (previewed) expect(logged(true, previewed)).toEqual(previewed.map(([, text]) => text));
  expect(logged(false, updated)).toEqual(expected);
});

it("an update logs what the preview of another engine has shown, also of one that had its pid", () => {
  logged(true, [A]);
  expect(logged(false, [A], { engine: { ...ENGINE, start: "1" } })).toEqual([A[1]]);
  expect(logged(false, [A], { engine: { pid: process.ppid, start: startOf(process.ppid) } })).toEqual([A[1]]);
});

it("an update logs all of it where the engine is not known, or the folder cannot be used", () => {
  const unknown = { engine: undefined as never };
  const lines: string[] = [];
  for (const isPreview of [true, false]) {
    const own = sentencesWith({ log: (text) => lines.push(text), engine: () => unknown.engine });
    own.noteRun(isPreview);
    own.log(...A);
  }
  expect(lines).toEqual([A[1], A[1]]);
  logged(true, [A]);
  chmodSync(sharedFolder(), 0o777);
  expect(logged(false, [A])).toEqual([A[1]]);
});

const sharedFolder = (): string => {
  const own = folder.path(String(run));
  return join(own, readdirSync(own)[0] as string);
};

it("a preview logs every sentence, even if an earlier process of the engine has", () => {
  logged(true, [A]);
  expect(logged(true, [A])).toEqual([A[1]]);
});

it("processes that know neither log each sentence once", () => {
  expect(logged(undefined, [A])).toEqual([A[1]]);
  expect(logged(undefined, [A, B])).toEqual([B[1]]);
});

it("the file has digests of what was printed, and no secret", () => {
  const masked = (text: string) => text.replace("hunter2", "[secret]");
  logged(true, [[A[0], "Role hunter2 is new"]], { masked });
  const text = readFileSync(join(sharedFolder(), readdirSync(sharedFolder())[0] as string), "utf8");
  expect(text).toMatch(/^[\w-]{22}\n$/);
  expect(logged(false, [[A[0], "Role [secret] is new"]])).toEqual([]);
});

it.skipIf(process.platform === "win32")("ps names the engine above the shell of a dynamic provider", async () => {
  const program = folder.path("pulumi");
  symlinkSync("/bin/sh", program);
  const engine = spawn(program, ["-c", "sh -c 'echo $$; read line'; exit 0"], { stdio: ["pipe", "pipe", "inherit"] });
  const [shell] = await once(engine.stdout, "data");
  expect(engineAbove(Number(shell))).toEqual({
    pid: engine.pid,
    start: expect.stringMatching(/^\w+ \w+ +\d+ [\d:]+ \d+$/),
  });
  expect(engineAbove(process.pid, 1)).toBeUndefined();
  engine.stdin.end("\n");
  await once(engine, "exit");
});

const changedIn = (engine: Record<string, string>, own: Record<string, string>): string[] => {
  const inner = `
    const { environmentProblems } = await import("${root}/provider/run/stored-stack.ts");
    console.log(JSON.stringify(environmentProblems(process.env)));`;
  const outer = `
    const { spawnSync } = require("node:child_process");
    const args = ["-c", '"$NODE" --input-type=module -e "$INNER"; true'];
    process.stdout.write(spawnSync("/bin/sh", args, { env: { ...process.env, ...${JSON.stringify(own)} } }).stdout);`;
  const env = { NODE: process.execPath, INNER: inner, ...engine };
  const { stdout, stderr } = spawnSync(process.execPath, ["-e", outer], { argv0: "pulumi", env, encoding: "utf8" });
  expect(stdout, stderr).not.toBe("");
  return (JSON.parse(stdout) as string[]).map((text) => text.split(":")[0] as string);
};

describe.skipIf(process.platform !== "linux")("the variables of a provider", () => {
  const job = { IRM_BASE_URL: "https://api.example.com", IRM_TOKEN: "secret" };

  it("are those of the engine, or may all come from an environment of the stack", () => {
    expect(changedIn(job, { OTHER: "x" })).toEqual([]);
    const changed = { IRM_BASE_URL: "https://evil.example", IRM_AUTH_URL: "https://evil.example", IRM_TOKEN: "pul-x" };
    expect(changedIn(job, changed)).toEqual(Object.keys(changed).map((name) => `environment ${name}`));
    expect(changedIn({}, job)).toEqual([]);
  });

  it("include the addresses of a job whose token has another name, and what no job may leave to others", () => {
    const named = {
      IRM_BASE_URL: "https://api.example.com",
      IRM_ALLOW_TOKEN_SOURCES: "ACME_TOKEN",
      ACME_TOKEN: "secret",
    };
    expect(changedIn(named, { IRM_BASE_URL: "https://evil.example" })).toEqual(["environment IRM_BASE_URL"]);
    const opened = { IRM_BASE_URL: "https://evil.example", IRM_ALLOW_TOKEN_SOURCES: "PULUMI_ACCESS_TOKEN" };
    expect(changedIn({ PULUMI_ACCESS_TOKEN: "pul-x" }, opened)).toEqual(["environment IRM_ALLOW_TOKEN_SOURCES"]);
    const others = { IRM_IDENTITY: "x", IRM_MOVED_FROM: "x", NODE_TLS_REJECT_UNAUTHORIZED: "0" };
    expect(changedIn(job, others)).toEqual(Object.keys(others).map((name) => `environment ${name}`));
  });
});

it("are not compared without an engine", () => {
  expect(environmentProblems({ IRM_BASE_URL: "https://evil.example" })).toEqual([]);
});
