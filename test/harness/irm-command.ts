// Commands of `irm` as a person or CI runs them, in the folder of a program.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { delimiter } from "node:path";
import { Report } from "../../access/review/report.ts";
import { type Finished, startCommandIn } from "../support/command.ts";
import { ENGINE_NODE, irmModule } from "../support/compiled.ts";
import type { Program } from "./engine-workplace.ts";
import type { IrmCommand } from "./irm-host.ts";

/**
 * The command runs in a process that others of this worker share (irm-host.ts). `own` adds to the environment of the program. Without it,
 * the program runs in the process of `language-host.ts`, which has the environment of the program only.
 */
export const irmIn = async (
  { folder, env, sharedEngine }: Pick<Program, "folder" | "env"> & Partial<Pick<Program, "sharedEngine">>,
  args: readonly string[],
  own?: Readonly<Record<string, string>>,
): Promise<Finished> => {
  const all = own === undefined ? sharedEnv({ env, sharedEngine }) : { ...env, ...own };
  const command = { cwd: folder, env: all, args, end: END };
  return isBusy || args[0] === RECOVER ? startCommandIn({ cwd: folder, env: all }, args).finished : inHost(command);
};

/** It searches as the provider does, which remembers for one run, and so in one process, what it has found. */
const RECOVER = "recover";

const END = "\0";

interface Host {
  process: ChildProcess;
  /** rejects */
  ended: Promise<never>;
}

let host: Host | undefined;
let isBusy = false;

const inHost = async (command: IrmCommand): Promise<Finished> => {
  isBusy = true;
  try {
    host ??= startHost();
    const { process: child, ended } = host;
    const finished = Promise.all([once(child, "message"), untilEnd(child.stdout), untilEnd(child.stderr)]);
    child.send(command);
    const [[code], stdout, stderr] = await Promise.race([finished, ended]);
    return { code, stdout, stderr };
  } finally {
    isBusy = false;
  }
};

const untilEnd = (stream: NodeJS.ReadableStream | null): Promise<string> =>
  new Promise((resolve) => {
    let written = "";
    const read = (part: string) => {
      written += part;
      if (!written.endsWith(END)) return;
      stream?.off("data", read);
      resolve(written.slice(0, -END.length));
    };
    stream?.on("data", read);
  });

const startHost = (): Host => {
  const child = spawn(process.execPath, ["--no-warnings", irmModule("test/harness/irm-host.ts")], {
    env: { ...process.env, ...ENGINE_NODE },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  // It ends with this process, which need not wait for it.
  child.unref();
  child.channel?.unref();
  for (const pipe of [child.stdout, child.stderr] as Socket[]) pipe.setEncoding("utf8").unref();
  const ended = once(child, "exit").then(([code]) => {
    host = undefined;
    throw new Error(`irm-host.ts ended with ${code}`);
  });
  ended.catch(() => undefined);
  return { process: child, ended };
};

export const reviewOf = (program: Program, flags: readonly string[], own?: Record<string, string>): Promise<Finished> =>
  irmIn(program, ["review", "--stack", "dev", ...flags], own);

/** The report of such a review, which ends with this exit code. */
export const reportOf = async (
  program: Pick<Program, "folder" | "env"> & Partial<Pick<Program, "sharedEngine">>,
  flags: readonly string[] = [],
  { own, exit = 0 }: { own?: Record<string, string>; exit?: number } = {},
): Promise<Report> => {
  const { code, stdout, stderr } = await irmIn(
    program,
    ["review", "--stack", "dev", "--format", "json", ...flags],
    own,
  );
  if (code !== exit) throw new Error(`the review ended with ${code}: ${stderr}`);
  return Report.parse(JSON.parse(stdout));
};

export const driftOf = (program: Program, ...flags: string[]): Promise<Finished> =>
  irmIn(program, ["drift", "--stack", "dev", ...flags]);

/** Of a command whose programs run in the process of `language-host.ts`. */
export const sharedEnv = ({ env, sharedEngine }: Pick<Program, "env"> & Partial<Pick<Program, "sharedEngine">>) =>
  sharedEngine === undefined ? env : { ...env, PATH: [sharedEngine, env.PATH].join(delimiter) };
