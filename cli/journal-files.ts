// The journals of this machine, as the commands read them.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { contentsFrom } from "../provider/log/entries.ts";
import type { Entry, InvalidLine, Removed } from "../provider/log/entry.ts";
import { journalFile, quarantineOf } from "../provider/log/file.ts";
import type { Runs } from "../provider/log/runs.ts";
import { journalFolder } from "../provider/run/journal-path.ts";

export const JOURNAL = /\.jsonl$/;

export const folderOf = ({ folder }: { folder?: string }): string =>
  journalFolder(folder || process.env.IRM_JOURNAL || undefined, process.env);

// A journal may be removed while its quarantined lines still exist.
export const journalsIn = (folder: string): string[] => {
  const names = existsSync(folder) ? readdirSync(folder).map((name) => name.replace(quarantineOf(""), "")) : [];
  return [...new Set(names)].filter((name) => JOURNAL.test(name)).map((name) => join(folder, name));
};

export interface InvalidLineAt extends InvalidLine {
  journal: string;
}

interface JournalContents {
  entries: Entry[];
  /** runs without checkpoints, and what they changed */
  runs: Runs;
  /** resources whose adopted record was removed */
  removed: Removed[];
  invalid: InvalidLineAt[];
}

/** The entries of a journal and its invalid lines, quarantined or not. */
export const contentsOf = async (journal: string): Promise<JournalContents> => {
  const file = journalFile(journal);
  const { entries, runs, removed, invalid } = (await file.read()) ?? contentsFrom("");
  const byLine = new Map([...invalid, ...(await file.quarantined())].map((one) => [one.line, { ...one, journal }]));
  return { entries: [...entries.values()], runs, removed: [...removed.values()], invalid: [...byLine.values()] };
};

export const isPending = ({ uid }: Entry): boolean => uid === undefined;
