// Eventually consistent reads: a new record is not readable yet (docs/internals/faults.md#f18).
import { describe, expect, test } from "vitest";
import { kindRecords } from "../../provider/kind/index.ts";
import { IAM } from "../harness/small-engine/owner.ts";
import { type Stage, scenario } from "./scenario.ts";
import { acting, CHANGES, everyKind } from "./table.ts";

/** The subject exists, and a read answers NOT_FOUND. */
const expectHidden = async ({ testbed, subject, uid }: Stage): Promise<void> => {
  const path = `${IAM}/${kindRecords[subject.kind].list.plural}/${uid("subject")}`;
  await expect(testbed.call("GET", path)).rejects.toThrow("answered 404");
};

describe.concurrent("F18: reads that are four seconds behind", () => {
  test.each(everyKind())("a new $kind ($adapter) is not treated as deleted", (tried) =>
    scenario({
      ...tried,
      action: "create",
      script: () => ({ readAfterWriteLag: "4s" }),
      act: async (stage) => {
        const { engine, testbed, subject } = stage;
        testbed.stopClock();
        const outcome = await engine.run("up", subject.after);
        await expectHidden(stage);
        testbed.resumeClock();
        const { steps, errors } = await engine.run("refresh");
        expect(errors).toEqual([]);
        expect(steps).not.toContain("gone subject");
        return outcome;
      },
    }),
  );
  test.each(everyKind())("a $kind ($adapter) whose response was lost is found once it is readable", (tried) =>
    scenario({
      ...tried,
      action: "create",
      script: ({ operation }) => ({
        readAfterWriteLag: "4s",
        rules: [{ operation, steps: [{ at: "after", reset: true }] }],
      }),
      attempts: 1,
    }),
  );
  test.each(acting(CHANGES))("$action of a $kind ($adapter) right after its create is done", (tried) =>
    scenario({
      ...tried,
      act: async (stage) => {
        const { engine, testbed, subject } = stage;
        // Created again, within its creation grace period.
        await engine.run("destroy");
        testbed.stopClock();
        await engine.run("up", subject.before);
        testbed.server.faults?.set({ readAfterWriteLag: "4s" });
        await expectHidden(stage);
        testbed.resumeClock();
        return engine.run("up", subject.after);
      },
    }),
  );
});
