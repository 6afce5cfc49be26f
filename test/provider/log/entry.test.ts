// The lines of a journal: an invalid one is no entry, and is kept.
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
      `{"made":"i","uid":"x","at":1}`,
      "uid must be a uid: 40 hexadecimal digits, then / and 16 more for each level below",
    ],
    [`{"made":"i","uid":"${ORG}"}`, "at must be a number of milliseconds"],
    [`{"made":"another","uid":"${ORG}","at":1}`, "its create is not in the file"],
    ['{"closed":5}', "closed must be text"],
    ['{"known":"x"}', "known must be a uid: 40 hexadecimal digits, then / and 16 more for each level below"],
    ['{"colour":"blue"}', "it has none of intent, again, made, answered, closed, known"],
    ["{}", "it has none of intent, again, made, answered, closed, known"],
    ['["intent"]', "it has none of intent, again, made, answered, closed, known"],
    ["null", "it is not an object"],
    ['"intent"', "it is not an object"],
    ["17", "it is not an object"],
    ["\0\0\0\0", "it is not JSON"],
    ["what is this", "it is not JSON"],
    ['{"intent":"a"} and more}', "it is not JSON"],
  ])("%s: is ignored with a reason", (line, why) => {
    const { entries, invalid } = contentsFrom(`${I}\n${line}\n`);
    expect([...entries.values()]).toEqual([intent]);
    expect(invalid).toEqual([{ line, why: expect.stringContaining(why) as string }]);
  });

  it("does not include a torn last line: nothing was sent for it", () => {
    expect(contentsFrom(`${I}\n{"intent":"b","key":"organi`)).toMatchObject({
      entries: new Map([["i", intent]]),
      invalid: [],
    });
  });

  it("does not include a line with members of a later version, which are kept", () => {
    const later = JSON.stringify({ ...intent, colour: "blue" });
    const { entries, invalid } = contentsFrom(`${later}\n`);
    expect(invalid).toEqual([]);
    expect(textFrom({ entries: entries.values() })).toBe(`${later}\n`);
  });
});

it("a deleted record is kept until the engine has another one of its resource", () => {
  const removed = { removed: GROUP, kind: "group", key: intent.key, identity: { name: "a hash" } };
  const lines = [removed, intent, { made: "i", uid: `${ORG}/0000000000000001`, at: 2 }];
  const textOf = (all: readonly object[]): string => all.map((line) => `${JSON.stringify(line)}\n`).join("");
  const { entries, removed: kept } = contentsFrom(textOf(lines));
  expect([...kept.values()]).toEqual([removed]);
  const again = contentsFrom(textFrom({ entries: entries.values(), removed: kept.values() }));
  expect([...again.removed.values()]).toEqual([removed]);
  expect(contentsFrom(textOf([...lines, { known: `${ORG}/0000000000000001` }])).removed.size).toBe(0);
});
