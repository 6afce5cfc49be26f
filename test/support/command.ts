// The command `irm` in a separate process, as a user starts it.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { COMPILED, irmModule } from "./compiled.ts";

export const MAIN = irmModule("cli/main.ts");

export interface Finished {
  /** exit code; null when a signal ended it */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Started {
  process: ChildProcess;
  /** what it has written so far */
  stdout(): string;
  stderr(): string;
  /** the first line on stdout; rejects when the process ends before */
  firstLine: Promise<string>;
  finished: Promise<Finished>;
}

export const startCommand = (...args: string[]): Started =>
  startCommandIn({ env: { ...process.env, NODE_COMPILE_CACHE: COMPILED } }, args);

/** In another folder, or with another environment. */
export const startCommandIn = (own: { cwd?: string; env: NodeJS.ProcessEnv }, args: readonly string[]): Started => {
  const child = spawn(process.execPath, [MAIN, ...args], { ...own, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  const line = Promise.withResolvers<string>();
  const end = Promise.withResolvers<Finished>();
  // A caller that waits only for the end must not get an error about the missing line.
  line.promise.catch(() => undefined);
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (stdout.includes("\n")) line.resolve(stdout.split("\n", 1)[0] as string);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.on("error", end.reject);
  child.on("close", (code) => {
    line.reject(new Error(`irm ${args.join(" ")} ended with ${code}: ${stderr}`));
    end.resolve({ code, stdout, stderr });
  });
  return { process: child, stdout: () => stdout, stderr: () => stderr, firstLine: line.promise, finished: end.promise };
};

export const runCommand = (...args: string[]): Promise<Finished> => startCommand(...args).finished;

export interface TemporaryFolder {
  path(name: string): string;
  /** Returns the path. */
  write(name: string, text: string): string;
  remove(): void;
}

/** A folder for files of a test, and its end. */
export const temporaryFolder = (): TemporaryFolder => {
  const folder = mkdtempSync(join(tmpdir(), "irm-test-"));
  const path = (name: string): string => join(folder, name);
  return {
    path,
    write: (name, text) => {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), text);
      return path(name);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
