// The seal under which a merge is applied: the one that the comment on the change showed when it was approved, from the run that wrote it.
import type { Forge, MergedChange } from "./forge.ts";
import { RefusedJob } from "./job.ts";
import { findOwn, type Marker } from "./post.ts";
import type { Approval } from "./settings.ts";

export interface ApprovedSeal {
  /** id of the run that wrote the comment, and has the seal */
  run: number;
  /** as the comment shows it */
  digest: string;
  change: MergedChange;
}

/** Throws a RefusedJob that says what is missing. `words`: what the host calls a change. */
export const approvedSeal = async (
  forge: Forge,
  commit: string | undefined,
  { kind, subject }: Pick<Marker, "kind" | "subject">,
  approval: Approval,
  words: { change: string },
): Promise<ApprovedSeal> => {
  const change = commit === undefined ? undefined : await forge.mergedBy(commit);
  if (!change)
    throw new RefusedJob(
      `no ${words.change} was merged as this commit, so nothing says what was approved. ${AGAIN(words)}`,
    );
  const name = `${words.change} ${change.number}`;
  const own = await findOwn(forge, change.number, { kind, subject });
  const sealed = own.filter((one) => one.digest !== undefined).at(-1);
  if (sealed?.digest === undefined)
    throw new RefusedJob(
      `${name} has no review with a seal: the job of the ${words.change} writes it, with the input seal. ${AGAIN(words)}`,
    );
  const { run, digest, updatedAt } = sealed;
  if (!(await forge.isReviewRun(run, change.head)))
    throw new RefusedJob(
      `the review of ${name} is of another commit than the one that was merged, or of another workflow. ${AGAIN(words)}`,
    );
  const seenAt = Date.parse(updatedAt);
  if (approval === "merged") {
    if (Date.parse(change.mergedAt) > seenAt) return { run, digest, change };
    throw new RefusedJob(`the review of ${name} was written after the merge. ${AGAIN(words)}`);
  }
  for await (const { at, by } of forge.approvals(change))
    if (by !== change.author && Date.parse(at) > seenAt) return { run, digest, change };
  throw new RefusedJob(`${name} was not approved after its review was written, at ${updatedAt}. ${AGAIN(words)}`);
};

const AGAIN = ({ change }: { change: string }): string =>
  `Open a ${change} with what is to be applied, have its review approved, and merge it`;
