// The HTTP listener: reads a bounded body, hands the request to the router, writes the answer. One request id for the
// answer and the log.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { ApiError, apiError, type OperationName } from "../schema/index.ts";
import type { Log } from "./log.ts";
import type { Pipeline } from "./pipeline.ts";
import { callFromRest, type RestError, restError, UnsupportedMediaType, unroutedError } from "./rest.ts";
import type { Match } from "./route.ts";

export const BODY_MAX = 1024 * 1024;
// What is read and thrown away of a body that is too large, so that the client can read the answer.
const DISCARD_MAX = 64 * BODY_MAX;

// A client that is slower than this holds a connection for nothing.
const LIMITS = { requestTimeout: 60_000, headersTimeout: 30_000, keepAliveTimeout: 65_000 };

/** A page beside the API: discovery documents and the development issuer. */
export interface Page {
  status: number;
  json: unknown;
  headers?: Record<string, string>;
}

export interface HttpOptions {
  router: (method: string, path: string) => Match;
  pipeline: Pipeline;
  /** pages by path, asked first; undefined = none there */
  pages: (method: string, path: string, body: () => Promise<Buffer>) => Promise<Page | undefined>;
  clock: () => number;
  log: Log;
}

/** Requests wait until `ready`: what they need is made from the address that the listener was given. */
export const createHttp = (ready: Promise<HttpOptions>): Server => {
  const server = createServer(LIMITS, async (request, response) => {
    const options = await ready;
    const id = requestId(request);
    const start = performance.now();
    const reply = await answer(options, request).catch((error: unknown): Reply => {
      // The client went away while its body was read: nobody is left to answer.
      if (!request.complete) return { http: 499, headers: {}, logged: { message: "the client closed the connection" } };
      options.log("error", "internal error", {
        requestId: id,
        error: error instanceof Error ? error.stack : String(error),
      });
      return failure(restError(apiError("INTERNAL", "the server failed to answer; its log says why"), "iam"));
    });
    // A server that is being closed keeps no connection: it would wait for its client.
    if (!server.listening) reply.headers.connection = "close";
    send(response, reply, id, options.clock());
    const ms = Math.round((performance.now() - start) * 10) / 10;
    options.log("info", "request", { requestId: id, method: request.method, ...reply.logged, status: reply.http, ms });
  });
  server.on("clientError", (_error, socket) => {
    // Not HTTP: there is no request to answer, only a connection to end politely.
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  });
  return server;
};

interface Reply {
  http: number;
  headers: Record<string, string>;
  /** undefined: an empty body */
  json?: unknown;
  logged: Record<string, unknown>;
}

const failure = ({ http, headers, status }: RestError, logged: Record<string, unknown> = {}): Reply => ({
  http,
  headers,
  json: status,
  logged: { ...logged, message: status.message },
});

const answer = async (options: HttpOptions, request: IncomingMessage): Promise<Reply> => {
  const method = request.method as string;
  // The path by hand: URL would fold `..` and `//`, which no uid has and no route should be reached by.
  const [path = "", search = ""] = (request.url ?? "").split(/\?(.*)/s);
  let page: Page | undefined;
  try {
    page = await options.pages(method, path, () => readBody(request));
  } catch (error) {
    return refused(error, "iam", { path });
  }
  if (page) return { http: page.status, headers: page.headers ?? {}, json: page.json, logged: { path } };

  const match = options.router(method, path);
  if (match.kind !== "route") {
    request.resume();
    return failure(unroutedError(match, method, path), { path });
  }
  const { operation, service } = match.route as { operation: OperationName; service: string };
  const query = new URLSearchParams(search);
  const logged: Record<string, unknown> = { path, operation, ...loggedQuery(query) };
  try {
    const body = await readBody(request);
    const call = callFromRest(match, {
      authorization: authorizationOf(request),
      contentType: request.headers["content-type"],
      query,
      body,
    });
    if (call.bodyFields) logged.fields = call.bodyFields.join(",");
    const json = await options.pipeline(call);
    return { http: 200, headers: {}, json: method === "DELETE" ? undefined : json, logged };
  } catch (error) {
    return refused(error, service, logged);
  }
};

// What is no refusal is a fault of ours and stays one.
const refused = (error: unknown, service: string, logged: Record<string, unknown>): Reply => {
  if (error instanceof UnsupportedMediaType)
    return failure(restError(apiError("INVALID_ARGUMENT", error.message), service, 415), logged);
  if (error instanceof BodyTooLarge) {
    const text = `the body is larger than ${BODY_MAX} bytes`;
    const reply = failure(restError(apiError("INVALID_ARGUMENT", text), service, 413), logged);
    return { ...reply, headers: { ...reply.headers, connection: "close" } };
  }
  if (error instanceof ApiError) return failure(restError(error, service), logged);
  throw error;
};

// Every header as it came: node joins or drops repeated ones in `headers`.
const authorizationOf = (request: IncomingMessage): string[] =>
  request.rawHeaders.filter((_, i, all) => i % 2 === 1 && all[i - 1]?.toLowerCase() === "authorization");

// A caller may put anything into a query, a token too: only what can be none is logged.
const LOGGED = ["updateMask", "update_mask", "pageSize", "page_size", "orderBy", "order_by", "skip", "name"];

const loggedQuery = (query: URLSearchParams): Record<string, unknown> => {
  const known = [...query].filter(([key]) => LOGGED.includes(key) || key.startsWith("uidp."));
  return known.length > 0 ? { query: Object.fromEntries(known) } : {};
};

class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= BODY_MAX) chunks.push(chunk);
    else if (size > DISCARD_MAX) break;
  }
  if (size > BODY_MAX) throw new BodyTooLarge();
  return Buffer.concat(chunks);
};

const requestId = (request: IncomingMessage): string => {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
};

const send = (response: ServerResponse, reply: Reply, id: string, now: number): void => {
  const body = reply.json === undefined ? "" : JSON.stringify(reply.json);
  response.writeHead(reply.http, {
    ...(body && { "content-type": "application/json" }),
    "content-length": Buffer.byteLength(body),
    // The server's own clock, which clients compare createTime with.
    date: new Date(now).toUTCString(),
    "x-request-id": id,
    "cache-control": "no-store",
    ...reply.headers,
  });
  response.end(body);
};
