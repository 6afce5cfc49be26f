// Runs the engine for a preview, in the folder of the program. Its messages and questions go to the user; what it prints is the preview.
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { type Preview, PreviewError, parsePreview } from "./shape.ts";

export type RunOperation = "up" | "destroy";

// A plain preview leaves out what stays, and does not see what was removed by hand.
const FLAGS = ["--json", "--show-sames", "--refresh"];

const COMMANDS: Readonly<Record<RunOperation, readonly string[]>> = {
  up: ["preview"],
  destroy: ["destroy", "--preview-only"],
};

interface PreviewOptions {
  /** default: `up` */
  operation?: RunOperation | undefined;
  /** default: that of this process */
  env?: NodeJS.ProcessEnv | undefined;
  /** added to the arguments of the engine */
  more?: readonly string[] | undefined;
  /** ends the engine, and is then thrown */
  signal?: AbortSignal | undefined;
  /** of its process; default: those of this one */
  spawn?: { uid: number; gid: number } | undefined;
}

/** `command` is the engine and its first arguments. */
export const runPreview = async (
  command: readonly [string, ...string[]],
  cwd: string,
  stack?: string,
  { operation = "up", env = process.env, more = [], signal, spawn: own }: PreviewOptions = {},
): Promise<Preview> => {
  const [program, ...first] = command;
  const args = [
    ...first,
    ...COMMANDS[operation],
    ...FLAGS,
    ...(stack === undefined ? [] : ["--stack", stack]),
    ...more,
  ];
  const child = spawn(program, args, { cwd, env, stdio: ["inherit", "pipe", "inherit"], ...own });
  const stop = (): void => void child.kill("SIGINT");
  signal?.addEventListener("abort", stop);
  const ended = new Promise<number | string>((resolve, reject) => {
    child.on("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "ENOENT" ? new PreviewError(`${program} is not on the PATH: install the Pulumi CLI`) : error,
      ),
    );
    child.on("close", (code, signal) => resolve(code ?? signal ?? 1));
  });
  const [printed, end] = await Promise.all([text(child.stdout), ended]).finally(() =>
    signal?.removeEventListener("abort", stop),
  );
  signal?.throwIfAborted();
  // A preview that fails prints its errors as JSON, too.
  if (end !== 0 && printed.trim() === "")
    throw new PreviewError(`the preview ended with ${end}; its messages are above`);
  const preview = parsePreview(printed, "what the preview printed");
  if (end !== 0)
    throw new PreviewError(`the preview ended with ${end}, but its output lists no error; its messages are above`);
  return preview;
};
