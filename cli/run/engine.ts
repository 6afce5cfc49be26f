// The engine of a run on twins: each command in a process group of its own, so that an interrupt ends it with all that it has started.
import { type ChildProcess, spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { UserError } from "../../schema/index.ts";
import type { ProgramUser } from "./user.ts";

/** One sentence and what the engine printed last. */
export class EngineError extends UserError {
  override readonly name = "EngineError";
}

export interface EngineResult {
  code: number;
  stdout: string;
  stderr: string;
}

export interface EngineRun {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** what the command reads: it is in no file and on no command line */
  input?: string;
}

export interface RunEngine {
  run(args: readonly string[], options: EngineRun): Promise<EngineResult>;
  /** The output of a command that must succeed. Throws EngineError. */
  must(args: readonly string[], options: EngineRun): Promise<string>;
}

/** How long an engine may take to end by itself. */
const GRACE_MS = 10_000;

/** `command` is the engine and its first arguments. Once `signal` aborts, every command is ended and fails. */
export const runEngine = (
  [program, ...first]: readonly [string, ...string[]],
  signal: AbortSignal,
  user?: ProgramUser,
): RunEngine => {
  const run: RunEngine["run"] = async (args, { cwd, env, input }) => {
    signal.throwIfAborted();
    const all = [...first, ...args, "--non-interactive", "--color", "never"];
    // The setup of a clone runs the engine in this folder.
    const own = { ...env, INIT_CWD: cwd };
    const child = spawn(program, all, {
      cwd,
      env: own,
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
      ...user?.spawn,
    });
    const stop = () => endGroup(child);
    signal.addEventListener("abort", stop);
    try {
      const ended = endOf(child, program);
      // It may end before it has read its input.
      child.stdin.on("error", () => undefined).end(input ?? "");
      const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
      signal.throwIfAborted();
      return { code, stdout, stderr };
    } finally {
      signal.removeEventListener("abort", stop);
    }
  };
  return {
    run,
    must: async (args, options) => {
      const { code, stdout, stderr } = await run(args, options);
      if (code === 0) return stdout;
      const why = stderr.trim() || stdout.trim().split("\n").slice(-20).join("\n") || `it ended with ${code}`;
      throw new EngineError(`pulumi ${args.slice(0, 2).join(" ")} failed: ${why}`);
    },
  };
};

/** Its exit code. Throws EngineError where it cannot begin. */
export const endOf = (child: ChildProcess, program: string): Promise<number> =>
  new Promise((resolve, reject) => {
    child.on("error", (error: NodeJS.ErrnoException) =>
      reject(new EngineError(error.code === "ENOENT" ? `${program} is not on the PATH` : error.message)),
    );
    child.on("close", (code) => resolve(code ?? 1));
  });

const endGroup = (child: ChildProcess): void => {
  signalGroup(child, "SIGINT");
  setTimeout(() => signalGroup(child, "SIGKILL"), GRACE_MS).unref();
};

/** To a process that was started in a group of its own, and all that it has started. */
export const signalGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The last process of the group has ended.
  }
};
