// Which process a pid means, and whether it is alive. A pid has a meaning only within its namespace: containers and machines may share a
// host name or a folder.
import { readFileSync, readlinkSync } from "node:fs";

/** Linux renumbers its namespaces at each boot, and the first one has the same number everywhere. Other systems have one namespace. */
export const pidsHere = (): string | undefined => {
  here ??= { pids: readPidsHere() };
  return here.pids;
};

// A process stays in its namespace.
let here: { pids: string | undefined } | undefined;

const readPidsHere = (): string | undefined => {
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

/** When the process began, in ticks since boot, so that a reused pid is another process; empty where the system does not say. */
export const startOf = (pid: number): string => statOf(pid)?.start ?? "";

/** The process that started it; undefined where the system does not say. */
export const parentOf = (pid: number): number | undefined => {
  const parent = statOf(pid)?.parent;
  return parent === undefined ? undefined : Number(parent);
};

const STATE = 0;
const PARENT = 1;
const START = 19;

type Stat = Record<"state" | "parent" | "start", string | undefined>;

const statOf = (pid: number): Stat | undefined => {
  try {
    // The name of the program comes first, in parentheses, and may have any characters (proc_pid_stat(5)).
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return { state: fields[STATE], parent: fields[PARENT], start: fields[START] };
  } catch {
    return undefined;
  }
};
