// REST on connections that the port hands over (docs/contract.md#wire): node's HTTP server with its limits.
import { createServer, type Server } from "node:http";
import type { Bounds } from "../connection/bounds.ts";
import { REQUEST_MS } from "../connection/delivery.ts";
import { createCalls, type HttpOptions } from "./call.ts";
import { unroutedError } from "./refused.ts";

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
  server.on("connect", (_request, socket) => calls.refuse(socket, unroutedError(TUNNEL, "CONNECT", "")));
  server.on("clientError", calls.fail);
  return server;
};

const TUNNEL = { kind: "method", allow: ["GET", "POST", "PATCH", "DELETE"], service: "iam" } satisfies Parameters<
  typeof unroutedError
>[0];
