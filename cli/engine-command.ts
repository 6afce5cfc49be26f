// The Pulumi engine that a command runs: the one on the PATH; in a clone, the one that `npm run -s pulumi` runs. The clone that the runner
// of a GitHub Action has made is no clone to develop in.
import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { EngineError, engineWith } from "../pulumi/command.ts";
import { UsageError } from "./usage.ts";

/** In a clone, it installs an engine first where there is none. */
export const engineCommand = (): [string, ...string[]] => {
  const scripts = scriptsOfClone();
  if (scripts === undefined) return ["pulumi"];
  return [process.execPath, join(scripts, "with-setup.mjs"), "--engine", "--in-callers-folder", "pulumi"];
};

/** The executable of that engine for a program in `cwd`, as far as one is installed. Undefined: a clone has none yet. */
const installedEngine = async (cwd: string): Promise<string | undefined> => {
  const scripts = scriptsOfClone();
  if (scripts === undefined) return "pulumi";
  const found = promisify(execFile)(process.execPath, [join(scripts, "engine", "installed.mjs")], { cwd });
  return found.then(
    ({ stdout }) => stdout,
    () => undefined,
  );
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

// Arguments after `--`, which a command passes on to the engine: those that choose the resources of an update. Any other could change where
// or how it runs (--config-file, --policy-pack, --parallel), and is refused.

/** Whether it has a value. */
const ALLOWED: ReadonlyMap<string, boolean> = new Map([
  ["--target", true],
  ["--target-dependents", false],
  ["--replace", true],
  ["--exclude", true],
]);

/** Each argument with its value in one text, as `--target=URN`. Throws one UsageError for all that is wrong. */
export const engineArguments = (words: readonly string[]): string[] => {
  const found: string[] = [];
  const wrong: string[] = [];
  const open = [...words];
  for (let word = open.shift(); word !== undefined; word = open.shift()) {
    const [, name = word, given] = /^(-[^=]*)=(.*)$/s.exec(word) ?? [];
    const hasValue = ALLOWED.get(name);
    if (hasValue === undefined) {
      wrong.push(`${JSON.stringify(name)} is not passed on to the engine; only ${[...ALLOWED.keys()].join(", ")} are`);
      continue;
    }
    const value = given ?? (hasValue ? open.shift() : undefined);
    if (!hasValue && value !== undefined) wrong.push(`${name} takes no value`);
    else if (hasValue && !value?.startsWith("urn:") && !value?.includes("*"))
      wrong.push(`${name} takes the URN of a resource, or a pattern with *, not ${JSON.stringify(value ?? "")}`);
    else found.push(hasValue ? `${name}=${value}` : name);
  }
  if (wrong.length > 0) throw new UsageError(wrong.join("\n"));
  return found;
};
