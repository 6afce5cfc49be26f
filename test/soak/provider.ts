// `up` after `up` on programs that change at random, while one request in five fails and processes are killed: each cycle ends,
// after at most one more run without a fault, with nothing lost (docs/faults.md#nothing-lost).

import { kindRecords } from "../../provider/kind/index.ts";
import type { OperationName } from "../../schema/index.ts";
import type { FaultScript } from "../../server/faults/script.ts";
import { type Foreign, judge, judgeDestroyed } from "../faults/judge.ts";
import type { PauseAt } from "../harness/small-engine/environment.ts";
import type { Program } from "../harness/small-engine/program.ts";
import type { Adapter } from "../harness/small-engine/provider.ts";
import type { Engine } from "../harness/small-engine/run.ts";
import { readState } from "../harness/small-engine/state.ts";
import { startTestbed, type Testbed } from "../harness/small-engine/testbed.ts";
import { createRandom, type Random } from "../support/random.ts";
import type { PartResult } from "./part.ts";
import { randomProgram } from "./random-program.ts";

export interface ProviderSoakOptions {
  /** with the native one, each run has a plugin in a process of its own, as with Pulumi */
  adapter: Adapter;
  seed: number;
  cycles: number;
  kills: number;
  /** stacks that run at the same time, each with its own server: most of the time is waiting */
  lanes?: number;
  log?: (text: string) => void;
}

const STACK = "soak";

const STEPS: NonNullable<FaultScript["random"]>["steps"] = [
  { reset: true },
  { at: "after", reset: true },
  { status: 503 },
  { at: "after", status: 503 },
  { status: 429, retryAfter: 1 },
  { at: "after", status: 502, body: "html" },
  { at: "after", status: 504, body: "html" },
  { at: "after", status: 500, body: "html" },
  { truncate: 15 },
  { at: "after", status: 200, body: "html" },
  { status: 401 },
  { status: 403 },
];

// Real time of a request in a run that meets faults: what a slow machine makes of it is one more of them.
const HURRIED_MS = 1_000;

const CREATES: OperationName[] = Object.values(kindRecords).map(({ operations }) => operations.create);

const SET_OPERATIONS = {
  create: "BatchCreateRoleBindings",
  update: "BatchCreateRoleBindings",
  delete: "DeleteRoleBinding",
} as const;

interface Count {
  cycles: number;
  kills: number;
  steps: number;
  faults: number;
  failed: number;
  leaked: number;
  duplicated: number;
  lost: number;
}

export const providerSoak = async ({
  adapter,
  seed,
  cycles,
  kills,
  lanes = 8,
  log,
}: ProviderSoakOptions): Promise<PartResult> => {
  const count: Count = { cycles: 0, kills: 0, steps: 0, faults: 0, failed: 0, leaked: 0, duplicated: 0, lost: 0 };
  const failures: string[] = [];
  const own = Math.min(lanes, cycles);
  const share = (all: number, lane: number) => Math.floor(all / own) + (lane < all % own ? 1 : 0);
  await Promise.all(
    Array.from({ length: own }, (_, lane) =>
      runLane(
        {
          ...{ adapter, lane, random: createRandom(seed * 1_000 + lane) },
          ...{ cycles: share(cycles, lane), kills: share(kills, lane) },
        },
        count,
        failures,
        log,
      ),
    ),
  );
  if (count.kills < kills) failures.push(`only ${count.kills} of ${kills} kills met a run`);
  const figures = {
    cycles: count.cycles,
    "kills -9": count.kills,
    "steps of the engine that ended": count.steps,
    "requests that met a fault": count.faults,
    "runs that failed or were killed": count.failed,
    leaked: count.leaked,
    duplicated: count.duplicated,
    lost: count.lost,
  };
  return { figures, failures };
};

interface Lane {
  adapter: Adapter;
  lane: number;
  random: Random;
  cycles: number;
  kills: number;
}

const runLane = async (
  { adapter, lane, random, cycles, kills }: Lane,
  count: Count,
  failures: string[],
  say: (text: string) => void = () => undefined,
): Promise<void> => {
  const testbed = await startTestbed(adapter, { speed: 20 });
  const foreign = await testbed.records();
  const programs = randomProgram(random, testbed.home);
  const engine = testbed.engine(STACK, { pluginProcess: true });
  const uidOf = (name: string) =>
    readState(testbed.stateFile(STACK)).resources.find((one) => one.name === name && !one.delete)?.id;
  let killed = 0;
  try {
    // A run may end before the point at which it was to be killed: then there is another one.
    for (let cycle = 1; cycle <= cycles || (killed < kills && cycle <= 2 * cycles); cycle += 1) {
      const program = programs.next(uidOf);
      const mustKill = kills - killed >= cycles - cycle + 1;
      const isKill = killed < kills && (mustKill || random.below(cycles) < kills);
      const problems = await runCycle({ adapter, testbed, engine, random, program, foreign, isKill }, count, () => {
        killed += 1;
      });
      count.cycles += 1;
      failures.push(...problems.map((text) => `lane ${lane}, cycle ${cycle}: ${text}`));
      if (count.cycles % 20 === 0) say(`${count.cycles} cycles, ${count.kills} kills, ${failures.length} problems`);
      if (problems.length > 0) return;
    }
    const { errors } = await engine.run("destroy");
    failures.push(...errors.map((text) => `lane ${lane}: destroy: ${text}`));
    failures.push(...(await judgeDestroyed(testbed, STACK, foreign)).map((text) => `lane ${lane}: ${text}`));
  } finally {
    await engine.kill();
    await testbed.close();
  }
};

