// The id of a request: in its answer, and in every line that the log has of what was done for it.
import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { Log } from "./log.ts";

/** Header and metadata key, of requests and of answers. */
export const REQUEST_ID = "x-request-id";

/** A client's own id is taken where it is harmless: nothing that breaks a line of the log, nothing as long as a token. */
export const requestIdFrom = (given: unknown): string =>
  typeof given === "string" && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();

// Beside the arguments, since the steps of a request have no other use for it.
const current = new AsyncLocalStorage<string>();

export const withRequestId = <T>(id: string, work: () => T): T => current.run(id, work);

/** The id of the request that is being served. */
export const currentRequestId = (): string => current.getStore() ?? "";

/** A log that names the request that it is written for. */
export const logOfRequests =
  (log: Log): Log =>
  (level, event, fields) => {
    const requestId = current.getStore();
    log(level, event, requestId ? { requestId, ...fields } : fields);
  };
