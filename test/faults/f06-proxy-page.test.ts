// A proxy answers with its own page (docs/faults.md#f6).
import { expect, test } from "vitest";
import { kindRecords } from "../../provider/kind/index.ts";
import { type Step, scenario } from "./scenario.ts";
import { CHANGES, everyKind, testFault, UNKNOWN } from "./table.ts";

const PAGE: Step = { at: "after", status: 502, body: "html" };
const [FAILED, GONE] = [500, 504].map((status): Step => ({ status, body: "html" })) as [Step, Step];
const LATER = "it may still arrive, so it is not sent again; the next run finds nothing and creates it";

testFault("F6: a proxy's page", [
  ["502 after a create's commit", "the outcome is unknown: the record is found", ["create"], [PAGE], { attempts: 1 }],
  ["502 after the commit", "may be repeated: sent again", CHANGES, [PAGE], { attempts: 2 }],
  ["500, which may be permanent", "the next run does the rest", CHANGES, [FAILED], { attempts: 1, fails: "500" }],
  ["504 before the commit of a create", LATER, ["create"], [GONE], { attempts: 1, fails: UNKNOWN }],
]);

test.concurrent.each(everyKind())(
  "F6: a proxy's page in place of a read: 504 for a $kind ($adapter) is retried",
  (row) =>
    scenario({
      ...row,
      action: "update",
      script: ({ kind }) => ({
        rules: [{ operation: kindRecords[kind].operations.get, steps: [{ status: 504, body: "html" }] }],
      }),
      act: ({ engine }) => engine.run("refresh"),
      // The first record of the kind is read twice. The others, which wait for it, are one list.
      checkDuring: ({ testbed, subject }) => {
        const { operations, list } = kindRecords[row.kind];
        expect(testbed.attempts(operations.get)).toHaveLength(2);
        const others = subject.before.filter(({ kind }) => kind === row.kind).length - 1;
        expect(testbed.attempts(list.operation)).toHaveLength(others > 0 ? 1 : 0);
      },
      afterwards: ["up"],
    }),
);
