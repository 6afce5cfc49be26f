// The journal of a process (docs/faults.md#nothing-lost): a create is on disk before its POST, and its result after it. A run
// that dies in between leaves a pending entry, and the next run looks for the record instead of creating another.
import { randomUUID } from "node:crypto";
import type { Clock } from "../../client/clock.ts";
import { recordId } from "../kind/record.ts";
import { apply, type Entry, type Intent, type InvalidLine, isKnownBy, type Known, type Line } from "./entry.ts";
import { JournalError, type JournalFile, journalFile, quarantineOf } from "./file.ts";
import { type Lock, lockOf } from "./lock.ts";

export interface Journal {
  /**
   * What earlier runs left of a resource: open entries, and made ones that the engine has not asked for since. Waits for
   * another process that is making records of the same stack.
   */
  left(key: string): Promise<Entry[]>;
  /** There was no journal of the stack when this process began. */
  isNew(key: string): Promise<boolean>;
  /**
   * Writes an intent, with the time by the service's clock, and holds the lock until its `end`; undefined when another process
   * has meanwhile left something of the resource. Errors: JournalError, and then nothing may be sent.
   */
  begin(intent: Omit<Intent, "intent" | "at" | "notBefore">, now: () => Promise<number>): Promise<Entry | undefined>;
  /** The POST is about to be sent, at this time by the service's clock; kept to a second. */
  sent(entry: Entry, at: number): Promise<void>;
  made(entry: Entry, uid: string, at: number): Promise<void>;
  /** The service has answered with this record, and it is not what was asked for. */
  answered(entry: Entry, uid: string): Promise<void>;
  /** The record that the entry names is not of its create: that is kept aside, and the entry is as if nobody knew. */
  disown(entry: Entry, why: string): Promise<void>;
  /** Surely not made, or gone again. */
  closed(entry: Entry): Promise<void>;
  /** The create is over, whatever is known of it. */
  end(entry: Entry): Promise<void>;
  /** The engine has asked for the record of this uid, so its state has it. `key` is that of the resource, where it is known. */
  known(kind: string, uid: string, key?: string): Promise<void>;
  /** how many intents with the same parent and inputs, this one among them, nobody knows the record of */
  openAlike(entry: Entry): Promise<number>;
  /** ids of the records that other resources of the stack have made */
  idsBeside(key: string): Promise<Set<string>>;
  /** Creates of the stack of this resource, not by this process, of which nobody knows the end; each once. */
  untold(key: string): Promise<Entry[]>;
}

export interface JournalOptions {
  /** file of the journal of a stack, `organisation/project/stack` */
  pathOf(stack: string): string;
  clock: Clock;
  /** longest wait for another process */
  patienceMs: number;
  say(text: string): void;
}

// A process serves one stack; the Automation API, and tests, may serve several.
interface Open {
  file: JournalFile;
  lock: Lock;
  entries: Map<string, Entry>;
  /** there was no file */
  isNew: boolean;
  /** no other process was making records when the entries were read */
  settled: boolean;
}

/** How exactly the time of a request is kept: a line on disk for each would cost more than it tells. */
export const SENT_MS = 1_000;

export const stackOf = (key: string): string => key.split("/", 3).join("/");

const SHOWN = 10;
const SHOWN_CHARACTERS = 200;

const invalidText = (path: string, invalid: readonly InvalidLine[]): string => {
  const are = invalid.length === 1 ? "a line that is no entry" : `${invalid.length} lines that are no entries`;
  const lines = invalid
    .slice(0, SHOWN)
    .map(({ line, why }) => `${JSON.stringify(line.slice(0, SHOWN_CHARACTERS))}: ${why}`);
  const more = invalid.length > SHOWN ? [`and ${invalid.length - SHOWN} more`] : [];
  const head = `the intent journal ${path} has ${are}, not followed and kept in ${quarantineOf(path)} by the next up:`;
  return (
    `${[head, ...lines, ...more].join("\n  - ")}\n` +
    "If one is of a create that a killed run did not end, its record may belong to no resource: look for it. irm journal list " +
    "shows these lines, irm journal clean --invalid forgets them."
  );
};

