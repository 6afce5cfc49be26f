// Pages beside the API: discovery documents, the development issuer, pages for operators.
import { apiError, isLoopbackAuthority } from "../../schema/index.ts";
import { restError } from "./refused.ts";

export interface Page {
  http: number;
  json?: unknown;
  /** instead of `json`; the content type is in the headers */
  text?: string;
  /** instead of `text`, for an answer that never changes: one buffer, however many clients do not read it */
  bytes?: Buffer;
  headers?: Record<string, string>;
  /** requested every few seconds: logged for debugging only */
  quiet?: boolean;
}

export interface PageRequest {
  method: string;
  path: string;
  body: () => Promise<Buffer>;
  /** as the request names it: a browser that was sent here by a foreign site names that site */
  host: string;
  origin: string | undefined;
}

/** The page that a request asks for; undefined when no page has its path. */
export type Pages = (request: PageRequest) => Promise<Page | undefined>;

type Answer = (request: PageRequest) => Page | Promise<Page>;

/** Pages by method and path: `GET /readyz`. */
export type PageTable = Readonly<Record<string, Answer>>;

export const pagesAt =
  (answers: PageTable): Pages =>
  async (request) =>
    answers[`${request.method} ${request.path}`]?.(request);

/** A page for GET and HEAD. */
export const reading = (path: string, answer: Answer): PageTable => ({
  [`GET ${path}`]: answer,
  [`HEAD ${path}`]: answer,
});

/**
 * A page that changes something without a token. It answers requests by a name of loopback, and none of a browser that shows a page of
 * another origin. A foreign site may resolve its name to this machine, but its requests name that site.
 */
export const local =
  (what: string, answer: Answer): Answer =>
  (request) => {
    const { host, origin } = request;
    const refuse = (text: string) => restError(apiError("PERMISSION_DENIED", `${what} ${text}`));
    if (!isLoopbackAuthority(host)) return refuse("reached by a name of loopback only");
    const isForeign = origin !== undefined && !(URL.canParse(origin) && new URL(origin).host === host);
    return isForeign ? refuse("not for pages of another origin") : answer(request);
  };
