// A create succeeds, and the next step fails (docs/faults.md#f12).
import { expect, test } from "vitest";
import { kindRecords } from "../../provider/kind/index.ts";
import type { OperationName } from "../../schema/index.ts";
import { killAt, scenario } from "./scenario.ts";
import { subjectOf } from "./subject.ts";
import { everyForm } from "./table.ts";

test.concurrent.each(everyForm())(
  "F12: a create succeeds, and the next step fails: a $kind ($adapter) is recorded with its uid and the reason",
  (tried) =>
    scenario({
      ...tried,
      action: "create",
      act: async (stage) => {
        // The run before was killed. This one adopts its record and changes it.
        const { testbed, engine, subject } = stage;
        const before = await testbed.records();
        await killAt("after reply")(stage);
        const adopt = [...(await testbed.records()).keys()].find((uid) => !before.has(uid)) as string;
        const { operations } = kindRecords[tried.kind];
        testbed.server.faults?.set({
          rules: [{ operation: operations.update as OperationName, steps: [{ status: 500 }] }],
        });
        const after = subjectOf(tried.kind, "update", testbed.home).after.map((one) =>
          one.name === "subject" ? { ...one, inputs: { ...one.inputs, adopt, deleteAdopted: true } } : one,
        );
        // The program of the runs that follow.
        subject.after = after;
        const outcome = await engine.run("up", after);
        expect(outcome.errors).toEqual([expect.stringContaining("500")]);
        expect(stage.uid("subject")).toMatch(/^[0-9a-f]{40}\//);
        expect(await engine.run("preview", after)).toEqual({ steps: ["update subject"], errors: [] });
        expect(testbed.attempts(subject.operation)).toEqual([]);
        return outcome;
      },
      fails: "500",
    }),
);
