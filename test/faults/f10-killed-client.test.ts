// kill -9 of the engine with its provider, at each point of a request (docs/faults.md#f10).
import { describe, test } from "vitest";
import { KINDS } from "./judge.ts";
import { killedAt, killedWhenItCame, type Scenario, type Step, scenario } from "./scenario.ts";
import type { Action } from "./subject.ts";

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
    why: "the open intent is looked for, nothing is found, and it is sent",
    row: { act: killedAt("before send") },
  },
  {
    point: "after it was sent, and before it is committed, which it is while the next run looks",
    why: "the next run waits until the request's time is up",
    row: {
      script: held({}),
      act: (stage) => {
        // For both runs: the next one begins to look while the request has time left, however long it takes until then.
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
    point: "after it was sent, and it is never committed",
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
    point: "after the reply, before anything of it is written down",
    why: "the record is found by its parent and inputs",
    row: { act: killedAt("after reply") },
  },
  {
    point: "after the provider has ended, before the state is written",
    why: "the journal knows the uid that the state does not",
    row: { act: killedAt("before state") },
  },
];

const ACTIONS: Action[] = ["create", "update", "delete", "replace"];

describe.concurrent.each(ACTIONS)("F10: kill -9 during a %s", (action) => {
  describe.each(ROWS)("$point: $why", ({ row }) => {
    // A script is for the first request of its operation; it is cleared when the next run begins, and what it holds stays held.
    test.each(KINDS)("%s", (kind) => scenario({ ...row, kind, action }));
  });
});
