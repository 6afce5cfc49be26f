// A proxy answers with its own page (docs/faults.md#f6).
import { describe, expect, test } from "vitest";
import { kindRecords } from "../../provider/kind/index.ts";
import { scenario } from "./scenario.ts";
import { CHANGES, everyKind, testFault, UNKNOWN } from "./table.ts";

testFault("F6: a proxy's page", [
  {
    what: "502 with a page of a proxy, after the commit of a create",
    why: "the outcome is unknown: the record is found",
    actions: ["create"],
    steps: [{ at: "after", status: 502, body: "html" }],
    row: { attempts: 1 },
  },
  {
    what: "502 with a page of a proxy, after the commit",
    why: "may be repeated: sent again",
    actions: CHANGES,
    steps: [{ at: "after", status: 502, body: "html" }],
    row: { attempts: 2 },
  },
  {
    what: "500, which may be permanent",
    why: "an error, and the next run does the rest",
    actions: CHANGES,
    steps: [{ status: 500, body: "html" }],
    row: { attempts: 1, fails: "500" },
  },
  {
    what: "504 before the commit, of a create",
    why: "it may still arrive, so it is not sent again; the next run finds nothing and creates it",
    actions: ["create"],
    steps: [{ status: 504, body: "html" }],
    row: { attempts: 1, fails: UNKNOWN },
  },
]);

describe.concurrent("F6: a proxy's page in place of a read", () => {
  test.each(everyKind())("504 for a $kind ($adapter) is retried", (row) =>
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
});
