// Commands of `irm` as a person or CI runs them, in the folder of a program.
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Program } from "./engine-workplace.ts";

const MAIN = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** `own` adds to the environment of the program. */
export const irmIn = async (
  { folder, env }: Pick<Program, "folder" | "env">,
  args: readonly string[],
  own: Readonly<Record<string, string>> = {},
): Promise<Finished> => {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: { ...env, ...own },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const code = new Promise<number | null>((resolve) => child.on("close", resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
};

export const reviewOf = (program: Program, flags: readonly string[], own?: Record<string, string>): Promise<Finished> =>
  irmIn(program, ["review", "--stack", "dev", ...flags], own);

export const driftOf = (program: Program, ...flags: string[]): Promise<Finished> =>
  irmIn(program, ["drift", "--stack", "dev", ...flags]);
