// ^C or SIGTERM during a request (docs/internals/faults.md#f21).
import { expect, test } from "vitest";
import { scenario, startUntilArrival } from "./scenario.ts";
import { ALL, acting, throughPlugin } from "./table.ts";

const ACTIONS = [...ALL, "replace"] as const;
const CANCELLED =
  "subject: cancelled: the next update continues from the intent journal\nSee docs/troubleshooting.md#recovery-waits";

test.concurrent.each([
  ...acting(ACTIONS).map((tried) => ({ ...tried, why: "finishes, and the state has it", ends: false })),
  ...throughPlugin(ACTIONS).map((tried) => ({ ...tried, why: "ends at once, and the next run continues", ends: true })),
])("F21: ^C during a request: $action of a $kind ($adapter) $why", ({ why: _, ends, ...tried }) =>
  scenario({
    ...tried,
    script: ({ operation }) => ({ rules: [{ operation, steps: [{ at: "after", hold: true }] }] }),
    act: async (stage) => {
      const { testbed, engine } = stage;
      const { outcome } = await startUntilArrival(stage, true);
      engine.interrupt();
      // The response to the plugin is held until the run has ended.
      if (!ends) testbed.server.faults?.release();
      expect((await outcome).errors).toEqual(ends ? [CANCELLED] : []);
      await engine.end();
      if (ends) testbed.server.faults?.release();
      return undefined;
    },
    attempts: 1,
    afterwards: ["up"],
  }),
);
