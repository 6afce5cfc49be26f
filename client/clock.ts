// Time and randomness, passed in so that tests depend on neither.

export interface Clock {
  /** monotonic milliseconds, not the time of day: a wrong wall clock does not matter (docs/faults.md#f24) */
  now(): number;
  /** milliseconds since the epoch by this machine's clock: compared only with times that this machine recorded */
  today(): number;
  sleep(ms: number): Promise<void>;
  /** 0 ≤ x < 1 */
  random(): number;
}

export const systemClock: Clock = {
  now: performance.now.bind(performance),
  today: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  random: () => Math.random(),
};
