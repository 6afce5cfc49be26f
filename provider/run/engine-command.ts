// The engine's own command, as a process of the engine's operation runs it: to ask what the engine has stored.
import { execFile } from "node:child_process";
import { readlinkSync } from "node:fs";
import { basename } from "node:path";
import type { Env } from "../../client/config.ts";
import { parentOf, startOf } from "../log/process.ts";

export interface EngineCommand {
  env: Env;
  /** folder of the process: the engine starts it in that of the program, whose Pulumi.yaml may name the backend */
  cwd: string;
  /** aborted by ^C */
  cancelled?: AbortSignal | undefined;
}

const TIMEOUT_MS = 60_000;
const BYTES_MAX = 1024 ** 3;

/** What `pulumi ARGS` prints. Throws an Error with one line that says why there is nothing. */
export const runEngine = ({ env, cwd, cancelled }: EngineCommand, args: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = {
      ...{ cwd, env: { ...ownEnv(env), ...OWN_ENV }, encoding: "utf8" as const, maxBuffer: BYTES_MAX },
      ...{ timeout: TIMEOUT_MS, ...(cancelled && { signal: cancelled }) },
    };
    const command = `pulumi ${args.slice(0, 2).join(" ")}`;
    execFile(findEngine()?.program ?? "pulumi", [...args, "--non-interactive"], options, (error, stdout, stderr) => {
      if (error) reject(new Error(`${command}: ${reasonOf(error, stderr)}`));
      else resolve(stdout);
    });
  });

/** It is over before it needs much of the memory that the collector of Go would free, which costs a fifth of its processor time. */
const OWN_ENV = { PULUMI_SKIP_UPDATE_CHECK: "true", NO_COLOR: "1", GOGC: "400" };

/** The engine takes any option of a command from the environment too: those of the run are not for this command. */
const ownEnv = (env: Env): Env =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^PULUMI_OPTION_/i.test(name)));

const reasonOf = (error: Error & { code?: unknown; killed?: boolean }, stderr: string): string => {
  if (error.name === "AbortError") return "it was cancelled";
  if (error.code === "ENOENT") return "there is no pulumi on the PATH";
  if (error.killed) return `no answer within ${TIMEOUT_MS / 1000} s`;
  // The last line says what failed; warnings come first.
  const last = stderr.trim().split("\n").at(-1);
  return last?.replace(/^error: /, "") || `it ended with ${error.code ?? "a signal"}`;
};

const LEVELS_MAX = 8;

/** The engine above this process, where the system says it. Its program need not be the one on the PATH. */
export const findEngine = (): { pid: number; program: string } | undefined => {
  try {
    let pid: number | undefined = process.ppid;
    for (let level = 0; level < LEVELS_MAX && pid !== undefined && pid > 1; level += 1) {
      const program = readlinkSync(`/proc/${pid}/exe`);
      if (basename(program) === "pulumi") return { pid, program };
      pid = parentOf(pid);
    }
  } catch {
    // Another system, or a process of another user.
  }
  return undefined;
};

const TICK_MS = 10;

/** For how long the engine has been running; where the system does not say it, for how long this process has. */
export const engineAgeMs = (): number => {
  const engine = findEngine();
  const earlierMs = engine ? (Number(startOf(process.pid)) - Number(startOf(engine.pid))) * TICK_MS : 0;
  return process.uptime() * 1_000 + Math.max(0, earlierMs);
};
