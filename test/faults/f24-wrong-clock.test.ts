// Machines with clocks that are ten minutes wrong (docs/faults.md#f24).
import { expect, test } from "vitest";
import type { Watch } from "../harness/small-engine/run.ts";
import { killOnArrival, STACK, scenario } from "./scenario.ts";
import { everyKind } from "./table.ts";

const MINUTE_MS = 60_000;

const rows = [10 * MINUTE_MS, -10 * MINUTE_MS].flatMap((wrongBy) =>
  everyKind().map((tried) => ({ ...tried, wrongBy })),
);

test.concurrent.each(rows)(
  "F24: a clock that is ten minutes wrong: by $wrongBy ms: a $kind ($adapter) whose response was lost is found",
  ({ wrongBy, ...tried }) =>
    scenario({
      ...tried,
      action: "create",
      child: { wrongBy },
      script: ({ operation }) => ({ rules: [{ operation, steps: [{ at: "after", reset: true }] }] }),
      attempts: 1,
      checkDuring: ({ testbed }) => void expect(testbed.attempts("ExchangeGet")).toHaveLength(1),
    }),
);

test.concurrent.each(everyKind())(
  "F24: two machines with different clocks share one journal: a $kind ($adapter) that is committed during the second's search belongs to it",
  (tried) =>
    scenario({
      ...tried,
      action: "create",
      child: { wrongBy: -10 * MINUTE_MS },
      script: ({ operation }) => ({ rules: [{ operation, steps: [{ hold: true }] }] }),
      act: async (stage) => {
        const { testbed, subject } = stage;
        // The second begins its search before the request times out, however slow the machine is.
        testbed.stopClock();
        await killOnArrival(false)(stage);
        const looked = testbed.attempts(subject.list).length;
        const atPoint: Watch["atPoint"] = async (point) => {
          if (point !== "after reply" || testbed.attempts(subject.list).length === looked) return;
          testbed.resumeClock();
          testbed.server.faults?.release();
        };
        return testbed.engine(STACK, { wrongBy: 10 * MINUTE_MS }).run("up", subject.after, { atPoint });
      },
      attempts: 1,
    }),
);
