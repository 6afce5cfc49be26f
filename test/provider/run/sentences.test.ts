// Which sentences the update after a preview repeats: those that the preview of the same engine process has not shown.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sentencesWith } from "../../../provider/run/sentences.ts";
import { type EngineProcess, engineAbove, startOf } from "../../../pulumi/process.ts";
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

describe("an update logs", () => {
  const unknown: [string, string] = [A[0], "Identity a is new: a workload that is not known yet can assume it"];
  const known: [string, string] = [A[0], "Identity a is new: anyone can assume it"];
  it.each<[string, [string, string][] | undefined, [string, string][], string[]]>([
    ["nothing that the preview of the same engine has shown", [A, B], [A, B], []],
    ["all of it without a preview", undefined, [A, B], [A[1], B[1]]],
    ["what the preview did not know, or the program has changed since", [unknown], [known, B], [known[1], B[1]]],
    ["a sentence that the preview has shown of another resource", [A], [[B[0], A[1]]], [A[1]]],
  ])("%s", (_, previewed, updated, expected) => {
    if (previewed) expect(logged(true, previewed)).toEqual(previewed.map(([, text]) => text));
    expect(logged(false, updated)).toEqual(expected);
  });

  it("what the preview of another engine has shown, also of one that had its pid", () => {
    logged(true, [A]);
    expect(logged(false, [A], { engine: { ...ENGINE, start: "1" } })).toEqual([A[1]]);
    expect(logged(false, [A], { engine: { pid: process.ppid, start: startOf(process.ppid) } })).toEqual([A[1]]);
  });

  it("all of it where the engine is not known, or the folder cannot be used", () => {
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
  const name = readdirSync(sharedFolder())[0] as string;
  const text = readFileSync(join(sharedFolder(), name), "utf8");
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
