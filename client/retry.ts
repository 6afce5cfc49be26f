// The retry policy (docs/internals/faults.md#retries; AIP-194, https://google.aip.dev/194): which failures are retried, after which delay, and when
// to stop. The quota, its costs and the delays come from the AWS SDKs
// (https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html). A create is retried only when the service certainly
// did not receive it, since the API has no idempotency key.
import type { HttpMethod } from "../schema/index.ts";

const MAX_ATTEMPTS = 5;
export const DEADLINE_MS = 5 * 60_000;
const BASE_DELAY_MS = 100;
const THROTTLED_BASE_DELAY_MS = 1_000;
const MAX_DELAY_MS = 20_000;
const MAX_RETRY_AFTER_MS = 60_000;

// All operations of a process share it. Once it is exhausted, each operation during an outage sends one request.
const RETRY_QUOTA = 500;
const RETRY_COST = 14;
const THROTTLED_RETRY_COST = 5;
const NO_RETRY_INCREMENT = 1;

/** How one attempt failed. */
export interface Failure {
  /** HTTP status; absent when no complete answer arrived */
  status?: number;
  /** false when the request was certainly never sent: no connection, no TLS */
  sent: boolean;
  /** the request timed out: the service may still be working on it */
  timedOut?: boolean;
  /** delay that the service requested */
  retryAfterMs?: number;
}

/** GET is safe; PATCH and DELETE may be repeated; POST may not. */
export type Safety = "safe" | "idempotent" | "once";

export const SAFETY: Readonly<Record<HttpMethod, Safety>> = {
  GET: "safe",
  PATCH: "idempotent",
  DELETE: "idempotent",
  PUT: "idempotent",
  POST: "once",
};

const TRANSIENT = [408, 502, 503, 504];

export const isRetryable = ({ status, sent }: Failure, safety: Safety): boolean => {
  if (!sent || status === 429) return true;
  if (safety === "once") return false;
  // A success that cannot be read is as good as no response.
  if (status === undefined || (status >= 200 && status < 300)) return true;
  return TRANSIENT.includes(status) || (status === 500 && safety === "safe");
};

/** Whether a POST that failed this way may have created the record. */
export const isAmbiguous = ({ status, sent }: Failure): boolean => {
  if (!sent) return false;
  return status === undefined || status === 408 || status >= 500 || (status >= 200 && status < 300);
};

/**
 * Whether an ambiguous POST may be sent again after a search has found no record. It may if the connection was reset, or a proxy reports
 * that the request was not processed. After a timeout the service may still process it. After any other response the service has
 * processed it.
 */
export const isResendable = ({ status, timedOut }: Failure): boolean =>
  timedOut !== true && (status === undefined || status === 502 || status === 503);

/**
 * Delay before attempt `attempt` + 1: full jitter on top of the delay that the service requested. Such a service requests it from many
 * clients at once, so the jitter spreads them over a second, not over a tenth of one.
 */
export const delayMs = ({ status, retryAfterMs }: Failure, attempt: number, random: number): number => {
  const base = status === 429 || retryAfterMs !== undefined ? THROTTLED_BASE_DELAY_MS : BASE_DELAY_MS;
  const jitter = random * Math.min(MAX_DELAY_MS, base * 2 ** (attempt - 1));
  return Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS) + jitter;
};

/** Limits of one operation, shared by all of its calls. */
export interface AttemptBudget {
  /** attempts so far */
  count: number;
  /** latest start of an attempt, by the monotonic clock */
  until: number;
}

export const newAttemptBudget = (clock: Clock): AttemptBudget => ({ count: 0, until: clock.now() + DEADLINE_MS });

/** Allows one attempt, and no retry. */
export const singleAttempt = (clock: Clock): AttemptBudget => ({
  count: MAX_ATTEMPTS - 1,
  until: clock.now() + DEADLINE_MS,
});

/** Thrown by an attempt whose failure the policy judges; any other error passes through. */
export class AttemptError extends Error {
  override readonly name = "AttemptError";
  readonly failure: Failure;

  constructor(failure: Failure, cause: Error) {
    super(cause.message, { cause });
    this.failure = failure;
  }
}

export type Retry = ReturnType<typeof retryWith>;

/** One per process: its operations share the quota. */
export const retryWith = (clock: Clock) => {
  let quota = RETRY_QUOTA;

  /** Acquires a retry that the caller performs; false when the quota is exhausted. */
  const acquire = (failure: Failure) => {
    const cost = retryCost(failure);
    if (quota < cost) return false;
    quota -= cost;
    return true;
  };
  /** Repeats the attempt as the policy allows. `budget`: shared by all calls of an operation; default: a new one. */
  const retry = async <T>(safety: Safety, attempt: () => Promise<T>, budget = newAttemptBudget(clock)): Promise<T> => {
    let acquired = 0;
    for (;;) {
      budget.count += 1;
      try {
        const answer = await attempt();
        quota = Math.min(RETRY_QUOTA, quota + Math.max(acquired, NO_RETRY_INCREMENT));
        return answer;
      } catch (error) {
        if (!(error instanceof AttemptError)) throw error;
        const { failure } = error;
        const delay = delayMs(failure, budget.count, clock.random());
        const mayRetry = isRetryable(failure, safety) && !isExhausted(budget, clock.now() + delay);
        if (!mayRetry || !acquire(failure)) throw error;
        acquired += retryCost(failure);
        await clock.sleep(delay);
      }
    }
  };
  return Object.assign(retry, { acquire });
};

/** Whether the budget allows no attempt at that time. */
export const isExhausted = ({ count, until }: AttemptBudget, atMs: number): boolean =>
  count >= MAX_ATTEMPTS || atMs > until;

const retryCost = ({ status }: Failure): number => (status === 429 ? THROTTLED_RETRY_COST : RETRY_COST);

/** Time and randomness, passed in so that tests depend on neither. */
export interface Clock {
  /** monotonic milliseconds, not the time of day: a wrong wall clock does not matter (docs/internals/faults.md#f24) */
  now(): number;
  /** milliseconds since the epoch by this machine's clock: compared only with times that this machine recorded */
  today(): number;
  sleep(ms: number): Promise<void>;
  /** 0 ≤ x < 1 */
  random(): number;
}

export const systemClock: Clock = {
  now: performance.now.bind(performance),
  today: Date.now,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: Math.random,
};
