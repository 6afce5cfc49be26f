// kill -9 of the engine with its provider, at each point of a request (docs/faults.md#f10).
import { describe, test } from "vitest";
import { killedAt, killedWhenItCame, type Scenario, type Step, scenario } from "./scenario.ts";
import type { Action } from "./subject.ts";
import { kindsFor } from "./table.ts";

interface Row {
  point: string;
  why: string;
  row: Omit<Scenario, "kind" | "action">;
}

const held =
  (step: Step): Scenario["script"] =>
  ({ operation }) => ({ rules: [{ operation, steps: [{ ...step, hold: true }] }] });

const ROWS: Row[] = [
  {
    point: "before the request is sent",
    why: "the next run searches for the pending entry, finds nothing, and sends it",
    row: { act: killedAt("before send") },
  },
  {
    point: "after it is sent, with the commit during the next run's search",
    why: "the next run waits until the request has timed out",
    row: {
      script: held({}),
      act: (stage) => {
        // For both runs: the next one begins its search before the request times out, however slow the machine is.
        stage.testbed.still();
        return killedWhenItCame(false)(stage);
      },
      watch: ({ testbed, subject: { list, operation } }) => ({
        reached: async (point) => {
          if (point !== "after reply" || testbed.attempts(list).length + testbed.attempts(operation).length === 0)
            return;
          testbed.goOn();
          testbed.server.faults?.release();
        },
      }),
    },
  },
  {
    point: "after it is sent, without a commit",
    why: "the next run finds nothing and sends its own",
    row: {
      script: held({ status: 503 }),
      act: killedWhenItCame(false),
    },
  },
  {
    point: "after it is committed, and before the reply",
    why: "the record is found by its parent and inputs",
    row: {
      script: held({ at: "after" }),
      act: killedWhenItCame(true),
    },
  },
  {
    point: "after the reply, before the journal has it",
    why: "the record is found by its parent and inputs",
    row: { act: killedAt("after reply") },
  },
  {
    point: "after the provider has finished, before the state is written",
    why: "the journal has the uid that the state lacks",
    row: { act: killedAt("before state") },
  },
];

const ACTIONS: Action[] = ["create", "update", "delete", "replace"];

describe.concurrent.each(ACTIONS)("F10: kill -9 during a %s", (action) => {
  // A script applies to the first request of its operation. The next run starts without it, and held requests stay held.
  const cases = ROWS.flatMap((row, at) => kindsFor(action, at).map((kind) => ({ ...row, kind })));
  test.each(cases)("$point, of a $kind: $why", ({ row, kind }) => scenario({ ...row, kind, action }));
});
