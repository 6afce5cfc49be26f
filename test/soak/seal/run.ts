// What happens in one case.
import type { SealContent } from "../../../access/seal/seal.ts";
import type { Program } from "../../harness/small-engine/program.ts";
import type { Random } from "../../support/random.ts";
import { CREATES, killedRun, targetOf } from "../cycle.ts";
import { makeByHand } from "../program/hand-made.ts";
import { type AccessProgram, accessProgram } from "../program/random.ts";
import { differs, type SealCase } from "./case.ts";
import { editByHand } from "./edits.ts";
import { lessOf } from "./less.ts";
import { causedBeyond } from "./shown.ts";

export const newCounts = () => ({
  ...{ cases: 0, relevant: 0, same: 0, refused: 0, rows: 0, beyond: 0, wrongly: 0, unreviewable: 0 },
  ...{ more: 0, less: 0, lost: 0, killed: 0, begun: 0 },
});
export type Counts = ReturnType<typeof newCounts>;

/** How the update differs from what its preview shows: it does more or less, a response is lost, it is killed; or it does not. */
const WAYS = ["usual", "usual", "usual", "usual", "more", "more", "less", "less", "less", "lost", "killed"] as const;
type Way = (typeof WAYS)[number];

/** As long as requests may take, and what they create may not be visible. */
const HIDDEN_MS = 30_000;

const isRefusal = (text: string): boolean => text.includes("does not contain this") || text.includes("is refused, and");

/** The program adopts what its change before has deleted, or declares a pair twice, by a reference and by the uid. */
const isOfProgram = (text: string): boolean =>
  ["adopt: no ", "leave adopt out", "the same identity and role as"].some((part) => text.includes(part));

/** Returns what is wrong; undefined where the program has no preview, so that it is no case. */
export const runCase = async (
  one: SealCase,
  random: Random,
  at: number,
  counts: Counts,
): Promise<string[] | undefined> => {
  const { testbed, engine, bound } = one;
  const made = await makeByHand(random, testbed);
  const programs = accessProgram(random, made);
  const isFirst = random.below(4) === 0;
  if (!isFirst) {
    const { errors } = await engine.run("up", programs.change(2 + random.below(8)));
    if (errors.some(isOfProgram)) return undefined;
    if (errors.length > 0) return [`first up: ${errors.join("\n")}`];
  }
  const old = isFirst ? [] : programs.current();
  const program = programs.change(1 + random.below(5));
  const reviewed = await one.review(program).catch((error: Error) => error);
  if (reviewed instanceof Error && isOfProgram(reviewed.message)) return undefined;
  if (reviewed instanceof Error) throw reviewed;
  const { proposal, seal } = reviewed;
  one.write(seal);

  const edits: string[] = [];
  const isRelevant = at % 10 < 6;
  for (let left = isRelevant ? 1 + random.below(3) : random.below(3); left > 0; left -= 1) {
    const edit = await editByHand({ random, testbed, made, seal }, isRelevant);
    if (edit) edits.push(edit.text);
  }
  if (isRelevant && edits.length > 0) counts.relevant += 1;
  const verified = await one.review(program).then(
    (now) => differs(seal, now.seal),
    (error: Error) => [error.message],
  );
  if (verified.length === 0) counts.same += 1;

  const olds = await one.moment();
  if (random.below(2) === 0) await bound.run("refresh");
  const way = random.pick(WAYS);
  const { errors, ...after } = await runUnder(one, random, way, { old, program, programs, seal }, counts);
  const isWhole = way === "usual" && errors.length === 0;
  const { rows, problems } = causedBeyond(one.shownBy(proposal), olds, await one.moment(), isWhole);
  counts.rows += rows;
  counts.beyond += problems.length;
  const refusals = errors.filter(isRefusal);
  if (refusals.length > 0) counts.refused += 1;
  const found = problems.map((text) => `not shown: ${text}`);
  // Where the API refuses a deletion, the review says that the update fails.
  if (verified.length === 0 && !["more", "less"].includes(way) && seal.blocked.length === 0) {
    counts.wrongly += refusals.length;
    // A lost response may need a person, as that of an invite.
    const failed = way === "usual" ? errors.filter((text) => !isOfProgram(text)) : refusals;
    found.push(...failed.map((text) => `nothing moved, and it failed: ${text}`));
  }
  if (verified.length === 0 && seal.blocked.length === 0) found.push(...after.wrongly);
  if (found.length === 0) return [];
  const told = [...edits.map((text) => `edit: ${text}`), ...verified.map((text) => `verify: ${text}`)];
  return [...found, `way: ${way}`, ...told, ...errors.map((text) => `error: ${text}`), JSON.stringify(program)];
};

