// A clock that is faster than the real one, the same for the server and for those who call it: five seconds of lag are half a
// second of a test. What it cannot reach, the timers of a request, is made shorter by the same factor (outside.ts).
import type { Clock } from "../../provider/clock.ts";

export interface Pace {
  startMs: number;
  /** how many seconds go by in one */
  speed: number;
  /** what it was moved on by, besides */
  movedMs?: number;
}

export const timeAt = ({ startMs, speed, movedMs = 0 }: Pace): number =>
  Math.floor(startMs + movedMs + (Date.now() - startMs) * speed);

/** `wrongBy`: what this machine's wall clock is ahead of the service's */
export const fastClock = (pace: Pace, wrongBy = 0): Clock => ({
  now: () => performance.now() * pace.speed,
  today: () => timeAt(pace) + wrongBy,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms / pace.speed)),
  random: () => Math.random(),
});
