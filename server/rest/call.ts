// Every REST request from its head to its end: one request id for the answer and the log, one log line, one count.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { headSize, type Log, REQUEST_ID, requestIdFrom, withRequestId } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { Bounds } from "../connection/bounds.ts";
import { awaitEnd, type Delivery, endEarly, type HttpAnswer, streamOf } from "../connection/delivery.ts";
import { type Arriving, type BodyMemory, PIPELINED_MAX } from "../connection/memory.ts";
import { internalError } from "../pipeline/pipeline.ts";
import { discardBody, readBody } from "./arrival.ts";
import { answer, type Reply, type RestMethods, replyFrom } from "./method.ts";
import { BrokenMessage, ClientGone, endWith, lateMessage, type RestError, restError } from "./refused.ts";

export interface HttpOptions extends RestMethods {
  metrics: Metrics;
  /** connections end after their answer */
  isDraining: () => boolean;
  clock: () => number;
  log: Log;
  /** default: answers are sent as they are */
  delivery?: Delivery | undefined;
}

export const createCalls = (ready: Promise<HttpOptions>, { connections, memory, answers }: Bounds) => {
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
      write(response, { http: sent.http, headers: rest, bytes, isLast }, breakage);
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

interface Written {
  http: number;
  headers: Record<string, string>;
  bytes: Buffer;
  /** the connection ends after it */
  isLast: boolean;
}

const write = (response: ServerResponse, { http, headers, bytes, isLast }: Written, breakage: Breakage): void => {
  const stream = streamOf(response);
  // HTTP/2 has no such header (RFC 9113 section 8.2.2): GOAWAY ends its connections.
  response.writeHead(http, { ...headers, ...(isLast && !stream && { connection: "close" }) });
  response.end(bytes, () => {
    if (stream && (breakage.isBroken || !stream.readableEnded)) endEarly(stream);
  });
};

/** Events that end an incomplete request: the parser gives up on it, or it takes too long. */
interface Breakage {
  isBroken: boolean;
  /** rejects when the request ends incomplete, or by `reject` */
  promise: Promise<never>;
  reject(error: Error): void;
  abort(error: BrokenMessage): void;
}

const breakageOf = (request: IncomingMessage): Breakage => {
  const { promise, reject } = Promise.withResolvers<never>();
  // Its body may have been read already. A complete request is nevertheless answered.
  promise.catch(() => {});
  const breakage: Breakage = {
    isBroken: false,
    promise,
    reject,
    abort: (error) => {
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

const bodyText = ({ json, text }: Reply): string => text ?? (json === undefined ? "" : JSON.stringify(json));

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
