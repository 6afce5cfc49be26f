// What a scripted failure does to an answer on its way out (docs/server.md, "Scripted failures"): another status or page, a
// connection that is reset, a body that lacks its end.
import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type ServerHttp2Stream } from "node:http2";
import { TLSSocket } from "node:tls";

export interface WireFault {
  /** HTTP alone; gRPC has the code of the error */
  http?: number;
  headers?: Record<string, string>;
  html?: string;
  reset?: true;
  /** bytes of the body that are sent */
  truncate?: number;
}

/** An answer over HTTP with what becomes of it. */
export const faulted = <R extends { http: number; headers: Record<string, string> }>(
  reply: R,
  fault: WireFault | undefined,
): R => {
  if (!fault) return reply;
  const { http = reply.http, headers, html } = fault;
  return { ...reply, http, headers: { ...reply.headers, ...headers }, ...(html && { text: html }), fault };
};

/** What a proxy answers when it cannot reach whom it stands before. */
export const proxyPage = (http: number, reason: string): string =>
  `<html>\r\n<head><title>${http} ${reason}</title></head>\r\n<body>\r\n<center><h1>${http} ${reason}</h1></center>\r\n<hr><center>proxy</center>\r\n</body>\r\n</html>\r\n`;

/** The reset of a connection: of a stream where it has several. */
export const resetHttp = (request: IncomingMessage, response: ServerResponse): void => {
  const { socket } = request;
  const stream = streamOf(response);
  if (stream) resetStream(stream);
  // Node resets a socket of TCP alone.
  else if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
};

/** An answer that tells of more bytes than it sends. */
export const truncateHttp = (
  request: IncomingMessage,
  response: ServerResponse,
  http: number,
  headers: Record<string, string>,
  body: string,
  bytes: number,
): void => {
  const sent = Buffer.from(body).subarray(0, bytes);
  // A body that is shorter lacks its end too, and so does an empty one.
  const length = Math.max(Buffer.byteLength(body), sent.length + 1);
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

/** The reset of a gRPC call, or a stream that ends without its trailers. `message` is absent of an error. */
export const cutCall = (
  stream: ServerHttp2Stream,
  { reset, truncate = 0 }: WireFault,
  headers: Record<string, string>,
  message: Buffer | undefined,
): void => {
  if (stream.destroyed || stream.closed) return;
  if (reset) {
    resetStream(stream);
    return;
  }
  stream.respond({ ":status": 200, "content-type": "application/grpc+proto", ...headers });
  if (!message) {
    stream.end();
    return;
  }
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  stream.end(Buffer.concat([prefix, message.subarray(0, truncate)]));
};

// No word of whether the request was carried out (RFC 9113, 8.7: REFUSED_STREAM would say that it was not).
const resetStream = (stream: ServerHttp2Stream): void => {
  stream.close(constants.NGHTTP2_INTERNAL_ERROR);
};

// REST on HTTP/2 has the same shape as on HTTP/1.1, and a stream.
export const streamOf = (response: ServerResponse): ServerHttp2Stream | undefined =>
  (response as { stream?: ServerHttp2Stream }).stream;
