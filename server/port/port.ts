// One port for both wires (docs/internals/contract.md#wire). In the clear the first bytes of a connection show its version of HTTP; with
// TLS, ALPN does (RFC 7301). A client that offers both gets HTTP/1.1: gRPC clients offer only h2.

import { readFileSync } from "node:fs";
import type { Server as HttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createSecureContext, createServer as createTlsServer } from "node:tls";
import { LOOPBACK_NAMES, UserError } from "../../schema/index.ts";
import type { Cut } from "../base/log.ts";
import { type Bounds, DRAIN_MS, type Side } from "../connection/bounds.ts";
import { createGrpc, type Grpc, type GrpcOptions } from "../grpc/server.ts";
import type { HttpOptions } from "../rest/server.ts";
import { createHttp } from "../rest/server.ts";

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
  const close = closerOf(listener, () => {
    http.close();
    grpc.drain();
  });
  return { listener, close };
};

// No connection waits for its client: the server works on all of them.
const REFUSED = "HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

const listenerFor = (http: HttpServer, grpc: Grpc, tls: TlsKeys | undefined, firstBytesMs: number): Server => {
  const toHttp = (socket: Socket) => http.emit("connection", socket);
  // Node's HTTP/1.1 ends its half of a connection by itself. Its HTTP/2 relies on the socket, and would keep it forever.
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
const detectWire = (socket: Socket, withinMs: number, use: (isHttp2: boolean) => void) => {
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

// Opens and closes listeners, and gives their addresses.

/** A port that the server cannot listen on, in one sentence. */
export class ListenError extends UserError {
  override readonly name = "ListenError";
}

export const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const { code, message } = error;
      const texts: Record<string, string> = {
        EADDRINUSE: `port ${port} on ${host} is in use; choose another, or 0 for any free one`,
        EADDRNOTAVAIL: `${host} is not an address of this machine`,
        ENOTFOUND: `${host} is not an address of this machine`,
      };
      const text = texts[code ?? ""] ?? `port ${port} on ${host} cannot be used: ${message}`;
      reject(new ListenError(text, { cause: error }));
    });
    server.listen(port, host, () => resolve());
  });

/** The address that clients use. A wildcard host becomes a loopback address. */
export const urlOf = (server: Server, host: string, scheme: "http" | "https"): string => {
  const { port } = server.address() as AddressInfo;
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `${scheme}://${name.includes(":") ? `[${name}]` : name}:${port}`;
};

/** The audiences of an address: itself, and on loopback also by the other names. */
export const audiencesOf = (baseUrl: string): string[] => {
  const url = new URL(baseUrl);
  if (!LOOPBACK_NAMES.includes(url.hostname)) return [baseUrl];
  return [...new Set([baseUrl, ...LOOPBACK_NAMES.map((name) => `${url.protocol}//${name}:${url.port}`)])];
};

/**
 * Returns a function that ends a listener. It accepts no new connections, lets the wires close idle ones, and waits for the
 * other responses, ten seconds at most or until `cut`. Then it cuts off the rest.
 */
export const closerOf = (server: Server, drainWires: () => void): ((cut?: Cut) => Promise<void>) => {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const destroy = (which: (socket: Socket) => boolean) => {
    for (const socket of sockets) if (which(socket)) socket.destroy();
  };

  return (cut) =>
    new Promise((resolve) => {
      const cutOff = () => destroy(() => true);
      const late = setTimeout(cutOff, DRAIN_MS);
      cut?.addEventListener("abort", cutOff);
      server.close(() => {
        clearTimeout(late);
        cut?.removeEventListener("abort", cutOff);
        resolve();
      });
      drainWires();
      // To either wire, a connection that has not sent a byte is not idle.
      destroy(({ bytesRead }) => bytesRead === 0);
      if (cut?.aborted) cutOff();
    });
};

// The certificate and private key of a server that terminates TLS by itself, from PEM files.

export interface TlsKeys {
  /** PEM: the certificate, then its issuers */
  cert: string;
  /** PEM: its private key */
  key: string;
}

/** Files that the server cannot use for TLS, in one sentence. */
export class TlsError extends UserError {
  override readonly name = "TlsError";
}

export const readTlsKeys = (certFile: string, keyFile: string): TlsKeys => {
  const keys = { cert: read("certificate", certFile), key: read("private key", keyFile) };
  try {
    createSecureContext({ cert: keys.cert });
  } catch (error) {
    throw new TlsError(`${certFile} holds no certificate in PEM`, { cause: error });
  }
  try {
    createSecureContext(keys);
  } catch (error) {
    const mismatch = (error as NodeJS.ErrnoException).code === "ERR_OSSL_X509_KEY_VALUES_MISMATCH";
    const text = mismatch
      ? `the private key in ${keyFile} does not belong to the certificate in ${certFile}`
      : `${keyFile} holds no private key in PEM that can be used without a password`;
    throw new TlsError(text, { cause: error });
  }
  return keys;
};

const read = (what: string, file: string) => {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new TlsError(`cannot read the ${what} ${file}: ${(error as Error).message}`, { cause: error });
  }
};
