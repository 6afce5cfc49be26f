// One pause of a process, at a point that it reaches for the nth time.
import type { PauseAt, Point } from "./environment.ts";

export interface PausePoints {
  /** resolves when the process may go on */
  atPoint(point: Point, of: string): Promise<void>;
  resume(): void;
}

export const pausePoints = (pause: PauseAt | undefined, paused: (point: Point) => void): PausePoints => {
  let left = pause?.nth ?? 1;
  const going = Promise.withResolvers<void>();
  return {
    atPoint: async (point, of) => {
      if (point !== pause?.point || of !== pause.of) return;
      left -= 1;
      if (left !== 0) return;
      paused(point);
      await going.promise;
    },
    resume: going.resolve,
  };
};
