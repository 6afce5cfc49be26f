// kill -9 of the engine with its provider, or of one of them, at each point of a request (docs/internals/faults.md#f10).
import { describe, expect, test } from "vitest";
import type { Run } from "../harness/small-engine/run.ts";
import { formsOf } from "../support/form.ts";
import {
  killAt,
  killOnArrival,
  type Scenario,
  type Stage,
  type Step,
  scenario,
  startUntilArrival,
} from "./scenario.ts";
import type { Action } from "./subject.ts";
import { acting, throughPlugin } from "./table.ts";

type Row = [point: string, why: string, row: Omit<Scenario, "adapter" | "kind" | "action">];

const held =
  (step: Step): Scenario["script"] =>
  ({ operation }) => ({ rules: [{ operation, steps: [{ ...step, hold: true }] }] });

/** For both runs: the next one begins its search before the request times out, however slow the machine is. */
const CARRIED_OUT_MEANWHILE: Row[2] = {
  script: held({}),
  act: (stage) => {
    stage.testbed.stopClock();
    return killOnArrival(false)(stage);
  },
  watch: ({ testbed, subject: { list, operation } }) => ({
    atPoint: async (point) => {
      if (point !== "after reply" || testbed.attempts(list).length + testbed.attempts(operation).length === 0) return;
      testbed.resumeClock();
      testbed.server.faults?.release();
    },
  }),
};
const FOUND = "the record is found by its parent and inputs";
const SEARCHED = "the next run searches for the pending entry, finds nothing, and sends it";
const MEANWHILE = "after it is sent, with the commit during the next run's search";
const REFUSED = { script: held({ status: 503 }), act: killOnArrival(false) };

const ROWS: Row[] = [
  ["before the request is sent", SEARCHED, { act: killAt("before send") }],
  [MEANWHILE, "the next run waits until the request has timed out", CARRIED_OUT_MEANWHILE],
  ["after it is sent, without a commit", "the next run finds nothing and sends its own", REFUSED],
  ["after it is committed, and before the reply", FOUND, { script: held({ at: "after" }), act: killOnArrival(true) }],
  ["after the reply, before the journal has it", FOUND, { act: killAt("after reply") }],
  ["after the provider, before the state", "the journal has the uid", { act: killAt("before state") }],
];

const ACTIONS: Action[] = ["create", "update", "delete", "replace"];

describe.concurrent.each(ACTIONS)("F10: kill -9 during a %s", (action) => {
  // A script applies to the first request of its operation. The next run starts without it, and held requests stay held. The plugin
  // dies with the engine at each point once, with the actions in turn; below it dies alone.
  const plugins = (at: number) => throughPlugin(ACTIONS[at % ACTIONS.length] === action ? [action] : [], at);
  const cases = ROWS.flatMap(([point, why, row], at) =>
    [...acting([action], at), ...plugins(at)].map((tried) => ({ point, why, row, ...tried })),
  );
  test.each(cases)("$point, of a $kind ($adapter): $why", ({ row, adapter, kind }) =>
    scenario({ ...row, adapter, kind, action }),
  );
});

const begunUntil =
  (point: "before send" | "after reply") =>
  async ({ engine, subject }: Stage): Promise<Run> => {
    const run = engine.start("up", subject.after, { point, of: subject.method });
    await run.paused;
    return run;
  };

/** Points at which one of the two processes is killed. */
const POINTS: { point: string; script?: Scenario["script"]; begun(stage: Stage): Promise<Run> }[] = [
  { point: "before the request is sent", begun: begunUntil("before send") },
  {
    point: "after it is committed, and before the reply",
    script: held({ at: "after" }),
    begun: (stage) => startUntilArrival(stage, true),
  },
  { point: "after the reply, before the journal has it", begun: begunUntil("after reply") },
];

const rows = POINTS.map((point, at) => throughPlugin(ACTIONS, at).map((tried) => ({ ...point, ...tried })));

/** Each action once, with the points in turn from this one; or each action at each point. */
const pluginRows = (first: number) => {
  const inTurn = ACTIONS.flatMap((_, at) => rows[(at + first) % rows.length]?.[at] ?? []);
  return formsOf(inTurn, rows.flat()).at(-1) ?? [];
};

describe.concurrent("F10: kill -9 of one of two processes", () => {
  test.each(pluginRows(0))(
    "of the plugin, during a $action of a $kind, $point: the run fails, and the next one continues",
    ({ point: _, begun, ...row }) =>
      scenario({
        ...row,
        act: async (stage) => {
          const run = await begun(stage);
          stage.engine.killPlugin();
          const { errors } = await run.outcome;
          expect(errors).toEqual([expect.stringMatching(/^subject: /)]);
          await stage.engine.end();
          return undefined;
        },
      }),
  );

  test.each(pluginRows(1))(
    "of the engine, during a $action of a $kind, $point: the plugin finishes, and the next run continues",
    ({ point: _, begun, ...row }) =>
      scenario({
        ...row,
        act: async (stage) => {
          await begun(stage);
          const { pluginEnded } = await stage.engine.killEngine();
          stage.testbed.server.faults?.release();
          await pluginEnded;
          return undefined;
        },
        attempts: 1,
        // The journal has what the plugin has made, so there is no search.
        checkAfter: ({ testbed, subject }) => {
          if (subject.method === "POST") expect(testbed.attempts(subject.operation)).toEqual([]);
        },
      }),
  );

  test.each(["create", "replace"] as const)(
    "of the engine, during a %s that the plugin finishes during the next run: that one waits, and takes the record",
    (action) => {
      let pluginEnded: Promise<unknown>;
      return scenario({
        adapter: "native",
        kind: "group",
        action,
        script: held({}),
        act: async (stage) => {
          await startUntilArrival(stage, false);
          ({ pluginEnded } = await stage.engine.killEngine());
          return undefined;
        },
        attempts: 1,
        watch: ({ testbed }) => ({
          atPoint: async (point) => {
            if (point === "after reply") testbed.server.faults?.release();
          },
        }),
        checkAfter: async ({ testbed, subject }) => {
          await pluginEnded;
          expect(testbed.attempts(subject.operation)).toEqual([]);
        },
      });
    },
  );
});
