// 403 in an organization that this run has just created, and in one that it has not (docs/internals/faults.md#f9).
import { expect, test } from "vitest";
import { kindRecords } from "../../provider/kind/index.ts";
import { type Declared, type Program, ref } from "../harness/small-engine/program.ts";
import { startTestbed } from "../harness/small-engine/testbed.ts";
import { judge, judgeDestroyed } from "./judge.ts";
import { STACK } from "./scenario.ts";
import { subjectOf } from "./subject.ts";
import { ALL, everyKind, testFault } from "./table.ts";

const denied = { attempts: 1, fails: "PERMISSION_DENIED" };

testFault("F9: 403 in an existing organization", [
  ["at once", "an error: only new organizations are retried", ALL, [{ status: 403 }], denied],
]);

test.concurrent.each(everyKind())(
  "F9: a new organization: denies a $kind ($adapter) at first, and the run retries until its permission arrives",
  async ({ adapter, kind }) => {
    const testbed = await startTestbed(adapter);
    try {
      const foreign = await testbed.records();
      const engine = testbed.engine(STACK);
      // Below a new root, in nested groups with its dependencies: only the subject is denied.
      const after = subjectOf(kind, "create", testbed.home).after.filter(({ name }) => name !== "other-team");
      const root: Declared = { name: "root", kind: "group", inputs: { root: true, name: "root" } };
      const program: Program = [root, ...after].map((one) =>
        one.inputs.parent === testbed.home ? { ...one, inputs: { ...one.inputs, parent: ref("root") } } : one,
      );
      const { operations } = kindRecords[kind];
      const before = program.filter((one) => one.kind === kind && one.name !== "subject").map(() => ({}));
      const denied = [{ status: 403 }, { status: 403 }, { status: 403 }];
      testbed.server.faults?.set({ rules: [{ operation: operations.create, steps: [...before, ...denied] }] });
      expect(await engine.run("up", program)).toMatchObject({ errors: [] });
      const times = testbed.attempts(operations.create).map(({ timeMs }) => timeMs);
      expect(times).toHaveLength(before.length + denied.length + 1);
      const [last = 0, third = 0, second = 0] = times.toReversed();
      expect([last - third >= 4_000, third - second >= 2_000]).toEqual([true, true]);
      // A new token for each denial: older tokens lack the new permission.
      expect(testbed.attempts("ExchangeGet")).toHaveLength(1 + denied.length);
      testbed.server.faults?.clear();
      expect((await judge(testbed, STACK, engine, program, foreign)).problems).toEqual([]);
      expect(await engine.run("destroy")).toMatchObject({ errors: [] });
      expect(await judgeDestroyed(testbed, STACK, foreign)).toEqual([]);
    } finally {
      await testbed.close();
    }
  },
);
