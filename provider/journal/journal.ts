// The journal of a process (docs/faults.md#nothing-lost): a create is on disk before its POST, and its outcome after it. A run that dies
// in between leaves a pending entry, and the next run searches for the record instead of creating another one.
import { randomUUID } from "node:crypto";
import type { Clock } from "../../client/clock.ts";
import { recordId } from "../kind/record.ts";
import { apply, type Entry, type Intent, type InvalidLine, type Known, type Line } from "./entry.ts";
import { JournalError, type JournalFile, journalFile, quarantineOf } from "./file.ts";
import { type Lock, lockOf } from "./lock.ts";

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
  /** The stack had no journal when this process began. */
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
  /** Pending entries of earlier runs, in the stack of this resource; each is returned once. */
  takeUnreported(key: string): Promise<Entry[]>;
}

export interface JournalOptions {
  /** file of the journal of a stack, `organisation/project/stack` */
  pathOf(stack: string): string;
  clock: Clock;
  /** longest wait for another process */
  timeoutMs: number;
  log(text: string): void;
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

const SHOWN = 10;
const SHOWN_CHARACTERS = 200;

const invalidText = (path: string, invalid: readonly InvalidLine[]): string => {
  const are = invalid.length === 1 ? "a line that is not an entry" : `${invalid.length} lines that are not entries`;
  const lines = invalid
    .slice(0, SHOWN)
    .map(({ line, why }) => `${JSON.stringify(line.slice(0, SHOWN_CHARACTERS))}: ${why}`);
  const more = invalid.length > SHOWN ? [`and ${invalid.length - SHOWN} more`] : [];
  const head = `the intent journal ${path} has ${are}, ignored and kept in ${quarantineOf(path)} by the next up:`;
  return (
    `${[head, ...lines, ...more].join("\n  - ")}\n` +
    "If one is of a create that a killed run did not finish, its record may have no resource: search for it. irm journal list " +
    "shows these lines, irm journal clean --invalid deletes them."
  );
};

export const createJournal = ({ pathOf, clock, timeoutMs, log }: JournalOptions): Journal => {
  const byStack = new Map<string, Promise<StackJournal>>();
  const ownEntries = new Set<string>();
  const acknowledged = new Map<string, Known>();
  const reported = new Set<string>();

  const warned = new Set<string>();
  const warnOfInvalid = (path: string, invalid: readonly InvalidLine[] = []): void => {
    const fresh = invalid.filter(({ line }) => !warned.has(line));
    for (const { line } of fresh) warned.add(line);
    if (fresh.length > 0) log(invalidText(path, fresh));
  };

  const openAt = async (stack: string): Promise<StackJournal> => {
    const path = pathOf(stack);
    const file = journalFile(path);
    const lock = lockOf({ file: path.replace(/\.jsonl$/, ".lock"), clock, timeoutMs, log });
    const contents = await file.read();
    warnOfInvalid(path, contents?.invalid);
    return { file, lock, entries: contents?.entries ?? new Map(), isNew: contents === undefined, isSettled: false };
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

  // Only once: later lines of other processes are read under the lock.
  let settling: Promise<void> | undefined;
  const compactUnderLock = async (open: StackJournal): Promise<void> => {
    await open.lock.acquire();
    try {
      await readAgain(open);
      await open.file.compact(open.entries.values());
      open.isSettled = true;
    } finally {
      await open.lock.release();
    }
  };
  const settle = async (key: string): Promise<StackJournal> => {
    const open = await openFor(key);
    if (open.isSettled) return open;
    settling ??= compactUnderLock(open).finally(() => {
      settling = undefined;
    });
    await settling;
    return settle(key);
  };

  const unsettledIn = ({ entries }: StackJournal, isOwn: (key: string) => boolean): Entry[] =>
    [...entries.values()].filter((entry) => isOwn(entry.key) && !ownEntries.has(entry.intent));

  const write = async (open: StackJournal, ...lines: Line[]): Promise<void> => {
    if (lines.length === 0) return;
    await open.file.append(...lines);
    for (const line of lines) apply(open.entries, line);
  };
  // All entries of a POST are of one stack.
  const openOf = ([entry]: readonly Pick<Entry, "key">[]): Promise<StackJournal> => openFor((entry as Entry).key);

  return {
    findUnsettled: async (key, isOwn = (other) => other === key) => unsettledIn(await settle(key), isOwn),
    isNew: async (key) => (await openFor(key)).isNew,
    begin: async (intents, now) => {
      const keys = new Set(intents.map(({ key }) => key));
      const open = await settle((intents[0] as NewIntent).key);
      await open.lock.acquire();
      try {
        if (!(await open.file.isAsRead())) await readAgain(open);
        if (unsettledIn(open, (key) => keys.has(key)).length > 0) {
          await open.lock.release();
          return undefined;
        }
        const at = await now();
        const entries = intents.map((intent): Entry => ({ intent: randomUUID(), ...intent, at, notBefore: at }));
        for (const { intent } of entries) ownEntries.add(intent);
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
      await write(await openOf(later), ...later.map(({ intent }) => ({ again: intent, at })));
      for (const entry of later) entry.at = at;
    },
    recordSuccess: async (created, at) => {
      const open = await openOf(created.map(({ entry }) => entry));
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
    recordFailure: async (...entries) => {
      if (entries.length > 0) await write(await openOf(entries), ...entries.map(({ intent }) => ({ closed: intent })));
    },
    end: async (entries) => (await openOf(entries)).lock.release(),
    acknowledge: async (kind, uids, key) => {
      const lines = uids.map((uid): Known => {
        const id = recordId(kind, uid);
        const line: Known = id === uid ? { known: uid } : { known: uid, kind };
        acknowledged.set(id, line);
        return line;
      });
      const byId = new Map(lines.map((line) => [recordId(line.kind ?? "", line.known), line]));
      try {
        if (key !== undefined) await openFor(key);
        for (const open of await Promise.all(byStack.values())) {
          const named = [...open.entries.values()].flatMap(
            ({ kind: own, uid }) => (uid === undefined ? undefined : byId.get(recordId(own, uid))) ?? [],
          );
          await write(open, ...new Set(named));
        }
      } catch (error) {
        // A preview may be unable to write; the next create writes the line.
        if (!(error instanceof JournalError)) throw error;
      }
    },
    countPendingAlike: async ({ key, kind, parent, inputs }) => {
      const { entries } = await openFor(key);
      return [...entries.values()].filter(
        (one) => one.uid === undefined && one.kind === kind && one.parent === parent && one.inputs === inputs,
      ).length;
    },
    takeUnreported: async (key) => {
      const { entries } = await openFor(key);
      const pending = [...entries.values()].filter(
        ({ intent, uid }) => uid === undefined && !ownEntries.has(intent) && !reported.has(intent),
      );
      for (const { intent } of pending) reported.add(intent);
      return pending;
    },
    otherIds: async (key) => {
      const { entries } = await openFor(key);
      const others = [...entries.values()].filter((entry) => entry.key !== key);
      return new Set(others.flatMap(({ kind, uid }) => (uid === undefined ? [] : [recordId(kind, uid)])));
    },
  };
};
