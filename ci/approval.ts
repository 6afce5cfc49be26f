// What lets a change be applied: people whom the host asks before the job begins; or the merge, by what the review of the merged change showed.
import { canonical, digestOf } from "../access/canonical.ts";
import type { Change } from "../access/change/change.ts";
import { isObject } from "../schema/index.ts";
import type { Forge, MergedChange } from "./forge.ts";
import { RefusedJob } from "./job.ts";

export interface MergedReview {
  /** id of the run that has left its change */
  run: number;
  change: MergedChange;
}

/** The review of the change whose merge made this commit. Throws a RefusedJob. `words`: what the host calls a change. */
export const mergedReview = async (
  forge: Forge,
  commit: string | undefined,
  words: { change: string },
): Promise<MergedReview> => {
  const again = `Open a ${words.change} with what is to be applied, and merge it after its review`;
  const change = commit === undefined ? undefined : await forge.mergedBy(commit);
  if (!change) throw new RefusedJob(`no ${words.change} was merged as this commit, so no review shows it. ${again}`);
  const run = await forge.reviewRunOf(change);
  if (run !== undefined) return { run, change };
  throw new RefusedJob(
    `${words.change} ${change.number} has no review of its newest commit by this workflow that began before the merge. ${again}`,
  );
};

/** The rows of access that a change has, and the one that was merged has not. A record that a change makes is known by the write that makes it. */
export const furtherRows = (change: Change, merged: Change): Change["rows"] => {
  const left = new Map<string, number>();
  const [textOf, mergedTextOf] = [rowText(change), rowText(merged)];
  for (const text of merged.rows.map(mergedTextOf)) left.set(text, (left.get(text) ?? 0) + 1);
  return change.rows.filter((row) => {
    const text = textOf(row);
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count < 1;
  });
};

/** The numbers of writes differ from run to run: the digest of a write takes their place. */
const rowText = ({ writes }: Change): ((row: Change["rows"][number]) => string) => {
  const digests: string[] = [];
  const named = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(named);
    if (!isObject(value)) return value;
    const nameIn = ([name, one]: [string, unknown]) =>
      ["$uid", "$segment"].includes(name) && typeof one === "number" ? [name, digests[one - 1]] : [name, named(one)];
    return Object.fromEntries(Object.entries(value).map(nameIn));
  };
  for (const { n: _, ...write } of writes) digests.push(digestOf(named(write)));
  return (row) => canonical(named(row));
};
