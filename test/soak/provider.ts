// `up` after `up` on programs that change at random, while one request in five fails and processes are killed: each cycle ends,
// after at most one more run without a fault, with nothing lost (docs/faults.md#nothing-lost).

import type { FaultScript } from "../../server/faults/script.ts";
import { judge, judgeDestroyed } from "../faults/judge.ts";
import type { Program } from "../harness/small-engine/program.ts";
import type { Adapter } from "../harness/small-engine/provider.ts";
import { readState } from "../harness/small-engine/state.ts";
import { startTestbed } from "../harness/small-engine/testbed.ts";
import { createRandom, type Random } from "../support/random.ts";
import { type Count, CREATES, type Cycle, HURRIED_MS, killedRun, STACK, STEPS, targetOf } from "./cycle.ts";
import { type Followed, followOnEmptyMachine, type Machine, machineOf } from "./empty-machine.ts";
import type { PartResult } from "./part.ts";
import { randomProgram } from "./random-program.ts";
import { cycleWithoutCheckpoints } from "./without-checkpoints.ts";

export interface ProviderSoakOptions {
  /** with the native one, each run has a plugin in a process of its own, as with Pulumi */
  adapter: Adapter;
  seed: number;
  cycles: number;
  kills: number;
  /** off: kills leave the state as it was before the run, and the program changes after them (without-checkpoints.ts) */
  checkpoints?: "on" | "off";
  /** kills take the whole machine, and the program changes after them (empty-machine.ts) */
  isEmptyMachine?: boolean;
  /** stacks that run at the same time, each with its own server: most of the time is waiting */
  lanes?: number;
  log?: (text: string) => void;
}

export const providerSoak = async ({
  adapter,
  seed,
  cycles,
  kills,
  lanes = 8,
  checkpoints = "on",
  isEmptyMachine = false,
  log,
}: ProviderSoakOptions): Promise<PartResult> => {
  const count: Count = {
    ...{ cycles: 0, kills: 0, steps: 0, faults: 0, failed: 0, recovered: 0 },
    ...{ leaked: 0, duplicated: 0, lost: 0 },
  };
  const failures: string[] = [];
  const own = Math.min(lanes, cycles);
  const share = (all: number, lane: number) => Math.floor(all / own) + (lane < all % own ? 1 : 0);
  await Promise.all(
    Array.from({ length: own }, (_, lane) =>
      runLane(
        {
          ...{ adapter, lane, checkpoints, isEmptyMachine, random: createRandom(seed * 1_000 + lane) },
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
    ...(isEmptyMachine && { "deleted by irm recover": count.recovered }),
    leaked: count.leaked,
    duplicated: count.duplicated,
    lost: count.lost,
  };
  return { figures, failures };
};

interface Lane {
  adapter: Adapter;
  checkpoints: "on" | "off";
  isEmptyMachine: boolean;
  lane: number;
  random: Random;
  cycles: number;
  kills: number;
}

const runLane = async (
  { adapter, checkpoints, isEmptyMachine, lane, random, cycles, kills }: Lane,
  count: Count,
  failures: string[],
  say: (text: string) => void = () => undefined,
): Promise<void> => {
  const testbed = await startTestbed(adapter, { speed: 20 });
  const foreign = await testbed.records();
  const isUnchecked = checkpoints === "off";
  // A uid that a program spells out may be of a record that the killed run has replaced.
  const programs = randomProgram(random, testbed.home, { spellsOutUids: !isUnchecked && !isEmptyMachine });
  const machine = isEmptyMachine ? machineOf(testbed) : undefined;
  const engine = testbed.engine(STACK, { pluginProcess: true, checkpoints, ...(machine && { env: machine.env }) });
  const checked = isUnchecked ? testbed.engine(STACK, { pluginProcess: true, checkpoints: "on" }) : engine;
  const runOne = isUnchecked ? cycleWithoutCheckpoints() : cycleWithCheckpoints(machine);
  const uidOf = (name: string) =>
    readState(testbed.stateFile(STACK)).resources.find((one) => one.name === name && !one.delete)?.id;
  let killed = 0;
  try {
    // A run may end before the point at which it was to be killed: then there is another one.
    for (let cycle = 1; cycle <= cycles || (killed < kills && cycle <= 2 * cycles); cycle += 1) {
      const change = () => programs.next(uidOf);
      const program = change();
      const mustKill = kills - killed >= cycles - cycle + 1;
      const isKill = killed < kills && (mustKill || random.below(cycles) < kills);
      const problems = await runOne(
        { adapter, testbed, engine, checked, random, program, change, foreign, isKill },
        count,
        () => {
          killed += 1;
        },
      );
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
    await checked.kill();
    await testbed.close();
  }
};

/** A cycle of one stack, which knows the program before. `machine`: kills take all of it. */
const cycleWithCheckpoints = (machine: Machine | undefined) => {
  let before: Program = [];
  return async (cycle: Cycle, count: Count, onKill: () => void): Promise<string[]> => {
    const left = machine && { machine, before };
    const result = await runCycle(cycle, left, count, onKill);
    before = result.program;
    return result.problems;
  };
};

const runCycle = async (
  cycle: Cycle,
  /** what a kill takes, and leaves */
  left: { machine: Machine; before: Program } | undefined,
  count: Count,
  onKill: () => void,
): Promise<Followed> => {
  const { adapter, testbed, engine, random, program: killed, foreign, isKill } = cycle;
  let program = killed;
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
  let wasKilled = false;
  let pluginEnded: Promise<unknown> | undefined;
  if (target) {
    const run = await killedRun(testbed, engine, program, left ? { ...target, victim: "all" } : target);
    pluginEnded = run.pluginEnded;
    wasKilled = run.wasKilled;
    if (wasKilled) {
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
  if (left && wasKilled) {
    const after = await followOnEmptyMachine(cycle, left, count);
    followed.push(...after.problems);
    program = after.program;
  } else if (failed) {
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
  const messages = engine.messages.slice(before).map((text) => `said: ${text}`);
  return { program, problems: found.length === 0 ? [] : [...found, ...messages] };
};
