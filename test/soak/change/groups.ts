// Runs a soak in groups of cases, some groups at a time.
import { delimiter } from "node:path";
import { ensureEngine } from "../../../scripts/engine/engine.mjs";
import compileEngine from "../../support/compile-engine.ts";
import compilePlugin from "../../support/compile-plugin.ts";
import type { PartOptions } from "../part.ts";

const LANES = 2;
/** cases that share a server and a program */
const GROUP = 10;
/** One group of so many is a single case. */
const SINGLE = 5;

/**
 * Returns what is wrong, with the command that repeats it. `run` does so for one group: the first case has the seed, and each following one the
 * next number, so a run goes on where another one has ended.
 */
export const runGroups = async (
  part: string,
  { seed, rounds, log }: PartOptions,
  run: (seeds: readonly number[]) => Promise<string[]>,
): Promise<string[]> => {
  const failures: string[] = [];
  const groups = groupsOf(seed, rounds);
  let [next, done] = [0, 0];
  const lane = async (): Promise<void> => {
    for (let seeds = groups[next++]; seeds; seeds = groups[next++]) {
      const [first] = seeds as [number];
      const problems = await run(seeds).catch((error: Error) => [error.stack ?? String(error)]);
      done += seeds.length;
      for (const text of problems) {
        const again = `npm run soak -- --only ${part} --rounds ${seeds.length} --seed ${first}`;
        const failure = `cases from ${first}: ${text}\nagain: ${again}`;
        failures.push(failure);
        log?.(failure);
      }
      log?.(`${done} of ${rounds} cases, ${failures.length} differences`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return failures;
};

/** The seeds of each group. */
const groupsOf = (seed: number, rounds: number): number[][] => {
  const groups: number[][] = [];
  for (let at = 0; at < rounds; at += groups.at(-1)?.length ?? 0) {
    const size = groups.length % SINGLE === SINGLE - 1 ? 1 : Math.min(GROUP, rounds - at);
    groups.push(Array.from({ length: size }, (_, i) => seed + at + i));
  }
  return groups;
};

export interface EngineOptions extends PartOptions {
  /** folder of the provider `irm`; absent: it is compiled, and an engine is installed */
  plugin?: string;
}

/** Compiles and installs as before the tests that need it. Returns the folder of the provider. */
export const prepare = async ({ plugin: given }: EngineOptions): Promise<string> => {
  if (given !== undefined) return given;
  let plugin = "";
  const provide = (_: string, value: unknown): void => {
    plugin = value as string;
  };
  await compileEngine();
  await compilePlugin({ provide } as never);
  const engine = await ensureEngine();
  if (engine !== undefined) process.env.PATH = [engine, process.env.PATH].join(delimiter);
  return plugin;
};
