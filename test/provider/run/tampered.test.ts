// A journal that a person or a broken disk has changed. Invalid lines are quarantined. No record is adopted, or later deleted,
// only because the file names it.
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Json } from "../../../schema/index.ts";
import { configureGroup, startMachine } from "../../harness/provider.ts";
import { keyOf } from "../../support/scripted.ts";

const { group } = kindRecords;

const machine = startMachine();

const file = (): string =>
  join(machine.journal, readdirSync(machine.journal).find((name) => name.endsWith(".jsonl")) as string);

/** Changes the members of the lines that have this member. */
const tamper = (member: string, members: Json): void =>
  writeFileSync(
    file(),
    readFileSync(file(), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Json)
      .map((line) => `${JSON.stringify(member in line ? { ...line, ...members } : line)}\n`)
      .join(""),
  );

/** A record that a run created before it was killed, and an older foreign one. */
const killed = async () => {
  const foreign = await machine.createByOther(machine.inputs());
  const args = machine.inputs();
  machine.service.clock.advance(5_000);
  const { id } = await reconcile.create(group, machine.run().session, args);
  return { args, id, foreign };
};

it("a line that is not an entry is quarantined with one warning, and breaks neither up nor refresh nor destroy", async () => {
  const args = machine.inputs();
  const methods = await configureGroup(machine.run());
  const { id, outs } = await methods.create(args);
  appendFileSync(file(), '{"intent":"a"}\nwhat is this\n');
  const warning = [
    expect.stringMatching(
      new RegExp(
        `^the intent journal ${file()} has 2 lines that are not entries, ignored and kept in ${file()}\\.invalid by the ` +
          'next up:\n {2}- "\\{\\\\"intent\\\\":\\\\"a\\\\"\\}": key must be text; .*\n {2}- "what is this": it is not JSON\n' +
          "If one is of a create that a killed run did not finish, its record may have no resource: search for it\\. ",
      ),
    ),
  ];
  expect((await (await configureGroup(machine.run())).read(id, outs)).id).toBe(id);
  expect(machine.messages.splice(0)).toEqual(warning);

  const up = await configureGroup(machine.run());
  await up.create(machine.inputs());
  await up.create(machine.inputs());
  expect(machine.messages.splice(0)).toEqual(warning);
  expect(readFileSync(file(), "utf8")).not.toContain("what is this");
  expect(readFileSync(`${file()}.invalid`, "utf8")).toContain('{"line":"what is this","why":"it is not JSON"}\n');

  await (await configureGroup(machine.run())).delete(id, outs);
  expect(machine.messages).toEqual([]);
  expect(await machine.named(args.name)).toEqual([]);
});

describe("an entry that names another record", () => {
  it.each<[string, (uid: string) => string, (() => string)?]>([
    ["that existed before, in the same group", (uid) => uid, () => "existed before the create"],
    ["that does not exist", () => `${machine.org}/0123456789abcdef`],
    ["in another group", (uid) => `${uid}/0123456789abcdef`, () => `is not in ${machine.org}`],
  ])("%s: the created record is found, and the other one is kept aside", async (_what, uidFrom, why) => {
    const { args, id, foreign } = await killed();
    tamper("uid", { uid: uidFrom(foreign.uid) });
    const next = await reconcile.create(group, machine.run().session, args);
    expect(next.id).toBe(id);
    expect(machine.posts).toBe(1);
    expect(await machine.named(foreign.name)).toMatchObject([{ uid: foreign.uid }]);
    expect(machine.messages.at(-1)).toContain(`adopting group ${id}`);
    const named = `${args.__key}: the intent journal names ${uidFrom(foreign.uid)} for it, which`;
    expect(machine.messages.filter((text) => text.includes("the intent journal"))).toEqual(
      why === undefined ? [] : [`${named} ${why()}: it is ignored, and kept in ${file()}.invalid`],
    );
    if (why) expect(readFileSync(`${file()}.invalid`, "utf8")).toContain(foreign.uid);
  });

  it("of another resource of the stack leaves each resource its own record", async () => {
    const [one, two] = [machine.inputs(), machine.inputs()];
    const first = await reconcile.create(group, machine.run().session, one);
    await machine.run().session.journal.acknowledge("group", [first.id], one.__key as string);
    const second = await reconcile.create(group, machine.run().session, two);
    tamper("uid", { uid: first.id });
    const next = machine.run();
    // The engine acknowledged it: a diff of the other resource came first.
    next.session.ownership.inState(first.id, one.__key as string);
    expect((await reconcile.create(group, next.session, two)).id).toBe(second.id);
  });

  it("that is newer, foreign and different adopts and creates nothing until a person decides", async () => {
    const { args, id } = await killed();
    const later = await machine.createByOther({ ...args, description: "another" });
    await machine.service.session.call("DeleteGroup", { uid: id });
    tamper("uid", { uid: later.uid });
    for (let run = 0; run < 2; run += 1)
      await expect(reconcile.create(group, machine.run().session, args)).rejects.toThrow(
        `${args.__key}: the intent journal of an earlier run names group ${later.uid} "${args.name}", which differs ` +
          `from what was requested, and no other record matches.\nIf it belongs to this resource, adopt it with adopt: "${later.uid}", and ` +
          "deleteAdopted: true to delete it with the resource; if not: npx pulumi-irm recover clean --key " +
          `"${args.__key}". Until then nothing is created.`,
      );
    expect(machine.posts).toBe(1);
    const adopted = await reconcile.create(group, machine.run().session, { ...args, adopt: later.uid });
    expect(adopted.outs).toMatchObject({ uid: later.uid, description: "d", adopted: true });
    expect(await machine.run().session.journal.findUnsettled(args.__key as string)).toEqual([]);
  });
});

describe("an entry whose members do not fit its record", () => {
  it("the kind: its record is found by its hash, which includes the kind", async () => {
    const { args, id } = await killed();
    tamper("intent", { kind: "role" });
    const next = await reconcile.create(group, machine.run().session, args);
    expect(next.id).toBe(id);
    expect(machine.messages[0]).toContain(
      `the intent journal names ${id} for it, which is recorded as a role: it is ignored`,
    );
  });

  it("the parent: its record is reported, but not adopted", async () => {
    const { args, id, foreign } = await killed();
    tamper("intent", { parent: foreign.uid });
    await expect(reconcile.create(group, machine.run().session, args)).rejects.toThrow(
      "a group with the same parent and fields exists, and nothing shows that this stack created it; nothing was sent:",
    );
    expect(machine.messages[0]).toContain(`names ${id} for it, which is not in ${foreign.uid}: it is ignored`);
    expect(existsSync(`${file()}.invalid`)).toBe(true);
  });
});

it("adoption of another record than the entry names does not report an unrelated record as unmanaged", async () => {
  const { args, foreign } = await killed();
  tamper("uid", { uid: foreign.uid });
  const other = await machine.createByOther(machine.inputs());
  const adopting = { ...keyOf(""), ...args, adopt: other.uid, name: other.name };
  await reconcile.create(group, machine.run().session, adopting);
  expect(machine.messages.join("\n")).not.toContain("nobody's");
});
