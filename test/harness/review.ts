// `irm review` as a person or CI runs it, in the folder of a program.
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Program } from "./engine-workplace.ts";

const MAIN = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

/** `env` adds to that of the program. */
export const reviewOf = async (
  { folder, env }: Program,
  flags: readonly string[],
  own: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> => {
  const child = spawn(process.execPath, [MAIN, "review", "--stack", "dev", ...flags], {
    cwd: folder,
    env: { ...env, ...own },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const code = new Promise<number | null>((resolve) => child.on("close", resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
};
