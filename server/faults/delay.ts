// The delays of scripted failures. Each one ends by itself or at its release. The end of the server ends them all.
import type { Cut } from "../base/cut.ts";

export const createFaultDelays = () => {
  const wakers = new Set<() => void>();
  const underWay = new Set<Promise<unknown>>();
  let released = Promise.withResolvers<void>();
  let draining = false;

  const wait = async (ms: number): Promise<void> => {
    if (ms === 0 || draining) return;
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        wakers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      wakers.add(wake);
    });
  };

  /** Ends every hold, and no timed delay. */
  const release = (): void => {
    released.resolve();
    released = Promise.withResolvers();
  };

  /** Waits until `release`. */
  const hold = async (): Promise<void> => {
    if (!draining) await released.promise;
  };

  /** Makes `drain` wait for it, since the client of a delayed request may have gone, and its connection too. */
  const track = async <T>(work: Promise<T>): Promise<T> => {
    underWay.add(work);
    try {
      return await work;
    } finally {
      underWay.delete(work);
    }
  };

  const drain = async (cut?: Cut): Promise<void> => {
    draining = true;
    for (const wake of [...wakers]) wake();
    release();
    if (cut?.aborted) return;
    const ended = new Promise<void>((resolve) => cut?.addEventListener("abort", () => resolve()));
    await Promise.race([Promise.allSettled(underWay), ended]);
  };

  return { wait, hold, release, track, drain };
};
