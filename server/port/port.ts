// One port for both wires (docs/contract.md#wire). In the clear the first bytes of a connection tell HTTP/2 from HTTP/1.1; with
// TLS, ALPN does (RFC 7301). A client that offers both gets HTTP/1.1: gRPC clients offer h2 alone.
import type { Server as HttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { createGrpc, type Grpc, type GrpcOptions } from "../grpc/server.ts";
import type { HttpOptions } from "../rest/call.ts";
import type { Side } from "../rest/route.ts";
import { createHttp } from "../rest/server.ts";
import type { Bounds } from "./bounds.ts";
import { closerOf } from "./listen.ts";
import type { TlsKeys } from "./tls.ts";

// RFC 9113, 3.4: what every HTTP/2 connection begins with, and no request of HTTP/1.1 can.
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

// A client that says nothing for as long holds a connection for nothing.
const FIRST_BYTES_MS = 30_000;

export interface Port {
  listener: Server;
  /** takes no new requests, waits for those under way, ten seconds at most or until `cut` */
  close(cut?: AbortSignal): Promise<void>;
}

/** A port that serves a side of the API. Requests wait until `ready`. */
export const createPort = (
  side: Side,
  ready: Promise<HttpOptions & GrpcOptions>,
  tls: TlsKeys | undefined,
  bounds: Bounds,
): Port => {
  const http = createHttp(ready, bounds);
  const grpc = createGrpc(side, ready, bounds, (request, response) => http.emit("request", request, response));
  const listener = listenerFor(http, grpc, tls, Math.min(FIRST_BYTES_MS, bounds.idleMs));
  // Before anyone speaks with it.
  listener.prependListener("connection", (socket: Socket) => {
    if (bounds.connections.admit(socket)) return;
    if (tls) socket.destroy();
    else socket.end(REFUSED);
  });
  const drain = () => {
    http.close();
    grpc.drain();
  };
  return { listener, close: closerOf(listener, drain) };
};

// No connection is waiting for its client: all of them are worked on.
const REFUSED = "HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

const listenerFor = (http: HttpServer, grpc: Grpc, tls: TlsKeys | undefined, firstBytesMs: number): Server => {
  const toHttp = (socket: Socket) => http.emit("connection", socket);
  // Node's HTTP/1.1 ends its half of a connection by itself; its HTTP/2 leaves that to the socket, and would keep it for ever.
  const toGrpc = (socket: Socket) => {
    socket.allowHalfOpen = false;
    grpc.accept(socket);
  };
  // With this event node's HTTP begins to look after time limits and idle connections; without a listener nobody emits it.
  http.emit("listening");
  if (!tls) {
    return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      if (socket.writable) whenTold(socket, firstBytesMs, (isHttp2) => (isHttp2 ? toGrpc(socket) : toHttp(socket)));
    });
  }
  const options = { ...tls, ALPNProtocols: ["http/1.1", "h2"], handshakeTimeout: firstBytesMs, noDelay: true };
  const server = createTlsServer(options, (socket) => {
    if (socket.alpnProtocol === "h2") grpc.accept(socket);
    else toHttp(socket);
  });
  // Node reports a handshake that takes too long, and leaves its connection open.
  return server.on("tlsClientError", (_error, socket) => void socket.destroy());
};

// Reads until the bytes differ from the preface or are the preface, and puts them back.
const whenTold = (socket: Socket, withinMs: number, tell: (isHttp2: boolean) => void): void => {
  let head = Buffer.alloc(0);
  const leave = () => {
    socket.off("data", read).off("end", end).off("error", end).off("timeout", end).setTimeout(0);
  };
  const end = () => {
    leave();
    socket.destroy();
  };
  const read = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const isHttp2 = PREFACE.subarray(0, head.length).equals(head.subarray(0, PREFACE.length));
    if (isHttp2 && head.length < PREFACE.length) return;
    leave();
    // Paused, so that nothing is lost until the wire reads; HTTP/2 does so by itself.
    socket.pause();
    socket.unshift(head);
    tell(isHttp2);
    if (!isHttp2) socket.resume();
  };
  socket.on("data", read).on("end", end).on("error", end).on("timeout", end).setTimeout(withinMs);
};
