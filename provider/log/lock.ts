// The lock of a stack's journal: a file beside it while a create is under way, which names its holder. A killed holder does not block the
// others. Its process is dead or, on another machine or with a reused pid, no longer touches the file. The processes of one operation hold
// it together, since their resources differ: the first one creates the file, and the last one removes it.
import { mkdir, open, readFile, rm, unlink, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { withSection } from "../../client/errors.ts";
import type { Clock } from "../../client/retry.ts";
import { JournalError, journalError } from "./entries.ts";
import { type Holder, holderFrom, holderHere, lookAt, type Takeover, takeoverOf } from "./holder.ts";
import { type Operation, soleOperation } from "./operation.ts";

const POLL_MS = 250;
/** for another process of the operation, which has just begun */
const SHARED_POLL_MS = 20;
const TOUCH_MS = 1_000;

export type Lock = ReturnType<typeof lockOf>;

export interface LockOptions {
  file: string;
  operation?: Operation;
  /** the work that this process does once, when it first creates the file, while no other process holds the lock */
  prepare?(): Promise<void>;
  clock: Clock;
  /** longest wait for another process */
  timeoutMs: number;
  log(text: string): void;
}

export const lockOf = (options: LockOptions) => {
  const { file, clock, timeoutMs, log, operation = soleOperation, prepare } = options;
  // Undefined for a process that is alone.
  const sharers = operation.id === undefined ? undefined : createSharers();
  // Returns whether this process is to remove the file.
  const { append: announce, refresh } = operation.share(`lock ${file}`, sharers?.reduce ?? (() => true));
  const nonce = crypto.randomUUID();
  /** the contents of the file, if this process has created it */
  let own: string | undefined;
  let holders = 0;
  let held: Promise<void> | undefined;
  let touching: NodeJS.Timeout | undefined;

  let leaving: Promise<void> = Promise.resolve();
  let isPrepared = prepare === undefined;

  const enter = async (): Promise<void> => {
    // Until then our own file is still there.
    await leaving;
    let hasBegun = false;
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      announce({ is: "waits" });
      hasBegun = true;
      if (await join()) {
        if (!isPrepared) await prepareOrRemove();
        announce({ is: "opened" });
      }
    } catch (error) {
      if (hasBegun) await leave();
      throw journalError(file, error, "written");
    }
    touching = setInterval(() => void touch(), TOUCH_MS).unref();
  };
  const prepareOrRemove = async (): Promise<void> => {
    try {
      await prepare?.();
      isPrepared = true;
    } catch (error) {
      await remove();
      throw error;
    }
  };
  // Another process of the operation is about to remove the file.
  const isBeingRemoved = () => {
    const member = sharers?.removing();
    return member !== undefined && member !== operation.member && operation.isActive(member);
  };
  /** Returns whether this process has created the file. Otherwise another process of the operation has, and also holds the lock. */
  const join = async (): Promise<boolean> => {
    const start = clock.now();
    let takeover: Takeover | undefined;
    own ??= JSON.stringify(holderHere(nonce, operation.id));
    let isReported = false;
    for (;;) {
      refresh?.();
      const count = sharers?.opened();
      if (count !== undefined) {
        if (await isOurs().catch(({ code }) => code !== "ENOENT")) return false;
        // No process has touched it for a long time, and another run has taken it over.
        announce({ is: "lost", opened: count });
      }
      const isRemoved = isBeingRemoved();
      if (!isRemoved && (await isCreated(file, own))) return true;
      const look = await lookAt(file);
      const { holder } = look;
      // This process could not remove it before.
      if (!isRemoved && holder?.nonce === nonce) return true;
      takeover ??= takeoverOf(file, clock, operation.id);
      if (!isRemoved && (await takeover(look))) continue;
      const isShared = isRemoved || isOfOperation(holder);
      const who = holder ? `process ${holder.pid} on ${holder.host}` : "another process";
      if (clock.now() - start > timeoutMs)
        throw new JournalError(
          withSection(
            `${who} is creating records of this stack and does not finish; if it is not one of your runs, remove ${file}`,
            "waiting",
          ),
        );
      if (!isReported && !isShared) log(`waiting for ${who}, which is creating records of this stack (${file})`);
      isReported ||= !isShared;
      await clock.sleep(isShared ? SHARED_POLL_MS : POLL_MS);
    }
  };

  // After a suspension another process may hold it.
  const isOurs = async () => {
    const text = await readFile(file, "utf8");
    if (text === own) return true;
    const holder = holderFrom(text);
    return holder?.nonce === nonce || isOfOperation(holder);
  };
  const isOfOperation = (holder: Holder | undefined) =>
    holder?.operation !== undefined && holder.operation === operation.id;
  const touch = async () => {
    const now = new Date(clock.today());
    try {
      if (await isOurs()) await utimes(file, now, now);
    } catch {
      // The next attempt may succeed.
    }
  };
  const leave = async (): Promise<void> => {
    try {
      refresh?.();
      const ended = [...(sharers?.holders ?? [])].filter((one) => one !== operation.member && !operation.isActive(one));
      if (!announce({ is: "ended", members: [...ended, operation.member] })) return;
      await remove();
      announce({ is: "removed" });
    } catch (error) {
      log((error as Error).message);
    }
  };
  const remove = async () => {
    try {
      if (await isOurs()) await unlink(file);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") log(`cannot remove ${file} (${code ?? message}); the next run removes it`);
    }
  };

  return {
    /** Waits until no other process holds it. Every `acquire` needs a `release`. */
    acquire: async (): Promise<void> => {
      holders += 1;
      held ??= enter();
      try {
        await held;
      } catch (error) {
        holders -= 1;
        held = undefined;
        throw error;
      }
    },
    /** Never fails, since the records created under the lock exist. Failing to remove the lock is a warning, not an error. */
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

const isCreated = async (file: string, holder: string): Promise<boolean> => {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(file, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  try {
    // A file server may report a full disk only at the close.
    await handle.writeFile(holder).finally(() => handle.close());
    return true;
  } catch (error) {
    // Otherwise other processes would wait for a lock without a holder.
    await rm(file, { force: true }).catch(() => undefined);
    throw error;
  }
};

type Event =
  | { is: "waits" }
  /** the file exists, and its preparation is done */
  | { is: "opened" }
  /** another run has taken over the lock that was opened the nth time */
  | { is: "lost"; opened: number }
  | { is: "ended"; members: readonly string[] }
  | { is: "removed" };

/** Which processes of an operation hold the lock, by the order of their events: the last one removes the file. */
const createSharers = () => {
  /** processes that hold the lock, or wait for it */
  const holders = new Set<string>();
  let isOpen = false;
  let opened = 0;
  let removing: string | undefined;
  /** Returns whether the file is to be removed by the process whose event this is. */
  const reduce = (event: Event, member: string): boolean => {
    if (event.is === "waits") holders.add(member);
    else if (event.is === "removed") removing = undefined;
    else if (event.is === "opened") {
      isOpen = true;
      opened += 1;
    } else if (event.is === "lost") isOpen = isOpen && event.opened !== opened;
    else if (event.is === "ended") {
      for (const one of event.members) holders.delete(one);
      if (!isOpen || holders.size > 0) return false;
      isOpen = false;
      removing = member;
      return true;
    }
    return false;
  };
  return {
    reduce,
    holders,
    /** how often it was opened; undefined while none of them has created the file */
    opened: () => (isOpen ? opened : undefined),
    /** the process that is removing the file */
    removing: () => removing,
  };
};
