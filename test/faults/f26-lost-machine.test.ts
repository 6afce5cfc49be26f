// The machine of a killed run is lost with its journal: the next run has the engine's state alone (docs/internals/faults.md#f26). What counts of
// that state has a table in test/provider/recovery/interrupted.test.ts.
import { cpSync, readdirSync, renameSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Json } from "../../schema/index.ts";
import { type Program, ref } from "../harness/small-engine/program.ts";
import { readState } from "../harness/small-engine/state.ts";
import { type Scenario, STACK, type Stage, scenario } from "./scenario.ts";
import { type Subject, setSubject, subjectOf } from "./subject.ts";

/** The providers read what the engine has stored. */
const scenarioOf = (own: Scenario): Promise<void> => scenario({ ...own, child: { checkpoints: "on" } });

type Point = "before send" | "late" | "committed" | "before state";

/** Kills the run of a program with everything on its machine, at a point of its own request. */
const lose =
  (point: Point, program: Program) =>
  async ({ engine, subject: { operation }, testbed }: Stage): Promise<undefined> => {
    if (point === "before send" || point === "before state") {
      const of = point === "before send" ? "POST" : "creating";
      await engine.start("up", program, { point, of }).paused;
    } else {
      const isCommitted = point === "committed";
      testbed.server.faults?.set({
        rules: [{ operation, steps: [{ at: isCommitted ? "after" : "before", hold: true }] }],
      });
      engine.start("up", program);
      await testbed.waitForAttempts(operation, 1, isCommitted);
    }
    await engine.kill();
    rmSync(join(testbed.folder, `${STACK}.journal`), { recursive: true, force: true });
    // It is carried out beside the next run.
    testbed.server.faults?.release();
    return undefined;
  };

/** The killed run had the subject's program, and the next run has it with other arguments. */
const changedFrom =
  (killed: (home: string) => Subject, inputs: Json): Scenario["subject"] =>
  (home) => {
    const own = killed(home);
    return { ...own, after: withInputs(own.after, inputs) };
  };

const withInputs = (program: Program, inputs: Json): Program =>
  program.map((one) => (one.name === "subject" ? { ...one, inputs: { ...one.inputs, ...inputs } } : one));

/** The killed run had the subject's program, and the next run has the one before it. */
const revertedFrom =
  (killed: (home: string) => Subject): Scenario["subject"] =>
  (home) => ({ ...killed(home), after: killed(home).before });

const loseRun =
  (point: Point, killed: (home: string) => Subject) =>
  (stage: Stage): Promise<undefined> =>
    lose(point, killed(stage.testbed.home).after)(stage);

type Kinds = [adapter: Scenario["adapter"], kind: Scenario["kind"]];

