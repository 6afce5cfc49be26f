// `up` after `up` on programs that change at random, while one request in five fails and processes are killed: each cycle ends,
// after at most one more run without a fault, with nothing lost (docs/internals/faults.md#nothing-lost).
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { kindRecords } from "../../provider/kind/index.ts";
import type { OperationName } from "../../schema/index.ts";
import type { FaultScript } from "../../server/faults/script.ts";
import { judge, judgeDestroyed } from "../faults/judge.ts";
import type { PauseAt } from "../harness/small-engine/environment.ts";
import type { Program } from "../harness/small-engine/program.ts";
import type { Adapter } from "../harness/small-engine/provider.ts";
import type { Engine } from "../harness/small-engine/run.ts";
import { readState } from "../harness/small-engine/state.ts";
import { startTestbed } from "../harness/small-engine/testbed.ts";
import { createRandom, type Random } from "../support/random.ts";
import { compareLiveAccess } from "./live-access.ts";
import type { PartResult } from "./part.ts";
import { randomProgram } from "./random-program.ts";

interface Options {
  /** with the native one, each run has a plugin in a process of its own, as with Pulumi */
  adapter: Adapter;
  seed: number;
  cycles: number;
  kills: number;
  mode?: Mode;
  /** stacks that run at the same time, each with its own server: most of the time is waiting */
  lanes?: number;
  log?: (text: string) => void;
}

export const providerSoak = async (options: Options): Promise<PartResult> => {
  const { seed, cycles, kills, lanes = 8, mode = "checkpoints" } = options;
  const figures = newFigures();
  const own = Math.min(lanes, cycles);
  const share = (all: number, lane: number) => Math.floor(all / own) + (lane < all % own ? 1 : 0);
  const failures = await Promise.all(
    Array.from({ length: own }, async (_, lane) => {
      const counts = { cycles: share(cycles, lane), kills: share(kills, lane) };
      const problems = await runLane({ ...options, ...counts, mode, figures, seed: seed * 1_000 + lane });
      return problems.map((text) => `lane ${lane}, ${text}`);
    }),
  );
  if (figures["kills -9"] < kills) failures.push([`only ${figures["kills -9"]} of ${kills} kills met a run`]);
  return { figures, failures: failures.flat() };
};

type Stage = Awaited<ReturnType<typeof openStage>>;

const openStage = async (adapter: Adapter, mode: Mode, random: Random) => {
  const testbed = await startTestbed(adapter, { speed: 20 });
  const foreign = await testbed.records();
  // A uid that a program spells out may be of a record that the killed run has replaced.
  const programs = randomProgram(random, testbed.home, { spellsOutUids: mode === "checkpoints" });
  const temporary = join(testbed.folder, `${STACK}.tmp`);
  const loseMachine = (): void => {
    for (const one of [join(testbed.folder, `${STACK}.journal`), temporary])
      rmSync(one, { recursive: true, force: true });
    mkdirSync(temporary);
  };
  const isEmptyMachine = mode === "empty machine";
  if (isEmptyMachine) loseMachine();
  const own = { pluginProcess: true, ...(isEmptyMachine && { env: { TMPDIR: temporary } }) };
  const checked = testbed.engine(STACK, { ...own, checkpoints: "on" });
  const engine = mode === "no checkpoints" ? testbed.engine(STACK, { ...own, checkpoints: "off" }) : checked;
  const uidOf = (name: string) =>
    readState(testbed.stateFile(STACK)).resources.find((one) => one.name === name && !one.delete)?.id;
  return {
    ...{ adapter, mode, testbed, random, engine, foreign },
    /** the same with checkpoints */
    checked,
    /** The next change of the program. */
    change: () => programs.next(uidOf),
    /** The machine loses its journal and its temporary files. */
    loseMachine,
  };
};

type Lane = Options & { mode: Mode; figures: ReturnType<typeof newFigures> };

