// A cycle without checkpoints: the engine saves its state once, at the end of a run, so a killed run leaves the state as it was. After a
// kill the program stays, changes or is reverted, or the stack is refreshed or destroyed. Then all that is live must be what the program
// declares.
import { judge, judgeDestroyed } from "../faults/judge.ts";
import type { Program } from "../harness/small-engine/program.ts";
import type { Engine } from "../harness/small-engine/run.ts";
import { type Count, type Cycle, HURRIED_MS, killedRun, STACK, STEPS, targetOf } from "./cycle.ts";
import { compareLiveAccess } from "./live-access.ts";

/** What follows a kill, each as often. */
const FOLLOWS = ["same", "reverted", "changed", "refreshed", "destroyed", "killed again"] as const;

/** A cycle of one stack, which knows the program before. */
export const cycleWithoutCheckpoints = () => {
  let before: Program = [];
  return async (cycle: Cycle, count: Count, onKill: () => void): Promise<string[]> => {
    const { program } = cycle;
    const result = await runCycle({ ...cycle, before }, count, onKill);
    before = result.program ?? program;
    return result.problems;
  };
};

const runCycle = async (
  {
    adapter,
    testbed,
    engine,
    checked,
    random,
    program: next,
    change,
    before,
    foreign,
    isKill,
  }: Cycle & { before: Program },
  count: Count,
  onKill: () => void,
): Promise<{ program?: Program; problems: string[] }> => {
  const { faults } = testbed.server;
  const shown = [engine, checked].map(({ messages }) => messages.length);
  const problems: string[] = [];
  const must = async (own: Engine, command: "up" | "refresh" | "destroy", program: Program, why: string) => {
    const { errors, steps } = await own.run(command, program);
    count.steps += steps.length;
    problems.push(...errors.map((text) => `${command}, ${why}: ${text}`));
  };
  // The next run may save checkpoints, or not.
  const anyEngine = () => random.pick([engine, checked]);
  let program = next;
  if (!isKill) {
    faults?.set({ rules: [], random: { rate: 0.2, seed: random.below(1_000_000), steps: STEPS } });
    const { errors, steps } = await engine.run("up", program, { shortTimeout: { ms: HURRIED_MS } });
    count.steps += steps.length;
    count.faults += faults?.attempts().filter(({ rule }) => rule !== undefined).length ?? 0;
    if (errors.length > 0) count.failed += 1;
    faults?.clear();
    faults?.release();
    if (errors.length > 0) await must(anyEngine(), "up", program, "after a run that failed");
  } else {
    const kill = async (own: Program): Promise<void> => {
      const target = await targetOf(adapter, engine, own, random);
      if (!target) return;
      if (target.operation)
        faults?.set({
          rules: [{ operation: target.operation, steps: [{ at: target.carriedOut ? "after" : "before", hold: true }] }],
        });
      // The engine of a plugin that died saves its state: a person looks at what that lacks.
      const victim = target.victim === "plugin" ? "all" : target.victim;
      const { wasKilled, pluginEnded } = await killedRun(testbed, engine, own, { ...target, victim });
      faults?.clear();
      faults?.release();
      await pluginEnded;
      count.failed += 1;
      if (!wasKilled) return;
      count.kills += 1;
      onKill();
    };
    await kill(program);
    const follow = random.pick(FOLLOWS);
    if (follow === "reverted") program = before;
    if (follow === "changed") program = change();
    if (follow === "killed again") await kill(before);
    if (follow === "refreshed") await must(anyEngine(), "refresh", program, "after a kill");
    if (follow === "destroyed") {
      await must(anyEngine(), "destroy", [], "after a kill");
      // Of a stack whose state is empty, the engine asks no provider.
      await checked.recover();
      problems.push(...(await judgeDestroyed(testbed, STACK, foreign)));
    }
    await must(anyEngine(), "up", program, `${follow} after a kill`);
  }
  const shownBy: Engine = {
    ...checked,
    messages: [...engine.messages, ...checked.messages],
    text: () => [engine.text(), checked.text()].join("\n"),
  };
  const { leaked, lost, duplicated, problems: found } = await judge(testbed, STACK, shownBy, program, foreign);
  count.leaked += leaked.length;
  count.lost += lost.length;
  count.duplicated += duplicated.length;
  problems.push(...found, ...(await compareLiveAccess(testbed, program, foreign)));
  const messages = [engine, checked].flatMap((one, i) => one.messages.slice(shown[i]).map((text) => `said: ${text}`));
  return { program, problems: problems.length === 0 ? [] : [...problems, ...messages] };
};
