// What a job writes for people: comments of a change, and issues. GitHub and GitLab have both under other names.
import { UserError } from "../schema/index.ts";

/** A comment or an issue. */
export interface Post {
  /** of the comment, or number of the issue */
  id: number;
  body: string;
  /** who wrote it, comparable to `Forge.me` */
  author: string;
}

/** A change that was merged. */
export interface MergedChange {
  number: number;
  /** hash of its newest commit */
  head: string;
  /** RFC 3339 */
  mergedAt: string;
}

export interface Forge {
  /** whom the token writes as */
  me(): Promise<string>;
  /** hash of the newest commit of a change */
  headOf(change: number): Promise<string>;
  /** the change whose merge made this commit */
  mergedBy(commit: string): Promise<MergedChange | undefined>;
  /** Why it cannot be seen whether people had to approve this job; undefined: they had to. Throws a RefusedJob where nobody had to. */
  unseenApproval(): Promise<string | undefined>;
  /** The last run that reviewed this change, by the workflow of this job, and that began before the merge; undefined: there is none. */
  reviewRunOf(change: MergedChange): Promise<number | undefined>;
  /** The text of a file that this run has left; undefined: a step of the job downloads it. */
  fileOf?(run: number, name: string): Promise<string>;
  /** the comments of a change, from the first one on */
  comments(change: number): AsyncIterable<Post>;
  createComment(change: number, body: string): Promise<Written>;
  updateComment(change: number, id: number, body: string): Promise<Written>;
  deleteComment(change: number, id: number): Promise<void>;
  openIssues(): AsyncIterable<Post>;
  createIssue(title: string, body: string): Promise<Written>;
  updateIssue(id: number, body: string): Promise<Written>;
  commentIssue(id: number, body: string): Promise<Written>;
  closeIssue(id: number): Promise<void>;
}

export interface Written {
  url: string;
}

/** GitHub or GitLab refused a request, or did not answer. */
export class ForgeError extends UserError {
  override readonly name = "ForgeError";
  /** the token may not see it, or it is not there */
  isRefused = false;
}
