// The journal of a process (docs/faults.md#nothing-lost): a create is on disk before its POST, and its outcome after it. A run that dies
// in between leaves a pending entry, and the next run searches for the record instead of creating another one.
import { createHash, randomUUID } from "node:crypto";
import type { Clock } from "../../client/clock.ts";
import {
  apply,
  type Entry,
  type Intent,
  type InvalidLine,
  type Known,
  knownAmong,
  knownLine,
  type Line,
} from "../log/entry.ts";
import { JournalError, type JournalFile, journalFile, quarantineOf } from "../log/file.ts";
import { recordId } from "../record/id.ts";
import { createRun } from "./begun.ts";
import { invalidText } from "./invalid.ts";
import { type Lock, lockOf } from "./lock.ts";
import { type Operation, soleOperation } from "./operation.ts";

export type NewIntent = Omit<Intent, "intent" | "at" | "notBefore">;

/** The record that the create of an entry produced. */
export interface Created {
  entry: Entry;
  uid: string;
}

export interface Journal {
  /**
   * Entries that earlier runs left for a resource: pending ones, and succeeded ones whose records the engine has not asked for since.
   * Waits for another process that is creating records of the same stack. `isOwn`: of a resource with several keys, which these are.
   */
  findUnsettled(key: string, isOwn?: (key: string) => boolean): Promise<Entry[]>;
  /** Whether there are none, as far as this process knows without a wait: it has read the file under the lock before. */
  isClear(key: string): Promise<boolean>;
  /** The same as the file has them now, for a preview: it neither waits nor writes. */
  peekUnsettled(key: string): Promise<Entry[]>;
  /** The stack had no journal when this run began. */
  isNew(key: string): Promise<boolean>;
  /**
   * Writes the pending entries of one POST at once, with the time by the service's clock, and holds the lock until their `end`. Returns
   * undefined when another process has meanwhile left an entry for one of the resources. After a JournalError nothing may be sent.
   */
  begin(intents: readonly NewIntent[], now: () => Promise<number>): Promise<Entry[] | undefined>;
  /** The POST is about to be sent, at this time by the service's clock, which is stored to the second. */
  recordSend(entries: readonly Entry[], at: number): Promise<void>;
  recordSuccess(created: readonly Created[], at: number): Promise<void>;
  /** The response named this record, which differs from the request. */
  recordAnswer(entry: Entry, uid: string): Promise<void>;
  /** The create did not produce the record that the entry names. That line is quarantined, and the entry is pending again. */
  disown(entry: Entry, why: string): Promise<void>;
  /** The record of the entry cannot be that of the resource. The entry is quarantined and goes; `why` is reported once. */
  setAside(entry: Entry, why: string): Promise<void>;
  /** Certainly not created, or deleted again. */
  recordFailure(...entries: Entry[]): Promise<void>;
  /** The POST is over, whatever its outcome. */
  end(entries: readonly Entry[]): Promise<void>;
  /** The engine has asked for the records of these uids, so its state has them. `key` is that of the resource, if it is known. */
  acknowledge(kind: string, uids: readonly string[], key?: string): Promise<void>;
  /** How many entries with the same parent and fingerprint are pending, including this one. */
  countPendingAlike(entry: Entry): Promise<number>;
  /** ids of the records that other resources of the stack created. */
  otherIds(key: string): Promise<Set<string>>;
  /** The file of the resource's stack, for a message. */
  pathFor(key: string): string;
  /** The command that removes the entries of a resource. */
  cleanCommand(key: string): string;
  /** Pending entries of earlier runs, in the stack of this resource; each is returned once. */
  takeUnreported(key: string): Promise<Entry[]>;
}

export interface JournalOptions {
  /** file of the journal of a stack, `organization/project/stack` */
  pathOf(stack: string): string;
  /** by which a command of `irm journal` finds the folder, where it needs one: ` --folder "/journals"` */
  folderFlag?: string;
  clock: Clock;
  /** longest wait for another process */
  timeoutMs: number;
  log(text: string): void;
  /** whose processes share the stack's journal */
  operation?: Operation;
}

// A process serves one stack; the Automation API, and tests, may serve several.
interface StackJournal {
  file: JournalFile;
  lock: Lock;
  entries: Map<string, Entry>;
  /** there was no file */
  isNew: boolean;
  /** the entries were read while no other process was creating records */
  isSettled: boolean;
}

/** Precision of a recorded send time: a line on disk for every request would cost too much. */
export const SEND_TIME_MS = 1_000;

