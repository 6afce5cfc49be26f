// What the program knows of its run, for the journal: the engine has stored a record once it has told the program its id
// (stepComplete in github.com/pulumi/pulumi/blob/master/pkg/resource/deploy/step_executor.go). So the entries of a run that ended in
// order go with it, and a new stack of the same name finds none. After a killed run those that were not stored are left.
import { apply, type Entry, type Known, knownAmong } from "../log/entry.ts";
import { journalFile } from "../log/file.ts";

/** Acknowledges records in the journal at this path, which other processes write. */
export const acknowledgerOf = (path: string): ((stored: readonly Known[]) => Promise<void>) => {
  const file = journalFile(path);
  let entries = new Map<string, Entry>();
  return async (stored) => {
    if ((await file.readOn(entries)) === undefined) entries = (await file.read())?.entries ?? new Map();
    const lines = knownAmong(entries.values(), stored);
    if (lines.length === 0) return;
    await file.append(...lines);
    for (const line of lines) apply(entries, line);
  };
};