const runLane = async ({ adapter, mode, seed, cycles, kills, figures, log }: Lane): Promise<string[]> => {
  const random = createRandom(seed);
  const stage = await openStage(adapter, mode, random);
  const { testbed, engine, checked, foreign } = stage;
  let before: Program = [];
  let killed = 0;
  try {
    // A run may end before the point at which it was to be killed: then there is another one.
    for (let cycle = 1; cycle <= cycles || (killed < kills && cycle <= 2 * cycles); cycle += 1) {
      const mustKill = kills - killed >= cycles - cycle + 1;
      const isKill = killed < kills && (mustKill || random.below(cycles) < kills);
      const parts = { ...stage, figures, program: stage.change(), before, isKill };
      const { wasKilled, program, problems } = await runCycle(parts);
      before = program;
      killed += Number(wasKilled);
      figures.cycles += 1;
      if (figures.cycles % 20 === 0) log?.(`${figures.cycles} cycles, ${figures["kills -9"]} kills`);
      if (problems.length > 0) return problems.map((text) => `cycle ${cycle}: ${text}`);
    }
    const { errors } = await engine.run("destroy");
    return [...errors, ...(await judgeDestroyed(testbed, STACK, foreign))].map((text) => `destroy: ${text}`);
  } finally {
    await engine.kill();
    await checked.kill();
    await testbed.close();
  }
};

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

const newFigures = () => ({
  cycles: 0,
  "kills -9": 0,
  "steps of the engine that ended": 0,
  "requests that met a fault": 0,
  "runs that failed or were killed": 0,
  "deleted by irm recover": 0,
  leaked: 0,
  duplicated: 0,
  lost: 0,
});

/**
 * What a kill leaves: the state with the steps that ended; the state as it was before the run, since the engine saves it once, at the end; or the
 * state alone, since it takes the engine, the plugin, the journal and the temporary files, as on a CI runner.
 */
export type Mode = "checkpoints" | "no checkpoints" | "empty machine";

type Follow = "same" | "reverted" | "changed" | "refreshed" | "destroyed" | "killed again";

/** What comes before the next `up`, each as often. */
const AFTER_FAULTS: readonly Follow[] = ["same", "same", "same", "refreshed"];
const FOLLOWS: Readonly<Record<Mode, readonly Follow[]>> = {
  checkpoints: AFTER_FAULTS,
  "no checkpoints": ["same", "reverted", "changed", "refreshed", "destroyed", "killed again"],
  "empty machine": ["same", "same", "changed", "reverted", "refreshed", "destroyed"],
};

interface Cycle extends Stage {
  program: Program;
  /** of the cycle before */
  before: Program;
  isKill: boolean;
  figures: ReturnType<typeof newFigures>;
}

