// The journal of a process (docs/internals/faults.md#nothing-lost): a create is on disk before its POST, and its outcome after it. A run that dies
// in between leaves a pending entry, and the next run searches for the record instead of creating another one.
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../client/retry.ts";
import { getOrInsert } from "../../schema/index.ts";
import { JournalError, knownLine, quarantineOf } from "../log/entries.ts";
import type { Entry, Known, Line, Removed } from "../log/entry.ts";
import { type Operation, soleOperation } from "../log/operation.ts";
import { recordId } from "../record/id.ts";
import { catchUp, createWriteAhead, type Event, openJournal, type StackJournal, takeIn } from "./stack-journal.ts";

export type NewIntent = Omit<Entry, "intent" | "at" | "notBefore">;

/** The record that the create of an entry produced. */
export interface Created {
  entry: Entry;
  uid: string;
}

export type Journal = ReturnType<typeof createJournal>;

interface JournalOptions {
  /** file of the journal of a stack, `organization/project/stack` */
  pathOf(stack: string): string;
  /** the flag with which `irm recover list` and `clean` find the folder, or "" if they need none: ` --folder "/journals"` */
  folderFlag?(): string;
  clock: Clock;
  /** longest wait for another process */
  timeoutMs: number;
  log(text: string): void;
  /** whose processes share the stack's journal */
  operation?: Operation;
  /** the engine saves no checkpoints in this run */
  isUnchecked?: boolean;
}

/** Precision of a recorded send time: a line on disk for every request would cost too much. */
export const SEND_TIME_MS = 1_000;

export const stackOf = (key: string): string => key.split("/", 3).join("/");

/** The result of `work`; `otherwise` if the journal, which the caller does not need, cannot be read or written. */
export const unlessJournalFails = async <T>(otherwise: T, work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof JournalError) return otherwise;
    throw error;
  }
};

/** The journals of the stacks that this process serves, and the state that it shares with other processes. */
export const createJournal = (options: JournalOptions) => {
  const { pathOf, clock, timeoutMs, log, operation = soleOperation, isUnchecked = false } = options;
  // A process serves one stack; the Automation API, and tests, may serve several.
  const stacks = new Map<string, Promise<StackJournal>>();
  const acknowledged = new Map<string, Known>();
  const begun = new Set<string>();
  const reported = new Set<string>();
  const opened = new Map<string, boolean>();
  /** by path and key: the findings of a refresh of this run */
  const removed = new Map<string, Removed>();
  const { append: share, refresh } = operation.share("journal", (event: Event): boolean => {
    if (event.is === "begun") for (const id of event.ids) begun.add(id);
    else if (event.is === "reported") {
      const isFirst = !reported.has(event.id);
      reported.add(event.id);
      return isFirst;
    } else if (event.is === "removed") removed.set(`${event.path} ${event.line.key}`, event.line);
    else if (event.is === "opened") {
      const what = `${event.found} ${event.path}`;
      return getOrInsert(opened, what, () => event.value);
    }
    return true;
  });

  const openFor = (key: string): Promise<StackJournal> => {
    const stack = stackOf(key);
    const found = stacks.get(stack);
    if (found) return found;
    const open = openJournal(stack, { pathOf, clock, timeoutMs, log, operation, acknowledged, share });
    stacks.set(stack, open);
    open.catch(() => stacks.delete(stack));
    return open;
  };
  /** Reads the lines that other processes have written. */
  const readOn = (open: StackJournal) => {
    const tail = open.file.readOn();
    if (tail?.isFromStart !== false || tail.lines.length > 0) takeIn(open, tail);
    return open;
  };
  /** The entries that earlier runs wrote. */
  const fromEarlierRuns = (entries: readonly Entry[] = []) => {
    if (entries.length > 0) refresh?.();
    return entries.filter(({ intent }) => !begun.has(intent));
  };
  const write = async (open: StackJournal, ...lines: Line[]): Promise<void> => {
    // Another process of the operation must not compact the file without them.
    await open.lock.acquire();
    try {
      await open.file.append(...lines);
      for (const line of lines) open.entries.apply(line);
    } finally {
      await open.lock.release();
    }
  };

  const { run, ...writeAhead } = createWriteAhead({ stackOf, openFor, readOn, clock, operation, isUnchecked });
  const own = { openFor, readOn, fromEarlierRuns, write, share, refresh, stacks, acknowledged, removed, run };
  return { ...writeAhead, ...journalMethods(options, own) };
};