export const stackOf = (key: string): string => key.split("/", 3).join("/");

const digest = (line: string): string => createHash("sha256").update(line).digest("hex");

export const createJournal = (options: JournalOptions): Journal => {
  const { pathOf, folderFlag = "", clock, timeoutMs, log, operation = soleOperation() } = options;
  const byStack = new Map<string, Promise<StackJournal>>();
  const acknowledged = new Map<string, Known>();
  const run = createRun(operation);

  const warnOfInvalid = (path: string, invalid: readonly InvalidLine[] = []): void => {
    const fresh = invalid.filter(({ line }) => run.reports(digest(line)));
    if (fresh.length > 0) log(invalidText(path, fresh));
  };

  const openAt = async (stack: string): Promise<StackJournal> => {
    const path = pathOf(stack);
    const file = journalFile(path);
    const prepare = async () => {
      if (!open.isSettled) await compact(open);
    };
    const lock = lockOf({ file: path.replace(/\.jsonl$/, ".lock"), clock, timeoutMs, log, operation, prepare });
    const contents = await file.read();
    warnOfInvalid(path, contents?.invalid);
    const isNew = run.isNew(path, contents === undefined);
    const open: StackJournal = { file, lock, entries: contents?.entries ?? new Map(), isNew, isSettled: false };
    return open;
  };
  const openFor = (key: string): Promise<StackJournal> => {
    const stack = stackOf(key);
    const found = byStack.get(stack) ?? openAt(stack);
    byStack.set(stack, found);
    found.catch(() => byStack.delete(stack));
    return found;
  };

  const readAgain = async (open: StackJournal): Promise<void> => {
    const contents = await open.file.read();
    warnOfInvalid(open.file.path, contents?.invalid);
    open.entries = contents?.entries ?? new Map();
    for (const line of acknowledged.values()) apply(open.entries, line);
  };

  const readOn = async (open: StackJournal): Promise<void> => {
    const invalid = await open.file.readOn(open.entries);
    if (invalid === undefined) await readAgain(open);
    else if (invalid.length > 0) warnOfInvalid(open.file.path, invalid);
  };
  // In one process, its own memory is as new as the file while it holds the lock.
  const upToDate = async (key: string): Promise<StackJournal> => {
    const open = await openFor(key);
    if (operation.id !== undefined) await readOn(open);
    return open;
  };

  // Only once: later lines of other processes are read under the lock. No other process has a create under way.
  let settling: Promise<void> | undefined;
  const compact = async (open: StackJournal): Promise<void> => {
    await readAgain(open);
    await open.file.compact(open.entries.values());
    open.isSettled = true;
  };
  const settleUnderLock = async (open: StackJournal): Promise<void> => {
    await open.lock.acquire();
    try {
      // Another process of the operation has created the lock, and has compacted it.
      if (!open.isSettled) await readAgain(open);
      open.isSettled = true;
    } finally {
      await open.lock.release();
    }
  };
  const settle = async (key: string): Promise<StackJournal> => {
    const open = await openFor(key);
    if (open.isSettled) return open;
    settling ??= settleUnderLock(open).finally(() => {
      settling = undefined;
    });
    await settling;
    return settle(key);
  };

  const unsettledIn = ({ entries }: StackJournal, isOwn: (key: string) => boolean): Entry[] => {
    const own = [...entries.values()].filter(({ key }) => isOwn(key));
    if (own.length === 0) return own;
    const isOfThisRun = run.begun();
    return own.filter(({ intent }) => !isOfThisRun.has(intent));
  };

  const append = async (open: StackJournal, lines: Line[]): Promise<void> => {
    if (lines.length === 0) return;
    await open.file.append(...lines);
    for (const line of lines) apply(open.entries, line);
  };
  const write = async (open: StackJournal, ...lines: Line[]): Promise<void> => {
    if (operation.id === undefined) return append(open, lines);
    // Another process of the operation must not compact the file without them.
    await open.lock.acquire();
    try {
      await append(open, lines);
    } finally {
      await open.lock.release();
    }
  };
  return {
    findUnsettled: async (key, isOwn = (other) => other === key) => unsettledIn(await settle(key), isOwn),
    isClear: async (key) => {
      const open = await openFor(key);
      return open.isSettled && unsettledIn(open, (other) => other === key).length === 0;
    },
    peekUnsettled: async (key) => unsettledIn(await openFor(key), (other) => other === key),
    isNew: async (key) => (await openFor(key)).isNew,
    begin: async (intents, now) => {
      const keys = new Set(intents.map(({ key }) => key));
      const [{ key: first }] = intents as readonly [NewIntent];
      const opened = await openFor(first);
      const open = opened.isSettled ? opened : await settle(first);
      await open.lock.acquire();
      try {
        await readOn(open);
        if (unsettledIn(open, (key) => keys.has(key)).length > 0) {
          await open.lock.release();
          return undefined;
        }
        const at = await now();
        const entries = intents.map((intent): Entry => ({ intent: randomUUID(), ...intent, at, notBefore: at }));
        run.begin(entries.map(({ intent }) => intent));
        await write(open, ...entries.map((entry) => ({ ...entry })));
        return entries;
      } catch (error) {
        await open.lock.release();
        throw error;
      }
    },
    recordSend: async (entries, at) => {
      const later = entries.filter((entry) => at - entry.at > SEND_TIME_MS);
      if (later.length === 0) return;
      await write(await openFor((later[0] as Entry).key), ...later.map(({ intent }) => ({ again: intent, at })));
      for (const entry of later) entry.at = at;
    },
    recordSuccess: async (created, at) => {
      // All entries of a POST are of one stack.
      const [{ entry: first }] = created as readonly [Created];
      const open = await openFor(first.key);
      await write(open, ...created.map(({ entry, uid }) => ({ made: entry.intent, uid, at })));
    },
    recordAnswer: async (entry, uid) => {
      await write(await openFor(entry.key), { answered: entry.intent, uid });
      entry.answered = uid;
    },
    disown: async (entry, why) => {
      const open = await openFor(entry.key);
      const { uid, answered = uid, ...intent } = entry;
      await open.file.quarantine([{ line: JSON.stringify(entry), why }]);
      log(
        `${entry.key}: the intent journal names ${answered} for it, which ${why}: it is ignored, and kept in ` +
          quarantineOf(open.file.path),
      );
      await write(open, intent);
      delete entry.uid;
      delete entry.answered;
    },
    setAside: async (entry, why) => {
      const open = await openFor(entry.key);
      const { path } = open.file;
      await open.file.quarantine([{ line: JSON.stringify(entry), why }]);
      await write(open, { closed: entry.intent });
      if (run.reports(`set aside: ${why}`))
        log(
          `the intent journal ${path}: ${why}. Its entries are dropped where they are in the way, and kept in ${quarantineOf(path)}`,
        );
    },
    pathFor: (key) => pathOf(stackOf(key)),
    cleanCommand: (key) => `irm journal clean --key "${key}"${folderFlag}`,
    recordFailure: async (...entries) => {
      const [first] = entries;
      if (first) await write(await openFor(first.key), ...entries.map(({ intent }) => ({ closed: intent })));
    },
    end: async (entries) => (await openFor((entries[0] as Entry).key)).lock.release(),
    acknowledge: async (kind, uids, key) => {
      const lines = uids.map((uid) => knownLine(kind, uid));
      for (const line of lines) acknowledged.set(recordId(kind, line.known), line);
      try {
        if (key !== undefined) await openFor(key);
        for (const open of await Promise.all(byStack.values())) {
          // A line that is lost costs nothing: the next acknowledgement writes it again.
          await append(open, knownAmong(open.entries.values(), lines));
        }
      } catch (error) {
        // A preview may be unable to write; the next create writes the line.
        if (!(error instanceof JournalError)) throw error;
      }
    },
    countPendingAlike: async ({ key, kind, parent, inputs }) => {
      const { entries } = await upToDate(key);
      return [...entries.values()].filter(
        (one) => one.uid === undefined && one.kind === kind && one.parent === parent && one.inputs === inputs,
      ).length;
    },
    takeUnreported: async (key) => {
      const { entries } = await upToDate(key);
      const isOfThisRun = run.begun();
      const pending = [...entries.values()].filter(({ intent, uid }) => uid === undefined && !isOfThisRun.has(intent));
      return pending.filter(({ intent }) => run.reports(intent));
    },
    otherIds: async (key) => {
      const open = await openFor(key);
      // The record may exist by now, and must not be lost. Ownership knows what other processes of this run have created.
      const { entries } = await upToDate(key).catch((error) => {
        if (error instanceof JournalError) return open;
        throw error;
      });
      const others = [...entries.values()].filter((entry) => entry.key !== key);
      return new Set(others.flatMap(({ kind, uid }) => (uid === undefined ? [] : [recordId(kind, uid)])));
    },
  };
};
