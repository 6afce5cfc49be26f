// The id of a request: in its response, and in every line of the log that belongs to it.
import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { Log } from "./log.ts";

/** Header and metadata key, of requests and of responses. */
export const REQUEST_ID = "x-request-id";

/** Accepts a client's own id unless it could break a line of the log or hold a token. */
export const requestIdFrom = (given: unknown): string =>
  typeof given === "string" && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();

/** Bytes of a head, without the separators between its parts. */
export const headSize = (rawHeaders: readonly string[]): number =>
  rawHeaders.reduce((sum, { length }) => sum + length, 0);

/** Every value of a header as it came: node joins or drops repeated ones. */
export const headerValues = (rawHeaders: readonly string[], name: string): string[] =>
  rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name);

// Not an argument, because only the log needs it.
const current = new AsyncLocalStorage<string>();

export const withRequestId = <T>(id: string, work: () => T): T => current.run(id, work);

/** The id of the current request. */
export const currentRequestId = (): string => current.getStore() ?? "";

/** Adds the id of the current request to each line. */
export const logOfRequests =
  (log: Log): Log =>
  (level, event, fields) => {
    const requestId = current.getStore();
    log(level, event, requestId ? { requestId, ...fields } : fields);
  };
