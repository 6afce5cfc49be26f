// Seals against edits by hand: random organizations and programs, a review and its seal, edits between the review and the update, and the
// update under the seal by the provider's own methods. The server's own authorisation says what the update has brought.
import { ADAPTERS } from "../harness/small-engine/provider.ts";
import { createRandom } from "../support/random.ts";
import type { PartOptions, PartResult } from "./part.ts";
import { openCase } from "./seal/case.ts";
import { newCounts, runCase } from "./seal/run.ts";

const LANES = 4;
const REPORT_EVERY = 50;

export const seals = async ({ seed, rounds, log }: PartOptions): Promise<PartResult> => {
  const counts = newCounts();
  const failures: string[] = [];
  let next = 0;
  const fail = (text: string): void => {
    failures.push(text);
    log?.(text);
  };
  const lane = async (): Promise<void> => {
    while (counts.cases < rounds && failures.length === 0) {
      const at = next++;
      const adapter = ADAPTERS[at % ADAPTERS.length] ?? "dynamic";
      const one = await openCase(adapter);
      try {
        const found = await runCase(one, createRandom(seed * 100_003 + at), at, counts);
        if (found) counts.cases += 1;
        else counts.unreviewable += 1;
        for (const text of found ?? []) fail(`case ${at} (${adapter}): ${text}`);
      } catch (error) {
        fail(`case ${at} (${adapter}): ${(error as Error).stack}`);
      } finally {
        await one.close();
      }
      if (counts.cases % REPORT_EVERY === 0) log?.(`${counts.cases} of ${rounds} cases, ${counts.refused} refused`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(LANES, rounds) }, lane));
  return { figures: figuresOf(counts), failures };
};

const figuresOf = (counts: ReturnType<typeof newCounts>): PartResult["figures"] => ({
  "cases, dynamic resources and the plugin in turn": counts.cases,
  "cases that changed what the seal rests on": counts.relevant,
  "cases whose review is still the same": counts.same,
  "updates that did more than their preview": counts.more,
  "updates that did less than their preview": counts.less,
  "updates with lost responses": counts.lost,
  "updates that were killed, and continued": counts.killed,
  "reviews of an update of which a part was done": counts.begun,
  "updates that were refused a step": counts.refused,
  "rows of access that updates brought": counts.rows,
  "rows that the seal does not show": counts.beyond,
  "refusals where nothing relevant moved": counts.wrongly,
});