interface Own extends Pick<ReturnType<typeof createWriteAhead>, "run"> {
  openFor(key: string): Promise<StackJournal>;
  readOn(open: StackJournal): StackJournal;
  fromEarlierRuns(entries?: readonly Entry[]): Entry[];
  write(open: StackJournal, ...lines: Line[]): Promise<void>;
  share(event: Event): boolean;
  refresh?: (() => void) | undefined;
  stacks: ReadonlyMap<string, Promise<StackJournal>>;
  acknowledged: Map<string, Known>;
  removed: ReadonlyMap<string, Removed>;
}

const journalMethods = (
  { pathOf, folderFlag, log }: JournalOptions,
  { openFor, readOn, fromEarlierRuns, write, share, refresh, stacks, acknowledged, removed, run }: Own,
) => ({
  /** The file of the resource's stack, for a message. */
  pathFor: (key: string) => pathOf(stackOf(key)),
  /** The command that removes the entries of a resource. */
  cleanCommand: (key: string) => `npx pulumi-irm recover clean --key "${key}"${folderFlag?.() ?? ""}`,

  // The entries of the files.

  /**
   * Entries that earlier runs left for a resource: pending ones, and succeeded ones whose records the engine has not asked for since.
   * Waits for another process that is creating records of the same stack. `isOwn`: of a resource with several keys, which these are.
   */
  findUnsettled: async (key: string, isOwn?: (key: string) => boolean) => {
    const open = await openFor(key);
    if (!open.isCaughtUp) await catchUp(open);
    const { entries } = open;
    return fromEarlierRuns(
      isOwn ? [...entries.byId.values()].filter((entry) => isOwn(entry.key)) : entries.byKey.get(key),
    );
  },
  /** The unsettled entries as the file holds them now, for a preview: it neither waits nor writes. */
  peekUnsettled: async (key: string) => fromEarlierRuns((await openFor(key)).entries.byKey.get(key)),
  /** The stack had no journal when this run began. False if it cannot be opened. */
  isNew: (key: string) => unlessJournalFails(false, async () => (await openFor(key)).isNew),
  /** Another machine may have run the stack since: there was no journal, or it was unchanged for a minute. False if it cannot be opened. */
  isBehind: (key: string) => unlessJournalFails(false, async () => (await openFor(key)).isBehind),
  /** How many entries with the same parent and fingerprint are pending, including this one. */
  countPendingAlike: async (entry: Entry) => readOn(await openFor(entry.key)).entries.alike(entry).length,
  /** The equal entries that earlier runs without checkpoints left for other resources. */
  findOpenAlike: async (entry: Entry) => {
    const { entries } = readOn(await openFor(entry.key));
    return fromEarlierRuns(entries.alike(entry)).filter(({ run, key }) => run !== undefined && key !== entry.key);
  },
  /** Pending entries of earlier runs, in the stack of this resource; each is returned once. None if the journal cannot be read. */
  takeUnreported: (key: string) =>
    unlessJournalFails([], async () => {
      const { entries } = readOn(await openFor(key));
      // The leftovers of a run without checkpoints are one message (provider/attribution).
      const others = [...entries.pending].filter(({ run }) => run === undefined);
      return fromEarlierRuns(others).filter(({ intent }) => share({ is: "reported", id: intent }));
    }),
  /** Whether another resource of the stack created the record of this id (`recordId`), or this one, which now has another record. */
  isOfOther: async (id: string, key: string) => {
    const open = await openFor(key);
    // The record may exist by now, and the failure must not lose it. Ownership knows the records that other processes of this run have
    // created.
    await unlessJournalFails(undefined, () => readOn(open));
    return open.entries.byRecord.get(id)?.some((entry) => entry.key !== key || entry.left) === true;
  },

  // The steps of a create.

  /**
   * Writes the pending entries of one POST at once, with the time by the service's clock, and holds the lock until their `end`. Returns
   * undefined when another process has meanwhile left an entry for one of the resources. After a JournalError nothing may be sent.
   */
  begin: async (intents: readonly NewIntent[], now: () => Promise<number>): Promise<Entry[] | undefined> => {
    // All entries of a POST are of one stack.
    const open = await openFor((intents[0] as NewIntent).key);
    if (!open.isCaughtUp) await catchUp(open);
    await open.lock.acquire();
    try {
      readOn(open);
      if (intents.some(({ key }) => fromEarlierRuns(open.entries.byKey.get(key)).length > 0)) {
        await open.lock.release();
        return undefined;
      }
      const at = await now();
      const tag = run && { run: run.id };
      const entries = intents.map((intent): Entry => ({ intent: randomUUID(), ...intent, at, notBefore: at, ...tag }));
      share({ is: "begun", ids: entries.map(({ intent }) => intent) });
      const mark = run?.mark(open, (intents[0] as NewIntent).key, at) ?? [];
      await write(open, ...mark, ...entries);
      run?.noteMarked(open);
      return entries;
    } catch (error) {
      await open.lock.release();
      throw error;
    }
  },
  /** The POST is about to be sent, at this time by the service's clock, which is stored to the second. */
  recordSend: async (entries: readonly Entry[], at: number) => {
    const later = entries.filter((entry) => at - entry.at > SEND_TIME_MS);
    if (later.length === 0) return;
    await write(await openFor((later[0] as Entry).key), ...later.map((entry) => ({ ...entry, at })));
    for (const entry of later) entry.at = at;
  },
  recordSuccess: async (created: readonly Created[], at: number) => {
    const [{ entry: first }] = created as readonly [Created];
    await write(await openFor(first.key), ...created.map(({ entry, uid }) => ({ ...entry, uid, at })));
    for (const { entry, uid } of created) Object.assign(entry, { uid, at });
  },
  /** The response named this record, which differs from the request. */
  recordAnswer: async (entry: Entry, uid: string) => {
    await write(await openFor(entry.key), { ...entry, answered: uid });
    entry.answered = uid;
  },
  /** The create did not produce the record that the entry names. That line is quarantined, and the entry is pending again. */
  disown: async (entry: Entry, why: string): Promise<void> => {
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
  /** The record of the entry cannot belong to the resource. The entry is quarantined and removed; `why` is reported once. */
  setAside: async (entry: Entry, why: string): Promise<void> => {
    const open = await openFor(entry.key);
    const { path } = open.file;
    await open.file.quarantine([{ line: JSON.stringify(entry), why }]);
    await write(open, { closed: entry.intent });
    if (share({ is: "reported", id: `set aside: ${why}` }))
      log(
        `the intent journal ${path}: ${why}. Its entries are dropped where they are in the way, and kept in ${quarantineOf(path)}`,
      );
  },
  /** Certainly not created, or deleted again. */
  recordFailure: async (...entries: Entry[]) => {
    const [first] = entries;
    if (first) await write(await openFor(first.key), ...entries.map(({ intent }) => ({ closed: intent })));
  },
  /** The POST is over, whatever its outcome. */
  end: async (entries: readonly Entry[]) => (await openFor((entries[0] as Entry).key)).lock.release(),

  // Records that are now in the engine's state, and records that a refresh found deleted.

  /** The engine has asked for the records of these uids, so its state has them. `key` identifies the resource, if it is known. */
  acknowledge: async (kind: string, uids: readonly string[], key?: string): Promise<void> => {
    const lineById = uids.map((uid) => [recordId(kind, uid), knownLine(kind, uid)] as const);
    // A preview may be unable to write; the next create writes the line.
    const written = unlessJournalFails(undefined, async () => {
      if (key !== undefined) await openFor(key);
      for (const { file, entries } of await Promise.all(stacks.values())) {
        const lines = lineById.filter(([id]) => entries.byRecord.has(id)).map(([, line]) => line);
        if (lines.length === 0) continue;
        // A lost line does no harm, so nothing waits for the disk: the next acknowledgement writes it again.
        file.add(...lines);
        for (const line of lines) entries.apply(line);
      }
    });
    await written.finally(() => {
      for (const [id, line] of lineById) acknowledged.set(id, line);
    });
  },
  // A refresh needs no journal, and the update that cannot write it creates nothing.
  /**
   * A refresh has found this record deleted, whose resource adopts it: the engine drops the resource from its state. If the file cannot be
   * written, only this run knows.
   */
  noteRemoved: (line: Removed): Promise<void> =>
    unlessJournalFails(undefined, async () => {
      const { key } = line;
      share({ is: "removed", path: pathOf(stackOf(key)), line });
      const { file, entries } = await openFor(key);
      if (isDeepStrictEqual(entries.removed.get(key), line)) return;
      // Without the lock, as a preview may refresh while another run holds it. No process compacts the file before its first create.
      await file.append(line);
      entries.apply(line);
    }),
  /** The note of a refresh about this resource; undefined: there is none. */
  removedOf: async (key: string, kind: string): Promise<Removed | undefined> => {
    refresh?.();
    const found = await unlessJournalFails(undefined, async () => {
      const known = removed.get(`${pathOf(stackOf(key))} ${key}`);
      if (known !== undefined) return known;
      // Another process of this run has refreshed.
      return readOn(await openFor(key)).entries.removed.get(key);
    });
    return found?.kind === kind ? found : undefined;
  },
});
