// The intent journal of a process (faults.md, section 3): what is about to be made is on disk before the POST, what was made
// after it. A run that dies in between leaves an open entry, and the next one looks for the record instead of making another.
import { randomUUID } from "node:crypto";
import type { Clock } from "../clock.ts";
import { apply, type Entry, type Intent, type Line } from "./entry.ts";
import { JournalError, type JournalFile, journalFile } from "./file.ts";
import { type Lock, lockOf } from "./lock.ts";

export interface Journal {
  /**
   * What earlier runs left of a resource: open entries, and made ones that the engine has not asked for since. Waits for
   * another process that is making records of the same stack.
   */
  left(key: string): Promise<Entry[]>;
  /** There was no journal of the stack when this process began. */
  isNew(key: string): Promise<boolean>;
  /** Writes an intent and holds the lock until its `end`. Errors: JournalError, and then nothing may be sent. */
  begin(intent: Omit<Intent, "intent" | "at">): Promise<Entry>;
  /** The POST is about to be sent once more. */
  again(entry: Entry): Promise<void>;
  made(entry: Entry, uid: string): Promise<void>;
  /** Surely not made, or gone again. */
  closed(entry: Entry): Promise<void>;
  /** The create is over, whatever is known of it. */
  end(entry: Entry): Promise<void>;
  /** The engine has asked for the record of this uid, so its state has it. `key` is that of the resource, where it is known. */
  known(uid: string, key?: string): Promise<void>;
  /** how many intents with the same parent and inputs, this one among them, nobody knows the record of */
  openAlike(entry: Entry): Promise<number>;
  /** uids that other resources of the stack have made */
  uidsBeside(key: string): Promise<Set<string>>;
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

export const stackOf = (key: string): string => key.split("/", 3).join("/");

export const createJournal = ({ pathOf, clock, patienceMs, say }: JournalOptions): Journal => {
  const byStack = new Map<string, Promise<Open>>();
  const begunHere = new Set<string>();
  const knownUids = new Set<string>();

  const openAt = async (stack: string): Promise<Open> => {
    const path = pathOf(stack);
    const file = journalFile(path);
    const lock = lockOf({ file: path.replace(/\.jsonl$/, ".lock"), clock, patienceMs, say });
    const entries = await file.read();
    return { file, lock, entries: entries ?? new Map(), isNew: entries === undefined, settled: false };
  };
  const opened = (key: string): Promise<Open> => {
    const stack = stackOf(key);
    const found = byStack.get(stack) ?? openAt(stack);
    byStack.set(stack, found);
    found.catch(() => byStack.delete(stack));
    return found;
  };

  // Once: who starts to make records later waits for us.
  let settling: Promise<void> | undefined;
  const settle = async (open: Open): Promise<void> => {
    await open.lock.acquire();
    try {
      const entries = (await open.file.read()) ?? new Map<string, Entry>();
      const isOld = entries.size > 0;
      for (const uid of knownUids) apply(entries, { known: uid });
      if (isOld) await open.file.rewrite(entries.values());
      open.entries = entries;
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

  const write = async ({ file, entries }: Open, line: Line): Promise<void> => {
    await file.append(line);
    apply(entries, line);
  };

  return {
    left: async (key) => {
      const { entries } = await settled(key);
      return [...entries.values()].filter((entry) => entry.key === key && !begunHere.has(entry.intent));
    },
    isNew: async (key) => (await opened(key)).isNew,
    begin: async (intent) => {
      const open = await settled(intent.key);
      await open.lock.acquire();
      const entry: Entry = { intent: randomUUID(), ...intent, at: clock.today() };
      begunHere.add(entry.intent);
      try {
        await write(open, { ...entry });
      } catch (error) {
        await open.lock.release();
        throw error;
      }
      return entry;
    },
    again: async ({ intent, key }) => write(await opened(key), { again: intent, at: clock.today() }),
    made: async ({ intent, key }, uid) => write(await opened(key), { made: intent, uid }),
    closed: async ({ intent, key }) => write(await opened(key), { closed: intent }),
    end: async ({ key }) => (await opened(key)).lock.release(),
    known: async (uid, key) => {
      knownUids.add(uid);
      try {
        if (key !== undefined) await opened(key);
        for (const open of await Promise.all(byStack.values())) {
          const isOpen = [...open.entries.values()].some((entry) => entry.uid === uid);
          if (isOpen) await write(open, { known: uid });
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
    uidsBeside: async (key) => {
      const { entries } = await opened(key);
      return new Set(
        [...entries.values()].flatMap(({ uid, key: own }) => (uid !== undefined && own !== key ? [uid] : [])),
      );
    },
  };
};
