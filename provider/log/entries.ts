// The entries of a journal that are not settled: a reducer over its lines, with an index for each question that a create asks.
import { recordId } from "../record/id.ts";
import { type Entry, type Intent, type InvalidLine, isTorn, type Known, type Line, parse } from "./entry.ts";

export interface Entries {
  /** by id, in the order of their intents */
  byId: ReadonlyMap<string, Entry>;
  /** those without an outcome */
  pending: ReadonlySet<Entry>;
  byKey: ReadonlyMap<string, readonly Entry[]>;
  /** Applies a line of this process. */
  apply(line: Line): void;
  /** Applies lines of the file. Returns the invalid ones. */
  read(lines: readonly string[]): InvalidLine[];
  /** those with an outcome, by the id of their record (`recordId`) */
  byRecord: ReadonlyMap<string, readonly Entry[]>;
  /** How many pending entries have the same kind, parent and fingerprint. */
  countAlike(entry: Entry): number;
}

export const createEntries = (): Entries => {
  const byId = new Map<string, Entry>();
  const pending = new Set<Entry>();
  const byKey = new Map<string, Entry[]>();
  const byRecord = new Map<string, Entry[]>();
  // Of all intents, for the lines that follow.
  const ids = new Set<string>();

  const apply = (line: Line): void => {
    if ("known" in line) {
      for (const { intent } of byRecord.get(recordId(line.kind ?? "", line.known)) ?? []) apply({ closed: intent });
      return;
    }
    const id = idOf(line);
    const before = byId.get(id);
    let after: Entry | undefined;
    if ("intent" in line) after = { ...line };
    else if ("answered" in line) after = before && { ...before, answered: line.uid };
    else if ("made" in line) after = before && { ...before, at: line.at, uid: line.uid };
    else if ("again" in line) after = before && { ...before, at: line.at };
    if (before) {
      take(byKey, before.key, before);
      pending.delete(before);
      if (before.uid !== undefined) take(byRecord, recordId(before.kind, before.uid), before);
    }
    if (!after) return void byId.delete(id);
    ids.add(id);
    byId.set(id, after);
    put(byKey, after.key, after);
    if (after.uid === undefined) pending.add(after);
    else put(byRecord, recordId(after.kind, after.uid), after);
  };
  // It names a record, so it must not disappear with its entry. Other lines of a settled entry may.
  const isOrphan = (line: Line): boolean =>
    ("made" in line && !ids.has(line.made)) || ("answered" in line && !ids.has(line.answered));

  return {
    byId,
    byKey,
    byRecord,
    pending,
    apply,
    read: (lines) =>
      lines.flatMap((line) => {
        if (line === "" || isTorn(line)) return [];
        const parsed = parse(line);
        if (typeof parsed === "string") return [{ line, why: parsed }];
        if (isOrphan(parsed)) return [{ line, why: "its create is not in the file" }];
        apply(parsed);
        return [];
      }),
    countAlike: ({ kind, parent, inputs }) =>
      [...pending].filter((one) => one.kind === kind && one.parent === parent && one.inputs === inputs).length,
  };
};

type Outcome = Exclude<Line, Intent | Known>;

const idOf = (line: Intent | Outcome): string => {
  if ("intent" in line) return line.intent;
  if ("closed" in line) return line.closed;
  if ("answered" in line) return line.answered;
  return "made" in line ? line.made : line.again;
};

const put = (entries: Map<string, Entry[]>, name: string, entry: Entry): void => {
  const own = entries.get(name);
  if (own) own.push(entry);
  else entries.set(name, [entry]);
};

const take = (entries: Map<string, Entry[]>, name: string, entry: Entry): void => {
  const others = entries.get(name)?.filter((one) => one !== entry) ?? [];
  if (others.length > 0) entries.set(name, others);
  else entries.delete(name);
};

export interface Contents {
  entries: ReadonlyMap<string, Entry>;
  invalid: InvalidLine[];
}

export const contentsFrom = (file: string): Contents => {
  const { byId, read } = createEntries();
  return { invalid: read(file.split("\n")), entries: byId };
};

/** The shortest text with the same entries. */
export const textFrom = (entries: Iterable<Entry>): string =>
  [...entries]
    .flatMap(({ uid, answered, ...intent }): Line[] => [
      intent,
      ...(answered === undefined ? [] : [{ answered: intent.intent, uid: answered }]),
      ...(uid === undefined ? [] : [{ made: intent.intent, uid, at: intent.at }]),
    ])
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");

/** The line for a record of this kind. */
export const knownLine = (kind: string, uid: string): Known =>
  recordId(kind, uid) === uid ? { known: uid } : { known: uid, kind };
