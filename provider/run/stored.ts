// What the program knows of its run, for the journal: the engine has stored a record once it has told the program its id
// (stepComplete in github.com/pulumi/pulumi/blob/master/pkg/resource/deploy/step_executor.go). So the entries of a run that ended in
// order go with it, and a new stack of the same name finds none. After a killed run those that were not stored are left.
import { createEntries } from "../log/entries.ts";
import type { Known } from "../log/entry.ts";
import { journalFile } from "../log/file.ts";
import { recordId } from "../record/id.ts";

/** Acknowledges records in the journal at this path, which other processes write. */
export const acknowledgerOf = (path: string): ((stored: readonly Known[]) => Promise<void>) => {
  const file = journalFile(path);
  let entries = createEntries();
  return async (stored) => {
    const tail = file.readOn();
    if (tail?.isAnew !== false) entries = createEntries();
    entries.read(tail?.lines ?? []);
    const lines = stored.filter(({ kind = "", known }) => entries.byRecord.has(recordId(kind, known)));
    if (lines.length > 0) await file.append(...lines);
    for (const line of lines) entries.apply(line);
  };
};
