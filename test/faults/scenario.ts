// A scenario: creates the dependencies, and runs the action with a fault. At most one further `up` (or `refresh` and `up`)
// follows without a fault. Then L1 to L7 are judged, and the destroy.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { FaultScript } from "../../server/faults/script.ts";
import type { Command, Outcome } from "../harness/small-engine/engine.ts";
import type { Adapter } from "../harness/small-engine/provider.ts";
import type { Engine, Run, Watch } from "../harness/small-engine/run.ts";
import { startTestbed, type Testbed } from "../harness/small-engine/testbed.ts";
import { judge, judgeDestroyed } from "./judge.ts";
import { type Action, type Subject, type SubjectKind, subjectOf } from "./subject.ts";

export const STACK = "stack";

// Time passes before the change: the number of requests must not depend on the age of the record.
const MINUTE_MS = 60_000;

/** The effect of a rule on one request. */
export type Step = NonNullable<NonNullable<FaultScript["rules"]>[number]["steps"]>[number];

export interface Stage {
  testbed: Testbed;
  subject: Subject;
  engine: Engine;
  /** uid of a resource of the state */
  uid(name: string): string;
}

export interface Scenario {
  adapter: Adapter;
  kind: SubjectKind;
  action: Action;
  /** the resource that the fault is tried on; default: one of the kind */
  subject?(home: string): Subject;
  child?: Parameters<Testbed["engine"]>[1];
  /** the fault: the server's script, for the operation of the action */
  script?(subject: Subject): FaultScript;
  /** runs the action; default: `up` with the program after it */
  act?(stage: Stage): Promise<Outcome | undefined>;
  /** of the run with the fault; default: it succeeds */
  fails?: string | RegExp;
  /** how many attempts of the action's operation that run made, as the server counted them */
  attempts?: number;
  /** checks before the script is cleared */
  checkDuring?(stage: Stage, outcome: Outcome | undefined): void | Promise<void>;
  /** watches the runs that follow */
  watch?(stage: Stage): Watch;
  /** commands that follow without a fault; default: none if the run succeeded, otherwise `up` */
  afterwards?: readonly Command[];
  /** checks once everything is settled */
  checkAfter?(stage: Stage): void | Promise<void>;
}

export const scenario = async ({ adapter, kind, action, child, ...own }: Scenario): Promise<void> => {
  const testbed = await startTestbed(adapter);
  const { faults } = testbed.server;
  const foreign = await testbed.records();
  const subject = own.subject?.(testbed.home) ?? subjectOf(kind, action, testbed.home);
  const engine = testbed.engine(STACK, child);
  const stage: Stage = { testbed, subject, engine, uid: (name) => testbed.uid(STACK, name) };
  try {
    expect(await engine.run("up", subject.before)).toMatchObject({ errors: [] });
    testbed.advanceClock(MINUTE_MS);
    faults?.set(own.script?.(subject) ?? {});
    const outcome = await (own.act ?? (({ engine }) => engine.run("up", subject.after)))(stage);
    if (own.fails !== undefined) expect(outcome?.errors.join("\n")).toMatch(own.fails);
    else if (outcome) expect(outcome.errors).toEqual([]);
    if (own.attempts !== undefined) expect(testbed.attempts(subject.operation)).toHaveLength(own.attempts);
    await own.checkDuring?.(stage, outcome);
    faults?.clear();
    const commands = own.afterwards ?? (outcome?.errors.length === 0 ? [] : ["up"]);
    for (const command of commands)
      expect(await engine.run(command, subject.after, own.watch?.(stage)), `${command} without a fault`).toMatchObject({
        errors: [],
      });
    await own.checkAfter?.(stage);
    expect((await judge(testbed, STACK, engine, subject.after, foreign)).problems).toEqual([]);
    expect(await engine.run("destroy")).toMatchObject({ errors: [] });
    expect(await judgeDestroyed(testbed, STACK, foreign)).toEqual([]);
  } finally {
    await engine.kill();
    await testbed.close();
  }
};

/** Kills the engine with its provider at a point of the action's own request or step. */
export const killAt =
  (point: "before send" | "after reply" | "before state", command: Command = "up") =>
  async ({ engine, subject }: Stage): Promise<undefined> => {
    const steps = { POST: "creating", PATCH: "updating", DELETE: "deleting" } as const;
    const of = point === "before state" ? steps[subject.method] : subject.method;
    await engine.start(command, subject.after, { point, of }).paused;
    await engine.kill();
  };

/** Begins the run, and resolves when the server has the request, and has carried it out or not. */
export const startUntilArrival = async ({ engine, subject, testbed }: Stage, carriedOut: boolean): Promise<Run> => {
  const run = engine.start("up", subject.after);
  const ended = run.outcome.then(({ errors }) => {
    throw new Error(`the run ended before the request came: ${errors.join("\n")}`);
  });
  ended.catch(() => undefined);
  await Promise.race([testbed.waitForAttempts(subject.operation, 1, carriedOut), ended]);
  return run;
};

/** Kills the engine with its provider when the server has the request, and has carried it out or not. */
export const killOnArrival =
  (carriedOut: boolean) =>
  async (stage: Stage): Promise<undefined> => {
    await startUntilArrival(stage, carriedOut);
    await stage.engine.kill();
  };

/** Two runs of one stack at once; the second has a state of its own, as on two machines that pulled the same one. */
export const twoRuns = async ({ testbed, engine, subject }: Stage): Promise<Outcome> => {
  const other = testbed.engine("other", {
    stack: `organization/faults/${STACK}`,
    env: { IRM_JOURNAL: join(testbed.folder, `${STACK}.journal`) },
  });
  writeFileSync(testbed.stateFile("other"), testbed.stateText(STACK));
  const first = engine.start("up", subject.after);
  await testbed.waitForAttempts(subject.operation);
  const [one, two] = await Promise.all([first.outcome, other.run("up", subject.after)]);
  expect(two.errors).toEqual([]);
  expect(testbed.attempts(subject.operation)).toHaveLength(1);
  return one;
};
