// The unsettled contents of a journal: a reducer over its lines, with an index for each query of a create.
import { readFileSync } from "node:fs";
import { withSection } from "../../client/errors.ts";
import { getOrInsert, UserError } from "../../schema/index.ts";
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
import { openLog } from "./log.ts";

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

// The journal of a stack on disk: 0600 in a folder of 0700, appended with fsync. A failed write is an error before any request is sent.
// Lines that are not entries are ignored, and kept in a file beside it.

/** The journal cannot be read or written: one sentence that includes what to do. */
export class JournalError extends UserError {
  override readonly name = "JournalError";
}

export type JournalFile = ReturnType<typeof journalFile>;

/** The file that keeps the ignored lines. */
export const quarantineOf = (path: string): string => `${path}.invalid`;

export const journalFile = (path: string) => {
  const log = openLog<Line>(path, { explain: journalError });
  return {
    ...log,
    /** Undefined when there is no file. */
    read: async (): Promise<Contents | undefined> => {
      const text = readIfThere(path);
      return text === undefined ? undefined : contentsFrom(text);
    },
    /** Rewrites the file with only these contents, if it holds anything else; first quarantines its invalid lines. */
    compact: async (kept: Kept) => {
      const text = textFrom(kept);
      const before = readIfThere(path) ?? "";
      if (before === text) return;
      await quarantine(path, contentsFrom(before).invalid);
      await log.replace(text);
    },
    /** Moves ignored lines to their own file, each once; they are on disk when this resolves. */
    quarantine: (lines: readonly InvalidLine[]) => quarantine(path, lines),
    quarantined: async (): Promise<InvalidLine[]> => quarantinedAt(path),
  };
};

const quarantine = async (path: string, lines: readonly InvalidLine[]) => {
  const known = new Set(quarantinedAt(path).map(({ line }) => line));
  const fresh = lines.filter(({ line }) => !known.has(line));
  if (fresh.length > 0) await openLog<InvalidLine>(quarantineOf(path), { explain: journalError }).append(...fresh);
};

const quarantinedAt = (path: string): InvalidLine[] =>
  (readIfThere(quarantineOf(path)) ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      try {
        const { line: own, why } = JSON.parse(line) as Partial<InvalidLine>;
        if (typeof own === "string" && typeof why === "string") return { line: own, why };
      } catch {
        // Shown as it is: nothing in that file is used, and `irm recover list` shows all of it.
      }
      return { line, why: "it is not as it was written" };
    });

const readIfThere = (path: string) => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw journalError(path, error, "read");
  }
};

/** An error of the file system, with the path and what to do. */
export const journalError = (path: string, error: unknown, done: "read" | "written"): JournalError => {
  if (error instanceof JournalError) return error;
  const { code = "", message } = error as NodeJS.ErrnoException;
  const what = done === "read" ? "cannot be read" : "cannot be written";
  const text = `the intent journal ${path} ${what} (${code || message})`;
  const advice = "free some space or choose another folder: irm:journal in the stack's configuration, or IRM_JOURNAL";
  return new JournalError(withSection(`${text}; ${advice}`, "cannot-write"), { cause: error });
};

/**
 * Acknowledges records in the journal at this path, which other processes write. The engine has stored a record once it has given its id to
 * the program (stepComplete in github.com/pulumi/pulumi/blob/master/pkg/resource/deploy/step_executor.go), so a run that ends normally
 * leaves no entries. After a killed run the entries of records that were not stored remain.
 */
export const acknowledgeIn = async (path: string, stored: readonly Known[]): Promise<void> => {
  const file = journalFile(path);
  const { byRecord, read } = createEntries();
  read(file.readOn()?.lines ?? []);
  const lines = stored.filter(({ kind = "", known }) => byRecord.has(recordId(kind, known)));
  if (lines.length > 0) await file.append(...lines);
};
