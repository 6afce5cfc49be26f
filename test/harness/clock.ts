// The clocks of the tests. None of them has the real time of day, so no test depends on when or how fast it runs.
// - `manualClock` is stopped until a test moves it or a caller sleeps on it.
// - `fastClock` runs many times as fast as the real one, the same for processes that share a pace.
import type { Clock } from "../../client/retry.ts";

export const MINUTE_MS = 60 * 1000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The time of the published samples: 2026-01-28T12:54:21.189Z. */
export const START_MS = Date.UTC(2026, 0, 28, 12, 54, 21, 189);

/** A whole second of that day, for times that are counted in seconds. */
export const NOON_MS = Date.UTC(2026, 0, 28, 12, 0, 0);

export interface ManualClock extends Clock {
  /** the time of day, for a server */
  (): number;
  /** how long each sleep was */
  sleeps: number[];
  advance(ms: number): void;
}

export const manualClock = (startMs = START_MS, random = 0.5): ManualClock => {
  let elapsed = 0;
  const sleeps: number[] = [];
  const today = () => startMs + elapsed;
  const advance = (ms: number) => {
    elapsed += ms;
  };
  return Object.assign(() => today(), {
    sleeps,
    now: () => elapsed,
    today,
    random: () => random,
    advance,
    sleep: async (ms: number) => {
      sleeps.push(ms);
      advance(ms);
    },
  });
};

export interface Pace {
  startMs: number;
  /** how many of its seconds pass in a real one */
  speed: number;
  /** by how much it was moved, besides */
  movedMs?: number;
  /** the time at which it is stopped */
  stillMs?: number;
}

// As fine as the monotonic clock: a sleep that has ended has ended by the server's clock too.
const realMs = (): number => performance.timeOrigin + performance.now();

export const timeAt = ({ startMs, speed, movedMs = 0, stillMs }: Pace): number =>
  stillMs ?? Math.floor(startMs + movedMs + (realMs() - startMs) * speed);

/**
 * Five seconds of waiting are half a second of a test. Tests assert only that a wait has ended.
 * `wrongBy`: how far this machine's wall clock is ahead of the service's.
 */
export const fastClock = (pace: Pace, wrongBy = 0): Clock => {
  const elapsed = () => performance.now() * pace.speed;
  return {
    // Stops together with the service's clock, which callers derive from the last response.
    now: () => timeAt(pace),
    today: () => timeAt(pace) + wrongBy,
    // A timer counts whole milliseconds, and may be early: a millisecond of it is many of ours.
    sleep: async (ms) => {
      const until = elapsed() + ms;
      for (let left = ms; left > 0; left = until - elapsed())
        await new Promise((resolve) => setTimeout(resolve, Math.ceil(left / pace.speed)));
    },
    random: () => Math.random(),
  };
};
