// The lock of a stack's journal: a file beside it while a create is under way, which names its holder. A killed holder does not block
// the others. Its process is dead; on another machine, or where its pid was reused, it no longer touches the file.
import { mkdir, open, readFile, rm, unlink, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock } from "../../client/clock.ts";
import { JournalError, withAdvice } from "./file.ts";
import { holderFrom, holderHere, lookAt, takeoverOf } from "./holder.ts";

const POLL_MS = 250;
const TOUCH_MS = 1_000;

export interface Lock {
  /** Waits until no other process holds it. Every `acquire` needs a `release`. */
  acquire(): Promise<void>;
  /** Never fails, since what was created under the lock exists. Failing to remove the lock is a warning, not an error. */
  release(): Promise<void>;
}

export interface LockOptions {
  file: string;
  clock: Clock;
  /** longest wait for another process */
  timeoutMs: number;
  log(text: string): void;
}

export const lockOf = ({ file, clock, timeoutMs, log }: LockOptions): Lock => {
  const nonce = crypto.randomUUID();
  let holders = 0;
  let held: Promise<void> | undefined;
  let touching: NodeJS.Timeout | undefined;

  let leaving: Promise<void> = Promise.resolve();

  const acquire = async () => {
    // Until then our own file is still there.
    await leaving;
    await withAdvice(file, "written", wait);
    touching = setInterval(() => void touch(), TOUCH_MS).unref();
  };
  const wait = async (): Promise<void> => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const start = clock.now();
    const takeover = takeoverOf(file, clock);
    let isReported = false;
    while (!(await isCreated(file, nonce))) {
      const look = await lookAt(file);
      const { holder } = look;
      // This process could not remove it before.
      if (holder?.nonce === nonce) return;
      if (await takeover(look)) continue;
      const who = holder ? `process ${holder.pid} on ${holder.host}` : "another process";
      if (clock.now() - start > timeoutMs)
        throw new JournalError(
          `${who} is creating records of this stack and does not finish; if it is not one of your runs, remove ${file}`,
        );
      if (!isReported) log(`waiting for ${who}, which is creating records of this stack (${file})`);
      isReported = true;
      await clock.sleep(POLL_MS);
    }
  };

  // After a suspension another process may hold it.
  const isOurs = async (): Promise<boolean> => holderFrom(await readFile(file, "utf8"))?.nonce === nonce;
  const touch = async (): Promise<void> => {
    const now = new Date(clock.today());
    try {
      if (await isOurs()) await utimes(file, now, now);
    } catch {
      // The next attempt may succeed.
    }
  };
  const leave = async (): Promise<void> => {
    try {
      if (await isOurs()) await unlink(file);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") log(`cannot remove ${file} (${code ?? message}); the next run removes it`);
    }
  };

  return {
    acquire: async () => {
      holders += 1;
      held ??= acquire();
      try {
        await held;
      } catch (error) {
        holders -= 1;
        held = undefined;
        throw error;
      }
    },
    release: async () => {
      holders -= 1;
      if (holders > 0) return;
      held = undefined;
      clearInterval(touching);
      leaving = leave();
      await leaving;
    },
  };
};

const isCreated = async (file: string, nonce: string): Promise<boolean> => {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(file, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  try {
    // A file server may report a full disk only at the close.
    await handle.writeFile(JSON.stringify(holderHere(nonce))).finally(() => handle.close());
    return true;
  } catch (error) {
    // No process must wait for a lock without a holder.
    await rm(file, { force: true }).catch(() => undefined);
    throw error;
  }
};
