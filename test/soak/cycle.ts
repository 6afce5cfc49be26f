// What the cycles of the random runs share: the faults that their requests meet, and where a run is killed.
import { kindRecords } from "../../provider/kind/index.ts";
import type { OperationName } from "../../schema/index.ts";
import type { FaultScript } from "../../server/faults/script.ts";
import type { Foreign } from "../faults/judge.ts";
import type { PauseAt } from "../harness/small-engine/environment.ts";
import type { Program } from "../harness/small-engine/program.ts";
import type { Adapter } from "../harness/small-engine/provider.ts";
import type { Engine } from "../harness/small-engine/run.ts";
import type { Testbed } from "../harness/small-engine/testbed.ts";
import type { Random } from "../support/random.ts";

export const STACK = "soak";

export const STEPS: NonNullable<FaultScript["random"]>["steps"] = [
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
export const HURRIED_MS = 1_000;

export const CREATES: OperationName[] = Object.values(kindRecords).map(({ operations }) => operations.create);

const SET_OPERATIONS = {
  create: "BatchCreateRoleBindings",
  update: "BatchCreateRoleBindings",
  delete: "DeleteRoleBinding",
} as const;

export interface Count {
  cycles: number;
  kills: number;
  steps: number;
  faults: number;
  failed: number;
  /** records that no resource had after the run on an empty machine */
  recovered: number;
  leaked: number;
  duplicated: number;
  lost: number;
}

export interface Cycle {
  adapter: Adapter;
  testbed: Testbed;
  engine: Engine;
  /** the same with checkpoints */
  checked: Engine;
  random: Random;
  program: Program;
  /** the next change of the program */
  change(): Program;
  foreign: Foreign;
  isKill: boolean;
}

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
export const targetOf = async (
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

export const killedRun = async (
  testbed: Testbed,
  engine: Engine,
  program: Program,
  target: Target,
): Promise<KilledRun> => {
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
