// What lets a change be applied: people whom the host asks before the job begins; or the merge, by what the review of the merged change showed.
import { canonical } from "../access/canonical.ts";
import type { Change, ChangeRow } from "../access/change/change.ts";
import { keysOf, neutral } from "../access/change/write.ts";
import type { Forge, MergedChange } from "./forge.ts";
import { RefusedJob } from "./job.ts";

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

const textsOf = ({ writes, rows, between }: Change): { row: ChangeRow; text: string }[] => {
  const keys = keysOf(writes);
  return [...rows, ...between].map((row) => ({ row, text: canonical(neutral(row, keys)) }));
};
