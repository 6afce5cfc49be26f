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

export type Started = ReturnType<typeof startCommandIn>;

export const startCommand = (...args: string[]): Started =>
  startCommandIn({ env: { ...process.env, NODE_COMPILE_CACHE: COMPILED } }, args);

/** In another folder, with another environment, or of another package. */
export const startCommandIn = (
  { main = MAIN, ...own }: { cwd?: string; env: NodeJS.ProcessEnv; main?: string; detached?: boolean },
  args: readonly string[],
) => {
  const child = spawn(process.execPath, [main, ...args], { ...own, stdio: ["ignore", "pipe", "pipe"] });
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
  return {
    process: child as ChildProcess,
    /** what it has written so far */
    stdout: () => stdout,
    stderr: () => stderr,
    /** the first line on stdout; rejects when the process ends before */
    firstLine: line.promise,
    finished: end.promise,
  };
};

export const runCommand = (...args: string[]): Promise<Finished> => startCommand(...args).finished;

export type TemporaryFolder = ReturnType<typeof temporaryFolder>;

/** A folder for files of a test, and its end. */
export const temporaryFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "irm-test-"));
  const path = (name: string): string => join(folder, name);
  return {
    path,
    /** Returns the path. */
    write: (name: string, text: string): string => {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), text);
      return path(name);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
