// The Pulumi engine that a command runs: the one on the PATH; in a clone, the one that `npm run -s pulumi` runs. The clone that the runner
// of a GitHub Action has made is no clone to develop in.
import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EngineError, engineWith } from "../pulumi/command.ts";

/** In a clone, it installs an engine first where there is none. */
export const engineCommand = (): [string, ...string[]] => {
  const scripts = scriptsOfClone();
  if (scripts === undefined) return ["pulumi"];
  return [process.execPath, join(scripts, "with-setup.mjs"), "--engine", "--in-callers-folder", "pulumi"];
};

/** The executable of that engine for a program in `cwd`, as far as one is installed. Undefined: a clone has none yet. */
const installedEngine = (cwd: string): Promise<string | undefined> => {
  const scripts = scriptsOfClone();
  if (scripts === undefined) return Promise.resolve("pulumi");
  return new Promise((done) => {
    execFile(process.execPath, [join(scripts, "engine", "installed.mjs")], { cwd }, (error, stdout) =>
      done(error ? undefined : stdout),
    );
  });
};

/** Runs the engine that is installed: what it prints on stdout, or why it failed. */
export type AskEngine = (...args: string[]) => Promise<{ stdout: string } | { problem: string; isMissing: boolean }>;

// An engine that waits for a terminal or for its backend would hold the answer up.
const TIMEOUT_MS = 30_000;

export const askInstalledEngine = (cwd: string): AskEngine => {
  const found = installedEngine(cwd);
  const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" };
  return async (...args) => {
    const program = await found;
    if (program === undefined)
      return { problem: "this clone has no engine yet, and there is no pulumi on the PATH", isMissing: true };
    try {
      return { stdout: await engineWith([program], { timeoutMs: TIMEOUT_MS }).must(args, { cwd, env }) };
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      return { problem: error.lastLine, isMissing: error.isMissing };
    }
  };
};

const scriptsOfClone = (): string | undefined => {
  const clone = fileURLToPath(new URL("..", import.meta.url));
  const scripts = join(clone, "scripts");
  return existsSync(join(scripts, "with-setup.mjs")) && !isOfAction(clone) ? scripts : undefined;
};

// https://docs.github.com/actions/reference/workflows-and-actions/variables
const isOfAction = (clone: string): boolean => {
  const { GITHUB_ACTION_PATH: folder } = process.env;
  return folder !== undefined && existsSync(folder) && realpathSync(folder) === realpathSync(clone);
};
