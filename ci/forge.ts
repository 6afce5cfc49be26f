// What a job writes for people: comments of a change, and issues. GitHub and GitLab have both under other names.

import { parse } from "../client/rest.ts";
import { AttemptError, retryWith, SAFETY, systemClock } from "../client/retry.ts";
import { type HttpAnswer, type HttpRequest, systemTransport } from "../client/transport.ts";
import { isObject, type Json, printable, protocolProblem, UserError } from "../schema/index.ts";

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

// Requests to the API of GitHub or GitLab: JSON, retries as for any request (client/retry.ts), and lists page by page (RFC 8288).

interface RestParts {
  /** of the host, for errors: `GitHub` */
  host: string;
  baseUrl: string;
  token: string;
  /** what to do about a request that is refused */
  advice(path: string): string;
}

const TIMEOUT_MS = 30_000;
const PAGES_MAX = 100;
const REASON_MAX = 300;

export const restOf = ({ host, baseUrl, token, advice }: RestParts) => {
  const problem = protocolProblem(baseUrl);
  if (problem !== undefined) throw new ForgeError(`the address of ${host}'s API ${problem}`);
  const [retry, transport] = [retryWith(systemClock), systemTransport()];

  const request = async (method: HttpRequest["method"], url: URL, body?: Json): Promise<HttpAnswer> => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const attempt = async () => {
      const answer = await transport({ method, url, token, timeoutMs: TIMEOUT_MS, ...text });
      const { status } = answer;
      if (status >= 200 && status <= 299) return answer;
      const isRefused = [401, 403, 404].includes(status);
      const message = `${host} answered ${status} to ${method} ${url.pathname}${reasonOf(answer)}${isRefused ? `; ${advice(url.pathname)}` : ""}`;
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

/** The texts of errors come from the host, and not from the author of a change. */
const reasonOf = ({ body }: HttpAnswer) => {
  const json = parse(body);
  const message = isObject(json) ? (json.message ?? json.error) : undefined;
  return typeof message === "string" ? `: ${printable(message.slice(0, REASON_MAX))}` : "";
};

/** The token goes to no other host. */
const nextOf = ({ headers }: HttpAnswer, { origin }: URL) => {
  const [, address] = /<([^>]+)>;\s*rel="next"/.exec([headers.link].flat().join(", ")) ?? [];
  if (address === undefined || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.origin !== origin) throw new ForgeError(`the next page of a list is at another host, ${url.origin}`);
  return url;
};
