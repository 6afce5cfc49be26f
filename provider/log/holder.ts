// The holder of a lock: which process wrote the file, whether it is certainly dead, and how another process takes over the lock.
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../client/retry.ts";
import { isAlive, pidsHere } from "../../pulumi/process.ts";
import { hasLivingMember } from "./place.ts";

export interface Holder {
  pid: number;
  host: string;
  /** namespace of the pid; without it the pid counts as that of another machine */
  pids?: string;
  /** id of this lock, so that no process removes a different lock */
  nonce: string;
  /** operation of the process, whose other processes also hold the lock */
  operation?: string;
}

interface Look {
  /** undefined while it is being written, after it was removed, or when it cannot be read */
  holder: Holder | undefined;
  /** changes whenever a process writes or touches the file */
  mark: string;
}

export const holderHere = (nonce: string, operation?: string): Holder => {
  const pids = pidsHere();
  const own = { pid: process.pid, host: hostname(), nonce };
  return { ...own, ...(pids !== undefined && { pids }), ...(operation !== undefined && { operation }) };
};

/** Through one handle: opening asks the file server again (close-to-open), where a `stat` may be answered from the client's cache. */
export const lookAt = async (file: string): Promise<Look> => {
  try {
    const handle = await open(file, "r");
    try {
      const { mtimeMs } = await handle.stat();
      const text = await handle.readFile("utf8");
      return { holder: holderFrom(text), mark: `${mtimeMs} ${text}` };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return { holder: undefined, mark: String((error as NodeJS.ErrnoException).code) };
  }
};

export const holderFrom = (text: string): Holder | undefined => {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return undefined;
  }
};

/** False if unknown: on another machine, or in another pid namespace. */
const isDead = ({ pid, host, pids, operation }: Holder, own?: string) => {
  if (pids === undefined || pids !== pidsHere() || host !== hostname() || isAlive(pid)) return false;
  // Another process of that operation may still hold it.
  return operation === undefined || operation === own || !hasLivingMember(operation);
};

// Takeover of a lock whose holder is dead or silent. Silent means that the lock has not changed for half a minute by our own clock.
// The clocks of two machines, or of a file server, are never compared (docs/internals/faults.md#f24).

const SILENT_MS = 30_000;
// Longest time that counts between two looks: while this process was suspended, the holder may also have been suspended.
const LOOK_MS = 1_000;

/** True when the lock may have changed or disappeared, so that acquiring it is worth another attempt. */
export type Takeover = (look: Look) => Promise<boolean>;

/** For one wait of a process of `operation`. Throws errors of the file system. */
export const takeoverOf = (file: string, clock: Clock, operation?: string): Takeover => {
  // Two waiting processes may see the same dead holder. The second must not remove the lock that the first has just acquired.
  const guard = `${file}.gone`;
  const isSilent = silence(clock);
  const isGuardSilent = silence(clock);

  return async (look) => {
    const silent = isSilent(look.mark);
    if (!silent && (look.holder === undefined || !isDead(look.holder, operation))) return false;
    if (!(await isCreated(guard))) {
      // The process that created it may have died.
      if (isGuardSilent(await markOf(guard))) await rm(guard, { recursive: true, force: true });
      return false;
    }
    try {
      // Moved into the guard: a process that was suspended here and has lost the guard removes nothing.
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
  return (mark: string) => {
    const now = clock.now();
    silentMs = mark === last ? silentMs + Math.min(now - lookedAt, LOOK_MS) : 0;
    last = mark;
    lookedAt = now;
    return silentMs >= SILENT_MS;
  };
};

const isCreated = async (folder: string): Promise<boolean> => {
  try {
    await mkdir(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
};

const markOf = async (folder: string) => {
  try {
    const { ino, mtimeMs } = await stat(folder);
    return `${ino} ${mtimeMs}`;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
};

const move = async (from: string, to: string) => {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
};
