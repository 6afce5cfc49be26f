// The processes that a command has started, and theirs: found by `ps`, which Linux and macOS have.
import { execFileSync } from "node:child_process";

interface Process {
  pid: number;
  parent: number;
  command: string;
}

const all = (): Process[] =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" })
    .split("\n")
    .flatMap((line) => {
      const [, pid, parent, command] = line.match(/^\s*(\d+)\s+(\d+)\s+(.*)$/) ?? [];
      return command === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
    });

/** pids of the processes below `pid` whose command matches */
export const processesBelow = (pid: number, command: RegExp): number[] => {
  const processes = all();
  const below = (parent: number): Process[] =>
    processes.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)]);
  return below(pid)
    .filter((one) => command.test(one.command))
    .map((one) => one.pid);
};

/** kill -9 of a process and all below it */
export const killWhole = (pid: number): void => {
  for (const one of [...processesBelow(pid, /./), pid]) process.kill(one, "SIGKILL");
};

/** A zombie, which has ended but was not reaped, does not count as a process. */
export const isRunning = (pid: number): boolean => {
  try {
    return !execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).startsWith("Z");
  } catch {
    return false;
  }
};
