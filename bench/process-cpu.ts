// Processor time of another process. Linux only.
import { readdirSync, readFileSync } from "node:fs";

/** Processor time of all its threads so far, in milliseconds. */
export const cpuMs = (pid: number): number => {
  const folder = `/proc/${pid}/task`;
  const spent = readdirSync(folder).map((thread) =>
    Number(readFileSync(`${folder}/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return spent.reduce((sum, own) => sum + own, 0) / 1e6;
};

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;

// Work after the response belongs to the request.
const waitForTrailingWork = () => new Promise((resolve) => setTimeout(resolve, 20));

/** The processor time that `work` costs the process. */
export const cpuOf = async (pid: number, work: () => Promise<unknown>): Promise<number> => {
  const before = cpuMs(pid);
  await work();
  await waitForTrailingWork();
  return cpuMs(pid) - before;
};
