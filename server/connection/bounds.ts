// Limits for clients: connections, idle time, memory of arriving requests and of unread answers.

import { type Operation, type OperationName, operations } from "../../schema/index.ts";
import type { Log } from "../base/log.ts";
import { createConnections } from "./connections.ts";
import { createAnswerMemory, createBodyMemory, STALL_MS } from "./memory.ts";

export interface BoundOptions {
  /** connections at a time, over all ports; one address may have half of them; default 1000 */
  maxConnections?: number | undefined;
  /** milliseconds after which an idle connection is closed; default 65,000 */
  idleTimeoutMs?: number | undefined;
  /** bytes of all incomplete requests together; default 64 MiB */
  maxBodyMemory?: number | undefined;
  /** bytes of all answers that clients have not read yet; default 64 MiB */
  maxAnswerMemory?: number | undefined;
}

export type Bounds = ReturnType<typeof createBounds>;

export const createBounds = (
  { maxConnections = 1000, idleTimeoutMs = 65_000, maxBodyMemory = MEMORY, maxAnswerMemory = MEMORY }: BoundOptions,
  log: Log,
) => {
  const answers = createAnswerMemory(maxAnswerMemory, Math.min(STALL_MS, idleTimeoutMs));
  return {
    connections: createConnections(maxConnections, log, answers.forget),
    memory: createBodyMemory(maxBodyMemory),
    answers,
    idleMs: idleTimeoutMs,
  };
};

const MEMORY = 64 * 1024 * 1024;

/** The longest time that `close` waits for requests under way. */
export const DRAIN_MS = 10_000;

// The two sides of the API, which may have a port each.

/** The part of the API that a listener serves; each may have its own port (`--auth-port`). */
export type Side = "api" | "auth" | "both";

/** The side of a service, by its name within the platform's package. */
export const sideOf = (service: string): Exclude<Side, "both"> => (service.startsWith("oidc.") ? "auth" : "api");

// The largest body of a request, on either wire.

export const BODY_MAX = 1024 * 1024;

/** The limit of methods that read the body before a token is verified: a token exchange, a ping. */
const OPEN_BODY_MAX = 64 * 1024;

export const bodyMaxOf = (operation: OperationName): number => {
  const { auth = "token" }: Operation = operations[operation];
  return auth === "token" ? BODY_MAX : OPEN_BODY_MAX;
};

// Bytes that arrive in chunks of any size. Small chunks are copied together. Otherwise each byte of a body that is sent byte
// by byte would keep an object and the socket's buffer alive.

const SMALL = 1024;
const BLOCK = 16 * 1024;

export const createByteBuffer = () => {
  let parts: Buffer[] = [];
  // The last part, while there is room in it.
  let block: Buffer | undefined;
  let filled = 0;

  const close = () => {
    if (block) parts.push(block.subarray(0, filled));
    block = undefined;
    filled = 0;
  };
  return {
    add: (chunk: Buffer) => {
      if (chunk.length >= SMALL || (parts.length === 0 && !block)) {
        close();
        parts.push(chunk);
        return;
      }
      if (block && filled + chunk.length > BLOCK) close();
      block ??= Buffer.allocUnsafe(BLOCK);
      block.set(chunk, filled);
      filled += chunk.length;
    },
    /** Returns and removes everything so far. */
    take: () => {
      close();
      const [only, ...more] = parts;
      const all = only && more.length === 0 ? only : Buffer.concat(parts);
      parts = [];
      return all;
    },
  };
};
