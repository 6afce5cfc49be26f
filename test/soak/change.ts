// Reviews against updates: random organizations and programs, each reviewed, replayed and then run by a real engine on a server of its own.
// What the update has brought there, its tables say.
import { delimiter } from "node:path";
import { ensureEngine } from "../../scripts/engine/engine.mjs";
import compileEngine from "../support/compile-engine.ts";
import compilePlugin from "../support/compile-plugin.ts";
import { openGroup } from "./change/group.ts";
import { type Counts, newCounts, runStory } from "./change/story.ts";
import type { PartOptions, PartResult } from "./part.ts";

const LANES = 2;
/** cases that share a server and a program */
const GROUP = 10;
/** One group of so many is a single case. */
const SINGLE = 5;

interface Options extends PartOptions {
  /** folder of the provider `irm`; absent: it is compiled, and an engine is installed */
  plugin?: string;
}

/** `rounds`: cases. The first one has the seed, and each following one the next number: so a run goes on where another one has ended. */
export const changes = async ({ seed, rounds, log, ...given }: Options): Promise<PartResult> => {
  const { plugin = await prepare() } = given;
  const counts = newCounts();
  const failures: string[] = [];
  const groups = groupsOf(seed, rounds);
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let seeds = groups[next++]; seeds; seeds = groups[next++]) {
      const [first] = seeds as [number];
      const problems = await runGroup(seeds, plugin, counts).catch((error: Error) => [error.stack ?? String(error)]);
      counts.cases += seeds.length;
      for (const text of problems) {
        const failure = `cases from ${first}: ${text}\nagain: npm run soak -- --only change --rounds ${seeds.length} --seed ${first}`;
        failures.push(failure);
        log?.(failure);
      }
      log?.(`${counts.cases} of ${rounds} cases, ${failures.length} differences`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return {
    figures: {
      "cases, dynamic resources and the plugin in turn": counts.cases,
      reviews: counts.reviews,
      "reviews by one who sees a part": counts.inPart,
      "updates that went through, as reviewed": counts.updates,
      "updates that fail, as reviewed": counts.failing,
      "updates whose program the engine ended": counts.ended,
      "programs that neither a review nor an update takes": counts.refused,
      "programs that a group goes on without": counts.withdrawn,
      "writes of the changes": counts.writes,
      "changes that were replayed": counts.replays,
      "rows of access of identities": counts.rows,
      "rows of access of people": counts.people,
      "reviews of an unchanged program, without a write": counts.unchanged,
      differences: failures.length,
    },
    failures,
  };
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

const runGroup = async (seeds: readonly number[], plugin: string, counts: Counts): Promise<string[]> => {
  const group = await openGroup(seeds, { plugin });
  try {
    return await runStory(group, counts);
  } finally {
    await group.close();
  }
};

/** As before the tests that need them. Returns the folder of the plugin. */
const prepare = async (): Promise<string> => {
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
