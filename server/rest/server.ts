// The HTTP listener: reads a bounded body, hands the request to the router, writes the answer. One request id for the
// answer and the log.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, apiError, type Code, codeFromHttp, codeFromNumber, type OperationName } from "../../schema/index.ts";
import { faulted, resetHttp, streamOf, truncateHttp, type WireFault } from "../faults/wire.ts";
import type { Log } from "../log.ts";
import type { Metrics, Outcome } from "../metrics.ts";
import type { Pipeline } from "../pipeline.ts";
import { awaitEnd, endEarly, REQUEST_MS } from "../port/arrival.ts";
import type { Arriving } from "../port/body-memory.ts";
import { BODY_MAX, bodyMaxOf } from "../port/body-size.ts";
import type { Bounds } from "../port/bounds.ts";
import { createByteBuffer } from "../port/byte-buffer.ts";
import { TransportError } from "../port/transport-error.ts";
import { REQUEST_ID, requestIdFrom, withRequestId } from "../request.ts";
import { UnsupportedMediaType } from "./content-type.ts";
import { callFromRest, type RestError, restError, unroutedError } from "./decode.ts";
import { parametersFrom } from "./parameters.ts";
import { BrokenMessage, endWith, GONE, lateMessage } from "./refused.ts";
import type { Match } from "./route.ts";

// What is read and thrown away of a body that is too large, so that the client can read the answer.
const DISCARD_MAX = 64 * BODY_MAX;

// A client that is slower than this holds a connection for nothing. A request without Host is refused by `answer`: node
// would do it without a request id. A head has room for a token of 16 KiB.
const LIMITS = { requestTimeout: REQUEST_MS, requireHostHeader: false, maxHeaderSize: 32 * 1024 };
const HEAD_MS = 30_000;

/** A page beside the API: discovery documents, the development issuer, what the operator asks. */
export interface Page {
  status: number;
  json?: unknown;
  /** instead of `json`; the content type is in the headers */
  text?: string;
  headers?: Record<string, string>;
  /** asked for every few seconds: its line of the log is for debugging */
  quiet?: boolean;
}

export interface HttpOptions {
  router: (method: string, path: string) => Match;
  pipeline: Pipeline;
  /** pages by path, asked first; undefined = none there */
  pages: (
    method: string,
    path: string,
    body: () => Promise<Buffer>,
    host: string,
    origin?: string,
  ) => Promise<Page | undefined>;
  /** fields of a body that do not exist are refused */
  strictBodies: boolean;
  metrics: Metrics;
  /** connections are to end after their answer */
  isDraining: () => boolean;
  clock: () => number;
  log: Log;
}

