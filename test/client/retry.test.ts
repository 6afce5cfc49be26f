import { expect, it } from "vitest";
import {
  AttemptError,
  delayMs,
  type Failure,
  isAmbiguous,
  isRetryable,
  retryWith,
  type Safety,
} from "../../client/retry.ts";
import { manualClock, START_MS } from "../harness/clock.ts";
import { createRandom } from "../support/random.ts";

const failing = (failure: Failure) => new AttemptError(failure, new Error("failed"));

it.each<[string, Failure, Safety[]]>([
  ["no connection", { sent: false }, ["safe", "idempotent", "once"]],
  ["a reset after the request was sent", { sent: true }, ["safe", "idempotent"]],
  ["429: refused before anything was done", { sent: true, status: 429 }, ["safe", "idempotent", "once"]],
  ["500", { sent: true, status: 500 }, ["safe"]],
  ["408", { sent: true, status: 408 }, ["safe", "idempotent"]],
  ["502", { sent: true, status: 502 }, ["safe", "idempotent"]],
  ["503: no proof that nothing was done", { sent: true, status: 503 }, ["safe", "idempotent"]],
  ["504", { sent: true, status: 504 }, ["safe", "idempotent"]],
  ["a success that cannot be read", { sent: true, status: 200 }, ["safe", "idempotent"]],
  ["400", { sent: true, status: 400 }, []],
  ["409", { sent: true, status: 409 }, []],
  ["501", { sent: true, status: 501 }, []],
])("which failures are retried: %s %j: %j", (_, failure, expected) => {
  expect((["safe", "idempotent", "once"] as const).filter((safety) => isRetryable(failure, safety))).toEqual(expected);
});

it.each<[Failure, boolean, string]>([
  [{ sent: false }, false, "it was not sent"],
  [{ sent: true }, true, "no answer"],
  [{ sent: true, status: 200 }, true, "an answer that cannot be read"],
  [{ sent: true, status: 408 }, true, "the service gave up waiting"],
  [{ sent: true, status: 500 }, true, "failed at an unknown point"],
  [{ sent: true, status: 503 }, true, "a proxy may have answered"],
  [{ sent: true, status: 409 }, false, "refused"],
  [{ sent: true, status: 429 }, false, "refused"],
  [{ sent: true, status: 302 }, false, "not the API"],
])("whether the record may exist after %j of its create: %s, %s", (failure, expected) => {
  expect(isAmbiguous(failure)).toBe(expected);
});

const BUSY: Failure = { sent: true, status: 503 };
it.each<[string, Failure, number, number, number]>([
  ["the base at first", BUSY, 1, 1, 100],
  ["full jitter", BUSY, 4, 0.25, 200],
  ["at most 20 seconds", BUSY, 20, 1, 20_000],
  ["a second when throttled without a hint", { sent: true, status: 429 }, 1, 1, 1_000],
  ["what the service asks for, and a second of jitter", { ...BUSY, retryAfterMs: 7_000 }, 1, 1, 8_000],
  ["at most a minute of what it asks for", { sent: true, status: 429, retryAfterMs: 3_600_000 }, 1, 0, 60_000],
])("the client waits: %s", (_, failure, attempt, random, expected) => {
  expect(delayMs(failure, attempt, random)).toBe(expected);
});

const THROTTLED: Failure = { sent: true, status: 429, retryAfterMs: 60_000 };

it("retry gives the answer of the attempt that succeeds", async () => {
  const clock = manualClock(START_MS, 1);
  let attempts = 0;
  const answer = await retryWith(clock)("safe", async () => {
    if (++attempts < 3) throw failing({ sent: true, status: 503 });
    return "answer";
  });
  expect({ answer, attempts, sleeps: clock.sleeps }).toEqual({ answer: "answer", attempts: 3, sleeps: [100, 200] });
});

it.each<[string, Failure, number, number]>([
  ["stops after five attempts", { sent: false }, 0, 5],
  ["starts no wait that ends after the deadline of five minutes", THROTTLED, 4 * 60_000, 1],
])("retry %s", async (_, failure, tookMs, expected) => {
  const clock = manualClock();
  let attempts = 0;
  const run = retryWith(clock)("safe", async () => {
    attempts++;
    clock.advance(tookMs);
    throw failing(failure);
  });
  await expect(run).rejects.toThrow("failed");
  expect(attempts).toBe(expected);
});

it("retry passes on what is not a failure of the transport", async () => {
  const run = retryWith(manualClock())("safe", async () => {
    throw new TypeError("a defect");
  });
  await expect(run).rejects.toThrow(TypeError);
});

it("retry amplifies a total outage by no more than a tenth once the retry quota is empty", async () => {
  const retry = retryWith(manualClock());
  let attempts = 0;
  const operation = () =>
    retry("safe", async () => {
      attempts++;
      throw failing({ sent: true, status: 503 });
    }).catch(() => undefined);
  for (let i = 0; i < 50; i++) await operation();
  const before = attempts;
  for (let i = 0; i < 1000; i++) await operation();
  expect((attempts - before) / 1000).toBeLessThanOrEqual(1.1);
});

it("retry refills the retry quota by the cost of a success", async () => {
  const retry = retryWith(manualClock());
  let attempts = 0;
  const half = (count: number) =>
    retry("safe", async () => {
      if (attempts++ % 2 === 0) throw failing({ sent: true, status: 503 });
      return count;
    });
  for (let i = 0; i < 100; i++) await half(i);
  expect(attempts).toBe(200);
});

it.each<[string, Failure, arrivingOverMs: number, downForMs: number]>([
  ["all at once, with Retry-After", { ...BUSY, retryAfterMs: 15_000 }, 0, 100],
  ["all at once, with 429", { sent: true, status: 429 }, 0, 100],
  ["within a second, without Retry-After", BUSY, 1_000, 1_000],
])(
  "a hundred refused clients: %s: return spread, at most a fifth of them in any tenth of a second",
  async (_, failure, arrivingOverMs, downForMs) => {
    const { below } = createRandom(2);
    const retries: number[] = [];
    for (let client = 0; client < 100; client += 1) {
      const clock = Object.assign(manualClock(), { random: () => below(1_000_000) / 1_000_000 });
      clock.advance((client * arrivingOverMs) / 100);
      let attempts = 0;
      await retryWith(clock)("safe", async () => {
        if (++attempts > 1) retries.push(Math.floor(clock.now() / 100));
        if (clock.now() < downForMs) throw failing(failure);
      }).catch(() => undefined);
    }
    expect(retries.length).toBeGreaterThanOrEqual(100);
    const slots = [...Map.groupBy(retries, (slot) => slot).values()].map(({ length }) => length);
    expect(Math.max(...slots) / retries.length).toBeLessThanOrEqual(0.2);
  },
);
