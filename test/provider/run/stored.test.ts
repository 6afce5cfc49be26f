// What the program tells the journal of records that the engine has stored, while the provider's process writes it.
import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { contentsFrom, knownLine } from "../../../provider/log/entries.ts";
import type { Entry } from "../../../provider/log/entry.ts";
import { acknowledgeIn, journalFile } from "../../../provider/log/file.ts";
import { testFolder } from "../../support/test-folder.ts";

const ROOT = "12".repeat(20);
const uid = (n: number) => `${ROOT}/${String(n).repeat(16)}`;

const intent = (n: number, kind = "group"): Entry => ({
  intent: `${kind} ${n}`,
  key: `organization/access/dev/${kind}::${n}`,
  kind,
  parent: ROOT,
  inputs: "hash",
  given: [],
  at: 1,
  notBefore: 1,
});

describe("acknowledgeIn", () => {
  const folder = testFolder();
  let path: string;
  beforeEach(({ task }) => {
    path = folder.path(`${task.id}.jsonl`);
  });

  const entries = () => contentsFrom(readFileSync(path, "utf8")).entries.map(({ intent }) => intent);
  const succeeded = (n: number, kind = "group") => [intent(n, kind), { ...intent(n, kind), uid: uid(n) }];

  it("removes the entries of what is stored, and of nothing else", async () => {
    const provider = journalFile(path);
    await provider.append(...succeeded(1), ...succeeded(2), intent(3));
    await acknowledgeIn(path, [knownLine("group", uid(1)), knownLine("group", uid(9))]);
    expect(entries()).toEqual(["group 2", "group 3"]);
    await provider.append({ ...intent(3), uid: uid(3) }, ...succeeded(4));
    await acknowledgeIn(path, [knownLine("group", uid(3)), knownLine("group", uid(4))]);
    expect(entries()).toEqual(["group 2"]);
  });

  it("tells records apart that share a uid", async () => {
    await journalFile(path).append(...succeeded(1), ...succeeded(1, "accountAssociation"));
    await acknowledgeIn(path, [knownLine("accountAssociation", uid(1))]);
    expect(entries()).toEqual(["group 1"]);
  });

  it("follows a journal that the provider has rewritten", async () => {
    const provider = journalFile(path);
    await provider.append(...succeeded(1), ...succeeded(2));
    await acknowledgeIn(path, [knownLine("group", uid(1))]);
    await provider.compact({ ...contentsFrom(""), entries: [{ ...intent(2), uid: uid(2) }] });
    await acknowledgeIn(path, [knownLine("group", uid(2))]);
    expect(entries()).toEqual([]);
  });

  it("makes no journal where there is none", async () => {
    await acknowledgeIn(path, [knownLine("group", uid(1))]);
    expect(() => readFileSync(path)).toThrow("ENOENT");
  });
});