interface Cycle {
  adapter: Adapter;
  testbed: Testbed;
  engine: Engine;
  random: Random;
  program: Program;
  foreign: Foreign;
  isKill: boolean;
}

const runCycle = async (
  { adapter, testbed, engine, random, program, foreign, isKill }: Cycle,
  count: Count,
  onKill: () => void,
): Promise<string[]> => {
  const { faults } = testbed.server;
  const rules: NonNullable<FaultScript["rules"]> = [];
  // Late: within the request's time, or once the run has given it up.
  if (!isKill && random.below(3) === 0)
    rules.push({ operation: random.pick(CREATES), steps: [random.pick([{ delay: "600ms" }, { hold: true }])] });
  const target = isKill ? await targetOf(adapter, engine, program, random) : undefined;
  if (target?.operation)
    rules.unshift({
      operation: target.operation,
      steps: [{ at: target.carriedOut ? "after" : "before", hold: true }],
    });
  faults?.set({ rules, random: { rate: 0.2, seed: random.below(1_000_000), steps: STEPS } });
  const before = engine.messages.length;
  let failed: boolean;
  let pluginEnded: Promise<unknown> | undefined;
  if (target) {
    const killed = await killedRun(testbed, engine, program, target);
    pluginEnded = killed.pluginEnded;
    if (killed.wasKilled) {
      count.kills += 1;
      onKill();
    }
    failed = true;
  } else {
    const { errors, steps } = await engine.run("up", program, { shortTimeout: { ms: HURRIED_MS } });
    count.steps += steps.length;
    failed = errors.length > 0;
  }
  count.faults += faults?.attempts().filter(({ rule }) => rule !== undefined).length ?? 0;
  if (failed) count.failed += 1;
  faults?.clear();
  // Late for the run that was killed, or that gave it up.
  faults?.release();
  const followed: string[] = [];
  if (failed) {
    if (random.below(4) === 0) {
      const refreshed = await engine.run("refresh");
      followed.push(...refreshed.errors.map((text) => `refresh without a fault: ${text}`));
    }
    const { errors, steps } = await engine.run("up", program);
    count.steps += steps.length;
    followed.push(...errors.map((text) => `up without a fault: ${text}`));
  }
  // It finished what was under way beside the next run. The program must not change before.
  await pluginEnded;
  const { leaked, lost, duplicated, problems } = await judge(testbed, STACK, engine, program, foreign);
  count.leaked += leaked.length;
  count.lost += lost.length;
  count.duplicated += duplicated.length;
  const found = [...followed, ...problems];
  return found.length === 0 ? [] : [...found, ...engine.messages.slice(before).map((text) => `said: ${text}`)];
};

type Victim = "all" | "engine" | "plugin";

interface Target {
  /** which of the processes are killed */
  victim: Victim;
  pause?: PauseAt;
  operation?: OperationName;
  carriedOut?: boolean;
}

const METHOD = { create: "POST", replace: "POST", update: "PATCH", delete: "DELETE" } as const;
const STEP = { create: "creating", replace: "creating", update: "updating", delete: "deleting" } as const;

/** Where a run of the program is killed: at a step that it will make. */
const targetOf = async (
  adapter: Adapter,
  engine: Engine,
  program: Program,
  random: Random,
): Promise<Target | undefined> => {
  const { steps } = await engine.run("preview", program);
  if (steps.length === 0) return undefined;
  const [verb, name] = random.pick(steps).split(" ") as [keyof typeof METHOD, string];
  const kind = program.find((one) => one.name === name)?.kind;
  const where = random.below(5);
  const victim = adapter === "native" ? random.pick<Victim>(["all", "all", "engine", "plugin"]) : "all";
  if (where < 3 || !kind) {
    const point = random.pick(["before send", "after reply", "before state"] as const);
    return { victim, pause: { point, of: point === "before state" ? STEP[verb] : METHOD[verb] } };
  }
  const operations: Partial<Record<"create" | "update" | "delete", OperationName>> =
    kind === "roleBindingSet" ? SET_OPERATIONS : kindRecords[kind].operations;
  return { victim, operation: operations[verb === "replace" ? "create" : verb], carriedOut: where === 4 };
};

interface KilledRun {
  /** it may have failed before it came so far */
  wasKilled: boolean;
  /** of the plugin that outlived its engine */
  pluginEnded?: Promise<unknown>;
}

const killedRun = async (testbed: Testbed, engine: Engine, program: Program, target: Target): Promise<KilledRun> => {
  const run = engine.start("up", program, target.pause);
  const ended = run.outcome.then(() => false);
  const reached = target.operation
    ? testbed.waitForAttempts(target.operation, 1, target.carriedOut).then(() => true)
    : run.paused.then(() => true);
  const wasKilled = await Promise.race([reached.catch(() => false), ended]);
  if (wasKilled && target.victim === "engine") return { wasKilled, ...(await engine.killEngine()) };
  if (wasKilled && target.victim === "plugin") {
    engine.killPlugin();
    // A step that has ended in the plugin waits in the engine.
    run.resume();
    await ended;
    await engine.end();
  } else await engine.kill();
  await ended.catch(() => undefined);
  return { wasKilled };
};
