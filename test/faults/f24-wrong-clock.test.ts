// Machines with clocks that are ten minutes wrong (docs/internals/faults.md#f24).
import { expect, test } from "vitest";
import { scenario } from "./scenario.ts";
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
