// What follows a kill that takes everything of a machine: the next run is on another one, and has the engine's state alone. The program
// stays, changes or is reverted, or the stack is refreshed or destroyed.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { judgeDestroyed, uidsOf } from "../faults/judge.ts";
import { IAM } from "../harness/small-engine/owner.ts";
import type { Program } from "../harness/small-engine/program.ts";
import { readState } from "../harness/small-engine/state.ts";
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

/** Of a stack without resources, the engine asks nothing of a provider then (docs/faults.md#f26). */
const NEED_RESOURCES: ReadonlySet<string> = new Set(["reverted", "destroyed"]);

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
  const isEmpty = readState(testbed.stateFile(STACK)).resources.length === 0;
  const follow = random.pick(FOLLOWS.filter((one) => !isEmpty || !NEED_RESOURCES.has(one)));
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
    problems.push(...(await judgeDestroyed(testbed, STACK, foreign)));
  }
  const said = engine.messages.length;
  await must("up", program);
  count.named += await deleteNamed(testbed, engine.messages.slice(said));
  return { program, problems };
};

const NAMED = "a run was killed while it created";

/** A person deletes what a run names, and no resource has. */
const deleteNamed = async (testbed: Testbed, messages: readonly string[]): Promise<number> => {
  const live = await testbed.records();
  const inState = new Set(readState(testbed.stateFile(STACK)).resources.flatMap(uidsOf));
  const text = messages.filter((one) => one.includes(NAMED)).join("\n");
  const paths = [...text.matchAll(/ {2}- (group|identity|role|role binding) ([0-9a-f/]+) /g)].flatMap(
    ([, word = "", uid = ""]) => (live.has(uid) && !inState.has(uid) ? [`${IAM}/${PLURALS[word]}/${uid}`] : []),
  );
  const left = new Set(paths);
  for (const path of left) await testbed.call("DELETE", path);
  return left.size;
};

const PLURALS: Readonly<Record<string, string>> = {
  group: "groups",
  identity: "identities",
  role: "roles",
  "role binding": "roleBindings",
};
