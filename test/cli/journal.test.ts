import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { afterEach, expect, it, vi } from "vitest";
import { journalFile } from "../../provider/log/entries.ts";
import type { Entry } from "../../provider/log/entry.ts";
import { root } from "../harness/api-process.ts";
import { runCommand } from "../support/command.ts";
import { exactFailure, runIrm, success } from "../support/irm.ts";
import { testFolder } from "../support/test-folder.ts";

const folder = testFolder();
afterEach(() => vi.unstubAllEnvs());

const ORG = "720909c9f5279097d847ad02a2f24ba8f59de36a";
const keyOf = (name: string) => `organization/project/stack/Group::${name}`;
const MADE_MS = Date.parse("2026-01-28T12:00:00Z");

const intent = (name: string, parent: string): Entry => ({
  intent: `intent of ${name}`,
  key: keyOf(name),
  kind: "group",
  parent,
  inputs: "hash",
  given: [],
  at: MADE_MS,
  notBefore: 0,
});

const made = { ...intent("made", ""), uid: `${ORG}/0000000000000001` };

let count = 0;
/** A folder with journals: a pending entry, a succeeded one, and one of another stack. */
const journals = async (): Promise<string> => {
  count += 1;
  const own = folder.path(`journals-${count}`);
  const one = journalFile(`${own}/one.jsonl`);
  await one.append(intent("open", ORG));
  await one.append(intent("made", ""));
  await one.append(made);
  await journalFile(`${own}/two.jsonl`).append(intent("other", ""));
  return own;
};
const list = async (own: string, ...flags: string[]) =>
  (await runIrm("recover", "list", ...flags, "--folder", own)).stdout;
const clean = (own: string, ...flags: string[]) => runIrm("recover", "clean", "--folder", own, ...flags);
const lines = {
  open: `pending    2026-01-28T12:00:00.000Z  ${keyOf("open")}  a group in ${ORG}\n`,
  made: `succeeded  2026-01-28T12:00:00.000Z  ${keyOf("made")}  ${ORG}/0000000000000001\n`,
  other: `pending    2026-01-28T12:00:00.000Z  ${keyOf("other")}  a group at the root\n`,
};

it("irm recover list prints what a folder in the work tree has, and that no run uses it", async () => {
  const { code, stdout, stderr } = await runCommand("recover", "list", "--folder", `${root}.irm-journal`);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `no pending creates: no entries in ${root}.irm-journal\n` });
  expect(stderr).toContain("irm recover list: No run uses these journals: the folder of the intent journals");
});

it("irm recover list prints pending entries of the folder, or of IRM_JOURNAL, all with --all, as JSON", async () => {
  const own = await journals();
  expect(await runIrm("recover", "list", "--folder", own)).toEqual(success(lines.open + lines.other));
  vi.stubEnv("IRM_JOURNAL", own);
  expect(await runIrm("recover", "list")).toEqual(success(lines.open + lines.other));
  expect(await list(own, "--all")).toBe(lines.open + lines.made + lines.other);
  const printed = (await list(own, "--json")).trim().split("\n");
  expect(printed.map((line) => JSON.parse(line))).toEqual([intent("open", ORG), made, intent("other", "")]);
});

it("irm recover list --all prints adopted records that were deleted; clean --key removes one", async () => {
  const own = folder.path("removed");
  const file = journalFile(`${own}/one.jsonl`);
  const entry = { removed: `${ORG}/0000000000000001`, kind: "group", identity: {} };
  const removed = (name: string) => ({ ...entry, key: keyOf(name) });
  await file.append(removed("gone"), removed("also"));
  const line = `removed    ${keyOf("gone")}  group ${ORG}/0000000000000001 was deleted: the next update creates it again\n`;
  expect(await list(own, "--all")).toContain(line);
  expect(await clean(own, "--key", keyOf("gone"))).toEqual(success(`forgotten: ${line}`));
  expect((await file.read())?.removed.map(({ key }) => key)).toEqual([keyOf("also")]);
});

it("irm recover list reports that nothing is pending when every create succeeded, as after any run", async () => {
  const own = folder.path("succeeded");
  const journal = journalFile(`${own}/one.jsonl`);
  await journal.append(intent("made", ""), made, intent("second", ""));
  await journal.append({ ...intent("second", ""), uid: `${ORG}/0000000000000002` });
  expect(await list(own)).toBe(
    `no pending creates in ${own}: its 2 creates succeeded. The next run of a stack removes the entries of the records that its state has; ` +
      "entries of a stack, or of an organization, that no longer exists stay until npx pulumi-irm recover clean\n",
  );
  const { intent: _intent, ...entry } = intent("second", "");
  const line = JSON.stringify({ intent: "intent of second", ...entry, uid: `${ORG}/0000000000000002` });
  await journal.quarantine([{ line, why: "its organization is gone" }]);
  expect(await list(own)).toBe(
    `set aside  2026-01-28T12:00:00.000Z  ${keyOf("second")}  ${ORG}/0000000000000002: its organization is gone  (${own}/one.jsonl.invalid)\n`,
  );
});

