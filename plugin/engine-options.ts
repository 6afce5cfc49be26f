// What the engine was started for, and whether it calls the plugin for all resources of the program. With --target or --exclude it leaves
// some out, and says nothing of them: the plugin then knows neither which records have names that the program marks as secret, nor what
// the program no longer declares. The protocol says neither of the two, the command line of the engine does.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Env } from "../client/config.ts";
import { isEngine } from "../pulumi/process.ts";

export interface EngineOptions {
  isWholeProgram: boolean;
  /** Undefined for another command, and where it is not known. */
  run: EngineRun | undefined;
}

/** A run of a program: a preview, an update without a preview, or both, each with a plugin of its own. */
export type EngineRun = "preview" | "update" | "either";

/** `pid` is the engine's. Of another process, or where the system does not say, nothing is known. */
export const engineOptions = (pid: number, env: Env): EngineOptions => {
  const [program = "", ...options] = commandLineOf(pid);
  if (!isEngine(program)) return { isWholeProgram: false, run: undefined };
  const isWholeProgram = !options.some(leavesOut) && !Object.keys(env).some((name) => OPTIONS.test(name));
  return { isWholeProgram, run: runOf(options) };
};

/** Long, or among short ones: `-yt URN`. What looks like one only hides names and lines. */
const leavesOut = (argument: string): boolean => /^-(-(target|exclude)|[^-]*[tx])/.test(argument);

/** The engine takes each option from the environment too. */
const OPTIONS = /^PULUMI_OPTION_(TARGET|EXCLUDE)/i;

/** The commands of the engine that call a plugin, with their other names. */
const COMMANDS: Readonly<Record<string, EngineRun | undefined>> = {
  preview: "preview",
  pre: "preview",
  up: "either",
  update: "either",
  refresh: undefined,
  destroy: undefined,
  import: undefined,
  watch: undefined,
};

const runOf = (options: readonly string[]): EngineRun | undefined => {
  const command = options.find((option) => Object.hasOwn(COMMANDS, option));
  const run = command === undefined ? undefined : COMMANDS[command];
  return run === "either" && options.some(skipsPreview) ? "update" : run;
};

const skipsPreview = (argument: string): boolean => /^-(-skip-preview(=true)?$|[^-]*f)/.test(argument);

const commandLineOf = (pid: number): string[] => {
  try {
    return process.platform === "linux"
      ? readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
      : execFileSync("ps", ["-ww", "-o", "args=", "-p", String(pid)], { encoding: "utf8" }).split(/\s+/);
  } catch {
    return [];
  }
};
