// ^C or SIGTERM during a request (docs/faults.md#f21).
import { describe, expect, test } from "vitest";
import { scenario, startedUntilItCame } from "./scenario.ts";
import { ALL, acting } from "./table.ts";

const cases = acting([...ALL, "replace"]);

describe.concurrent("F21: ^C during a request to dynamic resources", () => {
  const own = cases.filter(({ adapter }) => adapter === "dynamic");
  test.each(own)("$action of a $kind finishes, and the state has it", (tried) =>
    scenario({
      ...tried,
      script: ({ operation }) => ({ rules: [{ operation, steps: [{ at: "after", hold: true }] }] }),
      act: async (stage) => {
        const { testbed, engine } = stage;
        const { outcome } = await startedUntilItCame(stage, true);
        engine.interrupt();
        testbed.server.faults?.release();
        const { errors } = await outcome;
        expect(errors).toEqual([]);
        await engine.end();
        return undefined;
      },
      attempts: 1,
      afterwards: ["up"],
    }),
  );
});

describe.concurrent("F21: ^C during a request of the plugin", () => {
  const own = cases.filter(({ adapter }) => adapter === "native");
  test.each(own)("$action of a $kind ends at once, and the next run continues", (tried) =>
    scenario({
      ...tried,
      script: ({ operation }) => ({ rules: [{ operation, steps: [{ at: "after", hold: true }] }] }),
      act: async (stage) => {
        const { testbed, engine } = stage;
        const { outcome } = await startedUntilItCame(stage, true);
        engine.interrupt();
        // The response is still held.
        const { errors } = await outcome;
        expect(errors).toEqual(["subject: cancelled: the next update continues from the intent journal"]);
        await engine.end();
        testbed.server.faults?.release();
        return undefined;
      },
      attempts: 1,
    }),
  );
});
