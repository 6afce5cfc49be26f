// A preview right after a killed run may come before what that run has created is visible. A later preview has it.
import { type Clock, systemClock } from "../client/clock.ts";

const WAIT_MS = 10_000;
const WAITS_MAX = 12;

/** Makes it again while it comes too early, unless it is good as it is. `command` is what a message begins with. */
export const untilVisible = async <T extends { isTooEarly: boolean }>(
  command: string,
  make: () => Promise<T>,
  isGood: (made: T) => boolean,
  { sleep }: Pick<Clock, "sleep"> = systemClock,
): Promise<T> => {
  for (let waits = 0; ; waits += 1) {
    const made = await make();
    if (!made.isTooEarly || isGood(made) || waits === WAITS_MAX) return made;
    process.stderr.write(
      `${command}: what an interrupted run has created may not be visible yet: again in ${WAIT_MS / 1000} s\n`,
    );
    await sleep(WAIT_MS);
  }
};
