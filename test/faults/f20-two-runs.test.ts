// Two runs at the same time, of one stack or of two that declare the same (docs/faults.md#f20).
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { OperationName } from "../../schema/index.ts";
import type { Outcome } from "../harness/small-engine/engine.ts";
import { IAM } from "../harness/small-engine/owner.ts";
import { type Declared, type Program, resolve } from "../harness/small-engine/program.ts";
import { ADAPTERS, type Adapter } from "../harness/small-engine/provider.ts";
import type { Engine } from "../harness/small-engine/run.ts";
import { readState } from "../harness/small-engine/state.ts";
import { startTestbed, type Testbed, type TestbedOptions } from "../harness/small-engine/testbed.ts";
import { type Foreign, judge, judgeDestroyed } from "./judge.ts";
import { STACK, scenario, twoRuns } from "./scenario.ts";
import { type SubjectKind, subjectOf } from "./subject.ts";
import { everyForm, everyKind } from "./table.ts";

describe.concurrent("F20: two runs of one stack at the same time", () => {
  test.each(everyForm())("create one $kind ($adapter)", (tried) =>
    scenario({
      ...tried,
      action: "create",
      script: ({ operation }) => ({ rules: [{ operation, steps: [{ at: "before", delay: "300ms" }] }] }),
      act: async (stage) => {
        const one = await twoRuns(stage);
        expect(stage.testbed.uid("other", "subject")).toBe(stage.uid("subject"));
        return one;
      },
    }),
  );

  test.each(ADAPTERS)("create one of each, also when one run has created some already (%s)", async (adapter) => {
    const testbed = await startTestbed(adapter);
    try {
      const foreign = await testbed.records();
      const program: Program = [
        { name: "first", kind: "group", inputs: { parent: testbed.home, name: "first" } },
        { name: "second", kind: "group", inputs: { parent: { ref: "first" }, name: "second" } },
      ];
      const own = { stack: `organization/faults/${STACK}`, env: { IRM_JOURNAL: join(testbed.folder, "shared") } };
      const [one, two] = [testbed.engine("one", own), testbed.engine("two", own)];
      const first = one.start("up", program, { point: "before state", of: "creating" });
      await first.paused;
      expect(await two.run("up", program)).toMatchObject({ errors: [] });
      first.resume();
      expect(await first.outcome).toMatchObject({ errors: [] });
      await one.end();
      for (const name of ["first", "second"]) expect(testbed.uid("one", name)).toBe(testbed.uid("two", name));
      expect((await judge(testbed, "one", one, program, foreign)).problems).toEqual([]);
    } finally {
      await testbed.close();
    }
  });
});

interface TwoStacks {
  testbed: Testbed;
  /** what existed before either run */
  foreign: Foreign;
  one: Engine;
  two: Engine;
  operation: OperationName;
  /** the resource that both declare, in a foreign group */
  subject: Declared;
}

/** Two stacks that declare the same record, each with its own state and journal. */
const twoStacks = async (
  { adapter, kind }: { adapter: Adapter; kind: SubjectKind },
  act: (stacks: TwoStacks) => Promise<void>,
  options: TestbedOptions = {},
) => {
  const testbed = await startTestbed(adapter, options);
  try {
    const { home, foreign } = testbed;
    const shared = (await testbed.call("POST", `${IAM}/groups/${home}`, { name: "shared" })).uid as string;
    const { after, operation } = subjectOf(kind, "create", home);
    const declared = after.find(({ name }) => name === "subject") as Declared;
    const uids = new Map([
      ["team", shared],
      ["who", foreign.identity],
      ["what", foreign.role],
    ]);
    const subject = { ...declared, inputs: resolve(declared.inputs, uids) };
    const before = await testbed.records();
    const [one, two] = [testbed.engine("one"), testbed.engine("two")];
    try {
      await act({ testbed, foreign: before, one, two, operation, subject });
    } finally {
      await one.kill();
    }
  } finally {
    await testbed.close();
  }
};

