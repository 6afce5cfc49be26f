// The journal of a stack on disk: 0600 in a folder of 0700, appended with fsync. A failed write is an error before any request is sent.
// Lines that are not entries are ignored, and kept in a file beside it.
import { readFileSync } from "node:fs";
import { withSection } from "../../client/errors.ts";
import { UserError } from "../../schema/index.ts";
import { recordId } from "../record/id.ts";
import { type Contents, contentsFrom, createEntries, type Kept, textFrom } from "./entries.ts";
import type { InvalidLine, Known, Line } from "./entry.ts";
import { openLog } from "./log.ts";

/** The journal cannot be read or written: one sentence that includes what to do. */
export class JournalError extends UserError {
  override readonly name = "JournalError";
}

export type JournalFile = ReturnType<typeof journalFile>;

/** The file that keeps the ignored lines. */
export const quarantineOf = (path: string): string => `${path}.invalid`;

export const journalFile = (path: string) => {
  const log = logOf<Line>(path);
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

const logOf = <Own>(path: string) => openLog<Own>(path, { explain: (error, done) => journalError(path, error, done) });

const quarantine = async (path: string, lines: readonly InvalidLine[]) => {
  const known = new Set(quarantinedAt(path).map(({ line }) => line));
  const fresh = lines.filter(({ line }) => !known.has(line));
  if (fresh.length > 0) await logOf<InvalidLine>(quarantineOf(path)).append(...fresh);
};

const quarantinedAt = (path: string): InvalidLine[] =>
  (readIfThere(quarantineOf(path)) ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map(quarantinedLine);

// Nothing in that file is used, and `irm recover list` shows all of it.
const quarantinedLine = (line: string): InvalidLine => {
  try {
    const { line: own, why } = JSON.parse(line) as Partial<InvalidLine>;
    if (typeof own === "string" && typeof why === "string") return { line: own, why };
  } catch {
    // Shown as it is.
  }
  return { line, why: "it is not as it was written" };
};

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
