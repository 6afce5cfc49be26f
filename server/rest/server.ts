// REST on connections that the port hands over (docs/internals/contract.md#wire): node's HTTP server with its limits, and every request from its
// head to its end. A request has one id for the answer and the log, one log line and one count.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { headSize, type Log, REQUEST_ID, requestIdFrom, withRequestId } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { Bounds } from "../connection/bounds.ts";
import { awaitEnd, type Delivery, endEarly, type HttpAnswer, REQUEST_MS, streamOf } from "../connection/delivery.ts";
import { type Arriving, type BodyMemory, PIPELINED_MAX } from "../connection/memory.ts";
import { internalError } from "../pipeline/pipeline.ts";
import { discardBody, readBody } from "./arrival.ts";
import { answer, type Reply, type RestMethods, replyFrom } from "./method.ts";
import {
  BrokenMessage,
  ClientGone,
  endWith,
  lateMessage,
  type RestError,
  restError,
  unroutedError,
} from "./refused.ts";

export interface HttpOptions extends RestMethods {
  metrics: Metrics;
  /** connections end after their answer */
  isDraining: () => boolean;
  clock: () => number;
  log: Log;
  /** default: answers are sent as they are */
  delivery?: Delivery | undefined;
}

// A head can contain a token of 16 KiB. A request without Host is refused by `method`: node's refusal has no request id.
const LIMITS = { requestTimeout: REQUEST_MS, requireHostHeader: false, maxHeaderSize: 32 * 1024 };
const HEAD_MS = 30_000;

/** Requests wait until `ready`, which depends on the address that the listener gets. */
export const createHttp = (ready: Promise<HttpOptions>, bounds: Bounds): Server => {
  const { connections, idleMs } = bounds;
  const calls = createCalls(ready, bounds);
  const headersTimeout = Math.min(HEAD_MS, idleMs);
  const server = createServer({ ...LIMITS, headersTimeout, keepAliveTimeout: idleMs }, calls.handle);
  // No bytes for this long: the client neither sends nor takes its answer.
  server.setTimeout(idleMs, (socket) => {
    if (connections.isIdle(socket)) socket.destroy();
  });
  server.on("checkContinue", calls.handle);
  // The server may ignore an expectation that it does not know (RFC 9110 section 10.1.1).
  server.on("checkExpectation", calls.handle);
  server.on("connect", (_request, socket) => {
    const match = { kind: "method", allow: ["GET", "POST", "PATCH", "DELETE"], service: "iam" } as const;
    return calls.refuse(socket, unroutedError(match, "CONNECT", ""));
  });
  server.on("clientError", calls.fail);
  return server;
};

