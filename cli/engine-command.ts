// The Pulumi engine that a command runs: the one on the PATH. In a clone, scripts/with-setup.mjs has put one there.
import { EngineError, engineWith } from "../pulumi/command.ts";
import { UsageError } from "./irm-command.ts";

/** The engine and its first arguments. */
export const ENGINE = ["pulumi"] as const;

/** Runs the engine. Gives its output, or the problem. */
export type AskEngine = (...args: string[]) => Promise<{ stdout: string } | { problem: string; isMissing: boolean }>;

// An engine that waits for a terminal or for its backend would hold the answer up.
const TIMEOUT_MS = 30_000;

export const askEngine = (cwd: string): AskEngine => {
  const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" };
  return async (...args) => {
    try {
      return { stdout: await engineWith(ENGINE, { timeoutMs: TIMEOUT_MS }).must(args, { cwd, env }) };
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      return { problem: error.lastLine, isMissing: error.isMissing };
    }
  };
};

// Arguments after `--`, which a command passes on to the engine: those that choose the resources of an update. Others are refused: they could
// change the run (--config-file, --policy-pack, --parallel).

/** true: with a value */
const ALLOWED: ReadonlyMap<string, boolean> = new Map([
  ["--target", true],
  ["--target-dependents", false],
  ["--replace", true],
  ["--exclude", true],
]);

/** Each argument with its value in one text, as `--target=URN`. Throws one UsageError for all mistakes. */
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
