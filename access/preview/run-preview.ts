// Runs the engine for a preview, in the folder of the program. Its messages and questions go to the user; what it prints is the preview.
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { type Preview, PreviewError, parsePreview } from "./shape.ts";

// A plain preview leaves out what stays, and does not see what was removed by hand.
const FLAGS = ["preview", "--json", "--show-sames", "--refresh"];

/** `command` is the engine and its first arguments. `env` adds to its environment, and `more` to its arguments. */
export const runPreview = async (
  command: readonly [string, ...string[]],
  stack?: string,
  env: NodeJS.ProcessEnv = {},
  more: readonly string[] = [],
): Promise<Preview> => {
  const [program, ...first] = command;
  const args = [...first, ...FLAGS, ...(stack === undefined ? [] : ["--stack", stack]), ...more];
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ["inherit", "pipe", "inherit"] });
  const ended = new Promise<number | string>((resolve, reject) => {
    child.on("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "ENOENT"
          ? new PreviewError(
              `${program} is not on the PATH: install the Pulumi CLI; npx pulumi-irm review also takes --preview FILE, the output of pulumi ${FLAGS.join(" ")}`,
            )
          : error,
      ),
    );
    child.on("close", (code, signal) => resolve(code ?? signal ?? 1));
  });
  const [printed, end] = await Promise.all([text(child.stdout), ended]);
  // A preview that fails prints its errors as JSON, too.
  if (end !== 0 && printed.trim() === "")
    throw new PreviewError(`pulumi preview ended with ${end}; its messages are above`);
  const preview = parsePreview(printed, "what pulumi preview printed");
  if (end !== 0)
    throw new PreviewError(`pulumi preview ended with ${end}, but its output lists no error; its messages are above`);
  return preview;
};
