// What clients may take from a server at most: connections, idle time, memory of incomplete requests.

import type { Log } from "../log.ts";
import { type BodyMemory, createBodyMemory } from "./body-memory.ts";
import { type Connections, createConnections } from "./connections.ts";

export interface BoundOptions {
  /** connections at a time, over all ports; one address may have half of them; default 1000 */
  maxConnections?: number | undefined;
  /** milliseconds after which an idle connection is closed; default 65,000 */
  idleTimeoutMs?: number | undefined;
  /** bytes of all incomplete requests together; default 64 MiB */
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
