// What a job writes for people: comments of a change, and issues. GitHub and GitLab have both under other names.

/** A comment or an issue. */
export interface Post {
  /** of the comment, or number of the issue */
  id: number;
  body: string;
  /** who wrote it, comparable to `Forge.me` */
  author: string;
  /** RFC 3339: when it was written, or edited since */
  updatedAt: string;
}

/** A change that was merged. */
export interface MergedChange {
  number: number;
  /** hash of its newest commit */
  head: string;
  author: string;
  /** RFC 3339 */
  mergedAt: string;
}

/** Somebody approved a change as it was merged. */
export interface ApprovalOf {
  by: string;
  /** RFC 3339 */
  at: string;
}

export interface Forge {
  /** whom the token writes as */
  me(): Promise<string>;
  /** hash of the newest commit of a change */
  headOf(change: number): Promise<string>;
  /** the change whose merge made this commit */
  mergedBy(commit: string): Promise<MergedChange | undefined>;
  /** the approvals of a change that still count, by people who may approve */
  approvals(change: MergedChange): AsyncIterable<ApprovalOf>;
  /** Whether the run of this id reviewed this commit, by the same workflow as the one of this job. */
  isReviewRun(run: number, head: string): Promise<boolean>;
  /** The text of a file that the run has left; undefined: a step of the job downloads it. */
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
export class ForgeError extends Error {
  override readonly name = "ForgeError";
}
