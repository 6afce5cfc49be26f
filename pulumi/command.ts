// Starts the engine's own command, `pulumi`.
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { UserError } from "../schema/index.ts";

/** The engine failed, or could not start: one sentence, and the last lines that it printed. */
export class EngineError extends UserError {
  override readonly name = "EngineError";
  /** the last line: warnings come first */
  readonly lastLine: string;
  /** there is no such program */
  readonly isMissing: boolean;

  constructor(message: string, { lastLine = message, isMissing = false } = {}) {
    super(message);
    this.lastLine = lastLine;
    this.isMissing = isMissing;
  }
}

export interface EngineRun {
  /** folder of the program, whose Pulumi.yaml may name the backend */
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** the command's standard input: it is never in a file or on a command line */
  input?: string;
  /**
   * Default: the result contains its output, and it asks nothing. Otherwise it shares this terminal, whose interrupt reaches it: it ends
   * its steps, stores their changes, and returns a result.
   */
  stdio?: StdioOptions;
}

export type Engine = ReturnType<typeof engineWith>;

export interface EngineParts {
  /** when it aborts, the command is ended and fails */
  signal?: AbortSignal | undefined;
  /** the user of its processes; default: the user of this process */
  user?: { spawn: { uid: number; gid: number } } | undefined;
  timeoutMs?: number | undefined;
}

/** How long an engine may take to end by itself. */
const GRACE_MS = 10_000;

/** `command` is the engine and its first arguments. */
export const engineWith = (
  [program, ...first]: readonly [string, ...string[]],
  { signal, user, timeoutMs }: EngineParts = {},
) => {
  /** `end` is its exit code, or the signal that has ended it. */
  const run = async (args: readonly string[], { cwd, env, input = "", stdio }: EngineRun) => {
    signal?.throwIfAborted();
    const quietly = stdio === undefined ? ["--non-interactive", "--color", "never"] : [];
    // In its own process group, it ends with all the processes that it has started.
    const isGroup = stdio === undefined;
    const child = spawn(program, [...first, ...args, ...quietly], {
      cwd,
      env,
      stdio: stdio ?? "pipe",
      detached: isGroup,
      ...user?.spawn,
    });
    const kill = () => signalGroup(child, "SIGKILL");
    const stop = (): void => {
      if (!isGroup) return void child.kill("SIGINT");
      signalGroup(child, "SIGINT");
      setTimeout(kill, GRACE_MS).unref();
    };
    const late = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    late?.addEventListener("abort", kill);
    signal?.addEventListener("abort", stop);
    try {
      const ended = new Promise<number | string>((resolve, reject) => {
        child.on("error", ({ code, message }: NodeJS.ErrnoException) => {
          const isMissing = code === "ENOENT";
          const text = isMissing ? `there is no ${program} on the PATH: install the Pulumi CLI` : message;
          reject(new EngineError(text, { isMissing }));
        });
        child.on("close", (code, signal) => resolve(code ?? signal ?? 1));
      });
      // It may end before it has read its input.
      child.stdin?.on("error", () => undefined).end(input);
      const printed = [child.stdout, child.stderr].map((stream) => (stream ? text(stream) : ""));
      const [end, stdout = "", stderr = ""] = await Promise.all([ended, ...printed]);
      if (isGroup) signal?.throwIfAborted();
      if (late?.aborted) throw new EngineError(`no answer within ${Number(timeoutMs) / 1000} s`);
      return { end, stdout, stderr };
    } finally {
      // By then another process may have its pid.
      late?.removeEventListener("abort", kill);
      signal?.removeEventListener("abort", stop);
    }
  };
  return {
    run,
    /** The output of a command that must succeed. Throws EngineError. */
    must: async (args: readonly string[], options: EngineRun): Promise<string> => {
      const { end, stdout, stderr } = await run(args, options);
      if (end === 0) return stdout;
      const why = stderr.trim() || stdout.trim().split("\n").slice(-20).join("\n") || `it ended with ${end}`;
      const lastLine =
        stderr
          .trim()
          .split("\n")
          .at(-1)
          ?.replace(/^error: /, "") || `it ended with ${end}`;
      throw new EngineError(`pulumi ${args.slice(0, 2).join(" ")} failed: ${why}`, { lastLine });
    },
  };
};

/** Signals a process that was started in its own group, and all the processes that it has started. */
export const signalGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The last process of the group has ended.
  }
};

/** The engine also takes any option of a command from the environment: the options of a run are not for other commands. */
export const withoutOptions = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^PULUMI_OPTION_/i.test(name)));

/** `--stack NAME`; nothing for the selected one. */
export const stackFlag = (name: string | undefined): string[] => (name === undefined ? [] : ["--stack", name]);

/** `up`, with a preview of it, or `destroy` */
export type RunOperation = "up" | "destroy";
