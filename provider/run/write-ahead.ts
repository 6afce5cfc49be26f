// A run without checkpoints writes ahead: the journal marks it as open before its first write, and also records its updates and deletes,
// each before its request. A later run compares them with the engine's state (provider/attribution). While a stack is open, every run of it
// does so.
import { randomUUID } from "node:crypto";
import type { Clock } from "../../client/clock.ts";
import { startOf } from "../../pulumi/process.ts";
import type { Entry, Line, Run, Write } from "../log/entry.ts";
import { JournalError } from "../log/file.ts";
import { holderHere } from "../log/holder.ts";
import type { Operation } from "../log/operation.ts";
import { recordId } from "../record/id.ts";
import type { StackJournal } from "./stack-journal.ts";

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

interface Parts {
  stackOf(key: string): string;
  openFor(key: string): Promise<StackJournal>;
  readOn(open: StackJournal): StackJournal;
  clock: Clock;
  operation: Operation;
  isUnchecked: boolean;
}

/** This run, if it saves no checkpoints. */
interface OwnRun {
  id: string;
  /** the line that begins it, unless the journal already contains it */
  mark(open: StackJournal, key: string, at: number): Line[];
  noteMarked(open: StackJournal): void;
}

export const createWriteAhead = ({ stackOf, openFor, readOn, clock, operation, isUnchecked }: Parts) => {
  const marked = new Set<StackJournal>();
  const id = randomUUID();
  const mark = (open: StackJournal, key: string, at: number): Line[] => {
    if (marked.has(open)) return [];
    const { nonce: _, ...holder } = holderHere(id, operation.id);
    return [{ began: id, stack: stackOf(key), at, clock: clock.today(), ...holder, start: startOf(process.pid) }];
  };
  const run: OwnRun | undefined = isUnchecked ? { id, mark, noteMarked: (open) => marked.add(open) } : undefined;
  const isOwn = (one: Run) => one.began === id || (one.operation !== undefined && one.operation === operation.id);
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
      const others = [...runs.values()].filter((one) => !isOwn(one));
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
