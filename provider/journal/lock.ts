// Who else is making records of this stack: a file beside the journal while a create is under way, with its holder in it. A
// holder that was killed does not stop the others: its process is gone, or (on another machine, or where another process has
// its pid by now) it no longer touches the file.
import { mkdir, open, readFile, rm, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import type { Clock } from "../clock.ts";
import { JournalError, told } from "./file.ts";

const POLL_MS = 250;
const TOUCH_MS = 5_000;
const SILENT_MS = 30_000;

export interface Lock {
  /** Waits until no other process holds it; every `acquire` has its `release`. */
  acquire(): Promise<void>;
  release(): Promise<void>;
}

export interface LockOptions {
  file: string;
  clock: Clock;
  /** longest wait for another process */
  patienceMs: number;
  say(text: string): void;
}

export const lockOf = ({ file, clock, patienceMs, say }: LockOptions): Lock => {
  const nonce = crypto.randomUUID();
  let holders = 0;
  let held: Promise<void> | undefined;
  let touching: NodeJS.Timeout | undefined;

  let leaving: Promise<void> = Promise.resolve();

  const take = async () => {
    // Our own file is still there until then.
    await leaving.catch(() => undefined);
    await told(file, "written", wait);
  };
  const leave = async (): Promise<void> => {
    // Whoever was suspended may find that another one has taken it.
    if ((await holderOf(file))?.nonce === nonce) await rm(file, { force: true });
  };
  const wait = async (): Promise<void> => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const start = clock.now();
    for (let told = false; !(await created(file, nonce)); told = true) {
      const holder = await holderOf(file);
      if (await isGone(file, holder)) {
        await removeFrom(file, holder);
        continue;
      }
      const who = holder ? `process ${holder.pid} on ${holder.host}` : "another process";
      if (clock.now() - start > patienceMs)
        throw new JournalError(
          `${who} is making records of this stack and does not end; if it is none of yours, remove ${file}`,
        );
      if (!told) say(`waiting for ${who}, which is making records of this stack (${file})`);
      await clock.sleep(POLL_MS);
    }
    const touch = () => void utimes(file, new Date(), new Date()).catch(() => undefined);
    touching = setInterval(touch, TOUCH_MS).unref();
  };

  return {
    acquire: async () => {
      holders += 1;
      held ??= take();
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

interface Holder {
  pid: number;
  host: string;
  /** of this lock, so that nobody removes another one */
  nonce: string;
}

const created = async (file: string, nonce: string): Promise<boolean> => {
  try {
    const handle = await open(file, "wx", 0o600);
    const holder: Holder = { pid: process.pid, host: hostname(), nonce };
    await handle.writeFile(JSON.stringify(holder));
    await handle.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
};

const holderOf = async (file: string): Promise<Holder | undefined> => {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Holder;
  } catch {
    // Just released, or made and not written yet, maybe by a process that died then: the next round sees.
    return undefined;
  }
};

const isGone = async (file: string, holder: Holder | undefined): Promise<boolean> =>
  (holder?.host === hostname() && !isAlive(holder.pid)) || (await isSilent(file));

const isSilent = async (file: string): Promise<boolean> => {
  try {
    const { mtimeMs } = await stat(file);
    return Date.now() - mtimeMs > SILENT_MS;
  } catch {
    return false;
  }
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
};

// Two who wait may see the same dead holder: the second must not remove what the first has just taken.
const removeFrom = async (file: string, dead: Holder | undefined): Promise<void> => {
  const guard = `${file}.${dead?.nonce ?? "unwritten"}`;
  try {
    await mkdir(guard);
  } catch {
    return;
  }
  try {
    const isSame = (await holderOf(file))?.nonce === dead?.nonce;
    if (isSame && (dead !== undefined || (await isSilent(file)))) await rm(file, { force: true });
  } finally {
    await rm(guard, { recursive: true, force: true });
  }
};
