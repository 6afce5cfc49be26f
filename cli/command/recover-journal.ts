// `irm recover list` and `clean`: the entries of the journals on this machine.

import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { placeText } from "../../client/records.ts";
import { DEADLINE_MS, systemClock } from "../../client/retry.ts";
import { countsText } from "../../provider/attribution/text.ts";
import { type KindName, kindRecords } from "../../provider/kind/index.ts";
import { type Contents, contentsFrom, journalFile, quarantineOf } from "../../provider/log/entries.ts";
import type { Entry, InvalidLine, Removed } from "../../provider/log/entry.ts";
import { lockOf } from "../../provider/log/lock.ts";
import { withArticle } from "../../provider/record/kind.ts";
import { journalFolder, workTreeProblem } from "../../provider/run/journal-path.ts";
import { suggestion } from "../../schema/index.ts";
import { type IrmCommand, UsageError } from "../irm-command.ts";
import { print, printError, warn } from "../terminal.ts";

export const FOLDER_FLAG = [
  "--folder <FOLDER>",
  "folder of the journals (default: IRM_JOURNAL, or the user's state folder)",
] as const;

export const defineJournal = (command: IrmCommand): void => {
  command
    .command("list")
    .summary("print the creates whose outcome is unknown")
    .description(
      "Prints the creates whose outcome is unknown, and invalid lines. With --all, also creates that succeeded but that the engine has not read since.",
    )
    .option(...FOLDER_FLAG)
    .option("--all", "print every entry")
    .option("--json", "print every entry, one line of JSON each")
    .example("recover list --all")
    .runs(list);
  command
    .command("clean")
    .summary("remove entries and empty journals")
    .description(
      "Removes empty journals, and the entries of KEY, or all. The record of a pending entry may exist without a resource; look for it first.",
    )
    .option(...FOLDER_FLAG)
    .option("--key <KEY>", "remove the entries of this resource")
    .option("--all", "remove all entries of all stacks in the folder, and all invalid lines")
    .option("--invalid", "remove the invalid lines")
    .example('recover clean --key "organization/access/production/Group::team"')
    .runs(clean);
};

const list = async (flags: { folder?: string; all?: boolean; json?: boolean }) => {
  const folder = folderOf(flags);
  warnOfWorkTree("list", folder);
  const contents = await contentsIn(folder);
  const { entries, runs, writes, removed, invalid } = contents;
  if (flags.json) {
    print([...runs, ...entries, ...writes, ...removed, ...invalid].map((one) => `${JSON.stringify(one)}\n`).join(""));
    return 0;
  }
  const shown = flags.all ? entries : entries.filter(isPending);
  const lines = [
    ...[...runLines(contents), ...shown.map(lineOf)],
    ...[...(flags.all ? removed.map(removedLineOf) : []), ...invalid.map(invalidLineOf)],
  ];
  print(lines.join(""));
  if (runs.length > 0 || entries.some(isPending) || invalid.length > 0) return 0;
  // The usual state after a run: an entry stays until the engine reads its record, in the next run of its stack.
  const count = entries.length;
  const creates = count === 1 ? "its one create succeeded" : `its ${count} creates succeeded`;
  print(
    count === 0
      ? `no pending creates: no entries in ${folder}\n`
      : `no pending creates in ${folder}: ${creates}. The next run of a stack removes the entries of the records that its state has; entries ` +
          "of a stack, or of an organization, that no longer exists stay until npx pulumi-irm recover clean\n",
  );
  return 0;
};

// A warning, not an error: these commands show and remove journals even if no run uses them.
const warnOfWorkTree = (name: string, folder: string) => {
  const problem = workTreeProblem(journalFolder(folder, process.env), process.cwd());
  if (problem !== undefined) printError(`irm recover ${name}`, `No run uses these journals: ${problem}.`);
};

// A line may be an entry that a run has quarantined. Any other line may come from anywhere, so it is escaped.
const invalidLineOf = ({ line, why, journal }: InvalidLineAt) => {
  const { entries, invalid } = contentsFrom(line);
  const [entry] = entries;
  if (invalid.length > 0 || !entry) return `invalid    ${why}: ${JSON.stringify(line)}  (${journal})\n`;
  return `set aside  ${lineOf(entry).slice(STATUS_WIDTH).trimEnd()}: ${why}  (${quarantineOf(journal)})\n`;
};

/** The next run of each stack finds these in the state, or compares them with the live records. */
const runLines = ({ runs, writes, entries }: Contents) =>
  runs.map(({ began, stack, at, pid, host, ending, judged }) => {
    const creates = entries.filter(({ run }) => run === began).length;
    const isOpen = ending === undefined || judged !== undefined;
    const then = isOpen ? "did not end" : "ended; the next run of the stack checks that the engine has saved its state";
    const what = countsText(
      creates,
      writes.filter(({ run }) => run === began),
    );
    const left = what === "" ? "; nothing of it is left to settle" : `: ${what}`;
    return `${isOpen ? "open      " : "ended     "} ${new Date(at).toISOString()}  ${stack}  a run without checkpoints, process ${pid} on ${host}, ${then}${left}\n`;
  });

