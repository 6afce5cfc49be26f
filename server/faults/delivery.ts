// The delays of scripted failures. Each one ends by itself or at its release. The end of the server ends them all.

import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type ServerHttp2Stream } from "node:http2";
import { TLSSocket } from "node:tls";
import type { Cut } from "../base/log.ts";
import { type Delivery, type HttpAnswer, streamOf } from "../connection/delivery.ts";
import type { Call } from "../pipeline/pipeline.ts";

export const createFaultDelays = () => {
  const wakers = new Set<() => void>();
  const underWay = new Set<Promise<unknown>>();
  let released = Promise.withResolvers<void>();
  let draining = false;

  /** Ends every hold, but no timed delay. */
  const release = () => {
    released.resolve();
    released = Promise.withResolvers();
  };

  return {
    wait: async (ms: number) => {
      if (ms === 0 || draining) return;
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          wakers.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, ms);
        wakers.add(wake);
      });
    },
    /** Waits until `release`. */
    hold: async () => {
      if (!draining) await released.promise;
    },
    release,
    /** Makes `drain` wait for it, since the client of a delayed request may have gone, with its connection. */
    track: async <T>(work: Promise<T>) => {
      underWay.add(work);
      try {
        return await work;
      } finally {
        underWay.delete(work);
      }
    },
    drain: async (cut?: Cut) => {
      draining = true;
      for (const wake of [...wakers]) wake();
      release();
      if (cut?.aborted) return;
      const ended = new Promise<void>((resolve) => cut?.addEventListener("abort", () => resolve()));
      await Promise.race([Promise.allSettled(underWay), ended]);
    },
  };
};

// Applies a scripted failure to an outgoing response (docs/server.md, "Scripted failures"). It changes the status or
// sends a page, resets the connection, or cuts off the body.

export interface WireFault {
  /** only HTTP; gRPC sends the code of the error */
  http?: number;
  headers?: Record<string, string>;
  html?: string;
  reset?: true;
  /** bytes of the body that are sent */
  truncate?: number;
}

export const createFaultDelivery = (faultOf: (call: Call) => WireFault | undefined): Delivery => ({
  rest: (call, answer) => {
    const fault = faultOf(call);
    if (!fault) return answer;
    const { http = answer.http, headers, html = answer.text, reset, truncate } = fault;
    const faulted = { http, headers: { ...answer.headers, ...headers }, text: html };
    if (reset) return { ...faulted, send: resetHttp };
    if (truncate === undefined) return faulted;
    return { ...faulted, send: (request, response, final) => truncateHttp(request, response, final, truncate) };
  },
  grpc: (call, stream, message) => {
    const { reset, truncate } = faultOf(call) ?? {};
    if (reset) resetStream(stream);
    else if (truncate !== undefined) truncateCall(stream, message, truncate);
    else return false;
    return true;
  },
});

/** The page of a proxy that cannot reach its upstream server. */
export const proxyPage = (http: number, reason: string): string =>
  `<html>\r\n<head><title>${http} ${reason}</title></head>\r\n<body>\r\n<center><h1>${http} ${reason}</h1></center>\r\n<hr><center>proxy</center>\r\n</body>\r\n</html>\r\n`;

// Resets the connection, or on HTTP/2 only the stream.
const resetHttp = (request: IncomingMessage, response: ServerResponse) => {
  const { socket } = request;
  const stream = streamOf(response);
  if (stream) resetStream(stream);
  // Node resets only sockets of TCP.
  else if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
};

// Announces more bytes than it sends.
const truncateHttp = (
  request: IncomingMessage,
  response: ServerResponse,
  { http, headers, text }: HttpAnswer,
  bytes: number,
) => {
  const sent = Buffer.from(text).subarray(0, bytes);
  // Even a body that is shorter than that, or empty, lacks its end.
  const length = Math.max(Buffer.byteLength(text), sent.length + 1);
  const stream = streamOf(response);
  response.writeHead(http, { ...headers, "content-length": String(length), ...(!stream && { connection: "close" }) });
  if (stream) {
    stream.write(sent, () => resetStream(stream));
    return;
  }
  response.flushHeaders();
  response.write(sent);
  request.socket.destroySoon();
};

// Ends a call of gRPC without its trailers; of an error, without a message.
const truncateCall = (stream: ServerHttp2Stream, message: Buffer | undefined, bytes: number) => {
  if (stream.destroyed || stream.closed) return;
  stream.respond({ ":status": 200, "content-type": "application/grpc+proto" });
  if (!message) {
    stream.end();
    return;
  }
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  stream.end(Buffer.concat([prefix, message.subarray(0, bytes)]));
};

// The client cannot learn whether the request was carried out (RFC 9113 section 8.7: REFUSED_STREAM would deny it).
const resetStream = (stream: ServerHttp2Stream) => {
  if (!stream.destroyed && !stream.closed) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
};
