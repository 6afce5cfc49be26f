// Identifies the process of a pid, whether it is alive, and the engine above this process. A pid has a meaning only within its namespace:
// containers and machines may share a host name or a folder.
import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

/** Linux renumbers its namespaces at each boot, and the first one has the same number everywhere. Other systems have one namespace. */
export const pidsHere = (): string | undefined => {
  here ??= { pids: readPidsHere() };
  return here.pids;
};

// A process stays in its namespace.
let here: { pids: string | undefined } | undefined;

const readPidsHere = () => {
  if (process.platform !== "linux") return process.platform;
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return undefined;
  }
};

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
  // A killed process keeps its pid until its parent asks for its exit code.
  return statOf(pid)?.state !== "Z";
};

/** When the process began, in ticks since boot, so that a reused pid is another process; empty if the system does not show it. */
export const startOf = (pid: number): string => statOf(pid)?.start ?? "";

const STATE = 0;
const PARENT = 1;
const START = 19;

type Stat = Record<"state" | "parent" | "start", string | undefined>;

const statOf = (pid: number): Stat | undefined => {
  try {
    // The name of the program comes first, in parentheses, and may contain any characters (proc_pid_stat(5)).
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return { state: fields[STATE], parent: fields[PARENT], start: fields[START] };
  } catch {
    return undefined;
  }
};

export const isEngine = (program: string): boolean => /^pulumi(\.exe)?$/i.test(basename(program));

export interface EngineProcess {
  pid: number;
  /** when it began, so that a reused pid is another process */
  start: string;
}

/** The engine that has started this process; undefined if the system does not show it. */
export const engineProcess = (): EngineProcess | undefined => {
  if (process.platform === "win32") return undefined;
  if (process.platform !== "linux") return engineAbove(process.ppid);
  const pid = findEngine()?.pid;
  return pid === undefined ? undefined : { pid, start: startOf(pid) };
};

/** Between the engine and a provider or a program: a shell, a language host. */
const LEVELS_MAX = 8;

/** Its program need not be the one on the PATH. Only Linux shows it. */
export const findEngine = (): { pid: number; program: string } | undefined => {
  try {
    let pid = process.ppid;
    for (let level = 0; level < LEVELS_MAX && pid > 1; level += 1) {
      const program = readlinkSync(`/proc/${pid}/exe`);
      if (isEngine(program)) return { pid, program };
      // The search ends if the system does not show the parent.
      pid = Number(statOf(pid)?.parent);
    }
  } catch {
    // The system is not Linux, or the process belongs to another user.
  }
  return undefined;
};

/** A shell runs between the engine and its dynamic provider. */
const SHELL_LEVELS = 2;

/** Finds the engine with ps(1), on systems without /proc. */
export const engineAbove = (pid: number, levels = SHELL_LEVELS): EngineProcess | undefined => {
  try {
    const options = { encoding: "utf8", env: { ...process.env, LC_ALL: "C" } } as const;
    const line = execFileSync("ps", ["-ww", "-o", "ppid=,lstart=,comm=", "-p", String(pid)], options);
    const [, parent, start = "", program = ""] = /^\s*(\d+)\s+((?:\S+\s+){4}\S+)\s+(.+?)\s*$/.exec(line) ?? [];
    if (isEngine(program)) return { pid, start };
    return levels > 1 && parent !== undefined ? engineAbove(Number(parent), levels - 1) : undefined;
  } catch {
    return undefined;
  }
};

const TICK_MS = 10;

/** How long the engine has been running; if the system does not show it, how long this process has. */
export const engineAgeMs = (): number => {
  const engine = findEngine();
  const earlierMs = engine ? (Number(startOf(process.pid)) - Number(startOf(engine.pid))) * TICK_MS : 0;
  return process.uptime() * 1_000 + Math.max(0, earlierMs);
};