const STATUS_WIDTH = "succeeded  ".length;

const lineOf = ({ key, kind, parent, uid, answered, at }: Entry) => {
  const place = placeText(parent);
  const where = answered === undefined ? place : `${place}, answered with ${answered}`;
  return `${uid === undefined ? "pending  " : "succeeded"}  ${new Date(at).toISOString()}  ${key}  ${uid ?? `${withArticle(kind)} ${where}`}\n`;
};

const removedLineOf = ({ key, kind, removed }: Removed) =>
  `removed    ${key}  ${kindRecords[kind as KindName]?.word ?? kind} ${removed} was deleted: the next update creates it again\n`;

const clean = async (flags: { folder?: string; key?: string; all?: boolean; invalid?: boolean }): Promise<number> => {
  if (flags.key !== undefined && flags.all) throw new UsageError("--key and --all cannot be combined");
  const folder = folderOf(flags);
  warnOfWorkTree("clean", folder);
  const keys = new Set<string>();
  for (const path of journalsIn(folder)) {
    const file = path.replace(JOURNAL, ".lock");
    const lock = lockOf({ file, clock: systemClock, timeoutMs: DEADLINE_MS, log: warn });
    await lock.acquire();
    try {
      const { entries, invalid, removed, ...found } = await contentsOf(path);
      const { runs, writes } = flags.all ? { runs: [], writes: [] } : found;
      const isKept = ({ key }: { key: string }) => !(flags.all || key === flags.key);
      for (const { key } of [...entries, ...removed]) keys.add(key);
      const kept = { entries: entries.filter(isKept), runs, writes, removed: removed.filter(isKept) };
      for (const entry of entries) if (!isKept(entry)) print(`forgotten: ${lineOf(entry)}`);
      for (const one of removed) if (!isKept(one)) print(`forgotten: ${removedLineOf(one)}`);
      const count = kept.entries.length + kept.removed.length;
      if (count < entries.length + removed.length || invalid.length > 0) await journalFile(path).compact(kept);
      if (count + runs.length + writes.length === 0) rmSync(path, { force: true });
      const isForgotten = flags.all || flags.invalid;
      for (const one of invalid) print(`${isForgotten ? "forgotten" : "quarantined"}: ${invalidLineOf(one)}`);
      if (isForgotten) rmSync(quarantineOf(path), { force: true });
    } finally {
      await lock.release();
    }
  }
  if (flags.key === undefined || keys.has(flags.key)) return 0;
  const text = `no entry has the key "${flags.key}"${suggestion(flags.key, keys)}\nRun \`npx pulumi-irm recover list --all\` for the keys.`;
  printError("irm recover clean", text);
  return 1;
};

// The journals of this machine, as the commands read them.

const JOURNAL = /\.jsonl$/;

export const folderOf = ({ folder }: { folder?: string }): string =>
  journalFolder(folder || process.env.IRM_JOURNAL || undefined, process.env);

// A journal may be removed while its quarantined lines still exist.
const journalsIn = (folder: string): string[] => {
  const names = existsSync(folder) ? readdirSync(folder).map((name) => name.replace(quarantineOf(""), "")) : [];
  return [...new Set(names)].filter((name) => JOURNAL.test(name)).map((name) => join(folder, name));
};

interface InvalidLineAt extends InvalidLine {
  journal: string;
}

type JournalContents = Contents & { invalid: InvalidLineAt[] };

/** All journals of a folder as one. */
const contentsIn = async (folder: string): Promise<JournalContents> => {
  const all = await Promise.all(journalsIn(folder).map(contentsOf));
  return {
    entries: all.flatMap((one) => one.entries),
    runs: all.flatMap((one) => one.runs),
    writes: all.flatMap((one) => one.writes),
    removed: all.flatMap((one) => one.removed),
    invalid: all.flatMap((one) => one.invalid),
  };
};

/** The creates whose outcome is unknown, by the journals of a folder. */
export const pendingIn = async (folder: string): Promise<Entry[]> =>
  (await contentsIn(folder)).entries.filter(isPending);

/** The entries of a journal and its invalid lines, quarantined or not. */
const contentsOf = async (journal: string): Promise<JournalContents> => {
  const file = journalFile(journal);
  const contents = (await file.read()) ?? contentsFrom("");
  const lines = [...contents.invalid, ...(await file.quarantined())];
  const byLine = new Map(lines.map((one) => [one.line, { ...one, journal }]));
  return { ...contents, invalid: [...byLine.values()] };
};

const isPending = ({ uid }: Entry) => uid === undefined;
