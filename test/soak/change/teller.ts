// What the soaks of reviews and of applies do with a group, and the commands of that: its program changes, and goes on without the cases whose review fails.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Change } from "../../../access/change/change.ts";
import { type Report, Report as ReportShape } from "../../../access/review/report.ts";
import { readChange } from "../../../cli/files.ts";
import type { Program, Workplace } from "../../harness/engine-workplace.ts";
import { irmIn } from "../../harness/irm-command.ts";
import type { PartOptions, PartResult } from "../part.ts";
import { type Case, type Group, isAbout, writeProgram } from "./group.ts";
import { runGroups } from "./groups.ts";
import { type Moment, type Snapshot, snapshotOf } from "./oracle.ts";

export type Teller = ReturnType<typeof tellerOf>;

const tellerOf = (group: Group) => {
  const problems: string[] = [];
  /** Says what is wrong with a case; without one, with all of them. */
  const fail = (text: string, one?: Case): void => {
    const program = one ? `${one.prefix} ${JSON.stringify(one.described)}` : "";
    problems.push(`${text}\n${program}`);
  };
  // `left`: the cases that still take part.
  return { ...group, fail, problems, left: group.cases as readonly Case[], snapshots: [] as Snapshot[] };
};

/** Tells the story of each group, which returns what is wrong. Snapshots are open until its end. */
export const tellStories = async <F extends PartResult["figures"]>(
  part: string,
  options: PartOptions,
  { figures, open }: { figures: F; open(seeds: readonly number[]): Promise<Group> },
  story: (told: Teller & { figures: F }) => Promise<string[]>,
): Promise<PartResult> => {
  const failures = await runGroups(part, options, async (seeds) => {
    const told = { ...tellerOf(await open(seeds)), figures };
    const close = (): Promise<void> => {
      for (const snapshot of told.snapshots) snapshot.close();
      return told.close();
    };
    return story(told).finally(close);
  });
  return { figures: { cases: options.rounds, ...figures }, failures };
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
  placesOf(told).map(({ folder }) => {
    const snapshot = snapshotOf(join(folder, "irm.db"), join(folder, `moment-${told.snapshots.length}.db`));
    told.snapshots.push(snapshot);
    return snapshot;
  });

/** Of a case at each service. */
export const momentsOf = ({ organizations }: Case, all: readonly Snapshot[]): Moment[] =>
  organizations.flatMap((uid, i) => all[i]?.of(uid) ?? []);

/** By uid. */
export const resourceNames = (program: Program): Map<string, string> =>
  new Map(program.state().resources.flatMap(({ id, urn }) => (id ? [[id, nameIn(urn)] as const] : [])));

export type Updated = Awaited<ReturnType<typeof update>>;

const EVENTS = "events.jsonl";

/** As CI runs it (cli/command/ci-run.ts), and on with what does not depend on a step that failed, as the run of a review. */
export const update = async (program: Program) => {
  const events = join(program.folder, EVENTS);
  rmSync(events, { force: true });
  const flags = ["--yes", "--skip-preview", "--refresh", "--continue-on-error", "--event-log", events];
  const { code, output } = await program.run("up", ...flags);
  return { code, output, failed: failedIn(events) };
};

/** URNs of the steps that failed. */
const failedIn = (file: string): string[] =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .flatMap((line) => {
      const { resOpFailedEvent: failed } = JSON.parse(line) as { resOpFailedEvent?: { metadata: { urn: string } } };
      return failed ? [failed.metadata.urn] : [];
    });

export interface Reviewed {
  report: Report;
  change: Change;
}

export const CHANGE = "change.json";

/** `problem`: why there is none. */
export const review = async (group: Group): Promise<Reviewed | { problem: string }> => {
  const { place, program, inPart, flags } = group;
  const file = join(program.folder, CHANGE);
  const as = inPart ? ["--as", place.server.identity] : [];
  const args = ["review", "--stack", "dev", "--format", "json", "--out", file, ...as, ...flags];
  const { code, stdout, stderr } = await irmIn({ ...program, env: { ...program.env, ...inPart } }, args);
  if (code !== 0 && code !== 3) return { problem: stderr };
  return { report: ReportShape.parse(JSON.parse(stdout)), change: readChange(file) };
};

/** The report of `change.json` on a fresh copy. */
export const replay = async ({ program, flags }: Group): Promise<Report | { problem: string }> => {
  const { code, stdout, stderr } = await irmIn(program, ["review", CHANGE, "--format", "json", ...flags]);
  if (code !== 0 && code !== 3) return { problem: stderr };
  return ReportShape.parse(JSON.parse(stdout));
};
