// F10: kill -9 of the engine with its provider, at each point of a request (spec/faults.md, section 3).
import { describe, test } from "vitest";
import { KINDS } from "./judge.ts";
import { killedAt, killedWhenItCame, type Scenario, scenario } from "./scenario.ts";
import type { Action } from "./subject.ts";

interface Row {
  point: string;
  why: string;
  row: Omit<Scenario, "kind" | "action">;
}

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
      script: ({ operation }) => ({ rules: [{ operation, steps: [{ at: "before", delay: "700ms" }] }] }),
      act: killedWhenItCame(false),
    },
  },
  {
    point: "after it was sent, and it is never committed",
    why: "the next run finds nothing and sends its own",
    row: {
      script: ({ operation }) => ({ rules: [{ operation, steps: [{ at: "before", delay: "100ms", status: 503 }] }] }),
      act: killedWhenItCame(false),
    },
  },
  {
    point: "after it is committed, and before the reply",
    why: "the record is found by its parent and inputs",
    row: {
      script: ({ operation }) => ({ rules: [{ operation, steps: [{ at: "after", delay: "1s" }] }] }),
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
    // A script is for the first request of its operation; it is cleared when the next run begins, and the delay goes on.
    test.each(KINDS)("%s", (kind) => scenario({ ...row, kind, action }));
  });
});
