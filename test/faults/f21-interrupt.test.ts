// ^C or SIGTERM during a request (docs/faults.md#f21).
import { expect, test } from "vitest";
import { scenario, startUntilArrival } from "./scenario.ts";
import { ALL, acting, throughPlugin } from "./table.ts";

const ACTIONS = [...ALL, "replace"] as const;

test.concurrent.each(acting(ACTIONS))(
  "F21: ^C during a request to dynamic resources: $action of a $kind finishes, and the state has it",
  (tried) =>
    scenario({
      ...tried,
      script: ({ operation }) => ({ rules: [{ operation, steps: [{ at: "after", hold: true }] }] }),
      act: async (stage) => {
        const { testbed, engine } = stage;
        const { outcome } = await startUntilArrival(stage, true);
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

test.concurrent.each(throughPlugin(ACTIONS))(
  "F21: ^C during a request of the plugin: $action of a $kind ends at once, and the next run continues",
  (tried) =>
    scenario({
      ...tried,
      script: ({ operation }) => ({ rules: [{ operation, steps: [{ at: "after", hold: true }] }] }),
      act: async (stage) => {
        const { testbed, engine } = stage;
        const { outcome } = await startUntilArrival(stage, true);
        engine.interrupt();
        // The response is still held.
        const { errors } = await outcome;
        expect(errors).toEqual([
          "subject: cancelled: the next update continues from the intent journal\nSee docs/recovery.md#recovery-waits",
        ]);
        await engine.end();
        testbed.server.faults?.release();
        return undefined;
      },
      attempts: 1,
    }),
);
