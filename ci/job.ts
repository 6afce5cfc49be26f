// The job of a pipeline: what it is about, and which command it may run under which identity. A change that somebody proposes never runs
// with the rights of the branch that it is merged into.
import { UserError } from "../schema/index.ts";

export const COMMANDS = ["preview", "apply", "up", "drift"] as const;
export type Command = (typeof COMMANDS)[number];

export interface Job {
  /** as its host calls it: `pull_request` */
  event: string;
  /** what it is about: a proposed change, or a branch as it is */
  about: { change: Change } | { branch: string | undefined };
  /** hash of the commit that it is about; of a proposed change, the merge commit that its host makes to test it */
  commit?: string | undefined;
  /** the default branch of the repository */
  mainBranch: string | undefined;
  /** what it runs without an input that says so; undefined: somebody started it by hand */
  usual: Command | undefined;
  run: { id: number; url: string };
}

/** A pull request, a merge request, or what a merge queue is about to merge. */
export interface Change {
  /** undefined for a merge queue */
  number: number | undefined;
  /** hash of its newest commit */
  head: string | undefined;
}

/** The job may not do what it was started for. */
export class RefusedJob extends UserError {
  override readonly name = "RefusedJob";
}

/** One refusal for all jobs of forks: neither host gives them tokens, unless somebody has said so in its settings. */
export const forkRefusal = (change: string): RefusedJob =>
  new RefusedJob(
    `this ${change} comes from a fork, whose author need not have any right here. Its job gets neither a token nor a comment, and there is no review. To get one, read the change, push it to a branch of this repository, and open a ${change} from there`,
  );

/** The command of a job. Throws a RefusedJob where it may not run here. */
export const commandOf = (
  { event, about, mainBranch, usual }: Job,
  { command = usual, branch }: { command?: Command; branch?: string },
): Command => {
  if (command === undefined)
    throw new RefusedJob(`${event} may be for any command: give the input command, one of ${COMMANDS.join(", ")}`);
  const main = branch ?? mainBranch;
  if (command === "preview") return command;
  const runsOn = `${command} runs on ${main === undefined ? "the main branch" : `the branch ${main}`} alone`;
  if ("change" in about)
    throw new RefusedJob(`${runsOn}, after the merge: this job is of a ${event}, and its author chooses the program`);
  if (main === undefined || about.branch !== main)
    throw new RefusedJob(
      `${runsOn}, and this job is of ${about.branch === undefined ? "no branch" : `the branch ${about.branch}`}`,
    );
  return command;
};
