// Reviews against updates: random organizations and programs, each reviewed, replayed and then run by a real engine on a server of its own.
// What the update has brought there, its tables say.
import { delimiter } from "node:path";
import { ensureEngine } from "../../scripts/engine/engine.mjs";
import compileEngine from "../support/compile-engine.ts";
import compilePlugin from "../support/compile-plugin.ts";
import { newCounts, runCase } from "./change/case.ts";
import type { PartOptions, PartResult } from "./part.ts";

const LANES = 2;

interface Options extends PartOptions {
  /** folder of the provider `irm`; absent: it is compiled, and an engine is installed */
  plugin?: string;
}

/** `rounds`: cases. The first one has the seed, and each following one the next number: so a run goes on where another one has ended. */
export const changes = async ({ seed, rounds, log, ...given }: Options): Promise<PartResult> => {
  const { plugin = await prepare() } = given;
  const counts = newCounts();
  const failures: string[] = [];
  let next = seed;
  const lane = async (): Promise<void> => {
    while (next < seed + rounds) {
      const own = next++;
      const problems = await runCase(own, plugin, counts).catch((error: Error) => [error.stack ?? String(error)]);
      counts.cases += 1;
      for (const text of problems) {
        const failure = `case ${own}: ${text}\nagain: npm run soak -- --only change --rounds 1 --seed ${own}`;
        failures.push(failure);
        log?.(failure);
      }
      if (counts.cases % 10 === 0) log?.(`${counts.cases} of ${rounds} cases; the next one is --seed ${next}`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(LANES, rounds) }, lane));
  return {
    figures: {
      "cases, dynamic resources and the plugin in turn": counts.cases,
      reviews: counts.reviews,
      "reviews by one who sees a part": counts.inPart,
      "updates that went through, as reviewed": counts.updates,
      "updates that fail, as reviewed": counts.failing,
      "updates whose program the engine ended": counts.ended,
      "programs that neither a review nor an update takes": counts.refused,
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
