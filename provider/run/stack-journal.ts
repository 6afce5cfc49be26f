// The journal of one stack while a process has it open: its file, its lock, and the entries as this process knows them. The first create
// waits for the lock and compacts the file; later lines of other processes are read under the lock.
import { createHash, randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { withSection } from "../../client/errors.ts";
import type { Clock } from "../../client/retry.ts";
import { startOf } from "../../pulumi/process.ts";
import { bulleted } from "../../schema/index.ts";
import {
  createEntries,
  type Entries,
  JournalError,
  type JournalFile,
  journalFile,
  keptOf,
  quarantineOf,
} from "../log/entries.ts";
import type { Entry, InvalidLine, Known, Line, Removed, Run, Write } from "../log/entry.ts";
import { holderHere } from "../log/holder.ts";
import { type Lock, type LockOptions, lockOf } from "../log/lock.ts";
import type { Tail } from "../log/log.ts";
import type { Operation } from "../log/operation.ts";
import { recordId } from "../record/id.ts";

export interface StackJournal extends Parts {
  file: JournalFile;
  lock: Lock;
  entries: Entries;
  /** there was no file */
  isNew: boolean;
  /** Another machine may have run since: there was no file, or nothing was written to it for a minute. */
  isBehind: boolean;
  /** the entries were read while no other process was creating records */
  isCaughtUp: boolean;
  /** One wait serves all creates that begin together. */
  catchingUp?: Promise<void> | undefined;
}

interface Parts extends Omit<LockOptions, "file" | "prepare"> {
  /** file of the journal of a stack, `organization/project/stack` */
  pathOf(stack: string): string;
  /** records that the engine has asked for, by id: they are settled, whatever the file shows */
  acknowledged: ReadonlyMap<string, Known>;
  /** Adds an event of this run. */
  share(event: Event): boolean;
}

/** The events about the journal that the processes of a run share. */
export type Event =
  /** The entries with these ids are of this run, from before they are written. */
  | { is: "begun"; ids: readonly string[] }
  /** A process reports this entry, or the invalid line with this hash. Returns false if one already has. */
  | { is: "reported"; id: string }
  /** A process has opened the journal. Returns the finding of the first process. */
  | { is: "opened"; path: string; found: "new" | "behind"; value: boolean }
  /** A refresh has found the record of this resource removed. Known in the run even if the file cannot be written. */
  | { is: "removed"; path: string; line: Removed };

const QUIET_MS = 60_000;

export const openJournal = async (stack: string, parts: Parts): Promise<StackJournal> => {
  const path = parts.pathOf(stack);
  const file = journalFile(path);
  const lock = lockOf({ ...parts, file: path.replace(/\.jsonl$/, ".lock"), prepare: () => compact(open) });
  const open: StackJournal = {
    ...parts,
    file,
    lock,
    entries: createEntries(),
    isNew: false,
    isBehind: false,
    isCaughtUp: false,
  };
  const writtenMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const tail = file.readOn();
  takeIn(open, tail);
  open.isNew = parts.share({ is: "opened", path, found: "new", value: tail === undefined });
  open.isBehind = parts.share({ is: "opened", path, found: "behind", value: Date.now() - writtenMs > QUIET_MS });
  return open;
};

/** Applies the lines that were read from the file. */
export const takeIn = (open: StackJournal, tail: Tail | undefined): void => {
  const { acknowledged, file, share, log } = open;
  const isFromStart = tail?.isFromStart !== false;
  if (isFromStart) open.entries = createEntries();
  const invalid = open.entries.read([...(tail?.lines ?? []), ...(isFromStart ? [tail?.rest ?? ""] : [])]);
  if (isFromStart) for (const line of acknowledged.values()) open.entries.apply(line);
  const fresh = invalid.filter(({ line }) => share({ is: "reported", id: digest(line) }));
  if (fresh.length > 0) log(invalidText(file.path, fresh));
};

const digest = (line: string) => createHash("sha256").update(line).digest("hex");

const readAgain = (open: StackJournal) => {
  open.file.rewind();
  takeIn(open, open.file.readOn());
};

// Only once. No other process has a create under way.
const compact = async (open: StackJournal) => {
  if (open.isCaughtUp) return;
  readAgain(open);
  await open.file.compact(keptOf(open.entries));
  open.isCaughtUp = true;
};

/** Waits for other processes that are creating records of the stack. */
export const catchUp = (open: StackJournal): Promise<void> => {
  open.catchingUp ??= catchUpUnderLock(open).finally(() => {
    open.catchingUp = undefined;
  });
  return open.catchingUp;
};

const catchUpUnderLock = async (open: StackJournal) => {
  await open.lock.acquire();
  try {
    // Another process of the operation has created the lock, and has compacted it.
    if (!open.isCaughtUp) readAgain(open);
    open.isCaughtUp = true;
  } finally {
    await open.lock.release();
  }
};

const SHOWN = 10;
const SHOWN_CHARACTERS = 200;

/** The warning of lines that are not entries. */
const invalidText = (path: string, invalid: readonly InvalidLine[]): string => {
  const are = invalid.length === 1 ? "a line that is not an entry" : `${invalid.length} lines that are not entries`;
  const lines = invalid
    .slice(0, SHOWN)
    .map(({ line, why }) => `${JSON.stringify(line.slice(0, SHOWN_CHARACTERS))}: ${why}`);
  const more = invalid.length > SHOWN ? [`and ${invalid.length - SHOWN} more`] : [];
  const head = `the intent journal ${path} has ${are}, ignored and kept in ${quarantineOf(path)} by the next up:`;
  const advice =
    "If one is of a create that a killed run did not finish, its record may have no resource: search for it. npx pulumi-irm recover list " +
    "shows these lines, npx pulumi-irm recover clean --invalid deletes them.";
  return withSection(`${bulleted(head, ...lines, ...more)}\n${advice}`, "invalid-lines");
};

// A run without checkpoints writes ahead. The journal marks it as open before its first write, and records its updates and deletes too,
// each before its request. A later run compares them with the engine's state (provider/attribution). While a stack is open, every run of it
// does so.

/** An update, or a delete if the record has no content after it. */
export interface NewWrite extends Pick<Write, "key" | "kind" | "to" | "given"> {
  uid: string;
}

/** The leftovers of runs without checkpoints of other operations in a stack. */
export interface OpenRuns {
  runs: readonly Run[];
  /** their creates */
  entries: readonly Entry[];
  /** their updates and deletes, or later runs' changes to those records */
  writes: readonly Write[];
}

interface WriteAheadParts {
  stackOf(key: string): string;
  openFor(key: string): Promise<StackJournal>;
  readOn(open: StackJournal): StackJournal;
  clock: Clock;
  operation: Operation;
  isUnchecked: boolean;
}

export const createWriteAhead = ({ stackOf, openFor, readOn, clock, operation, isUnchecked }: WriteAheadParts) => {
  const marked = new Set<StackJournal>();
  const id = randomUUID();
  /** The line that begins this run, unless the journal already contains it. */
  const mark = (open: StackJournal, key: string, at: number): Line[] => {
    if (marked.has(open)) return [];
    const { nonce: _, ...holder } = holderHere(id, operation.id);
    return [{ began: id, stack: stackOf(key), at, clock: clock.today(), ...holder, start: startOf(process.pid) }];
  };
  /** This run, if it saves no checkpoints. */
  const run = isUnchecked ? { id, mark, noteMarked: (open: StackJournal) => marked.add(open) } : undefined;
  // Losing them with the machine costs only a wait or a comparison, so nothing waits for the disk.
  const add = async (key: string, ...lines: Line[]) => {
    const { file, entries } = await openFor(key);
    if (lines.length === 0) return;
    file.add(...lines);
    for (const line of lines) entries.apply(line);
  };

  return {
    run,
    /** Updates and deletes are recorded: without checkpoints, or in an open stack. */
    recordsWrites: isUnchecked,
    /** The stack's open runs, as the file has them now; undefined if there is none. */
    findOpenRuns: async (key: string): Promise<OpenRuns | undefined> => {
      const { byId, runs, writes } = readOn(await openFor(key)).entries;
      const others = [...runs.values()].filter(
        (one) => one.began !== id && (one.operation === undefined || one.operation !== operation.id),
      );
      const isOther = (of: string) => others.some(({ began }) => began === of);
      const found: OpenRuns = {
        runs: others,
        entries: [...byId.values()].filter(({ run }) => run !== undefined && isOther(run)),
        writes: [...writes.values()].filter(({ run }) => run === undefined || isOther(run)),
      };
      return found.runs.length + found.writes.length === 0 ? undefined : found;
    },
    /** An update or a delete is about to be sent: it is on disk when this resolves. */
    beginWrite: async ({ uid, ...write }: NewWrite, now: () => Promise<number>): Promise<void> => {
      const open = await openFor(write.key);
      const at = await now();
      const wrote = { wrote: uid, ...write, at, clock: clock.today(), ...(run && { run: id }) };
      const lines = [...(run?.mark(open, write.key, at) ?? []), wrote];
      // No other process may compact the file without them.
      await open.lock.acquire();
      try {
        await open.file.append(...lines);
      } finally {
        await open.lock.release();
      }
      run?.noteMarked(open);
      for (const line of lines) open.entries.apply(line);
    },
    /** Its response has arrived. */
    endWrite: async ({ key, kind, uid }: NewWrite) => {
      const write = (await openFor(key)).entries.writes.get(recordId(kind, uid));
      if (write) await add(key, { ...write, isDone: true });
    },
    /** The state shows these records as they are. */
    settle: (records: readonly Pick<NewWrite, "kind" | "uid">[], key: string) =>
      add(key, ...records.map(({ kind, uid }) => ({ settled: uid, kind }))),
    /** Notes a finding about an open run. */
    noteRun: (run: Run, is: "lost" | "unclear" | "ended", key: string) =>
      add(key, is === "ended" ? { ended: run.began } : { ...run, judged: is }),
    /** The resource has another record than the one that the entry's create produced. */
    leave: async (entry: Entry) => {
      const { file, entries } = await openFor(entry.key);
      const line: Entry = { ...entry, left: true };
      await file.append(line);
      entries.apply(line);
    },
    /** The engine ends this run normally, and saves its state next. */
    endInOrder: (): void => {
      for (const { file, entries } of marked)
        try {
          file.add({ ...(entries.runs.get(id) as Run), ending: clock.today() });
        } catch (error) {
          // The next run asks a person.
          if (!(error instanceof JournalError)) throw error;
        }
    },
  };
};
