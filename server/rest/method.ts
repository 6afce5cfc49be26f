// A request of REST to its page or to its method: routed, given to the pipeline, answered.
import type { IncomingMessage } from "node:http";
import { apiError, type Code, codeFromHttp, codeFromNumber, type OperationName } from "../../schema/index.ts";
import { headerValues } from "../base/log.ts";
import type { Outcome } from "../base/metrics.ts";
import { once } from "../base/once.ts";
import { BODY_MAX, bodyMaxOf } from "../connection/bounds.ts";
import type { Call, Pipeline } from "../pipeline/pipeline.ts";
import type { Page, Pages } from "./page.ts";
import { decodeRest, parametersFrom } from "./parameters.ts";
import { type RestError, refusalOf, restError, unroutedError } from "./refused.ts";
import type { Match } from "./route.ts";

export interface RestMethods {
  router: (method: string, path: string) => Match;
  pipeline: Pipeline;
  /** asked before the router */
  pages: Pages;
  /** refuses a body with a field that does not exist */
  strictBodies: boolean;
}

export interface Reply extends Outcome {
  http: number;
  headers: Record<string, string>;
  /** undefined: `text` or `bytes`, or an empty body */
  json?: unknown;
  text?: string;
  bytes?: Buffer;
  /** fields of its line in the log */
  logged: Record<string, unknown>;
  quiet?: boolean;
  /** absent: no method was reached */
  call?: Call;
}

export const replyFrom = ({ http, headers, json }: RestError, logged: Record<string, unknown> = {}): Reply => ({
  http,
  code: codeFromNumber(json.code) as Code,
  headers,
  json,
  logged: { ...logged, message: json.message },
});

export const answer = async (
  { router, pipeline, pages, strictBodies }: RestMethods,
  request: IncomingMessage,
  readBody: (max: number) => Promise<Buffer>,
): Promise<Reply> => {
  const method = request.method as string;
  const { path, search, host } = targetOf(request);
  const logged: Record<string, unknown> = { path: cut(path) };
  const hosts = headerValues(request.rawHeaders, "host").length;
  // RFC 9112 section 3.2.
  if (request.httpVersion === "1.1" && hosts !== 1) {
    const text = hosts === 0 ? "the Host header is missing" : "there are several Host headers";
    return replyFrom(restError(apiError("INVALID_ARGUMENT", text)), logged);
  }
  let page: Page | undefined;
  try {
    page = await pages({ method, path, body: () => readBody(BODY_MAX), host, origin: request.headers.origin });
  } catch (error) {
    return replyFrom(refusalOf(error), logged);
  }
  if (page) {
    const { http, headers = {}, ...content } = page;
    return { http, code: http === 200 ? "OK" : codeFromHttp(http), headers, ...content, logged };
  }

  const match = router(method, path);
  if (match.kind !== "route") return replyFrom(unroutedError(match, method, path), logged);
  const { operation, service } = match.route as { operation: OperationName; service: string };
  Object.assign(logged, { operation, ...loggedQuery(search) });
  const call: Call = {
    operation,
    wire: "rest",
    decode: once(async () => {
      const body = await readBody(bodyMaxOf(operation));
      const message = { contentType: request.headers["content-type"], query: search, body };
      const { bodyFields, ...decoded } = decodeRest(match, message, strictBodies);
      if (bodyFields) logged.fields = bodyFields.join(",");
      return decoded;
    }),
    authorization: headerValues(request.rawHeaders, "authorization"),
    peer: request.socket.remoteAddress ?? "",
  };
  try {
    const json = await pipeline(call);
    return { http: 200, code: "OK", operation, headers: {}, logged, call, ...(method !== "DELETE" && { json }) };
  } catch (error) {
    return { ...replyFrom(refusalOf(error, service), logged), operation, call };
  }
};

// Parses the path by hand: URL would fold `..` and `//`, which no uid contains and which must not reach another route. A client that
// treats this server as a proxy names the host before the path; that name replaces the header (RFC 9112 section 3.2.2).
const targetOf = ({ url = "", headers }: IncomingMessage) => {
  const [, authority, rest = url] = /^https?:\/\/([^/?]*)(.*)$/is.exec(url) ?? [];
  const [path = "", search = ""] = rest.split(/\?(.*)/s);
  return { path, search, host: String(authority ?? headers[":authority"] ?? headers.host) };
};

// A caller may put anything into a query, even a token: the log contains only parameters that cannot be one.
const LOGGED = ["updateMask", "update_mask", "pageSize", "page_size", "orderBy", "order_by", "skip", "name"];
const LOGGED_QUERY_MAX = 20;
// In characters: a line of the log is shorter than a head may be.
const LOGGED_MAX = 1024;

const loggedQuery = (search: string): Record<string, unknown> => {
  const known = parametersFrom(search, []).filter(([key]) => LOGGED.includes(key) || key.startsWith("uidp."));
  if (known.length === 0) return {};
  const kept = Map.groupBy(known.slice(0, LOGGED_QUERY_MAX), ([key]) => key);
  const texts = [...kept].map(([key, pairs]) => [key, cut(pairs.map(([, value]) => value).join(","))]);
  return { query: Object.fromEntries(texts) };
};

const cut = (text: string) => (text.length > LOGGED_MAX ? `${text.slice(0, LOGGED_MAX)}…` : text);