export const createJournal = ({ pathOf, clock, patienceMs, say }: JournalOptions): Journal => {
  const byStack = new Map<string, Promise<Open>>();
  const begunHere = new Set<string>();
  const knownHere = new Map<string, Known>();
  const toldOf = new Set<string>();

  const warnedOf = new Set<string>();
  const warnOf = (path: string, invalid: readonly InvalidLine[] = []): void => {
    const fresh = invalid.filter(({ line }) => !warnedOf.has(line));
    for (const { line } of fresh) warnedOf.add(line);
    if (fresh.length > 0) say(invalidText(path, fresh));
  };

  const openAt = async (stack: string): Promise<Open> => {
    const path = pathOf(stack);
    const file = journalFile(path);
    const lock = lockOf({ file: path.replace(/\.jsonl$/, ".lock"), clock, patienceMs, say });
    const contents = await file.read();
    warnOf(path, contents?.invalid);
    return { file, lock, entries: contents?.entries ?? new Map(), isNew: contents === undefined, settled: false };
  };
  const opened = (key: string): Promise<Open> => {
    const stack = stackOf(key);
    const found = byStack.get(stack) ?? openAt(stack);
    byStack.set(stack, found);
    found.catch(() => byStack.delete(stack));
    return found;
  };

  const readAgain = async (open: Open): Promise<void> => {
    const contents = await open.file.read();
    warnOf(open.file.path, contents?.invalid);
    open.entries = contents?.entries ?? new Map();
    for (const line of knownHere.values()) apply(open.entries, line);
  };

  // Once: what others write later is seen when we have the lock.
  let settling: Promise<void> | undefined;
  const settle = async (open: Open): Promise<void> => {
    await open.lock.acquire();
    try {
      await readAgain(open);
      await open.file.compact(open.entries.values());
      open.settled = true;
    } finally {
      await open.lock.release();
    }
  };
  const settled = async (key: string): Promise<Open> => {
    const open = await opened(key);
    if (open.settled) return open;
    settling ??= settle(open).finally(() => {
      settling = undefined;
    });
    await settling;
    return settled(key);
  };

  const leftIn = ({ entries }: Open, key: string): Entry[] =>
    [...entries.values()].filter((entry) => entry.key === key && !begunHere.has(entry.intent));

  const write = async (open: Open, line: Line): Promise<void> => {
    await open.file.append(line);
    apply(open.entries, line);
  };

  return {
    left: async (key) => leftIn(await settled(key), key),
    isNew: async (key) => (await opened(key)).isNew,
    begin: async (intent, now) => {
      const open = await settled(intent.key);
      await open.lock.acquire();
      try {
        if (!(await open.file.isAsRead())) await readAgain(open);
        if (leftIn(open, intent.key).length > 0) {
          await open.lock.release();
          return undefined;
        }
        const at = await now();
        const entry: Entry = { intent: randomUUID(), ...intent, at, notBefore: at };
        begunHere.add(entry.intent);
        await write(open, { ...entry });
        return entry;
      } catch (error) {
        await open.lock.release();
        throw error;
      }
    },
    sent: async (entry, at) => {
      if (at - entry.at <= SENT_MS) return;
      await write(await opened(entry.key), { again: entry.intent, at });
      entry.at = at;
    },
    made: async ({ intent, key }, uid, at) => write(await opened(key), { made: intent, uid, at }),
    answered: async (entry, uid) => {
      await write(await opened(entry.key), { answered: entry.intent, uid });
      entry.answered = uid;
    },
    disown: async (entry, why) => {
      const open = await opened(entry.key);
      const { uid, answered = uid, ...intent } = entry;
      await open.file.quarantine([{ line: JSON.stringify(entry), why }]);
      say(
        `${entry.key}: the intent journal names ${answered} for it, which ${why}: it is not followed, and kept in ` +
          quarantineOf(open.file.path),
      );
      await write(open, intent);
      delete entry.uid;
      delete entry.answered;
    },
    closed: async ({ intent, key }) => write(await opened(key), { closed: intent }),
    end: async ({ key }) => (await opened(key)).lock.release(),
    known: async (kind, uid, key) => {
      const id = recordId(kind, uid);
      const line: Known = id === uid ? { known: uid } : { known: uid, kind };
      knownHere.set(id, line);
      try {
        if (key !== undefined) await opened(key);
        for (const open of await Promise.all(byStack.values())) {
          const isOpen = [...open.entries.values()].some((entry) => isKnownBy(entry, line));
          if (isOpen) await write(open, line);
        }
      } catch (error) {
        // A preview may have nothing to write to; the next create that may writes it.
        if (!(error instanceof JournalError)) throw error;
      }
    },
    openAlike: async ({ key, kind, parent, inputs }) => {
      const { entries } = await opened(key);
      return [...entries.values()].filter(
        (one) => one.uid === undefined && one.kind === kind && one.parent === parent && one.inputs === inputs,
      ).length;
    },
    untold: async (key) => {
      const { entries } = await opened(key);
      const untold = [...entries.values()].filter(
        ({ intent, uid }) => uid === undefined && !begunHere.has(intent) && !toldOf.has(intent),
      );
      for (const { intent } of untold) toldOf.add(intent);
      return untold;
    },
    idsBeside: async (key) => {
      const { entries } = await opened(key);
      const others = [...entries.values()].filter((entry) => entry.key !== key);
      return new Set(others.flatMap(({ kind, uid }) => (uid === undefined ? [] : [recordId(kind, uid)])));
    },
  };
};
