// Commands of `irm` as a person or CI runs them, in the folder of a program.
import { spawn } from "node:child_process";
import { delimiter } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { root } from "./api-process.ts";
import type { Program } from "./engine-workplace.ts";

const MAIN = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * `own` adds to the environment of the program. Without it, the program runs in the process of `language-host.ts`, which has the
 * environment of the program only.
 */
export const irmIn = async (
  { folder, env, sharedEngine }: Pick<Program, "folder" | "env" | "sharedEngine">,
  args: readonly string[],
  own?: Readonly<Record<string, string>>,
): Promise<Finished> => {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: own === undefined ? sharedEnv({ env, sharedEngine }) : { ...env, ...own },
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

/** Of a command whose programs run in the process of `language-host.ts`. In an action, `irm` runs the first `pulumi` of the PATH (cli/engine-command.ts). */
export const sharedEnv = ({ env, sharedEngine }: Pick<Program, "env" | "sharedEngine">): NodeJS.ProcessEnv =>
  sharedEngine === undefined
    ? env
    : { ...env, PATH: [sharedEngine, env.PATH].join(delimiter), GITHUB_ACTION_PATH: root };
