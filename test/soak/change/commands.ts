// The commands of a group: its update, a review of it, and what is replayed of that.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Change } from "../../../access/change/change.ts";
import { type Report, Report as ReportShape } from "../../../access/review/report.ts";
import { readChange } from "../../../cli/files.ts";
import type { Program } from "../../harness/engine-workplace.ts";
import { irmIn } from "../../harness/irm-command.ts";
import type { Group } from "./group.ts";

export interface Updated {
  code: number;
  output: string;
  /** URNs of the steps that failed */
  failed: string[];
}

const EVENTS = "events.jsonl";

/** As CI runs it (cli/command/ci-run.ts), and on with what does not depend on a step that failed, as the run of a review. */
export const update = async (program: Program): Promise<Updated> => {
  const events = join(program.folder, EVENTS);
  rmSync(events, { force: true });
  const flags = ["--yes", "--skip-preview", "--refresh", "--continue-on-error", "--event-log", events];
  const { code, output } = await program.run("up", ...flags);
  return { code, output, failed: failedIn(events) };
};

const failedIn = (file: string): string[] => {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.flatMap((line) => {
    const { resOpFailedEvent: failed } = JSON.parse(line) as { resOpFailedEvent?: { metadata: { urn: string } } };
    return failed ? [failed.metadata.urn] : [];
  });
};

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
