// The valid lines of a journal: the formats of all earlier versions, and no invalid entry.
import { describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import { contentsFrom, textFrom } from "../../../provider/log/entries.ts";
import { fingerprintOf } from "../../../provider/record/desired.ts";
import type { Kind } from "../../../provider/record/kind.ts";
import { isUidp } from "../../../schema/index.ts";
import type { StateResource } from "../../harness/engine-stack.ts";
import { readPart, VERSIONS } from "../../lifecycle/previous/recording.ts";
import { GROUP, ORG } from "../../support/scripted.ts";

describe.each(VERSIONS)("the journal that version %s wrote", (version) => {
  const written = readPart(version, "journal");
  const { entries, invalid } = contentsFrom(written);
  const nameOf = ({ key }: { key: string }) => key.split("::")[1];

  it("is read in full: pending and succeeded entries, and no settled ones", () => {
    expect(invalid).toEqual([]);
    const all = [...entries.values()];
    const pending = all.filter(({ uid }) => uid === undefined);
    expect(pending.map((entry) => [nameOf(entry), isUidp(entry.answered)]).sort()).toEqual([
      ["mistaken", true],
      ["unanswered", false],
    ]);
    const last = JSON.parse(written.match(/.*"again".*/)?.[0] as string);
    expect(entries.get(last.again)).toMatchObject({ at: last.at });
    const succeeded = all.filter(({ uid }) => isUidp(uid)).map(nameOf);
    expect(succeeded).toEqual(expect.arrayContaining(["ci", "publisher", "ci-views", "unreported"]));
    // The engine acknowledged one, and the service refused the other.
    for (const settled of ["team", "refused"]) expect(all.map(nameOf)).not.toContain(settled);
    expect(contentsFrom(textFrom({ entries: all })).entries).toEqual(entries);
  });

  it("has the same hashes as current records", () => {
    const { resources } = JSON.parse(readPart(version, "stack")).deployment as { resources: StateResource[] };
    const hashed = new Set<string>();
    for (const line of written
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text))) {
      const outputs = resources.find((one) => one.outputs?.__key === line.key)?.outputs;
      // A secret is not readable here.
      if (line.intent === undefined || outputs === undefined || "ciphertext" in Object(outputs.description)) continue;
      const kind = Object.values(kindRecords).find(({ field }) => field === line.kind) as Kind;
      expect(fingerprintOf(kind, line.parent, outputs, line.given), line.key).toBe(line.inputs);
      hashed.add([kind.type, ...line.given].join(" "));
    }
    expect([...hashed]).toEqual(expect.arrayContaining(["Group", "Group kind", "Identity", "Role", "RoleBinding"]));
  });
});

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
