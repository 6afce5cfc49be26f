// Removes a lock whose holder is gone: dead, or silent. Silent means that the lock did not change for half a minute of our own
// clock. The wall clocks of two machines, or of a file server, are never compared (docs/faults.md#f24).
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../client/clock.ts";
import { isDead, type Look, lookAt } from "./holder.ts";

const SILENT_MS = 30_000;
// What counts between two looks: who was suspended in between has not looked, and its holder may have been suspended with it.
const LOOK_MS = 1_000;

/** True when the file may be another one now, or none: try again. */
export type Takeover = (look: Look) => Promise<boolean>;

/** For one wait. Errors: those of the file system. */
export const takeoverOf = (file: string, clock: Clock): Takeover => {
  // Two who wait may see the same dead holder: the second must not remove what the first has just taken.
  const guard = `${file}.gone`;
  const isSilent = silence(clock);
  const isGuardSilent = silence(clock);

  return async (look) => {
    const silent = isSilent(look.mark);
    if (!silent && (look.holder === undefined || !isDead(look.holder))) return false;
    if (!(await isMade(guard))) {
      // Whoever made it may have died then.
      if (isGuardSilent(await markOf(guard))) await rm(guard, { recursive: true, force: true });
      return false;
    }
    try {
      // Into the guard: who was suspended here, and has lost the guard since, removes nothing.
      if ((await lookAt(file)).mark === look.mark) await move(file, join(guard, "lock"));
    } finally {
      await rm(guard, { recursive: true, force: true });
    }
    return true;
  };
};

const silence = (clock: Clock) => {
  let last: string | undefined;
  let lookedAt = 0;
  let silentMs = 0;
  return (mark: string): boolean => {
    const now = clock.now();
    silentMs = mark === last ? silentMs + Math.min(now - lookedAt, LOOK_MS) : 0;
    last = mark;
    lookedAt = now;
    return silentMs >= SILENT_MS;
  };
};

const isMade = async (folder: string): Promise<boolean> => {
  try {
    await mkdir(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
};

const markOf = async (folder: string): Promise<string> => {
  try {
    const { ino, mtimeMs } = await stat(folder);
    return `${ino} ${mtimeMs}`;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
};

const move = async (from: string, to: string): Promise<void> => {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
};
