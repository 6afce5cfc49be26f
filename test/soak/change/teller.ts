// What the soaks of reviews and of applies do with a group: its program changes, and goes on without the cases whose review fails.
import { join } from "node:path";
import type { Program, Workplace } from "../../harness/engine-workplace.ts";
import { type Reviewed, review } from "./commands.ts";
import { type Case, type Group, isAbout, writeProgram } from "./group.ts";
import { type Moment, type Snapshot, snapshotOf } from "./oracle.ts";

export interface Teller extends Group {
  /** the cases that still take part */
  left: readonly Case[];
  /** Says what is wrong with a case; without one, with all of them. */
  fail(text: string, one?: Case): void;
  problems: string[];
  snapshots: number;
}

export const tellerOf = (group: Group): Teller => {
  const problems: string[] = [];
  const fail: Teller["fail"] = (text, one) => {
    const program = one ? `${one.prefix} ${JSON.stringify(one.described)}` : "";
    problems.push(`${text}\n${program}`);
  };
  return { ...group, fail, problems, left: group.cases, snapshots: 0 };
};

export const changePrograms = (told: Teller, times: (random: Case["random"]) => number): void => {
  for (const one of told.left) {
    one.former = one.described;
    one.described = one.programs.change(times(one.random));
  }
  writeProgram(told);
};

/** A review without failing steps, if need be without some of the cases. Undefined: none is left. `problem`: there is no review. */
export const reviewWhole = async (told: Teller): Promise<Reviewed | { problem: string } | undefined> => {
  const reviewed = await review(told);
  const failing = told.cases.filter((one) => one.described !== undefined && isRefused(one, reviewed));
  if (failing.length === 0 || told.cases.length === 1) return reviewed;
  withdraw(told, failing);
  return told.left.length === 0 ? undefined : reviewWhole(told);
};

/** Whether one of its steps, or what it declares, is why a review fails. */
const isRefused = (one: Case, reviewed: Reviewed | { problem: string }): boolean => {
  if (!("report" in reviewed)) return isAbout(one, reviewed.problem);
  const { steps, errors } = reviewed.report;
  const own = steps.filter(({ ok, urn }) => !ok && isAbout(one, nameIn(urn)));
  return own.some(({ error = "" }) => !error.startsWith(BLOCKED)) || errors.some((text) => isAbout(one, text));
};

/** Of a step that waits for one that failed (cli/run/outcome.ts). */
const BLOCKED = "it did not run";

/** From here on, the program has of these what went through before; and nothing, where that fails too. */
const withdraw = (told: Teller, failing: readonly Case[]): void => {
  for (const one of failing) one.described = told.left.includes(one) ? one.former : undefined;
  writeProgram(told);
  told.left = told.left.filter((one) => !failing.includes(one));
};

/** Of a resource, not of those that its type names. */
export const nameIn = (urn: string): string => urn.split("::").at(-1) as string;

export const placesOf = ({ place, second }: Group): Workplace[] => (second ? [place, second] : [place]);

export const snapshotsOf = (told: Teller): Snapshot[] =>
  placesOf(told).map(({ folder }) => snapshotOf(join(folder, "irm.db"), join(folder, `moment-${++told.snapshots}.db`)));

/** Of a case at each service. */
export const momentsOf = ({ organizations }: Case, all: readonly Snapshot[]): Moment[] =>
  organizations.flatMap((uid, i) => all[i]?.of(uid) ?? []);

/** By uid. */
export const resourceNames = (program: Program): Map<string, string> =>
  new Map(program.state().resources.flatMap(({ id, urn }) => (id ? [[id, nameIn(urn)] as const] : [])));