/** Returns whether a run was killed, what is declared then, and what is wrong. */
const runCycle = async (cycle: Cycle): Promise<{ wasKilled: boolean; program: Program; problems: string[] }> => {
  const { mode, testbed, engine, checked, random, before, change, foreign, isKill, figures } = cycle;
  const { faults } = testbed.server;
  const engines = [...new Set([engine, checked])];
  const shown = engines.map(({ messages }) => messages.length);
  const problems: string[] = [];
  let program = cycle.program;
  // The next run may save checkpoints, or not.
  const must = async (command: "up" | "refresh" | "destroy", declared: Program, why: string): Promise<void> => {
    const { errors, steps } = await random.pick(engines).run(command, declared);
    figures["steps of the engine that ended"] += steps.length;
    problems.push(...errors.map((text) => `${command}, ${why}: ${text}`));
  };

  const hurried = async (declared: Program) => {
    const { errors, steps } = await engine.run("up", declared, { shortTimeout: { ms: HURRIED_MS } });
    figures["steps of the engine that ended"] += steps.length;
    return { failed: errors.length > 0, wasKilled: false, pluginEnded: undefined };
  };

  const disturbed = async (declared: Program, mustKill: boolean) => {
    const target = mustKill ? await targetOf(cycle, declared) : undefined;
    const rules: NonNullable<FaultScript["rules"]> = [];
    if (target?.operation)
      rules.push({ operation: target.operation, steps: [{ at: target.carriedOut ? "after" : "before", hold: true }] });
    // Late: within the request's time, or once the run has given it up.
    else if (!target && random.below(3) === 0)
      rules.push({ operation: random.pick(CREATES), steps: [random.pick([{ delay: "600ms" }, { hold: true }])] });
    const others = { rate: 0.2, seed: random.below(1_000_000), steps: STEPS };
    faults?.set({ rules, ...((!target || mode !== "no checkpoints") && { random: others }) });
    const { failed, wasKilled, pluginEnded } = target
      ? await killedRun(cycle, declared, target)
      : await hurried(declared);
    figures["requests that met a fault"] += faults?.attempts().filter(({ rule }) => rule !== undefined).length ?? 0;
    figures["kills -9"] += Number(wasKilled);
    figures["runs that failed or were killed"] += Number(failed);
    faults?.clear();
    // Late for the run that was killed, or that gave it up.
    faults?.release();
    // With the journal it goes on beside the next run, whose program is the same.
    if (mode !== "checkpoints") await pluginEnded;
    return { failed, wasKilled, pluginEnded };
  };

  const { failed, wasKilled, pluginEnded } = await disturbed(program, isKill);
  const isLost = wasKilled && mode === "empty machine";
  if (isLost) cycle.loseMachine();
  if (failed) {
    const follow = random.pick(wasKilled ? FOLLOWS[mode] : AFTER_FAULTS);
    if (follow === "reverted") program = before;
    if (follow === "changed") program = change();
    if (follow === "killed again") await disturbed(before, true);
    if (follow === "refreshed" || (follow === "destroyed" && isLost)) await must("refresh", program, follow);
    if (follow === "destroyed") {
      await must("destroy", [], follow);
      // Of a stack whose state is empty, the engine asks no provider (docs/internals/faults.md#f26).
      figures["deleted by irm recover"] += await checked.recover();
      problems.push(...(await judgeDestroyed(testbed, STACK, foreign)));
    }
    await must("up", program, follow);
    // As the action does after each update.
    if (isLost) figures["deleted by irm recover"] += await engine.recover();
  }
  // The program must not change before.
  await pluginEnded;

  const shownBy: Engine = {
    ...checked,
    messages: engines.flatMap(({ messages }) => messages),
    text: () => engines.map((one) => one.text()).join("\n"),
  };
  const { leaked, lost, duplicated, problems: found } = await judge(testbed, STACK, shownBy, program, foreign);
  figures.leaked += leaked.length;
  figures.lost += lost.length;
  figures.duplicated += duplicated.length;
  problems.push(...found);
  if (mode === "no checkpoints") problems.push(...(await compareLiveAccess(testbed, program, foreign)));
  const said = engines.flatMap(({ messages }, i) => messages.slice(shown[i]).map((text) => `said: ${text}`));
  return { wasKilled, program, problems: problems.length === 0 ? [] : [...problems, ...said] };
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
const targetOf = async ({ adapter, mode, engine, random }: Cycle, program: Program): Promise<Target | undefined> => {
  const { steps } = await engine.run("preview", program);
  if (steps.length === 0) return undefined;
  const [verb, name] = random.pick(steps).split(" ") as [keyof typeof METHOD, string];
  const kind = program.find((one) => one.name === name)?.kind;
  const where = random.below(5);
  // The engine of a plugin that died saves its state: a person looks at what that lacks.
  const victims: Record<Mode, Victim[]> = {
    checkpoints: ["all", "all", "engine", "plugin"],
    "no checkpoints": ["all", "all", "engine", "all"],
    "empty machine": ["all"],
  };
  const victim = adapter === "native" ? random.pick(victims[mode]) : "all";
  if (where < 3 || !kind) {
    const point = random.pick(["before send", "after reply", "before state"] as const);
    return { victim, pause: { point, of: point === "before state" ? STEP[verb] : METHOD[verb] } };
  }
  const operations: Partial<Record<"create" | "update" | "delete", OperationName>> =
    kind === "roleBindingSet" ? SET_OPERATIONS : kindRecords[kind].operations;
  return { victim, operation: operations[verb === "replace" ? "create" : verb], carriedOut: where === 4 };
};

/** It may have failed before it came so far. `pluginEnded`: of the plugin that outlived its engine. */
const killedRun = async ({ testbed, engine }: Cycle, program: Program, target: Target) => {
  const run = engine.start("up", program, target.pause);
  const ended = run.outcome.then(() => false);
  const reached = target.operation
    ? testbed.waitForAttempts(target.operation, 1, target.carriedOut).then(() => true)
    : run.paused.then(() => true);
  const wasKilled = await Promise.race([reached.catch(() => false), ended]);
  let pluginEnded: Promise<unknown> | undefined;
  if (wasKilled && target.victim === "engine") ({ pluginEnded } = await engine.killEngine());
  else if (wasKilled && target.victim === "plugin") {
    engine.killPlugin();
    // A step that has ended in the plugin waits in the engine.
    run.resume();
    await ended;
    await engine.end();
  } else await engine.kill();
  if (!pluginEnded) await ended.catch(() => undefined);
  return { failed: true, wasKilled, pluginEnded };
};