interface Ran {
  errors: string[];
  /** what `irm verify` says wrongly of a change of which a part is done, where nothing moved */
  wrongly: string[];
}

/** Returns the errors of the updates under the seal: one, and another one after it. */
const runUnder = async (
  { testbed, adapter, engine, bound, killable, review }: SealCase,
  random: Random,
  way: Way,
  { old, program, programs, seal }: { old: Program; program: Program; programs: AccessProgram; seal: SealContent },
  counts: Counts,
): Promise<Ran> => {
  const { faults } = testbed.server;
  const errors: string[] = [];
  const wrongly: string[] = [];
  // The same seal holds for what is left to do, unless that has become more: a set that has become exclusive removes only then.
  const isHeld = async (): Promise<boolean> => {
    const left = await review(program).catch(() => undefined);
    return left?.seal.deletes.every((one) => seal.deletes.includes(one)) === true;
  };
  const verify = async (when: string): Promise<string[]> => {
    if (!(await isHeld())) return [];
    // Whether what a killed run has created is visible makes no difference.
    if (random.below(2) === 0) testbed.advanceClock(HIDDEN_MS);
    const { seal: now } = await review(program, seal);
    return differs(seal, now).map((text) => `irm verify, ${when}: ${text}`);
  };
  if (way === "more") {
    counts.more += 1;
    return { errors: (await bound.run("up", programs.change(1 + random.below(3)))).errors, wrongly };
  }
  if (way === "less") {
    counts.less += 1;
    errors.push(...(await bound.run("up", lessOf(random, old, program))).errors);
    // Half of them are then carried out as the review shows.
    if (random.below(2) === 0) {
      const now = await review(program, seal).catch(() => undefined);
      const isSame = now && differs(seal, now.seal).length === 0;
      const { errors: own } = await bound.run("up", program);
      errors.push(...own);
      if (isSame) {
        counts.begun += 1;
        wrongly.push(
          ...own.filter(isRefusal).map((text) => `irm verify says it is the same, and it is refused: ${text}`),
        );
      }
    }
    return { errors, wrongly };
  }
  if (way === "lost") {
    const operations = [...CREATES, "BatchCreateRoleBindings"] as const;
    faults?.set({ rules: operations.map((operation) => ({ operation, steps: [{ at: "after", reset: true }] })) });
    errors.push(...(await bound.run("up", program)).errors);
    if (faults?.attempts().some(({ rule }) => rule !== undefined)) counts.lost += 1;
    faults?.clear();
  } else if (way === "killed") {
    const target = await targetOf(adapter, engine, program, random);
    if (target?.operation)
      faults?.set({
        rules: [{ operation: target.operation, steps: [{ at: target.carriedOut ? "after" : "before", hold: true }] }],
      });
    const run = target && (await killedRun(testbed, killable, program, target));
    if (run?.wasKilled) counts.killed += 1;
    faults?.clear();
    faults?.release();
    await run?.pluginEnded;
  } else errors.push(...(await bound.run("up", program)).errors);
  if (way !== "usual") {
    counts.begun += 1;
    wrongly.push(...(await verify("after a part of it")));
  }
  if (await isHeld()) errors.push(...(await bound.run("up", program)).errors);
  if (errors.length === 0) wrongly.push(...(await verify("after all of it")));
  return { errors, wrongly };
};