it("irm recover list reports no entries of a missing folder, and a journal that cannot be read", async () => {
  const none = folder.path("none");
  expect(await runIrm("recover", "list", "--folder", none)).toEqual(
    success(`no pending creates: no entries in ${none}\n`),
  );
  expect(await list(none, "--json")).toBe("");
  const own = folder.path("unreadable");
  mkdirSync(`${own}/one.jsonl`, { recursive: true });
  expect(await runIrm("recover", "list", "--folder", own)).toMatchObject({
    code: 1,
    stderr:
      `irm recover list: the intent journal ${own}/one.jsonl cannot be read (EISDIR); free some space or choose another ` +
      "folder: irm:journal in the stack's configuration, or IRM_JOURNAL\nSee docs/troubleshooting.md#cannot-write\n",
  });
});

const breakFile = async (): Promise<string> => {
  const own = await journals();
  appendFileSync(`${own}/one.jsonl`, '{"intent":"a"}\n\u001b[31mred\n');
  return own;
};
const invalidAt = (own: string) => {
  const why = "key must be text; kind must be text; parent must be a uid, or empty at the root; inputs must be text; ";
  const times =
    "given must be a list of texts; at must be a number of milliseconds; notBefore must be a number of milliseconds";
  return [
    `invalid    ${why}${times}: ${JSON.stringify('{"intent":"a"}')}  (${own}/one.jsonl)\n`,
    `invalid    it is not JSON: "\\u001b[31mred"  (${own}/one.jsonl)\n`,
  ];
};

it("a journal with invalid lines is listed with them, escaped, before and after a quarantine", async () => {
  const own = await breakFile();
  const expected = lines.open + lines.other + invalidAt(own).join("");
  expect(await list(own)).toBe(expected);
  await clean(own);
  expect(readdirSync(own)).toContain("one.jsonl.invalid");
  expect(await list(own)).toBe(expected);
  const printed = (await list(own, "--json")).trim().split("\n");
  expect(JSON.parse(printed.at(-1) as string)).toEqual({
    line: "\u001b[31mred",
    why: "it is not JSON",
    journal: `${own}/one.jsonl`,
  });
});

it("a journal with invalid lines keeps its invalid lines after clean; --invalid removes only those", async () => {
  const own = await breakFile();
  const { stdout } = await clean(own, "--key", keyOf("open"));
  const invalid = invalidAt(own);
  expect(stdout).toBe(`forgotten: ${lines.open}${invalid.map((line) => `quarantined: ${line}`).join("")}`);
  expect((await clean(own, "--invalid")).stdout).toBe(invalid.map((line) => `forgotten: ${line}`).join(""));
  expect(readdirSync(own).sort()).toEqual(["one.jsonl", "two.jsonl"]);
  expect(await list(own, "--all")).toBe(lines.made + lines.other);
});

it.each<[flags: string[], removed: (keyof typeof lines)[]]>([
  [["--key", keyOf("open")], ["open"]],
  [["--all"], ["open", "made", "other"]],
  [[], []],
])("irm recover clean %j removes and prints these entries, and empty journals: %j", async (flags, removed) => {
  const own = await journals();
  if (flags.length === 0) writeFileSync(`${own}/empty.jsonl`, "");
  expect(await clean(own, ...flags)).toEqual(success(removed.map((name) => `forgotten: ${lines[name]}`).join("")));
  const left = (["open", "made", "other"] as const).filter((name) => !removed.includes(name));
  expect(readdirSync(own).toSorted()).toEqual(left.length === 0 ? [] : ["one.jsonl", "two.jsonl"]);
  if (left.length > 0) expect(await list(own, "--all")).toBe(left.map((name) => lines[name]).join(""));
});

it("irm recover clean fails for a key that no entry has, suggests the nearest one, and removes nothing", async () => {
  const own = await journals();
  const problem = `no entry has the key "${keyOf("open")}x"; did you mean ${keyOf("open")}?`;
  expect(await clean(own, "--key", `${keyOf("open")}x`)).toEqual(
    exactFailure(1, `irm recover clean: ${problem}\nRun \`npx pulumi-irm recover list --all\` for the keys.\n`),
  );
  expect(await list(own, "--all")).toBe(lines.open + lines.made + lines.other);
});
