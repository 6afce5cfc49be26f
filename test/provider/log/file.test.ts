// The lines of a journal, and its file: after a crash and a compaction, and its permissions.
import fs, { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  acknowledgeIn,
  contentsFrom,
  JournalError,
  journalFile,
  knownLine,
  textFrom,
} from "../../../provider/log/entries.ts";
import type { Entry } from "../../../provider/log/entry.ts";
import { createJournal, type Journal } from "../../../provider/run/journal.ts";
import { manualClock } from "../../harness/clock.ts";
import { GROUP, ORG } from "../../support/scripted.ts";
import { testFolder } from "../../support/test-folder.ts";

const intent = {
  intent: "i",
  key: "organization/project/stack/Group::a",
  kind: "group",
  parent: GROUP,
  inputs: "hash",
  given: [],
  at: 1,
  notBefore: 0,
};
const I = JSON.stringify(intent);
const textOf = (...lines: object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
const uidBelow = (digit: string): string => `${ORG}/${digit.repeat(16)}`;

it.each<[string, string]>([
  [
    '{"intent":"a"}',
    "key must be text; kind must be text; parent must be a uid, or empty at the root; inputs must be text",
  ],
  [JSON.stringify({ ...intent, parent: "../x" }), "parent must be a uid, or empty at the root"],
  [JSON.stringify({ ...intent, at: "1" }), "at must be a number of milliseconds"],
  [JSON.stringify({ ...intent, at: 1e300 }), "at must be a time"],
  [JSON.stringify({ ...intent, given: "x" }), "given must be a list of texts"],
  [JSON.stringify({ ...intent, key: "" }), "key must not be empty"],
  [
    JSON.stringify({ ...intent, uid: "x" }),
    "uid must be a uid: 40 hexadecimal digits, then / and 16 more for each level below",
  ],
  [JSON.stringify({ ...intent, at: undefined, uid: ORG }), "at must be a number of milliseconds"],
  ['{"closed":5}', "closed must be text"],
  ['{"known":"x"}', "known must be a uid: 40 hexadecimal digits, then / and 16 more for each level below"],
  ['{"colour":"blue"}', "it has none of intent, closed, known, removed, began, ended, wrote, settled"],
  ['["intent"]', "it has none of intent, closed, known, removed, began, ended, wrote, settled"],
  ["null", "it is not an object"],
  ["17", "it is not an object"],
  ["\0\0\0\0", "it is not JSON"],
  ['{"intent":"a"} and more}', "it is not JSON"],
])("a line that is not an entry %s: is ignored with a reason", (line, why) => {
  const { entries, invalid } = contentsFrom(`${I}\n${line}\n`);
  expect(entries).toEqual([intent]);
  expect(invalid).toEqual([{ line, why: expect.stringContaining(why) as string }]);
});

it("a line that is not an entry does not include a line with members of a later version, which are kept", () => {
  const later = JSON.stringify({ ...intent, colour: "blue" });
  const contents = contentsFrom(`${later}\n`);
  expect(contents.invalid).toEqual([]);
  expect(textFrom(contents)).toBe(`${later}\n`);
});

it("a deleted record is kept until the engine has another one of its resource", () => {
  const removed = { removed: GROUP, kind: "group", key: intent.key, identity: { name: "a hash" } };
  const lines = [removed, intent, { ...intent, uid: uidBelow("1"), at: 2 }];
  const contents = contentsFrom(textOf(...lines));
  expect(contents.removed).toEqual([removed]);
  expect(contentsFrom(textFrom(contents)).removed).toEqual([removed]);
  expect(contentsFrom(textOf(...lines, { known: uidBelow("1") })).removed).toEqual([]);
});

const began = { began: "r", stack: "o/p/s", at: 1, clock: 2, host: "h", pid: 3, start: "4" };
const intentOf = (id: string, run?: string) => ({ ...intent, intent: id, at: 5, ...(run !== undefined && { run }) });
const { key, kind, given } = intent;
const wrote = { wrote: uidBelow("a"), kind, key, at: 6, clock: 7, run: "r", to: "print", given };

it("the journal of a run without checkpoints has the run, its creates, and of each record the last write", () => {
  const { entries, runs, writes, invalid } = contentsFrom(
    textOf(
      began,
      intentOf("i", "r"),
      wrote,
      { ...wrote, isDone: true },
      { ...wrote, to: "other", clock: 8 },
      { ...began, ending: 9 },
    ),
  );
  expect(invalid).toEqual([]);
  expect(runs).toEqual([{ ...began, ending: 9 }]);
  expect(entries.map(({ run }) => run)).toEqual(["r"]);
  expect(writes).toEqual([{ ...wrote, to: "other", clock: 8 }]);
});

it("the journal of a run without checkpoints is the same after compaction", () => {
  const written = textOf(
    ...[
      { ...began, ending: 9, judged: "unclear" },
      { ...wrote, isDone: true },
    ],
    ...[{ ...intentOf("i", "r"), uid: uidBelow("b"), left: true }],
  );
  expect(textFrom(contentsFrom(written))).toBe(written);
});

it("the journal of a run without checkpoints ends with the run, and so do its writes that the state has", () => {
  const left = { ...intentOf("j", "r"), uid: uidBelow("b"), left: true };
  const contents = contentsFrom(textOf(began, intentOf("i", "r"), left, wrote, { ended: "r" }));
  expect(contents).toMatchObject({ entries: [intentOf("i")], runs: [], writes: [] });
  const { writes } = contentsFrom(textOf(began, wrote, { settled: uidBelow("a"), kind: "group" }));
  expect(writes).toEqual([]);
});

const folder = testFolder();

const atRoot = { ...intent, parent: "" };
const entryOf = (id: string): Entry => ({ ...atRoot, intent: id, key: `organization/project/stack/Group::${id}` });

const uidOf = (digit: string): string => digit.repeat(40);

const journalOf = (path: string) =>
  createJournal({ pathOf: () => path, clock: manualClock(), timeoutMs: 60_000, log: () => undefined });

/** Counts the times that data is sent to the disk. */
const syncCounter = (): (() => number) => {
  const sync = vi.spyOn(fs, "fdatasync");
  syncBuiltinESMExports();
  return () => sync.mock.calls.length;
};
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

it("the file is readable only by its owner, in a folder of the owner alone, also after compaction", async () => {
  const path = folder.path("new/deep/stack.jsonl");
  const file = journalFile(path);
  await file.append(entryOf("a"));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  await file.compact({ ...contentsFrom(""), entries: [entryOf("b")] });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect((await file.read())?.entries.map(({ intent }) => intent)).toEqual(["b"]);
});

it("the file writes lines that arrive together at once, with one fsync, and each writer waits for it", async () => {
  const path = folder.path("together.jsonl");
  const countSyncs = syncCounter();
  const file = journalFile(path);
  const first = file.append(entryOf("a"));
  const others = ["b", "c", "d"].map((id) => file.append(entryOf(id)));
  await first;
  expect((await journalFile(path).read())?.entries.map(({ intent }) => intent)).toContain("a");
  await Promise.all(others);
  expect(countSyncs()).toBe(1);
  expect((await journalFile(path).read())?.entries.map(({ intent }) => intent)).toEqual(["a", "b", "c", "d"]);
});

it("the file that was never written differs from one without entries", async () => {
  expect(await journalFile(folder.path("none.jsonl")).read()).toBeUndefined();
  writeFileSync(folder.path("empty.jsonl"), "");
  expect(await journalFile(folder.path("empty.jsonl")).read()).toMatchObject({ entries: [], invalid: [] });
});

it("the file with a torn last line keeps the lines before it, and gets the next one on a new line", async () => {
  const path = folder.path("torn.jsonl");
  writeFileSync(path, `${JSON.stringify(entryOf("a"))}\n{"intent":"b","key":"organi`);
  const file = journalFile(path);
  expect(await file.read()).toMatchObject({ entries: [entryOf("a")], invalid: [] });
  await file.append(entryOf("c"));
  expect((await file.read())?.entries.map(({ intent }) => intent)).toEqual(["a", "c"]);
});

it("the file that cannot be read is an error with advice; one that cannot be written fails all writers", async () => {
  const path = folder.path("folder.jsonl");
  mkdirSync(path);
  const error = (await journalFile(path)
    .read()
    .catch((thrown: unknown) => thrown)) as Error;
  expect(error).toBeInstanceOf(JournalError);
  expect(error.message).toBe(
    `the intent journal ${path} cannot be read (EISDIR); free some space or choose another folder: ` +
      "irm:journal in the stack's configuration, or IRM_JOURNAL\nSee docs/troubleshooting.md#cannot-write",
  );
  const file = journalFile(path);
  const results = await Promise.allSettled(["a", "b"].map((id) => file.append(entryOf(id))));
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});

const begun = async (journal: Journal, id: string): Promise<Entry> => {
  const { intent: _intent, at: _at, notBefore: _notBefore, ...own } = entryOf(id);
  return ((await journal.begin([own], async () => 1)) as [Entry])[0];
};

it("creates that are in flight together write the outcome of one and the entries of the next ones at once", async () => {
  const path = folder.path("group-commit.jsonl");
  const journal = journalOf(path);
  const first = await begun(journal, "first");
  const countSyncs = syncCounter();
  const [, ...next] = await Promise.all([
    journal.recordSuccess([{ entry: first, uid: uidOf("a") }], 1),
    begun(journal, "second"),
    begun(journal, "third"),
  ]);
  expect(countSyncs()).toBe(1);
  expect([...((await journalFile(path).read())?.entries.values() ?? [])]).toMatchObject([
    { intent: first.intent, uid: uidOf("a") },
    ...next.map((entry) => ({ intent: entry.intent })),
  ]);
  for (const entry of [first, ...next]) await journal.end([entry]);
});

it("compaction keeps each entry in one line, and drops settled ones", async () => {
  const path = folder.path("compact.jsonl");
  const file = journalFile(path);
  for (const id of ["open", "made", "closed", "known"]) await file.append(entryOf(id));
  await file.append({ ...entryOf("open"), at: 7 });
  await file.append({ ...entryOf("made"), uid: uidOf("a"), at: 8 });
  await file.append({ closed: "closed" });
  await file.append({ ...entryOf("known"), uid: uidOf("b"), at: 8 });
  await file.append({ known: uidOf("b") });
  expect(await journalOf(path).findUnsettled(entryOf("open").key)).toEqual([{ ...entryOf("open"), at: 7 }]);
  const lines = readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toEqual([
    { ...entryOf("open"), at: 7 },
    { ...entryOf("made"), at: 8, uid: uidOf("a") },
  ]);
  expect(readdirSync(dirname(path)).filter((name) => name.startsWith("compact"))).toEqual(["compact.jsonl"]);
});

it("compaction settles what the engine read before the first create", async () => {
  const path = folder.path("asked.jsonl");
  const file = journalFile(path);
  await file.append(entryOf("a"));
  await file.append({ ...entryOf("a"), uid: uidOf("c"), at: 8 });
  const journal = journalOf(path);
  await journal.acknowledge("group", [uidOf("c")]);
  expect(await journal.findUnsettled(entryOf("a").key)).toEqual([]);
  expect(readFileSync(path, "utf8")).toBe("");
});

it("compaction does not adopt from an entry that this process has begun", async () => {
  const journal = journalOf(folder.path("own.jsonl"));
  const { intent: _intent, at: _at, notBefore: _notBefore, ...begun } = entryOf("own");
  const entries = (await journal.begin([begun], async () => 1)) as Entry[];
  expect(await journal.findUnsettled(begun.key)).toEqual([]);
  await journal.end(entries);
});

// What the program tells the journal of records that the engine has stored, while the provider's process writes it.
describe("acknowledgeIn", () => {
  let path: string;
  beforeEach(({ task }) => {
    path = folder.path(`${task.id}.jsonl`);
  });
  const uid = (n: number) => uidOf(String(n));
  const entries = () => contentsFrom(readFileSync(path, "utf8")).entries.map(({ intent }) => intent);
  const own = (n: number, kind = "group") => ({ ...entryOf(`${kind} ${n}`), kind });
  const succeeded = (n: number, kind?: string) => [own(n, kind), { ...own(n, kind), uid: uid(n) }];

  it("removes the entries of what is stored, and of nothing else", async () => {
    const provider = journalFile(path);
    await provider.append(...succeeded(1), ...succeeded(2), own(3));
    await acknowledgeIn(path, [knownLine("group", uid(1)), knownLine("group", uid(9))]);
    expect(entries()).toEqual(["group 2", "group 3"]);
    await provider.append({ ...own(3), uid: uid(3) }, ...succeeded(4));
    await acknowledgeIn(path, [knownLine("group", uid(3)), knownLine("group", uid(4))]);
    expect(entries()).toEqual(["group 2"]);
  });

  it("tells records apart that share a uid, and makes no journal where there is none", async () => {
    await journalFile(path).append(...succeeded(1), ...succeeded(1, "accountAssociation"));
    await acknowledgeIn(path, [knownLine("accountAssociation", uid(1))]);
    expect(entries()).toEqual(["group 1"]);
    path = folder.path("no.jsonl");
    await acknowledgeIn(path, [knownLine("group", uid(1))]);
    expect(() => readFileSync(path)).toThrow("ENOENT");
  });

  it("follows a journal that the provider has rewritten", async () => {
    const provider = journalFile(path);
    await provider.append(...succeeded(1), ...succeeded(2));
    await acknowledgeIn(path, [knownLine("group", uid(1))]);
    await provider.compact({ ...contentsFrom(""), entries: succeeded(2).slice(1) });
    await acknowledgeIn(path, [knownLine("group", uid(2))]);
    expect(entries()).toEqual([]);
  });
});