describe.concurrent("F26: the machine is lost", () => {
  const EQUAL = "the record has all that was sent, and is as old as the killed run";
  test.each<[action: "create" | "replace", kind: Kinds[1], point: Point, adapter: Kinds[0], why: string]>([
    ["create", "group", "before send", "dynamic", "the next run waits until no request can arrive, and sends its own"],
    ["create", "roleBinding", "committed", "native", EQUAL],
    ["replace", "roleBinding", "before state", "dynamic", "the same"],
  ])("%s of a %s, killed at: %s (%s): %s", (action, kind, point, adapter) =>
    scenarioOf({ adapter, kind, action, act: (stage) => lose(point, stage.subject.after)(stage) }),
  );

  const ADOPTING = (uid: string) => `adopting group ${uid} "subject"`;
  const OTHER =
    /an earlier run created role binding \S+ .* for it, and the program now asks for another one: it is deleted/;
  const NO_CODE =
    /an earlier run created group invite \S+, but the response that shows its code was lost: it is deleted, and another one is created/;
  test.each<[what: string, ...Kinds, changes: Json, message: RegExp | ((uid: string) => string)]>([
    ["the program has changed: so is the record", "dynamic", "group", { description: "changed meanwhile" }, ADOPTING],
    ["no update leads to the program: another record", "native", "roleBinding", { parent: ref("other-team") }, OTHER],
    ["an invite, whose code is lost: another one is created", "dynamic", "groupInvite", {}, NO_CODE],
  ])("%s", (_, adapter, kind, changes, message) => {
    const killed = (home: string) => subjectOf(kind, "create", home);
    return scenarioOf({
      ...{ adapter, kind, action: "create", subject: changedFrom(killed, changes), act: loseRun("committed", killed) },
      checkAfter: ({ engine, uid }) => {
        const text = typeof message === "function" ? message(uid("subject")) : message;
        expect(engine.messages.join("\n")).toMatch(text);
      },
    });
  });

  test("the program no longer declares the resource: it is named, and a destroy deletes it", () => {
    const killed = (home: string) => subjectOf("identity", "create", home);
    let uid = "";
    return scenarioOf({
      ...{ adapter: "native", kind: "identity", action: "create" },
      subject: revertedFrom(killed),
      act: async (stage) => {
        await loseRun("committed", killed)(stage);
        const { engine, testbed, subject } = stage;
        expect(await engine.run("preview", subject.after)).toMatchObject({ errors: [] });
        const records = [...(await testbed.records()).values()];
        uid = String(records.find(({ name }) => name === "subject")?.uid);
        const [named] = engine.messages.filter((text) => text.includes(uid));
        expect(named).toMatch(
          /Identity::subject: a run was killed while it created an identity for it, which may be:\n {2}- /,
        );
        return engine.run("destroy");
      },
      afterwards: ["up"],
      checkAfter: ({ engine }) => {
        expect(engine.messages.join("\n")).toMatch(
          new RegExp(
            `Identity::subject: a killed run created identity ${uid} .* no resource of the stack has it: it is deleted`,
          ),
        );
      },
    });
  });

  test.each([
    ["", "dynamic"],
    ["on a machine with an older journal, ", "dynamic"],
    ["on a machine with an older journal, ", "native"],
  ] as const)("%sthe program is as before: what the killed update changed is changed back (%s)", (where, adapter) => {
    const killed = (home: string) => subjectOf("group", "update", home);
    return scenarioOf({
      ...{ adapter, kind: "group", action: "update", subject: revertedFrom(killed) },
      act: async (stage) => {
        const journal = join(stage.testbed.folder, `${STACK}.journal`);
        const older = `${journal}.older`;
        cpSync(journal, older, { recursive: true });
        await loseRun("committed", killed)(stage);
        if (where === "") return undefined;
        renameSync(older, journal);
        const quiet = new Date(Date.now() - 120_000);
        for (const file of readdirSync(journal)) utimesSync(join(journal, file), quiet, quiet);
        return undefined;
      },
      checkAfter: async ({ engine, testbed, uid }) => {
        expect(engine.messages.join("\n")).toContain(
          `stack organization/faults/${STACK} is open: a run was killed while it was changing a resource`,
        );
        expect((await testbed.records()).get(uid("subject"))).toMatchObject({ description: "first" });
      },
    });
  });

  test("two runs are killed in a row: one record", () =>
    scenarioOf({
      ...{ adapter: "dynamic", kind: "group", action: "create" },
      act: async (stage) => {
        await lose("late", stage.subject.after)(stage);
        await lose("before state", stage.subject.after)(stage);
        const { pending } = readState(stage.testbed.stateFile(STACK));
        expect(pending.map(({ type, name }) => `${type} ${name}`)).toEqual(["creating subject", "creating subject"]);
        return undefined;
      },
    }));
});

describe.concurrent("F26: the machine is lost during a set of role bindings", () => {
  test.each([
    { point: "late", action: "create", adapter: "dynamic" },
    { point: "committed", action: "update", adapter: "native" },
  ] as const)("$action, killed at: $point ($adapter): each pair once", ({ point, action, adapter }) =>
    scenarioOf({
      ...{ adapter, kind: "roleBinding", action, subject: (home) => setSubject(action, home) },
      act: (stage) => lose(point, stage.subject.after)(stage),
    }),
  );

  test("the program is as before: what the killed update added is removed", () => {
    const killed = (home: string) => setSubject("update", home);
    return scenarioOf({
      ...{ adapter: "dynamic", kind: "roleBinding", action: "update", subject: revertedFrom(killed) },
      act: loseRun("committed", killed),
    });
  });

  test("it was moving to another group with the same pairs: a destroy deletes those of both groups", () => {
    const moved = (home: string): Subject => {
      const own = setSubject("update", home);
      return { ...own, after: withInputs(own.before, { parent: ref("other-team") }) };
    };
    return scenarioOf({
      ...{ adapter: "native", kind: "roleBinding", action: "replace", subject: revertedFrom(moved) },
      act: async (stage) => {
        await loseRun("committed", moved)(stage);
        return stage.engine.run("destroy");
      },
      afterwards: ["up"],
    });
  });
});
