// `up` after `up` on programs that change at random, while one request in five fails and processes are killed: each cycle ends,
// after at most one more run without a fault, with nothing lost (docs/faults.md#nothing-lost).
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { judgeDestroyed } from "../faults/judge.ts";
import type { Program } from "../harness/small-engine/program.ts";
import type { Adapter } from "../harness/small-engine/provider.ts";
import { readState } from "../harness/small-engine/state.ts";
import { startTestbed } from "../harness/small-engine/testbed.ts";
import { createRandom } from "../support/random.ts";
import { type Mode, newFigures, runCycle, STACK } from "./cycle.ts";
import type { PartResult } from "./part.ts";
import { randomProgram } from "./random-program.ts";

interface Options {
  /** with the native one, each run has a plugin in a process of its own, as with Pulumi */
  adapter: Adapter;
  seed: number;
  cycles: number;
  kills: number;
  checkpoints?: "on" | "off";
  isEmptyMachine?: boolean;
  /** stacks that run at the same time, each with its own server: most of the time is waiting */
  lanes?: number;
  log?: (text: string) => void;
}

export const providerSoak = async (options: Options): Promise<PartResult> => {
  const { seed, cycles, kills, lanes = 8, checkpoints = "on", isEmptyMachine = false } = options;
  const mode = isEmptyMachine ? "empty machine" : checkpoints === "off" ? "no checkpoints" : "checkpoints";
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

interface Lane extends Pick<Options, "adapter" | "seed" | "cycles" | "kills" | "log"> {
  mode: Mode;
  figures: ReturnType<typeof newFigures>;
}

const runLane = async ({ adapter, mode, seed, cycles, kills, figures, log }: Lane): Promise<string[]> => {
  const random = createRandom(seed);
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
  if (mode === "empty machine") loseMachine();
  const env: Record<string, string> = mode === "empty machine" ? { TMPDIR: temporary } : {};
  const isUnchecked = mode === "no checkpoints";
  const checked = testbed.engine(STACK, { pluginProcess: true, checkpoints: "on", env });
  const engine = isUnchecked ? testbed.engine(STACK, { pluginProcess: true, checkpoints: "off" }) : checked;
  const uidOf = (name: string) =>
    readState(testbed.stateFile(STACK)).resources.find((one) => one.name === name && !one.delete)?.id;
  const change = () => programs.next(uidOf);
  let before: Program = [];
  let killed = 0;
  try {
    // A run may end before the point at which it was to be killed: then there is another one.
    for (let cycle = 1; cycle <= cycles || (killed < kills && cycle <= 2 * cycles); cycle += 1) {
      const mustKill = kills - killed >= cycles - cycle + 1;
      const isKill = killed < kills && (mustKill || random.below(cycles) < kills);
      const parts = { adapter, mode, testbed, engine, checked, random, change, loseMachine, foreign, figures };
      const { wasKilled, program, problems } = await runCycle({ ...parts, program: change(), before, isKill });
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
