// Reads are eventually consistent (docs/faults.md#f18): for five seconds after a create, NOT_FOUND and a list without the
// record are no evidence.
import type { Clock } from "../../client/clock.ts";

/** How long a record may stay hidden from reads after its create. */
export const LAG_MS = 5_000;

const WAITS_MS = [250, 500, 1_000, 1_500, 2_000];

/**
 * What `look` finds; undefined when it found nothing at a time when nothing could be hidden any more.
 * `hiddenUntil`: that time, by the monotonic clock; asked for after each look, since an answer may have told more of it.
 */
export const lookUntilShown = async <T>(
  clock: Clock,
  look: () => Promise<T | undefined>,
  hiddenUntil: () => number,
): Promise<T | undefined> => {
  for (let count = 0; ; count += 1) {
    const beganMs = clock.now();
    const found = await look();
    if (found !== undefined) return found;
    const until = hiddenUntil();
    // The look must have begun after it: one that began before may have seen what was hidden then.
    if (!(beganMs < until)) return undefined;
    const left = Math.max(0, until - clock.now());
    await clock.sleep(Math.min(left, WAITS_MS[Math.min(count, WAITS_MS.length - 1)] as number));
  }
};
