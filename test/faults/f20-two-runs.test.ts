import { expect, test } from "vitest";
import { IAM } from "../harness/small-engine/owner.ts";
import { type Declared, resolve } from "../harness/small-engine/program.ts";
import { readState } from "../harness/small-engine/state.ts";
import { startTestbed } from "../harness/small-engine/testbed.ts";
import { judge, judgeDestroyed } from "./judge.ts";
import { scenario, twoRuns } from "./scenario.ts";
import { subjectOf } from "./subject.ts";
import { everyForm, everyKind } from "./table.ts";

test.concurrent.each(everyForm())("F20: two runs of one stack at the same time create one $kind ($adapter)", (tried) =>
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

test.concurrent.each(everyKind())(
  "F20: two stacks that declare the same at the same time create a $kind ($adapter) each, and each keeps its own",
  async ({ adapter, kind }) => {
    const testbed = await startTestbed(adapter);
    try {
      const { home, foreign, server } = testbed;
      const shared = (await testbed.call("POST", `${IAM}/groups/${home}`, { name: "shared" })).uid as string;
      const { after, operation } = subjectOf(kind, "create", home);
      const declared = after.find(({ name }) => name === "subject") as Declared;
      const uids = { team: shared, who: foreign.identity, what: foreign.role };
      const subject = { ...declared, inputs: resolve(declared.inputs, new Map(Object.entries(uids))) };
      const before = await testbed.records();
      const [one, two] = [testbed.engine("one"), testbed.engine("two")];
      // Both send their create before either is carried out.
      const step = { at: "before", delay: "300ms" } as const;
      server.faults?.set({ rules: [{ operation, steps: [step, step] }] });
      const outcomes = await Promise.all([one.run("up", [subject]), two.run("up", [subject])]);
      expect(testbed.attempts(operation)).toHaveLength(2);
      expect(outcomes.map(({ errors }) => errors)).toEqual([[], []]);
      // Each is judged with the other's records as foreign, which its destroy must leave too.
      const own = new Set(readState(testbed.stateFile("one")).resources.map(({ id }) => id));
      const live = await testbed.records();
      const besideOne = new Map([...live].filter(([uid]) => !own.has(uid)));
      const besideTwo = new Map([...live].filter(([uid]) => before.has(uid) || own.has(uid)));
      expect(live.size).toBe(before.size + 2);
      expect((await judge(testbed, "one", one, [subject], besideOne)).problems).toEqual([]);
      expect((await judge(testbed, "two", two, [subject], besideTwo)).problems).toEqual([]);
      expect(await one.run("destroy")).toMatchObject({ errors: [] });
      expect(await judgeDestroyed(testbed, "one", besideOne)).toEqual([]);
      expect(await two.run("destroy")).toMatchObject({ errors: [] });
      expect(await judgeDestroyed(testbed, "two", before)).toEqual([]);
    } finally {
      await testbed.close();
    }
  },
);
