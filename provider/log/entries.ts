// The entries of a journal that are not settled: a reducer over its lines, with an index for each question that a create asks.
import { getOrInsert } from "../../schema/index.ts";
import { recordId } from "../record/id.ts";
import {
  type Began,
  type Entry,
  type InvalidLine,
  isTorn,
  type Known,
  type Line,
  parse,
  type Removed,
  type RunLine,
  type Wrote,
} from "./entry.ts";

export type Entries = ReturnType<typeof createEntries>;

export const createEntries = () => {
  /** by id, in the order of their intents */
  const byId = new Map<string, Entry>();
  /** those without an outcome, except those that are left */
  const pending = new Set<Entry>();
  /** except those that are left: the resource has another record */
  const byKey = new Map<string, Entry[]>();
  /** those with an outcome, by the id of their record (`recordId`) */
  const byRecord = new Map<string, Entry[]>();
  // Of all intents, for the lines that follow.
  const ids = new Set<string>();
  /** runs without checkpoints, and what they changed */
  const runs = createRuns();
  /** By key: resources whose record was removed. Forgotten once the engine has another record of them. */
  const removed = new Map<string, Removed>();

  const applyToRuns = (line: RunLine): void => {
    runs.apply(line);
    if (!("ended" in line)) return;
    for (const entry of [...byId.values()]) {
      const { run, ...others } = entry;
      // What else it created is like the creates of any other run.
      if (run === line.ended) apply(entry.left ? { closed: entry.intent } : others);
    }
  };
  /** Applies a line of this process. */
  const apply = (line: Line): void => {
    if ("known" in line) {
      for (const { intent, key } of byRecord.get(recordId(line.kind ?? "", line.known)) ?? []) {
        apply({ closed: intent });
        removed.delete(key);
      }
      return;
    }
    if ("removed" in line) return void removed.set(line.key, line);
    const id = idOf(line);
    if (id === undefined) return void applyToRuns(line as RunLine);
    const before = byId.get(id);
    let after: Entry | undefined;
    if ("intent" in line) after = { ...line };
    else if ("answered" in line) after = before && { ...before, answered: line.uid };
    else if ("made" in line) after = before && { ...before, at: line.at, uid: line.uid };
    else if ("again" in line) after = before && { ...before, at: line.at };
    else if ("left" in line) after = before && { ...before, left: true };
    if (before) {
      take(byKey, before.key, before);
      pending.delete(before);
      if (before.uid !== undefined) take(byRecord, recordId(before.kind, before.uid), before);
    }
    if (!after) return void byId.delete(id);
    ids.add(id);
    byId.set(id, after);
    if (after.uid !== undefined) put(byRecord, recordId(after.kind, after.uid), after);
    if (after.left) return;
    put(byKey, after.key, after);
    if (after.uid === undefined) pending.add(after);
  };
  // It names a record, so it must not disappear with its entry. Other lines of a settled entry may.
  const isOrphan = (line: Line): boolean =>
    ("made" in line && !ids.has(line.made)) || ("answered" in line && !ids.has(line.answered));

  return {
    byId,
    byKey,
    byRecord,
    pending,
    runs,
    removed,
    apply,
    /** Applies lines of the file. Returns the invalid ones. */
    read: (lines: readonly string[]): InvalidLine[] =>
      lines.flatMap((line) => {
        if (line === "" || isTorn(line)) return [];
        const parsed = parse(line);
        if (typeof parsed === "string") return [{ line, why: parsed }];
        if (isOrphan(parsed)) return [{ line, why: "its create is not in the file" }];
        apply(parsed);
        return [];
      }),
    /** The pending entries with the same kind, parent and fingerprint. */
    alike: ({ kind, parent, inputs }: Entry): Entry[] =>
      [...pending].filter((one) => one.kind === kind && one.parent === parent && one.inputs === inputs),
  };
};

/** The create that a line is about; undefined: it is about a run. */
const idOf = (line: Exclude<Line, Known | Removed>): string | undefined => {
  if ("intent" in line) return line.intent;
  if ("closed" in line) return line.closed;
  if ("answered" in line) return line.answered;
  if ("made" in line) return line.made;
  if ("again" in line) return line.again;
  return "left" in line ? line.left : undefined;
};