/** Requests wait until `ready`: what they need is made from the address that the listener was given. */
export const createHttp = (ready: Promise<HttpOptions>, { connections, memory, idleMs }: Bounds): Server => {
  // By connection, how the request under way is told that the parser has given up on it.
  const underWay = new WeakMap<Duplex, (error: BrokenMessage) => void>();

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const broken = Promise.withResolvers<never>();
    // Its body may have been read already. A request that was complete is answered all the same.
    broken.promise.catch(() => {});
    let last = false;
    const tell = (error: BrokenMessage) => {
      last = true;
      if (!request.complete) broken.reject(error);
    };
    underWay.set(request.socket, tell);
    const stream = streamOf(response);
    if (stream)
      awaitEnd(stream, () => {
        tell(lateMessage());
        // Answered before, without its body.
        if (response.writableEnded) endEarly(stream);
      });
    const options = await ready;
    const id = requestIdFrom(request.headers[REQUEST_ID]);
    const finish = options.metrics.begin("rest");
    const start = performance.now();
    const work = connections.begin(request.socket);
    let arriving: Arriving | undefined;
    const body = async (max: number) => {
      // A client that asks first whether it may send its body has been told nothing yet.
      if (/^100-continue$/i.test(request.headers.expect ?? "")) response.writeContinue();
      const refused = Promise.withResolvers<never>();
      let isRefused = false;
      const own = memory.begin((error) => {
        isRefused = true;
        refused.reject(error);
      });
      arriving = own;
      const keep = (bytes: number) => {
        if (!isRefused) own.add(bytes);
        return !isRefused;
      };
      work.wait();
      try {
        return await Promise.race([readBody(request, max, keep), broken.promise, refused.promise]);
      } finally {
        own.complete();
        work.resume();
      }
    };
    const reply = await withRequestId(id, () => answer(options, request, body)).catch((error: unknown): Reply => {
      // Nobody is left to answer.
      if (error instanceof ClientGone) return { http: 499, code: "CANCELLED", headers: {}, logged: { message: GONE } };
      options.log("error", "internal error", {
        requestId: id,
        error: error instanceof Error ? error.stack : String(error),
      });
      return failure(restError(apiError("INTERNAL", "the server failed to answer; its log says why"), "iam"));
    });
    const text = bodyOf(reply);
    const { connection, ...headers } = headersOf(reply, text, id, options.clock());
    const isLast = connection === "close" || last || options.isDraining();
    if (reply.fault?.reset) resetHttp(request, response);
    else if (reply.fault?.truncate !== undefined)
      truncateHttp(request, response, reply.http, headers, text, reply.fault.truncate);
    else {
      // HTTP/2 has no such header (RFC 9113, 8.2.2); its connections are told to go.
      response.writeHead(reply.http, {
        ...headers,
        ...(isLast && request.httpVersionMajor === 1 && { connection: "close" }),
      });
      response.end(text, () => {
        if (stream && (last || !stream.readableEnded)) endEarly(stream);
      });
      if (!stream && !request.complete && !arriving) discard(request);
    }
    arriving?.release();
    work.end();
    // Of the next message on the connection, this request knows nothing.
    if (underWay.get(request.socket) === tell) underWay.delete(request.socket);
    finish(reply);
    const ms = Math.round((performance.now() - start) * 10) / 10;
    const line = { requestId: id, method: request.method, ...reply.logged, status: reply.http, ms };
    options.log(reply.quiet ? "debug" : "info", "request", line);
  };

  const refuse = async (socket: Duplex, reply: Reply) => {
    const options = await ready;
    const id = requestIdFrom(undefined);
    const text = bodyOf(reply);
    endWith(socket, reply.http, { ...headersOf(reply, text, id, options.clock()), connection: "close" }, text);
    options.metrics.begin("rest")(reply);
    options.log("info", "request", { requestId: id, ...reply.logged, status: reply.http });
  };

  const headersTimeout = Math.min(HEAD_MS, idleMs);
  const server = createServer({ ...LIMITS, headersTimeout, keepAliveTimeout: idleMs }, handle);
  // Nothing has moved for as long: the client sends nothing, or does not take its answer.
  server.setTimeout(idleMs, (socket) => {
    if (connections.isIdle(socket)) socket.destroy();
  });
  server.on("checkContinue", handle);
  // An expectation that we do not know may be ignored (RFC 9110, 10.1.1).
  server.on("checkExpectation", handle);
  server.on("connect", (_request, socket) => refuse(socket, failure(unroutedError(NO_TUNNEL, "CONNECT", ""))));
  server.on("clientError", (error, socket) => {
    const failed = new BrokenMessage(error);
    const tell = underWay.get(socket);
    if (tell) tell(failed);
    else if (socket.writable) void refuse(socket, failure(failed.reply));
  });
  return server;
};

const NO_TUNNEL: Exclude<Match, { kind: "route" }> = {
  kind: "method",
  allow: ["GET", "POST", "PATCH", "DELETE"],
  service: "iam",
};

interface Reply extends Outcome {
  http: number;
  headers: Record<string, string>;
  /** undefined: `text`, or an empty body */
  json?: unknown;
  text?: string;
  logged: Record<string, unknown>;
  quiet?: boolean;
  /** what becomes of it by a scripted failure */
  fault?: WireFault;
}

const failure = ({ http, headers, status }: RestError, logged: Record<string, unknown> = {}): Reply => ({
  http,
  code: codeFromNumber(status.code) as Code,
  operation: logged.operation as OperationName | undefined,
  headers,
  json: status,
  logged: { ...logged, message: status.message },
});

const answer = async (
  options: HttpOptions,
  request: IncomingMessage,
  readBody: (max: number) => Promise<Buffer>,
): Promise<Reply> => {
  const method = request.method as string;
  const { path, search, host } = targetOf(request);
  const shown = cut(path);
  // RFC 9112, 3.2.
  const hosts = headerValues(request, "host").length;
  if (request.httpVersion === "1.1" && hosts !== 1) {
    const text = hosts === 0 ? "the Host header is missing" : "there are several Host headers";
    return failure(restError(apiError("INVALID_ARGUMENT", text), "iam"), { path: shown });
  }
  let page: Page | undefined;
  try {
    page = await options.pages(method, path, () => readBody(BODY_MAX), host, request.headers.origin);
  } catch (error) {
    return refused(error, "iam", { path: shown });
  }
  if (page) {
    const { status: http, headers = {}, ...own } = page;
    return { http, code: http === 200 ? "OK" : codeFromHttp(http), headers, ...own, logged: { path: shown } };
  }

  const match = options.router(method, path);
  if (match.kind !== "route") return failure(unroutedError(match, method, path), { path: shown });
  const { operation, service } = match.route as { operation: OperationName; service: string };
  const logged: Record<string, unknown> = { path: shown, operation, ...loggedQuery(search) };
  let fault: WireFault | undefined;
  try {
    const call = callFromRest(match, {
      authorization: headerValues(request, "authorization"),
      contentType: request.headers["content-type"],
      query: search,
      readBody: () => readBody(bodyMaxOf(operation)),
      peer: request.socket.remoteAddress ?? "",
      strictBodies: options.strictBodies,
      onFields: (names) => {
        logged.fields = names.join(",");
      },
      onFault: (own) => {
        fault = own;
      },
    });
    const json = await options.pipeline(call);
    const reply: Reply = { http: 200, code: "OK", operation, headers: {}, json, logged };
    return faulted(method === "DELETE" ? { ...reply, json: undefined } : reply, fault);
  } catch (error) {
    return faulted(refused(error, service, logged), fault);
  }
};

