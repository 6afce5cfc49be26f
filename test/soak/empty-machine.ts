// What follows a kill that takes everything of a machine: the next run is on another one, and has the engine's state alone. The program
// stays, changes or is reverted, or the stack is refreshed or destroyed.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { judgeDestroyed } from "../faults/judge.ts";
import type { Program } from "../harness/small-engine/program.ts";
import type { Testbed } from "../harness/small-engine/testbed.ts";
import { type Count, type Cycle, STACK } from "./cycle.ts";

export interface Machine {
  env: Record<string, string>;
  /** its journal and its temporary files are gone */
  lose(): void;
}

export const machineOf = ({ folder }: Testbed): Machine => {
  const [journal, temporary] = [join(folder, `${STACK}.journal`), join(folder, `${STACK}.tmp`)];
  const make = () => void mkdirSync(temporary, { recursive: true });
  make();
  return {
    env: { TMPDIR: temporary },
    lose: () => {
      for (const one of [journal, temporary]) rmSync(one, { recursive: true, force: true });
      make();
    },
  };
};

const FOLLOWS = ["same", "same", "changed", "reverted", "refreshed", "destroyed"] as const;

export interface Followed {
  /** what is declared now */
  program: Program;
  problems: string[];
}

/** `before`: the program of the run before the one that was killed. */
export const followOnEmptyMachine = async (
  { testbed, engine, random, program: killed, change, foreign }: Cycle,
  { machine, before }: { machine: Machine; before: Program },
  count: Count,
): Promise<Followed> => {
  machine.lose();
  const follow = random.pick(FOLLOWS);
  const problems: string[] = [];
  const must = async (command: "up" | "refresh" | "destroy", declared: Program = []): Promise<void> => {
    const { errors, steps } = await engine.run(command, declared);
    count.steps += steps.length;
    problems.push(...errors.map((text) => `${command}, ${follow} on an empty machine: ${text}`));
  };
  let program = killed;
  if (follow === "reverted") program = before;
  if (follow === "changed") program = change();
  if (follow === "refreshed") await must("refresh");
  if (follow === "destroyed") {
    await must("refresh");
    await must("destroy");
    // Of a stack without resources, the engine asks nothing of a provider (docs/faults.md#f26).
    count.recovered += await engine.recover();
    problems.push(...(await judgeDestroyed(testbed, STACK, foreign)));
  }
  await must("up", program);
  // As the action does after each update.
  count.recovered += await engine.recover();
  return { program, problems };
};