const put = (entries: Map<string, Entry[]>, name: string, entry: Entry): void =>
  void getOrInsert(entries, name, () => []).push(entry);

const take = (entries: Map<string, Entry[]>, name: string, entry: Entry): void => {
  const others = entries.get(name)?.filter((one) => one !== entry) ?? [];
  if (others.length > 0) entries.set(name, others);
  else entries.delete(name);
};

export interface Contents {
  entries: ReadonlyMap<string, Entry>;
  runs: Runs;
  removed: ReadonlyMap<string, Removed>;
  invalid: InvalidLine[];
}

export const contentsFrom = (file: string): Contents => {
  const { byId, runs, removed, read } = createEntries();
  return { invalid: read(file.split("\n")), entries: byId, runs, removed };
};

/** What a journal keeps. */
export interface Kept {
  entries: Iterable<Entry>;
  runs?: Runs | undefined;
  removed?: Iterable<Removed>;
}

/** The shortest text with the same contents. */
export const textFrom = ({ entries, runs = createRuns(), removed = [] }: Kept): string =>
  [...linesOfRuns(runs), ...[...entries].flatMap(linesOf), ...removed]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");

const linesOf = ({ uid, answered, left, ...intent }: Entry): Line[] => [
  intent,
  ...(answered === undefined ? [] : [{ answered: intent.intent, uid: answered }]),
  ...(uid === undefined ? [] : [{ made: intent.intent, uid, at: intent.at }]),
  ...(left ? [{ left: intent.intent }] : []),
];

/** The line for a record of this kind. */
export const knownLine = (kind: string, uid: string): Known =>
  recordId(kind, uid) === uid ? { known: uid } : { known: uid, kind };

// Runs without checkpoints in a journal (PULUMI_SKIP_CHECKPOINTS): the engine saves its state once, at their end. A run is open until a
// later one has found what it did in the state, or has put it in order. Such a journal has its updates and deletes too: of each record
// the last one, by the id of the record.

/** A run without checkpoints that is not known to have ended well. */
export interface Run extends Began {
  /** when the engine ended it in order, by the clock of its machine */
  ending?: number;
  /** what a later run found: the engine never saved what it did, or that is not certain */
  judged?: "lost" | "unclear";
}

/** What the state must say of a record, before nothing of it is left to settle. */
export interface Write extends Wrote {
  /** its response has arrived, so its request cannot arrive any more */
  isDone?: true;
}

export type Runs = ReturnType<typeof createRuns>;

export const createRuns = () => {
  /** by id */
  const byId = new Map<string, Run>();
  const writes = new Map<string, Write>();
  const change = (id: string, more: Partial<Run>): void => {
    const run = byId.get(id);
    if (run) byId.set(id, { ...run, ...more });
  };
  return {
    byId,
    writes,
    apply: (line: RunLine): void => {
      if ("began" in line) byId.set(line.began, line);
      else if ("ending" in line) change(line.ending, { ending: line.clock });
      else if ("judged" in line) change(line.judged, { judged: line.as });
      else if ("ended" in line) {
        byId.delete(line.ended);
        for (const [id, { run }] of writes) if (run === line.ended) writes.delete(id);
      } else if ("wrote" in line) writes.set(recordId(line.kind, line.wrote), line);
      else if ("settled" in line) writes.delete(recordId(line.kind, line.settled));
      else {
        const id = recordId(line.kind, line.done);
        const write = writes.get(id);
        if (write) writes.set(id, { ...write, isDone: true });
      }
    },
  };
};

export const linesOfRuns = ({ byId, writes }: Runs): RunLine[] => [
  ...[...byId.values()].flatMap(({ ending, judged, ...began }): RunLine[] => [
    began,
    ...(ending === undefined ? [] : [{ ending: began.began, clock: ending }]),
    ...(judged === undefined ? [] : [{ judged: began.began, as: judged }]),
  ]),
  ...[...writes.values()].flatMap(({ isDone, ...wrote }): RunLine[] => [
    wrote,
    ...(isDone ? [{ done: wrote.wrote, kind: wrote.kind }] : []),
  ]),
];
