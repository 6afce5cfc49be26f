// The one comment of a change, and the one issue. A later job finds each by a marker in its first line. Only a post of the same author
// counts: anyone can write the marker.

import { canonical } from "../access/canonical.ts";
import type { Change, ChangeRow } from "../access/change/change.ts";
import { keysOf, neutral } from "../access/change/write.ts";
import { code } from "../access/format/markdown-text.ts";
import type { Forge, Host, MergedChange, Post, Written } from "./forge.ts";
import { type Job, RefusedJob } from "./settings.ts";

export interface Marker {
  kind: "review" | "drift";
  /** `keyOf` of the settings */
  subject: string;
  /** later runs have higher ids */
  run: number;
  /** the commit of the change */
  head?: string | undefined;
}

const beginOf = ({ kind, subject }: Pick<Marker, "kind" | "subject">) => `<!-- irm ${kind} ${subject} run `;

const commentText = (marker: Marker, body: string) => `${beginOf(marker)}${marker.run} -->\n${body}`;

/** The run of a post of ours; undefined for other posts. */
const runOf = (post: Post, marker: Marker, me: string) => {
  const begin = beginOf(marker);
  if (post.author !== me || !post.body.startsWith(begin)) return undefined;
  const [, run] = /^(\d+) -->/.exec(post.body.slice(begin.length)) ?? [];
  return run === undefined ? undefined : Number(run);
};

/**
 * Undefined: the run of a newer commit wrote the comment already. A job of the newest commit always writes. Somebody may have put a higher
 * number into the change, and a bot of the same author may have repeated it.
 */
export const replaceComment = async (
  forge: Forge,
  change: number,
  marker: Marker,
  body: string,
): Promise<Written | undefined> => {
  const me = await forge.me();
  const own: { id: number; run: number }[] = [];
  for await (const post of forge.comments(change)) {
    const run = runOf(post, marker, me);
    if (run !== undefined) own.push({ id: post.id, run });
  }
  const isLate = own.some(({ run }) => run > marker.run);
  if (isLate && (marker.head === undefined || (await forge.headOf(change)) !== marker.head)) return undefined;
  const [first, ...others] = own;
  const text = commentText(marker, body);
  const written = await (first ? forge.updateComment(change, first.id, text) : forge.createComment(change, text));
  // Two jobs that began together may each create one.
  for (const { id } of others) await forge.deleteComment(change, id);
  return written;
};

export const keepIssue = async (forge: Forge, marker: Marker, title: string, body: string): Promise<Written> => {
  const id = await findIssue(forge, marker);
  const text = commentText(marker, body);
  return id === undefined ? forge.createIssue(title, text) : forge.updateIssue(id, text);
};

/** Undefined without an open issue. */
export const closeIssue = async (forge: Forge, marker: Marker, reason: string): Promise<Written | undefined> => {
  const id = await findIssue(forge, marker);
  if (id === undefined) return undefined;
  const written = await forge.commentIssue(id, reason);
  await forge.closeIssue(id);
  return written;
};

const findIssue = async (forge: Forge, marker: Marker) => {
  const me = await forge.me();
  for await (const post of forge.openIssues()) if (runOf(post, marker, me) !== undefined) return post.id;
  return undefined;
};

// Two ways to approve a change: the host asks people before the job begins, or they merge the change after its review.

/** The change whose merge made this commit, and the run that reviewed it. Throws a RefusedJob. `words`: of the host. */
export const mergedReview = async (
  forge: Forge,
  commit: string | undefined,
  words: { change: string },
): Promise<{ run: number; change: MergedChange }> => {
  const again = `Open a ${words.change} with what is to be applied, and merge it after its review`;
  const change = commit === undefined ? undefined : await forge.mergedBy(commit);
  if (!change) throw new RefusedJob(`no ${words.change} was merged as this commit, so no review shows it. ${again}`);
  const run = await forge.reviewRunOf(change);
  if (run !== undefined) return { run, change };
  throw new RefusedJob(
    `${words.change} ${change.number} has no review of its newest commit by this workflow that began before the merge. ${again}`,
  );
};

/**
 * The rows of access that the merged change lacks, with those of runs that end half-way. The write that makes a record identifies the
 * record.
 */
export const furtherRows = (change: Change, merged: Change): ChangeRow[] => {
  const left = new Map<string, number>();
  for (const { text } of textsOf(merged)) left.set(text, (left.get(text) ?? 0) + 1);
  return textsOf(change).flatMap(({ row, text }) => {
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count < 1 ? [row] : [];
  });
};

const textsOf = ({ writes, rows, between }: Change) => {
  const keys = keysOf(writes);
  return [...rows, ...between].map((row) => ({ row, text: canonical(neutral(row, keys)) }));
};

// The texts of comments, issues and summaries around a report. Its format escapes the texts that it quotes.

export const reviewComment = (report: string, job: Job, host: Host, page: string): string =>
  `${report}\n<sub>${originOf(job)} · as a page: [${page}](${host.fileUrl(page)})</sub>\n`;

/** An error may quote texts that the log masks, so the comment only links to the log. */
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

/** `how` it ended, and the end of its output. */
export const updateSummary = (stack: string, how: string, output: string): string => {
  // Others wrote the output: the fence is longer than all of its fences.
  const fence = "`".repeat(Math.max(3, ...(output.match(/`+/g) ?? []).map((run) => run.length + 1)));
  return [
    `## The update of ${code(stack)} ${how}`,
    "",
    `<details><summary>What it printed last</summary>\n\n${fence}text\n${output.trimEnd()}\n${fence}\n\n</details>`,
    "",
  ].join("\n");
};
