// One port for both wires (docs/contract.md#wire). In the clear the first bytes of a connection show its version of HTTP; with
// TLS, ALPN does (RFC 7301). A client that offers both gets HTTP/1.1: gRPC clients offer h2 alone.
import type { Server as HttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { Cut } from "../base/cut.ts";
import type { Bounds } from "../connection/bounds.ts";
import type { Side } from "../connection/side.ts";
import { createGrpc, type Grpc, type GrpcOptions } from "../grpc/server.ts";
import type { HttpOptions } from "../rest/call.ts";
import { createHttp } from "../rest/server.ts";
import { closerOf } from "./listen.ts";
import type { TlsKeys } from "./tls.ts";

// Every HTTP/2 connection begins with it, and no HTTP/1.1 request can (RFC 9113 section 3.4).
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

// A client that stays silent longer occupies a connection for nothing.
const FIRST_BYTES_MS = 30_000;

export interface Port {
  listener: Server;
  /** Takes no new requests, and waits for those under way, ten seconds at most or until `cut`. */
  close(cut?: Cut): Promise<void>;
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
  // Before any wire sees the connection.
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

// No connection waits for its client: the server works on all of them.
const REFUSED = "HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

const listenerFor = (http: HttpServer, grpc: Grpc, tls: TlsKeys | undefined, firstBytesMs: number): Server => {
  const toHttp = (socket: Socket) => http.emit("connection", socket);
  // Node's HTTP/1.1 ends its half of a connection by itself. Its HTTP/2 relies on the socket, and would keep it for ever.
  const toGrpc = (socket: Socket) => {
    socket.allowHalfOpen = false;
    grpc.accept(socket);
  };
  // Node's HTTP starts its checks for time limits and idle connections with this event, which only a listener emits.
  http.emit("listening");
  if (!tls) {
    return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      if (socket.writable) detectWire(socket, firstBytesMs, (isHttp2) => (isHttp2 ? toGrpc(socket) : toHttp(socket)));
    });
  }
  const options = { ...tls, ALPNProtocols: ["http/1.1", "h2"], handshakeTimeout: firstBytesMs, noDelay: true };
  const server = createTlsServer(options, (socket) => {
    if (socket.alpnProtocol === "h2") grpc.accept(socket);
    else toHttp(socket);
  });
  // Node reports a handshake that takes too long, but leaves its connection open.
  return server.on("tlsClientError", (_error, socket) => void socket.destroy());
};

// Reads until the bytes match the preface or differ from it, then puts them back.
const detectWire = (socket: Socket, withinMs: number, use: (isHttp2: boolean) => void): void => {
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
    // Paused, so that no byte is lost before the wire reads. HTTP/2 pauses by itself.
    socket.pause();
    socket.unshift(head);
    use(isHttp2);
    if (!isHttp2) socket.resume();
  };
  socket.on("data", read).on("end", end).on("error", end).on("timeout", end).setTimeout(withinMs);
};
