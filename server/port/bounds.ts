// What a server takes from its clients at most: connections, time without a word, bytes that are not yet a request.

import type { Log } from "../log.ts";
import { type BodyMemory, createBodyMemory } from "./body-memory.ts";
import { type Connections, createConnections } from "./connections.ts";

export interface BoundOptions {
  /** connections at a time, over all ports; one address may have half of them; default 1000 */
  maxConnections?: number | undefined;
  /** milliseconds after which a connection is closed on which nothing is under way; default 65,000 */
  idleTimeoutMs?: number | undefined;
  /** bytes of requests that are arriving, all together; default 64 MiB */
  maxBodyMemory?: number | undefined;
}

export interface Bounds {
  connections: Connections;
  memory: BodyMemory;
  idleMs: number;
}

export const createBounds = (
  { maxConnections = 1000, idleTimeoutMs = 65_000, maxBodyMemory = 64 * 1024 * 1024 }: BoundOptions,
  log: Log,
): Bounds => ({
  connections: createConnections(maxConnections, log),
  memory: createBodyMemory(maxBodyMemory),
  idleMs: idleTimeoutMs,
});
