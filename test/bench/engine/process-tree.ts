// Processor time of a command and of all processes below it, by the part that each plays. Linux only.
//
// The processes are looked at while they run: the engine ends some of them without waiting, so that the system adds their time to
// no parent. What a process spends after the last look, at most LOOK_MS, is lost, on both sides of a comparison.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const LOOK_MS = 30;
/** Linux counts 100 ticks a second for programs. */
const TICK_MS = 10;

export type Part = "engine" | "language" | "program" | "provider";

export type Spent = Awaited<ReturnType<typeof spentBy>>;

/** What the process `pid` and those below it spend until `ended`: seconds of processor time, and `seconds` by the clock. */
export const spentBy = async (pid: number, ended: Promise<unknown>) => {
  const start = performance.now();
  const members = new Map<number, Member>();
  let isOver = false;
  const over = ended.then(
    () => ({ isOver: true }),
    () => ({ isOver: true }),
  );
  while (!isOver) {
    look(pid, members);
    ({ isOver } = await Promise.race([over, sleep(LOOK_MS, { isOver: false })]));
  }
  const seconds = (performance.now() - start) / 1000;
  const parts: Record<Part, number> = { engine: 0, language: 0, program: 0, provider: 0 };
  for (const { part, cpuMs } of members.values()) parts[part] += cpuMs / 1000;
  return { cpu: parts.engine + parts.language + parts.program + parts.provider, parts, seconds };
};

interface Member {
  part: Part;
  cpuMs: number;
}

/** Once a process is a member it stays one, though its parent may have ended. */
const look = (root: number, members: Map<number, Member>): void => {
  const found = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (processOf(Number(name)) ?? []) : []));
  const parents = new Map(found.map(({ pid, parent }) => [pid, parent]));
  const isBelow = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined; at = parents.get(at))
      if (at === root || members.has(at)) return true;
    return false;
  };
  for (const { pid, cpuMs } of found)
    if (isBelow(pid))
      members.set(pid, {
        part: pid === root ? "engine" : (partOf(pid) ?? members.get(pid)?.part ?? "provider"),
        cpuMs,
      });
};

/** Undefined where it ended meanwhile. */
const processOf = (pid: number): { pid: number; parent: number; cpuMs: number } | undefined => {
  const text = readOrEmpty(`/proc/${pid}/stat`);
  if (text === "") return undefined;
  // The name of the program, in brackets, may hold anything.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { pid, parent: Number(fields[1]), cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS };
};

/** Undefined once it has ended. */
const partOf = (pid: number): Part | undefined => {
  const command = readOrEmpty(`/proc/${pid}/cmdline`);
  if (command === "") return undefined;
  if (command.includes("pulumi-language-")) return "language";
  if (/cmd\/run\b/.test(command)) return "program";
  return "provider";
};

const readOrEmpty = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};
