// The host of a pipeline: its jobs, and the comments and issues that a job writes. GitHub and GitLab have other names for them.

import { parse } from "../client/rest.ts";
import { AttemptError, retryWith, SAFETY, systemClock } from "../client/retry.ts";
import { type HttpAnswer, type HttpRequest, systemTransport } from "../client/transport.ts";
import { isObject, type Json, printable, protocolProblem, UserError } from "../schema/index.ts";
import type { Job } from "./settings.ts";

export interface Host {
  /** Throws a RefusedJob where this job must not run. */
  job(): Job;
  /** its words for a change, and for the token that writes comments */
  words: { change: string; token: string };
  /** for later steps of the job */
  setOutputs(values: Readonly<Record<string, string>>): void;
  /** on the page of the run */
  summarize(markdown: string): void;
  annotate(level: "error" | "warning" | "notice", message: string): void;
  /** Calls the function. The runner takes none of its output for a command: others wrote it. */
  withoutCommands<T>(act: () => Promise<T>): Promise<T>;
  forge(token: string): Forge;
  /** address of a file of the job's folder after the job */
  fileUrl(name: string): string;
}

/** A comment or an issue. */
export interface Post {
  /** of the comment, or number of the issue */
  id: number;
  body: string;
  /** comparable to `Forge.me` */
  author: string;
}

export interface MergedChange {
  number: number;
  /** hash of its newest commit */
  head: string;
  /** RFC 3339 */
  mergedAt: string;
}

export interface Forge {
  /** the author of posts with this token */
  me(): Promise<string>;
  /** hash of the newest commit of a change */
  headOf(change: number): Promise<string>;
  /** The change whose merge made this commit. */
  mergedBy(commit: string): Promise<MergedChange | undefined>;
  /** Undefined: people had to approve this job. A text: the reason why nobody can tell. Throws a RefusedJob where nobody had to. */
  unseenApproval(): Promise<string | undefined>;
  /** The last run of this job's workflow that reviewed the change and began before the merge; undefined without one. */
  reviewRunOf(change: MergedChange): Promise<number | undefined>;
  /** The text of a file of this run; undefined: a step of the job downloads it. */
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

/** GitHub or GitLab refused a request, or gave no answer. */
export class ForgeError extends UserError {
  override readonly name = "ForgeError";
  /** The token may not see the resource, or the resource does not exist. */
  isRefused = false;
}

// Requests to the API of GitHub or GitLab: JSON, retries as for any request (client/retry.ts), and lists page by page (RFC 8288).

const TIMEOUT_MS = 30_000;
const PAGES_MAX = 100;
const REASON_MAX = 300;

export const restOf = ({
  host,
  baseUrl,
  token,
  advice,
}: {
  /** of the host, for errors: `GitHub` */
  host: string;
  baseUrl: string;
  token: string;
  /** for a refused request */
  advice(path: string): string;
}) => {
  const problem = protocolProblem(baseUrl);
  if (problem !== undefined) throw new ForgeError(`the address of ${host}'s API ${problem}`);
  const [retry, transport] = [retryWith(systemClock), systemTransport()];

  const request = async (method: HttpRequest["method"], url: URL, body?: Json): Promise<HttpAnswer> => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const attempt = async () => {
      const answer = await transport({ method, url, token, timeoutMs: TIMEOUT_MS, ...text });
      const { status } = answer;
      if (status >= 200 && status <= 299) return answer;
      // The texts of errors come from the host, and not from the author of a change.
      const json = parse(answer.body);
      const told = isObject(json) ? (json.message ?? json.error) : undefined;
      const reason = typeof told === "string" ? `: ${printable(told.slice(0, REASON_MAX))}` : "";
      const isRefused = [401, 403, 404].includes(status);
      const message = `${host} answered ${status} to ${method} ${url.pathname}${reason}${isRefused ? `; ${advice(url.pathname)}` : ""}`;
      throw new AttemptError({ status, sent: true }, Object.assign(new ForgeError(message), { isRefused }));
    };
    try {
      return await retry(SAFETY[method], attempt);
    } catch (error) {
      if (!(error instanceof AttemptError)) throw error;
      throw error.cause instanceof ForgeError ? error.cause : new ForgeError(`${host}: ${error.message}`);
    }
  };

  return {
    async send(method: HttpRequest["method"], path: string, body?: Json) {
      const answer = parse((await request(method, new URL(baseUrl + path), body)).body);
      return isObject(answer) ? answer : {};
    },
    /** of a file */
    text: async (path: string) => (await request("GET", new URL(baseUrl + path))).body,
    async *list(path: string): AsyncIterable<Json> {
      let url: URL | undefined = new URL(baseUrl + path);
      for (let page = 0; url !== undefined; page += 1) {
        if (page === PAGES_MAX) throw new ForgeError(`${host} has more than ${PAGES_MAX} pages of ${url.pathname}`);
        const answer: HttpAnswer = await request("GET", url);
        const items = parse(answer.body);
        if (!Array.isArray(items)) throw new ForgeError(`${host} answered no list to GET ${url.pathname}`);
        yield* items.filter(isObject);
        url = nextOf(answer, url);
      }
    },
  };
};

/** Keeps the token from other hosts. */
const nextOf = ({ headers }: HttpAnswer, { origin }: URL) => {
  const [, address] = /<([^>]+)>;\s*rel="next"/.exec([headers.link].flat().join(", ")) ?? [];
  if (address === undefined || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.origin !== origin) throw new ForgeError(`the next page of a list is at another host, ${url.origin}`);
  return url;
};
