// A clock that is faster than the real one, the same for the server and for those who call it: five seconds of lag are half a
// second of a test. Nothing is asserted of it but that time which was waited for is over.
import type { Clock } from "../../client/clock.ts";

export interface Pace {
  startMs: number;
  /** how many seconds go by in one */
  speed: number;
  /** what it was moved on by, besides */
  movedMs?: number;
  /** the time at which it stands still */
  stillMs?: number;
}

// As the monotonic clock goes, and as finely: a sleep that is over is over by the server's clock too.
const realMs = (): number => performance.timeOrigin + performance.now();

export const timeAt = ({ startMs, speed, movedMs = 0, stillMs }: Pace): number =>
  stillMs ?? Math.floor(startMs + movedMs + (realMs() - startMs) * speed);

/** `wrongBy`: what this machine's wall clock is ahead of the service's */
export const fastClock = (pace: Pace, wrongBy = 0): Clock => {
  const elapsed = () => performance.now() * pace.speed;
  return {
    // Stands still together with the service's clock, which callers derive from the last answer.
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
