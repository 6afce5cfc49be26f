// Faults of sets of role bindings (docs/faults.md#sets): the same promises, for each pair.
import { describe, expect, test } from "vitest";
import { ADAPTERS, type Adapter } from "../harness/small-engine/provider.ts";
import { readState } from "../harness/small-engine/state.ts";
import { killAt, killOnArrival, type Scenario, STACK, type Step, scenario, twoRuns } from "./scenario.ts";
import { setSubject } from "./subject.ts";
import { UNKNOWN } from "./table.ts";

type Action = "create" | "update" | "delete";

interface Row {
  what: string;
  actions: Action[];
  steps?: Step[];
  /** through the plugin as well */
  throughPlugin?: true;
  row: Omit<Scenario, "adapter" | "kind" | "action" | "script" | "subject">;
}

const ADDS: Action[] = ["create", "update"];
const ALL: Action[] = [...ADDS, "delete"];

const ROWS: Row[] = [
  {
    what: "a reset before the commit of a batch: nothing is found, and it is sent again",
    ...{ actions: ADDS, steps: [{ reset: true }], row: { attempts: 2 } },
  },
  {
    what: "a reset after the commit: found, pair by pair",
    ...{ actions: ADDS, steps: [{ at: "after", reset: true }], row: { attempts: 1 } },
  },
  {
    what: "a batch that times out and is committed after the run gave up: the next run takes the bindings",
    actions: ADDS,
    steps: [{ hold: true }],
    row: {
      attempts: 1,
      act: ({ engine, subject: { after, method } }) => engine.run("up", after, { shortTimeout: { ms: 3_000, method } }),
      fails: UNKNOWN,
      checkDuring: ({ testbed, subject }) => {
        testbed.server.faults?.release();
        return testbed.waitForAttempts(subject.operation, 1, true);
      },
    },
  },
  {
    what: "a lost response to a delete: sent again, to the same effect",
    ...{ actions: ["delete"], steps: [{ at: "after", reset: true }], row: { attempts: 3 } },
  },
  { what: "kill -9 before the request is sent", actions: ALL, row: { act: killAt("before send") } },
  { what: "kill -9 after the reply, before the journal has it", actions: ALL, row: { act: killAt("after reply") } },
  {
    what: "kill -9 before the state is written",
    actions: ALL,
    throughPlugin: true,
    row: {
      act: async ({ engine, subject }) => {
        const of = subject.before.some(({ name }) => name === "subject")
          ? subject.method === "DELETE"
            ? "deleting"
            : "updating"
          : "creating";
        await engine.start("up", subject.after, { point: "before state", of }).paused;
        await engine.kill();
        return undefined;
      },
    },
  },
  {
    what: "kill -9 while the server carries the batch out",
    actions: ADDS,
    steps: [{ at: "after", hold: true }],
    row: { act: killOnArrival(true) },
  },
];

const throughAdapter = (adapter: Adapter, rows: readonly Row[]) =>
  rows.flatMap(({ actions, ...row }) => actions.map((action) => ({ ...row, adapter, action })));

// Below its methods the plugin runs the same code; it takes the outputs of a set to the state itself.
const cases = [
  ...throughAdapter("dynamic", ROWS),
  ...throughAdapter(
    "native",
    ROWS.filter(({ throughPlugin }) => throughPlugin),
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

  test.each(ADAPTERS)("removed by hand: the refresh shows it, and the next up adds it again (%s)", (adapter) =>
    scenario({
      ...{ adapter, kind: "roleBinding", action: "update", subject: (home) => setSubject("update", home) },
      act: async ({ testbed, engine, subject }) => {
        const set = readState(testbed.stateFile(STACK)).resources.find(({ name }) => name === "subject");
        const [first] = (set?.outputs.bindings ?? []) as { uid: string }[];
        await testbed.call("DELETE", `/iam/v2beta1/roleBindings/${first?.uid}`);
        expect(await engine.run("refresh")).toMatchObject({ errors: [] });
        return engine.run("up", subject.after);
      },
    }),
  );
});
