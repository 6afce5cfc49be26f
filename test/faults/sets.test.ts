// Faults of sets of role bindings (docs/internals/faults.md#sets): the same promises, for each pair.
import { describe, expect, test } from "vitest";
import { ADAPTERS, type Adapter } from "../harness/small-engine/provider.ts";
import { readState } from "../harness/small-engine/state.ts";
import { killAt, killOnArrival, type Scenario, STACK, type Stage, type Step, scenario, twoRuns } from "./scenario.ts";
import { setSubject } from "./subject.ts";
import { COMMITTED_LATE } from "./table.ts";

type Action = "create" | "update" | "delete";

type Row = [
  what: string,
  actions: Action[],
  row: Omit<Scenario, "adapter" | "kind" | "action" | "script" | "subject">,
  steps?: Step[],
  /** through the plugin as well */
  throughPlugin?: true,
];

const ADDS: Action[] = ["create", "update"];
const ALL: Action[] = [...ADDS, "delete"];

const LOST: Step = { at: "after", reset: true };

const killBeforeState = async ({ engine, subject }: Stage): Promise<undefined> => {
  const change = subject.method === "DELETE" ? "deleting" : "updating";
  const of = subject.before.some(({ name }) => name === "subject") ? change : "creating";
  await engine.start("up", subject.after, { point: "before state", of }).paused;
  await engine.kill();
};

const ROWS: Row[] = [
  ["a reset before the commit of a batch: it is sent again", ADDS, { attempts: 2 }, [{ reset: true }]],
  ["a reset after the commit: found, pair by pair", ADDS, { attempts: 1 }, [LOST]],
  ["a batch that is committed after the run gave up: the next one takes it", ADDS, COMMITTED_LATE, [{ hold: true }]],
  ["a lost response to a delete: sent again, to the same effect", ["delete"], { attempts: 3 }, [LOST]],
  ["kill -9 before the request is sent", ALL, { act: killAt("before send") }],
  ["kill -9 after the reply, before the journal has it", ALL, { act: killAt("after reply") }],
  ["kill -9 before the state is written", ALL, { act: killBeforeState }, [], true],
  ["kill -9 while the server carries it out", ADDS, { act: killOnArrival(true) }, [{ at: "after", hold: true }]],
];

const throughAdapter = (adapter: Adapter, rows: readonly Row[]) =>
  rows.flatMap(([what, actions, row, steps]) => actions.map((action) => ({ what, row, steps, adapter, action })));

// Below its methods the plugin runs the same code; it takes the outputs of a set to the state itself.
const cases = [
  ...throughAdapter("dynamic", ROWS),
  ...throughAdapter(
    "native",
    ROWS.filter(([, , , , throughPlugin]) => throughPlugin),
  ),
];

describe.concurrent("a set of role bindings", () => {
  test.each(cases)("$what, $action ($adapter)", ({ adapter, action, steps = [], row }) =>
    scenario({
      ...row,
      ...{ adapter, kind: "roleBinding", action, subject: (home) => setSubject(action, home) },
      script: ({ operation }) => (steps.length > 0 ? { rules: [{ operation, steps }] } : {}),
    }),
  );

  test.each(ADAPTERS)("two runs at once: each pair once, in both states (%s)", (adapter) =>
    scenario({
      ...{ adapter, kind: "roleBinding", action: "create", subject: (home) => setSubject("create", home) },
      script: ({ operation }) => ({ rules: [{ operation, steps: [{ at: "before", delay: "300ms" }] }] }),
      act: async (stage) => {
        const one = await twoRuns(stage);
        const bindings = (state: string) =>
          readState(stage.testbed.stateFile(state)).resources.find(({ name }) => name === "subject")?.outputs.bindings;
        expect(bindings("other")).toEqual(bindings(STACK));
        return one;
      },
    }),
  );
});
