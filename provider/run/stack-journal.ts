// The journal of one stack while a process has it open: its file, its lock, and the entries as this process knows them. The first create
// waits for the lock and compacts the file; later lines of other processes are read under the lock.
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { withSection } from "../../client/errors.ts";
import { createEntries, type Entries, keptOf } from "../log/entries.ts";
import type { InvalidLine, Known, Removed } from "../log/entry.ts";
import { type JournalFile, journalFile, quarantineOf } from "../log/file.ts";
import { type Lock, type LockOptions, lockOf } from "../log/lock.ts";
import type { Tail } from "../log/log.ts";

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

export const openJournal = async (path: string, parts: Parts): Promise<StackJournal> => {
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

const catchUpUnderLock = async (open: StackJournal): Promise<void> => {
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
  return withSection(`${[head, ...lines, ...more].join("\n  - ")}\n${advice}`, "invalid-lines");
};
