// The unsettled contents of a journal: a reducer over its lines, with an index for each query of a create.
import { getOrInsert } from "../../schema/index.ts";
import { recordId } from "../record/id.ts";
import {
  type Entry,
  type InvalidLine,
  isTorn,
  type Known,
  type Line,
  parse,
  type Removed,
  type Run,
  type Write,
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
  /** Runs without checkpoints (PULUMI_SKIP_CHECKPOINTS): each is open until a later one finds its changes in the state, or repairs them. */
  const runs = new Map<string, Run>();
  /** the last update or delete of each record, by the id of the record */
  const writes = new Map<string, Write>();
  /** By key: resources whose record was removed. Dropped once the engine has another record of the resource. */
  const removed = new Map<string, Removed>();

  const put = (id: string, after: Entry | undefined): void => {
    const before = byId.get(id);
    if (before) {
      take(byKey, before.key, before);
      pending.delete(before);
      if (before.uid !== undefined) take(byRecord, recordId(before.kind, before.uid), before);
    }
    if (!after) return void byId.delete(id);
    byId.set(id, after);
    if (after.uid !== undefined) add(byRecord, recordId(after.kind, after.uid), after);
    if (after.left) return;
    add(byKey, after.key, after);
    if (after.uid === undefined) pending.add(after);
  };
  const endRun = (ended: string) => {
    runs.delete(ended);
    for (const [id, { run }] of writes) if (run === ended) writes.delete(id);
    // Its other creates are like those of any other run.
    for (const { run, ...entry } of [...byId.values()])
      if (run === ended) put(entry.intent, entry.left ? undefined : entry);
  };
  /** Applies a line of this process. */
  const apply = (line: Line): void => {
    // A copy: its writer changes it later.
    if ("intent" in line) put(line.intent, { ...line });
    else if ("closed" in line) put(line.closed, undefined);
    else if ("known" in line)
      for (const { intent, key } of byRecord.get(recordId(line.kind ?? "", line.known)) ?? []) {
        put(intent, undefined);
        removed.delete(key);
      }
    else if ("removed" in line) removed.set(line.key, line);
    else if ("began" in line) runs.set(line.began, line);
    else if ("ended" in line) endRun(line.ended);
    else if ("wrote" in line) writes.set(recordId(line.kind, line.wrote), line);
    else writes.delete(recordId(line.kind, line.settled));
  };

  return {
    ...{ byId, byKey, byRecord, pending, runs, writes, removed, apply },
    /** Applies lines of the file. Returns the invalid ones. */
    read: (lines: readonly string[]): InvalidLine[] =>
      lines.flatMap((line) => {
        if (line === "" || isTorn(line)) return [];
        const parsed = parse(line);
        if (typeof parsed === "string") return [{ line, why: parsed }];
        apply(parsed);
        return [];
      }),
    /** The pending entries with the same kind, parent and fingerprint. */
    alike: ({ kind, parent, inputs }: Entry) =>
      [...pending].filter((one) => one.kind === kind && one.parent === parent && one.inputs === inputs),
  };
};

const add = (entries: Map<string, Entry[]>, name: string, entry: Entry): void =>
  void getOrInsert(entries, name, () => []).push(entry);

const take = (entries: Map<string, Entry[]>, name: string, entry: Entry) => {
  const others = entries.get(name)?.filter((one) => one !== entry) ?? [];
  if (others.length > 0) entries.set(name, others);
  else entries.delete(name);
};

/** The contents that a journal keeps. */
export interface Kept {
  entries: readonly Entry[];
  runs: readonly Run[];
  writes: readonly Write[];
  removed: readonly Removed[];
}

export interface Contents extends Kept {
  invalid: InvalidLine[];
}

export const keptOf = ({ byId, runs, writes, removed }: Entries): Kept => ({
  entries: [...byId.values()],
  runs: [...runs.values()],
  writes: [...writes.values()],
  removed: [...removed.values()],
});

export const contentsFrom = (file: string): Contents => {
  const entries = createEntries();
  const invalid = entries.read(file.split("\n"));
  return { ...keptOf(entries), invalid };
};

/** The shortest text with the same contents. */
export const textFrom = ({ entries, runs, writes, removed }: Kept): string =>
  [...runs, ...writes, ...entries, ...removed].map((line) => `${JSON.stringify(line)}\n`).join("");

/** The line for a record of this kind. */
export const knownLine = (kind: string, uid: string): Known =>
  recordId(kind, uid) === uid ? { known: uid } : { known: uid, kind };
