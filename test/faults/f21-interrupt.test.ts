// ^C or SIGTERM during a request (docs/faults.md#f21).
import { describe, expect, test } from "vitest";
import { scenario } from "./scenario.ts";
import { ALL, acting } from "./table.ts";

describe.concurrent("F21: ^C during a request", () => {
  test.each(acting([...ALL, "replace"]))("$action of a $kind finishes, and the state has it", ({ kind, action }) =>
    scenario({
      kind,
      action,
      script: ({ operation }) => ({ rules: [{ operation, steps: [{ at: "after", hold: true }] }] }),
      act: async ({ testbed, engine, subject }) => {
        const { outcome } = engine.start("up", subject.after);
        await testbed.came(subject.operation);
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
