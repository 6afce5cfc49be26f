// Limits for clients: connections, idle time, memory of arriving requests and of unread answers.

import type { Log } from "../base/log.ts";
import { createAnswerMemory, STALL_MS } from "./answer-memory.ts";
import { createBodyMemory } from "./body-memory.ts";
import { createConnections } from "./connections.ts";

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

/** How long `close` waits for requests under way. */
export const DRAIN_MS = 10_000;
