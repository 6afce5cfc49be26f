// The texts of comments, issues and summaries around a report. What a report quotes is escaped by its format.
import { code } from "../access/format/markdown-text.ts";
import type { Host } from "./host.ts";
import type { Job } from "./settings.ts";

export const reviewComment = (report: string, job: Job, host: Host, page: string): string =>
  `${report}\n<sub>${originOf(job)} · as a page: [${page}](${host.fileUrl(page)})</sub>\n`;

/** What an error says may hold what the log masks, so the comment only links to the log. */
export const noReviewComment = (job: Job, { words }: Host): string =>
  [
    `## No review of this ${words.change}`,
    "",
    `The job failed, so what this ${words.change} changes in access is not known. An earlier review here does not count any more.`,
    "",
    `<sub>${originOf(job)} says why</sub>`,
    "",
  ].join("\n");

const originOf = ({ about, run }: Job) => {
  const head = "change" in about ? about.change.head : undefined;
  return `${head === undefined ? "" : `${code(head)} · `}[the run](${run.url})`;
};

export const driftTitle = (subject: readonly string[]): string =>
  `Access differs from the program: ${subject.join(" ")}`;

export const driftIssue = (report: string, job: Job): string => `${report}\n<sub>[The run](${job.run.url})</sub>\n`;

export const driftEnded = (job: Job): string => `Nothing differs any more: [the run](${job.run.url}).`;

/** A block of what others have written. */
const fenced = (text: string) => {
  const fence = "`".repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map((run) => run.length + 1)));
  return `${fence}text\n${text.trimEnd()}\n${fence}`;
};

/** `how` it ended, and the end of what it printed. */
export const updateSummary = (stack: string, how: string, output: string): string =>
  [
    `## The update of ${code(stack)} ${how}`,
    "",
    `<details><summary>What it printed last</summary>\n\n${fenced(output)}\n\n</details>`,
    "",
  ].join("\n");
