// What a job writes for people: comments of a change, and issues. GitHub and GitLab have both under other names.

/** A comment or an issue. */
export interface Post {
  /** of the comment, or number of the issue */
  id: number;
  body: string;
  /** who wrote it, comparable to `Forge.me` */
  author: string;
}

export interface Forge {
  /** whom the token writes as */
  me(): Promise<string>;
  /** hash of the newest commit of a change */
  headOf(change: number): Promise<string>;
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