// The path by hand: URL would fold `..` and `//`, which no uid has and no route should be reached by. A client that takes
// this for a proxy names the server before the path, and that name counts instead of the header (RFC 9112, 3.2.2).
const targetOf = ({ url = "", headers }: IncomingMessage) => {
  const [, authority, rest = url] = /^https?:\/\/([^/?]*)(.*)$/is.exec(url) ?? [];
  const [path = "", search = ""] = rest.split(/\?(.*)/s);
  return { path, search, host: String(authority ?? headers[":authority"] ?? headers.host) };
};

// What is no refusal is a fault of ours and stays one.
const refused = (error: unknown, service: string, logged: Record<string, unknown>): Reply => {
  if (error instanceof UnsupportedMediaType)
    return failure(restError(apiError("INVALID_ARGUMENT", error.message), service, 415), logged);
  if (error instanceof BodyTooLarge) {
    const reply = failure(restError(apiError("INVALID_ARGUMENT", error.message), service, 413), logged);
    return { ...reply, headers: { ...reply.headers, connection: "close" } };
  }
  if (error instanceof BrokenMessage) return failure(error.reply, logged);
  if (error instanceof ApiError) return failure(restError(error, service), logged);
  throw error;
};

// Every header as it came: node joins or drops repeated ones in `headers`.
const headerValues = ({ rawHeaders }: IncomingMessage, name: string): string[] =>
  rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name);

// A caller may put anything into a query, a token too: only what can be none is logged.
const LOGGED = ["updateMask", "update_mask", "pageSize", "page_size", "orderBy", "order_by", "skip", "name"];

// A line of the log is not as long as a head may be.
const LOGGED_MAX = 1024;

const loggedQuery = (search: string): Record<string, unknown> => {
  const query = [...parametersFrom(search, [])];
  const known = query.filter(([key]) => LOGGED.includes(key) || key.startsWith("uidp."));
  if (known.length === 0) return {};
  const kept = known.slice(0, LOGGED_QUERY_MAX).map(([key, value]) => [key, cut(value)]);
  return { query: Object.fromEntries(kept) };
};

const LOGGED_QUERY_MAX = 20;

const cut = (text: string): string => (text.length > LOGGED_MAX ? `${text.slice(0, LOGGED_MAX)}…` : text);

class BodyTooLarge extends TransportError {
  override readonly name = "BodyTooLarge";
  constructor(max: number) {
    super(`the body is larger than ${max} bytes`);
  }
}

class ClientGone extends TransportError {
  override readonly name = "ClientGone";
}

/** `keep` says whether bytes that have come are still wanted. Listens, because iterating costs five times as much for each chunk. */
const readBody = (request: IncomingMessage, max: number, keep: (bytes: number) => boolean): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const body = createByteBuffer();
    let size = 0;
    const end = () => (size > max ? reject(new BodyTooLarge(max)) : resolve(body.take()));
    const gone = (cause?: unknown) => reject(new ClientGone(GONE, { cause }));
    request
      .on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size <= max && keep(chunk.length)) body.add(chunk);
        else body.take();
        if (size > DISCARD_MAX) {
          end();
          request.destroy();
        }
      })
      .once("end", end)
      .once("error", gone)
      .once("close", gone);
    if (request.destroyed && !request.readableEnded) gone();
  });

// The rest of a request that was answered without it: read, so that the client can read the answer, and kept nowhere.
const discard = (request: IncomingMessage): void => {
  let size = 0;
  request
    .on("error", () => {})
    .on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > DISCARD_MAX) request.destroy();
    });
};

const bodyOf = ({ json, text }: Reply): string => text ?? (json === undefined ? "" : JSON.stringify(json));

const headersOf = (reply: Reply, body: string, id: string, now: number): Record<string, string> => ({
  ...(body && { "content-type": "application/json" }),
  "content-length": String(Buffer.byteLength(body)),
  // The server's own clock, which clients compare createTime with.
  date: new Date(now).toUTCString(),
  [REQUEST_ID]: id,
  "cache-control": "no-store",
  ...reply.headers,
});
