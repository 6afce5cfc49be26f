// The one comment of a change, and the one issue, which the job of a later commit or night finds again by a marker in its first line. Only
// a post by the same author counts: anyone can write the marker.

import { canonical } from "../access/canonical.ts";
import type { Change, ChangeRow } from "../access/change/change.ts";
import { keysOf, neutral } from "../access/change/write.ts";
import type { Forge, MergedChange, Post, Written } from "./forge.ts";
import { RefusedJob } from "./settings.ts";

export interface Marker {
  kind: "review" | "drift";
  /** `keyOf` of the settings */
  subject: string;
  /** later runs have higher ids */
  run: number;
  /** the commit of the change that the run is about */
  head?: string | undefined;
}

const beginOf = ({ kind, subject }: Pick<Marker, "kind" | "subject">) => `<!-- irm ${kind} ${subject} run `;

const commentText = (marker: Marker, body: string) => `${beginOf(marker)}${marker.run} -->\n${body}`;

/** The run of a post of ours; undefined if it is not ours. */
const runOf = (post: Post, marker: Marker, me: string) => {
  const begin = beginOf(marker);
  if (post.author !== me || !post.body.startsWith(begin)) return undefined;
  const [, run] = /^(\d+) -->/.exec(post.body.slice(begin.length)) ?? [];
  return run === undefined ? undefined : Number(run);
};

/**
 * Undefined: the run of a newer commit has written it already. A job of the newest commit writes in any case: a bot of the same author may have
 * repeated a text with a higher number, which somebody wrote into the change.
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
  if (own.some(({ run }) => run > marker.run)) {
    const isNewest = marker.head !== undefined && (await forge.headOf(change)) === marker.head;
    if (!isNewest) return undefined;
  }
  const [first, ...others] = own;
  const text = commentText(marker, body);
  const written = await (first ? forge.updateComment(change, first.id, text) : forge.createComment(change, text));
  // Two jobs that began together have made two.
  for (const { id } of others) await forge.deleteComment(change, id);
  return written;
};

/** Opens the issue, or updates it. */
export const keepIssue = async (forge: Forge, marker: Marker, title: string, body: string): Promise<Written> => {
  const id = await findIssue(forge, marker);
  const text = commentText(marker, body);
  return id === undefined ? forge.createIssue(title, text) : forge.updateIssue(id, text);
};

/** Undefined: none is open. */
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

// What lets a change be applied: people whom the host asks before the job begins; or the merge, by what the review of the merged change showed.

/** The change whose merge made this commit, and the run that reviewed it. Throws a RefusedJob. `words`: what the host calls a change. */
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
 * The rows of access, also of runs that end half-way, that a change has and the one that was merged has not. A record that a change makes is
 * known by the write that makes it.
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
