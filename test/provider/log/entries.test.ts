// The lines of a journal: an invalid one is no entry, and is kept. Those of a run without checkpoints stay until it has ended.
import { describe, expect, it } from "vitest";
import { contentsFrom, textFrom } from "../../../provider/log/entries.ts";
import { GROUP, ORG } from "../../support/scripted.ts";

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

describe("a line that is not an entry", () => {
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
  ])("%s: is ignored with a reason", (line, why) => {
    const { entries, invalid } = contentsFrom(`${I}\n${line}\n`);
    expect(entries).toEqual([intent]);
    expect(invalid).toEqual([{ line, why: expect.stringContaining(why) as string }]);
  });

  it("does not include a torn last line: nothing was sent for it", () => {
    expect(contentsFrom(`${I}\n{"intent":"b","key":"organi`)).toMatchObject({
      entries: [intent],
      invalid: [],
    });
  });

  it("does not include a line with members of a later version, which are kept", () => {
    const later = JSON.stringify({ ...intent, colour: "blue" });
    const contents = contentsFrom(`${later}\n`);
    expect(contents.invalid).toEqual([]);
    expect(textFrom(contents)).toBe(`${later}\n`);
  });
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

describe("the journal of a run without checkpoints", () => {
  it("has the run, its creates, and of each record the last write", () => {
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

  it("is the same after compaction", () => {
    const written = textOf(
      ...[
        { ...began, ending: 9, judged: "unclear" },
        { ...wrote, isDone: true },
      ],
      ...[{ ...intentOf("i", "r"), uid: uidBelow("b"), left: true }],
    );
    expect(textFrom(contentsFrom(written))).toBe(written);
  });

  it("ends with the run: what else it created is like the creates of any other run, and what is left goes", () => {
    const left = { ...intentOf("j", "r"), uid: uidBelow("b"), left: true };
    const contents = contentsFrom(textOf(began, intentOf("i", "r"), left, wrote, { ended: "r" }));
    expect(contents).toMatchObject({ entries: [intentOf("i")], runs: [], writes: [] });
  });

  it("shows a write no more once the state has the record as it is", () => {
    const { writes } = contentsFrom(textOf(began, wrote, { settled: uidBelow("a"), kind: "group" }));
    expect(writes).toEqual([]);
  });
});