const createCalls = (ready: Promise<HttpOptions>, { connections, memory, answers }: Bounds) => {
  // By connection, the callback that tells the request under way that the parser has given up on it.
  const underWay = new WeakMap<Duplex, (error: BrokenMessage) => void>();

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const breakage = breakageOf(request);
    underWay.set(request.socket, breakage.abort);
    const stream = streamOf(response);
    if (stream)
      awaitEnd(stream, () => {
        breakage.abort(lateMessage());
        // The request was answered without its body.
        if (response.writableEnded) endEarly(stream);
      });
    const options = await ready;
    const id = requestIdFrom(request.headers[REQUEST_ID]);
    const finish = options.metrics.begin("rest");
    const work = connections.begin(request.socket);
    // The streams of a connection of HTTP/2 have a separate bound.
    const pipelinedMax = stream ? undefined : PIPELINED_MAX;
    const answering = answers.begin(work.connection, headSize(request.rawHeaders), pipelinedMax);
    (stream ?? response).once("close", answering.release);
    const room = async () => {
      if (!(await answering.room())) throw new ClientGone(undefined);
    };
    const reader = bodyReader(request, memory, breakage);
    const body = async (max: number) => {
      // The client asks whether it may send the body (RFC 9110 section 10.1.1).
      if (/^100-continue$/i.test(request.headers.expect ?? "")) response.writeContinue();
      work.wait();
      try {
        const bytes = await reader.read(max);
        // Other requests may have been answered while the body arrived.
        if (bytes.length > 0) await room();
        return bytes;
      } finally {
        work.resume();
      }
    };
    const reach = async (): Promise<Reply> => {
      await room();
      return answer(options, request, body);
    };
    const reply = await withRequestId(id, reach).catch((error: unknown) => replyToError(error, options.log, id));
    const { call, http, headers } = reply;
    const given: ReturnType<Delivery["rest"]> = { http, headers, text: bodyText(reply) };
    const { send, ...sent } = (call && options.delivery?.rest(call, given)) ?? given;
    // A string would be copied for each client that does not read it.
    const bytes = reply.bytes ?? Buffer.from(sent.text);
    const { connection, ...rest } = withOwnHeaders(sent.headers, bytes.length, id, options.clock());
    answering.add(bytes.length);
    const isLast = connection === "close" || breakage.isBroken || options.isDraining();
    if (send) send(request, response, { ...sent, headers: rest });
    else {
      // HTTP/2 has no such header (RFC 9113 section 8.2.2): GOAWAY ends its connections.
      response.writeHead(sent.http, { ...rest, ...(isLast && !stream && { connection: "close" }) });
      response.end(bytes, () => {
        if (stream && (breakage.isBroken || !stream.readableEnded)) endEarly(stream);
      });
      if (!stream && !request.complete && !reader.hasBegun()) discardBody(request);
    }
    reader.release();
    work.end();
    // The next message on the connection is not this request's.
    if (underWay.get(request.socket) === breakage.abort) underWay.delete(request.socket);
    const line = { requestId: id, method: request.method, ...reply.logged, status: sent.http, ms: finish(reply) };
    options.log(reply.quiet ? "debug" : "info", "request", line);
  };

  /** Answers if node has no request, and ends the connection. */
  const refuse = async (socket: Duplex, error: RestError) => {
    const options = await ready;
    const reply = replyFrom(error);
    const id = requestIdFrom(undefined);
    const text = bodyText(reply);
    const headers = withOwnHeaders(reply.headers, Buffer.byteLength(text), id, options.clock());
    endWith(socket, reply.http, { ...headers, connection: "close" }, text);
    options.metrics.begin("rest")(reply);
    options.log("info", "request", { requestId: id, ...reply.logged, status: reply.http });
  };

  /** The parser has given up on a message. */
  const fail = (cause: NodeJS.ErrnoException, socket: Duplex) => {
    const error = new BrokenMessage(cause);
    const abort = underWay.get(socket);
    if (abort) abort(error);
    else if (socket.writable) void refuse(socket, error.refusal);
  };

  return { handle, refuse, fail };
};

const replyToError = (error: unknown, log: Log, requestId: string): Reply =>
  error instanceof ClientGone
    ? { http: 499, code: "CANCELLED", headers: {}, logged: { message: error.message } }
    : replyFrom(restError(internalError(log, error, { requestId })));

type Breakage = ReturnType<typeof breakageOf>;

/** Events that end an incomplete request: the parser gives up on it, or it takes too long. */
const breakageOf = (request: IncomingMessage) => {
  const { promise, reject } = Promise.withResolvers<never>();
  // Its body may have been read already. A complete request is nevertheless answered.
  promise.catch(() => {});
  const breakage = {
    isBroken: false,
    /** rejects when the request ends incomplete, or by `reject` */
    promise,
    reject,
    abort: (error: BrokenMessage) => {
      breakage.isBroken = true;
      if (!request.complete) reject(error);
    },
  };
  return breakage;
};

/** Reads the body, in the memory that all bodies share. */
const bodyReader = (request: IncomingMessage, memory: BodyMemory, { promise, reject }: Breakage) => {
  let arriving: Arriving | undefined;
  return {
    hasBegun: () => arriving !== undefined,
    read: async (max: number): Promise<Buffer> => {
      let isRefused = false;
      const reservation = memory.begin((error) => {
        isRefused = true;
        reject(error);
      });
      arriving = reservation;
      const keep = (bytes: number) => {
        if (!isRefused) reservation.add(bytes);
        return !isRefused;
      };
      try {
        return await Promise.race([readBody(request, max, keep), promise]);
      } finally {
        reservation.complete();
      }
    },
    release: () => arriving?.release(),
  };
};

const bodyText = ({ json, text }: Reply) => text ?? (json === undefined ? "" : JSON.stringify(json));

const withOwnHeaders = (
  headers: HttpAnswer["headers"],
  length: number,
  id: string,
  now: number,
): Record<string, string> => ({
  ...(length > 0 && { "content-type": "application/json" }),
  "content-length": String(length),
  // The server's own clock, with which clients compare createTime.
  date: new Date(now).toUTCString(),
  [REQUEST_ID]: id,
  "cache-control": "no-store",
  ...headers,
});
