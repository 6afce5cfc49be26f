// One pause of a process, at a point that it reaches for the nth time.
import type { PauseAt, Point } from "./environment.ts";

export interface Pausing {
  /** resolves when the process may go on */
  reached(point: Point, of: string): Promise<void>;
  resume(): void;
}

export const pausing = (pause: PauseAt | undefined, paused: (point: Point) => void): Pausing => {
  let left = pause?.nth ?? 1;
  const going = Promise.withResolvers<void>();
  return {
    reached: async (point, of) => {
      if (point !== pause?.point || of !== pause.of) return;
      left -= 1;
      if (left !== 0) return;
      paused(point);
      await going.promise;
    },
    resume: going.resolve,
  };
};
