// The one retry policy (docs/faults.md#retries): what is sent again, after which wait, and when to stop.
// A create is sent again only when the service surely did not see it: nothing on the wire makes a second POST harmless.
import type { HttpMethod } from "../schema/index.ts";
import type { Clock } from "./clock.ts";

const ATTEMPTS = 5;
export const DEADLINE_MS = 5 * 60_000;
const BASE_MS = 100;
const BASE_THROTTLED_MS = 1_000;
const CAP_MS = 20_000;
const CAP_HINT_MS = 60_000;

// Retries of a whole process: an outage costs at most so many more requests than there are operations.
const BUCKET = 500;
const COST = 14;
const COST_THROTTLED = 5;

/** How one attempt failed. */
export interface Failure {
  /** HTTP status; absent when no whole answer came */
  status?: number;
  /** false when the request surely never left: no connection, no TLS */
  sent: boolean;
  /** the time for it was up: the service may still be at it */
  timedOut?: boolean;
  /** wait that the service asked for */
  retryAfterMs?: number;
}

/** GET is safe; PATCH and DELETE may be repeated; POST may not. */
export type Safety = "safe" | "idempotent" | "once";

export const safetyOf = (method: HttpMethod): Safety =>
  method === "GET" ? "safe" : method === "POST" ? "once" : "idempotent";

const TRANSIENT = [408, 502, 503, 504];

export const isRetryable = ({ status, sent }: Failure, safety: Safety): boolean => {
  if (!sent || status === 429) return true;
  if (safety === "once") return false;
  // A success that could not be read is as good as no answer.
  if (status === undefined || (status >= 200 && status < 300)) return true;
  return TRANSIENT.includes(status) || (status === 500 && safety === "safe");
};

/** After such a failure of a POST one cannot know whether the record exists. */
export const isAmbiguous = ({ status, sent }: Failure): boolean => {
  if (!sent) return false;
  return status === undefined || status === 408 || status >= 500 || (status >= 200 && status < 300);
};

/**
 * An ambiguous POST that may be sent again once no record was found: the connection was reset, or whoever answered says that
 * nobody did it. After a time-out it may still be done, and after any other answer it was.
 */
export const mayFollow = ({ status, timedOut }: Failure): boolean =>
  timedOut !== true && (status === undefined || status === 502 || status === 503);

/**
 * Wait before attempt `attempt` + 1: full jitter, or what the service asked for with the jitter on top of it. Whoever is asked
 * to wait is one of many that are told the same moment: they come back over a second, not over a tenth of one.
 */
export const delayMs = ({ status, retryAfterMs }: Failure, attempt: number, random: number): number => {
  const base = status === 429 || retryAfterMs !== undefined ? BASE_THROTTLED_MS : BASE_MS;
  const jitter = random * Math.min(CAP_MS, base * 2 ** (attempt - 1));
  return Math.min(retryAfterMs ?? 0, CAP_HINT_MS) + jitter;
};

/** What one operation may cost in all, however often it is asked for anew. */
export interface Effort {
  /** attempts so far */
  count: number;
  /** by the monotonic clock: no attempt begins later */
  until: number;
}

export const newEffort = (clock: Clock): Effort => ({ count: 0, until: clock.now() + DEADLINE_MS });

/** One attempt, and none after it. */
export const lastAttempt = (clock: Clock): Effort => ({ count: ATTEMPTS - 1, until: clock.now() + DEADLINE_MS });

/** What an attempt throws so that the policy can judge it; any other error is passed on. */
export class AttemptError extends Error {
  override readonly name = "AttemptError";
  readonly failure: Failure;

  constructor(failure: Failure, cause: Error) {
    super(cause.message, { cause });
    this.failure = failure;
  }
}

export interface Retrying {
  /** `effort`: of the operation that this is a part of; default: one of its own */
  <T>(safety: Safety, attempt: () => Promise<T>, effort?: Effort): Promise<T>;
  /** Pays for another try that the policy does not make itself; false when the budget is spent. */
  pay(failure: Failure): boolean;
}

/** One per process: operations share its bucket. */
export const retryingWith = (clock: Clock): Retrying => {
  let tokens = BUCKET;

  const retrying = async <T>(safety: Safety, attempt: () => Promise<T>, effort = newEffort(clock)): Promise<T> => {
    let spent = 0;
    for (;;) {
      effort.count += 1;
      try {
        const answer = await attempt();
        tokens = Math.min(BUCKET, tokens + Math.max(spent, 1));
        return answer;
      } catch (error) {
        if (!(error instanceof AttemptError)) throw error;
        const { failure } = error;
        const cost = costOf(failure);
        const delay = delayMs(failure, effort.count, clock.random());
        if (!isRetryable(failure, safety) || isOver(effort, clock.now() + delay) || tokens < cost) throw error;
        tokens -= cost;
        spent += cost;
        await clock.sleep(delay);
      }
    }
  };
  const pay = (failure: Failure): boolean => {
    const cost = costOf(failure);
    if (tokens < cost) return false;
    tokens -= cost;
    return true;
  };
  return Object.assign(retrying, { pay });
};

/** Whether no attempt may begin at that time. */
export const isOver = ({ count, until }: Effort, atMs: number): boolean => count >= ATTEMPTS || atMs > until;

const costOf = ({ status }: Failure): number => (status === 429 ? COST_THROTTLED : COST);
