// Whether the engine calls the plugin for all resources of the program. With --target or --exclude it leaves some out, and says nothing of
// them: the plugin then does not know which records have names that the program marks as secret. The protocol does not say whether it
// does, the command line of the engine does.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Env } from "../client/config.ts";

/** `pid` is the engine's. Of another process, or where the system does not say, false. */
export const isWholeProgram = (pid: number, env: Env): boolean => {
  const [program = "", ...options] = commandLineOf(pid);
  return isEngine(program) && !options.some(leavesOut) && !Object.keys(env).some((name) => OPTIONS.test(name));
};

const isEngine = (program: string): boolean => /^pulumi(\.exe)?$/i.test(basename(program));

/** Long, or among short ones: `-yt URN`. What looks like one only hides names. */
const leavesOut = (argument: string): boolean => /^-(-(target|exclude)|[^-]*[tx])/.test(argument);

/** The engine takes each option from the environment too. */
const OPTIONS = /^PULUMI_OPTION_(TARGET|EXCLUDE)/i;

const commandLineOf = (pid: number): string[] => {
  try {
    return process.platform === "linux"
      ? readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
      : execFileSync("ps", ["-ww", "-o", "args=", "-p", String(pid)], { encoding: "utf8" }).split(/\s+/);
  } catch {
    return [];
  }
};
