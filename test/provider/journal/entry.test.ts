// What a line of the journal may be: the format that earlier versions wrote, for ever, and nothing that is no entry.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { contentsFrom, textFrom } from "../../../provider/journal/entry.ts";
import { group } from "../../../provider/kind/group.ts";
import { identity } from "../../../provider/kind/identity.ts";
import type { Kind } from "../../../provider/kind/kind.ts";
import { role } from "../../../provider/kind/role.ts";
import { roleBinding } from "../../../provider/kind/role-binding.ts";
import { fingerprint } from "../../../provider/state/fingerprint.ts";
import type { Json } from "../../../schema/index.ts";
import { GROUP, IDENTITY, ORG, ROLE } from "../double.ts";

const WRITTEN = readFileSync(new URL("format-0.1.jsonl", import.meta.url), "utf8");

describe("a journal that version 0.1 wrote", () => {
  it("is read whole: what is pending, what succeeded, and nothing that is settled", () => {
    const { entries, invalid } = contentsFrom(WRITTEN);
    expect(invalid).toEqual([]);
    expect([...entries.values()].map(({ key, uid, at }) => [key.split("::")[1], uid, at])).toEqual([
      ["team", undefined, 1769605200000],
      ["ci", IDENTITY, 1769605201000],
      ["ci-lists", undefined, 1769605203000],
    ]);
    expect(contentsFrom(textFrom(entries.values())).entries).toEqual(entries);
  });

  it("has the hashes that records of today have", () => {
    const binding = { identityUid: IDENTITY, roleUid: ROLE };
    const claimMatch = { issuer: "https://issuer.example.com", subject: "repo:a/b" };
    const capabilities = ["CAP_IAM_ROLES_LIST", "CAP_IAM_GROUPS_LIST"];
    const records: [Kind, string, Json, string[]][] = [
      [group, GROUP, { name: "team", description: "d", verified: true }, []],
      [identity, GROUP, { name: "ci", claimMatch, lastSeenTime: "2026-01-28T12:00:00Z" }, []],
      [role, GROUP, { name: "lister", capabilities }, []],
      [roleBinding, GROUP, { identity: { uid: IDENTITY, name: "ci" }, role: { uid: ROLE } }, []],
      [roleBinding, GROUP, binding, []],
      [group, "", { name: "org", verified: true }, ["verified"]],
    ];
    for (const [kind, parent, record, given] of records)
      expect(WRITTEN).toContain(`"inputs":"${fingerprint(kind, parent, record, given)}"`);
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

describe("a line that is no entry", () => {
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
    [`{"made":"i","uid":"x","at":1}`, "uid must be a uid: 40 hexadecimal digits, then /16 for each level below"],
    [`{"made":"i","uid":"${ORG}"}`, "at must be a number of milliseconds"],
    [`{"made":"another","uid":"${ORG}","at":1}`, "its create is not in the file"],
    ['{"closed":5}', "closed must be text"],
    ['{"known":"x"}', "known must be a uid: 40 hexadecimal digits, then /16 for each level below"],
    ['{"colour":"blue"}', "it has none of intent, again, made, answered, closed, known"],
    ["{}", "it has none of intent, again, made, answered, closed, known"],
    ['["intent"]', "it has none of intent, again, made, answered, closed, known"],
    ["null", "it is not an object"],
    ['"intent"', "it is not an object"],
    ["17", "it is not an object"],
    ["\0\0\0\0", "it is not JSON"],
    ["what is this", "it is not JSON"],
    ['{"intent":"a"} and more}', "it is not JSON"],
  ])("%s: is not followed, and says why", (line, why) => {
    const { entries, invalid } = contentsFrom(`${I}\n${line}\n`);
    expect([...entries.values()]).toEqual([intent]);
    expect(invalid).toEqual([{ line, why: expect.stringContaining(why) as string }]);
  });

  it("is not one that was being written when its process died: nothing was sent for it", () => {
    expect(contentsFrom(`${I}\n{"intent":"b","key":"organi`)).toEqual({
      entries: new Map([["i", intent]]),
      invalid: [],
    });
  });

  it("is not one with members of a later version, which are kept", () => {
    const later = JSON.stringify({ ...intent, colour: "blue" });
    const { entries, invalid } = contentsFrom(`${later}\n`);
    expect(invalid).toEqual([]);
    expect(textFrom(entries.values())).toBe(`${later}\n`);
  });
});
