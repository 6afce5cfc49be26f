// A journal is a file. Lines that somebody else has written into it must not make a run delete or take over what it did not create.
import { appendFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import { fingerprintOf } from "../../../provider/record/desired.ts";
import type { Json } from "../../../schema/index.ts";
import { isGroupThere, startSharedService } from "../../harness/provider.ts";
import { createGroup, createWorld, type Stored, type World } from "./world.ts";

const service = await startSharedService();
let world: World;
/** a group of this test */
let parent: string;
let own: Stored;
beforeEach(async ({ task }) => {
  world = createWorld(service);
  parent = (await createGroup(service, service.organization as string, task.id)).uid;
  own = await world.run().create("group", "own", { parent, name: "own" });
  world.save(own);
});

/** Adds a killed run that created a record of these fields, at that time. */
const plant = (record: Json, atMs: number, about: { uid?: string; fields?: Json } = {}): void => {
  const began = {
    began: "r",
    stack: "organization/project/stack",
    at: atMs,
    clock: atMs,
    host: "h",
    pid: 9,
    start: "",
  };
  const inputs = fingerprintOf(kindRecords.group, parent, about.fields ?? record, []);
  const key = "organization/project/stack/Group::victim";
  const intent = { intent: "i", key, kind: "group", parent, inputs, given: [], at: atMs, notBefore: atMs, run: "r" };
  const made = { ...intent, uid: about.uid ?? record.uid };
  const [file = ""] = readdirSync(world.journal).filter((name) => name.endsWith(".jsonl"));
  for (const line of [began, intent, made]) appendFileSync(join(world.journal, file), `${JSON.stringify(line)}\n`);
};

const timeOf = (record: Json) => Date.parse(record.createTime as string);

describe("a line of a killed run without checkpoints", () => {
  it.each<[string, (record: Json & { uid: string }) => void, string]>([
    ["that is older than the run", (record) => plant(record, timeOf(record) + 60_000), "existed before the create"],
    ["that is newer than the run", (record) => plant(record, timeOf(record) - 60_000), "it was created later"],
    [
      "with other fields than the run sent",
      (record) => plant(record, timeOf(record), { fields: { name: "another" } }),
      "differs from what was requested",
    ],
  ])("does not delete a record %s", async (_which, act, why) => {
    const record = await createGroup(service, parent, "victim");
    act(record);
    service.clock.advance(120_000);
    await world.run().delete(own);
    expect(await isGroupThere(service, record.uid)).toBe(true);
    expect(world.messages.join("\n")).toContain(`Group::victim: group ${record.uid} "victim"`);
    expect(world.messages.join("\n")).toContain(why);
  });

  it("does not delete a record that the state has", async () => {
    const record = await world.run().create("group", "victim", { parent, name: "victim" });
    world.save(own, record);
    plant({ uid: record.id, name: "victim" }, Date.parse((record.outs.createTime as string) ?? ""));
    await world.run().delete(own);
    expect(await isGroupThere(service, record.id)).toBe(true);
  });

  it("makes no resource take over a record that differs from what the program asks for", async () => {
    const record = await createGroup(service, parent, "admin");
    plant(record, timeOf(record));
    service.clock.advance(120_000);
    const { id } = await world.run().create("group", "victim", { parent, name: "ci" });
    expect(id).not.toBe(record.uid);
  });

  it("that is none is kept and named", async () => {
    const [file = ""] = readdirSync(world.journal).filter((name) => name.endsWith(".jsonl"));
    writeFileSync(join(world.journal, file), '{"wrote":"no uid","kind":"group"}\n');
    await world.run().create("group", "x", { parent, name: "x" });
    expect(world.messages.join("\n")).toMatch(/has a line that is not an entry, ignored and kept .*wrote .*must be/s);
  });
});