/** Both send their create before either is carried out. */
const runBoth = async ({ testbed, one, two, operation, subject }: TwoStacks): Promise<[Outcome, Outcome]> => {
  const step = { at: "before", delay: "300ms" } as const;
  testbed.server.faults?.set({ rules: [{ operation, steps: [step, step] }] });
  const outcomes = await Promise.all([one.run("up", [subject]), two.run("up", [subject])]);
  expect(testbed.attempts(operation)).toHaveLength(2);
  return outcomes;
};

/** Each is judged with the other's records as foreign, which its destroy must leave too. */
const eachKeepsItsOwn = async ({ testbed, foreign, one, two, subject }: TwoStacks, declaredByOne = subject) => {
  const own = new Set(readState(testbed.stateFile("one")).resources.map(({ id }) => id));
  const live = await testbed.records();
  const besideOne = new Map([...live].filter(([uid]) => !own.has(uid)));
  const besideTwo = new Map([...live].filter(([uid]) => foreign.has(uid) || own.has(uid)));
  expect(live.size).toBe(foreign.size + 2);
  expect((await judge(testbed, "one", one, [declaredByOne], besideOne)).problems).toEqual([]);
  expect((await judge(testbed, "two", two, [subject], besideTwo)).problems).toEqual([]);
  expect(await one.run("destroy")).toMatchObject({ errors: [] });
  expect(await judgeDestroyed(testbed, "one", besideOne)).toEqual([]);
  expect(await two.run("destroy")).toMatchObject({ errors: [] });
  expect(await judgeDestroyed(testbed, "two", foreign)).toEqual([]);
};

describe.concurrent("F20: two stacks that declare the same at the same time", () => {
  test.each(everyKind())("create a $kind ($adapter) each, and each keeps its own", (tried) =>
    twoStacks(tried, async (stacks) => {
      expect((await runBoth(stacks)).map(({ errors }) => errors)).toEqual([[], []]);
      await eachKeepsItsOwn(stacks);
    }),
  );

  test.each(everyKind())(
    "report each possible $kind ($adapter) when one response is lost, and a person chooses",
    (tried) =>
      twoStacks(tried, async (stacks) => {
        const { testbed, one, two, operation, subject } = stacks;
        const run = one.start("up", [subject], { point: "before send", of: "POST" });
        await run.paused;
        expect(await two.run("up", [subject])).toMatchObject({ errors: [] });
        const others = testbed.uid("two", "subject");
        testbed.server.faults?.set({ rules: [{ operation, steps: [{ at: "after", reset: true }] }] });
        run.resume();
        const { errors } = await run.outcome;
        expect(errors.join()).toContain("2 records match it");
        expect(errors.join()).toContain(others);
        expect(testbed.attempts(operation)).toHaveLength(1);
        const uids = [...(await testbed.records()).keys()];
        const own = uids.find((uid) => !stacks.foreign.has(uid) && uid !== others) as string;
        expect(errors.join()).toContain(own);
        const adopting = { ...subject, inputs: { ...subject.inputs, adopt: own, deleteAdopted: true } };
        expect(await one.run("up", [adopting])).toMatchObject({ errors: [] });
        await eachKeepsItsOwn(stacks, adopting);
      }),
  );

  test("advise one of them to adopt the binding, where a service allows it only once", () =>
    twoStacks(
      { adapter: "dynamic", kind: "roleBinding" },
      async (stacks) => {
        const { testbed, foreign, one, two, subject } = stacks;
        const outcomes = await runBoth(stacks);
        const [winner, loser] = outcomes[0].errors.length === 0 ? ["one", "two"] : ["two", "one"];
        const errors = outcomes.flatMap(({ errors }) => errors);
        expect(errors).toEqual([expect.stringContaining("ALREADY_EXISTS")]);
        expect(errors.join()).toContain(`is bound to role ${testbed.foreign.role} at ${subject.inputs.parent} already`);
        expect(errors.join()).toContain('take it over with adopt: "match" (or its uid)');
        expect(readState(testbed.stateFile(loser as string)).resources).toEqual([]);
        const own = winner === "one" ? one : two;
        expect((await judge(testbed, winner as string, own, [subject], foreign)).problems).toEqual([]);
        expect(await own.run("destroy")).toMatchObject({ errors: [] });
        expect(await judgeDestroyed(testbed, winner as string, foreign)).toEqual([]);
      },
      { uniqueRoleBindings: true },
    ));
});
