// `irm journal`: what the intent journals of this machine hold, and what a run that was killed elsewhere left in the engine's
// state.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { systemClock } from "../provider/clock.ts";
import { ConfigError } from "../provider/config.ts";
import type { Entry } from "../provider/journal/entry.ts";
import { JournalError, journalFile } from "../provider/journal/file.ts";
import { lockOf } from "../provider/journal/lock.ts";
import { journalFolder } from "../provider/journal/place.ts";
import { title } from "../provider/kind/kind.ts";
import { type PendingCreate, pendingCreates } from "../provider/pending.ts";
import { DEADLINE_MS } from "../provider/retry.ts";
import { checkedConfig, sessionWith, systemOutside } from "../provider/session.ts";
import { parseFlags, UsageError } from "./usage.ts";

const usage = `Usage: irm journal list [--folder FOLDER] [--json]
       irm journal clean [--folder FOLDER] [--key KEY | --all]
       irm journal pending FILE

The intent journal of a stack has an entry for each create of which the engine may not know: open (sent, and nobody heard
what became of it), or made (the engine has not asked for the record since).

  list       prints the entries; the next run of their stack settles them by itself
  clean      forgets entries: those of KEY, or all; and removes journals without any. What an open entry made is then
             nobody's: look for it first
  pending    reads what pulumi stack export prints (FILE, or - for stdin), and prints for each create that was not ended
             the records that may be its, by name and uid; exits with 1 when there are some. Address and credentials are
             those of the environment: IRM_BASE_URL, and IRM_TOKEN or another one

  --folder FOLDER   folder of the journals (default: IRM_JOURNAL, or the user's state folder)
  --json            one line of JSON for each entry
`;

const run = async ([action, ...args]: string[]): Promise<number> => {
  try {
    switch (action) {
      case "list":
        return await list(args);
      case "clean":
        return await clean(args);
      case "pending":
        return await pending(args);
    }
  } catch (error) {
    if (!(error instanceof JournalError || error instanceof ConfigError || error instanceof PendingError)) throw error;
    process.stderr.write(`irm journal ${action}: ${error.message}\n`);
    return 1;
  }
  throw new UsageError(`there is no ${JSON.stringify(action ?? "")}; it is list, clean or pending`);
};

const JOURNAL = /\.jsonl$/;

const journalsIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => JOURNAL.test(name))
        .map((name) => join(folder, name))
    : [];

const list = async (args: string[]): Promise<number> => {
  const flags = parseFlags(args, { folder: { type: "string" }, json: { type: "boolean" } });
  const folder = journalFolder(flags.folder || process.env.IRM_JOURNAL || undefined, process.env);
  const entries = (await Promise.all(journalsIn(folder).map(entriesOf))).flat();
  if (flags.json) for (const entry of entries) process.stdout.write(`${JSON.stringify(entry)}\n`);
  else process.stdout.write(entries.length === 0 ? `no entries in ${folder}\n` : entries.map(lineOf).join(""));
  return 0;
};

const entriesOf = async (path: string): Promise<Entry[]> => [...((await journalFile(path).read())?.values() ?? [])];

const lineOf = ({ key, kind, parent, uid, at }: Entry): string => {
  const where = parent === "" ? "at the root" : `in ${parent}`;
  return `${uid === undefined ? "open" : "made"}  ${new Date(at).toISOString()}  ${key}  ${uid ?? `a ${kind} ${where}`}\n`;
};

const clean = async (args: string[]): Promise<number> => {
  const flags = parseFlags(args, { folder: { type: "string" }, key: { type: "string" }, all: { type: "boolean" } });
  if (flags.key !== undefined && flags.all) throw new UsageError("--key and --all do not go together");
  const folder = journalFolder(flags.folder || process.env.IRM_JOURNAL || undefined, process.env);
  const say = (text: string) => process.stderr.write(`${text}\n`);
  for (const path of journalsIn(folder)) {
    const file = path.replace(JOURNAL, ".lock");
    const lock = lockOf({ file, clock: systemClock, patienceMs: DEADLINE_MS, say });
    await lock.acquire();
    try {
      const entries = await entriesOf(path);
      const kept = entries.filter(({ key }) => !(flags.all || key === flags.key));
      for (const entry of entries) if (!kept.includes(entry)) process.stdout.write(`forgotten: ${lineOf(entry)}`);
      if (kept.length === 0) rmSync(path);
      else if (kept.length < entries.length) await journalFile(path).compact(kept);
    } finally {
      await lock.release();
    }
  }
  return 0;
};

class PendingError extends Error {
  override readonly name = "PendingError";
}

const pending = async ([file, ...rest]: string[]): Promise<number> => {
  if (file === undefined || rest.length > 0) throw new UsageError("pending takes one FILE, or - for stdin");
  const source = file === "-" ? "stdin" : file;
  let exported: unknown;
  try {
    exported = JSON.parse(file === "-" ? await textOf(process.stdin) : readFileSync(file, "utf8"));
  } catch (error) {
    throw new PendingError(`cannot read ${source}: ${(error as Error).message}`);
  }
  const outside = systemOutside();
  const session = sessionWith(checkedConfig(undefined, outside.env), outside);
  const creates = await pendingCreates(session, exported).catch((error: Error) => {
    throw new PendingError(`${source}: ${error.message}`);
  });
  process.stdout.write(
    creates.length === 0 ? "no create was left without its end\n" : creates.map(explained).join("\n"),
  );
  return creates.some(({ candidates }) => candidates.length > 0) ? 1 : 0;
};

const explained = ({ urn, kind, inputs, candidates }: PendingCreate): string => {
  const name = inputs.name === undefined ? "" : ` "${inputs.name}"`;
  const head = `${urn}\n  a run ended while it made this ${kind.word}${name} in ${inputs.parent ?? "the root"}`;
  if (candidates.length === 0) return `${head}; there is none: run pulumi up\n`;
  const lines = candidates.map((one) => `    ${kind.word} ${one.uid} ${title(one)}, made ${one.createTime}`);
  const advice = `  take it: adopt: "${candidates[0]?.uid}", deleteAdopted: true on the resource; or delete it; then run pulumi up`;
  return `${[`${head}; it may be:`, ...lines, advice].join("\n")}\n`;
};

export const journal = { summary: "what runs that did not end may have made", usage, run };
