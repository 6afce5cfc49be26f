// Lines of somebody else in a journal make no run delete or adopt what it did not create.
import { appendFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { findingsOf } from "../../../provider/attribution/stack.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import { contentsFrom } from "../../../provider/log/entries.ts";
import { fingerprintOf } from "../../../provider/record/desired.ts";
import { TOKEN_PREFIX } from "../../../provider/record/kind.ts";
import type { OpenRuns } from "../../../provider/run/stack-journal.ts";
import type { EngineState } from "../../../pulumi/state.ts";
import type { Json } from "../../../schema/index.ts";
import { isGroupThere, startSharedService } from "../../harness/provider.ts";
import { ORG } from "../../support/scripted.ts";
import { createGroup, createWorld, type Stored, type World } from "./world.ts";

const service = await startSharedService();
let world: World;
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
  const began = { ...BEGAN, stack: "organization/project/stack", at: atMs, clock: atMs };
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

  it("makes no resource adopt a record that differs from what the program asks for", async () => {
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

const uid = (digit: string) => `${ORG}/${digit.repeat(16)}`;

const BEGAN = { began: "r", stack: "o/p/s", at: 1, clock: 1_000, host: "h", pid: 3, start: "4" };
const ENDING = { ...BEGAN, ending: 2_000 };
const ofRun = {
  key: "o/p/s/Group::a",
  kind: "group",
  parent: ORG,
  inputs: "print",
  given: [],
  at: 5,
  notBefore: 5,
  run: "r",
};
const created = (digit: string) => [{ ...ofRun, intent: digit, uid: uid(digit) }];
const print = (fields: Json) => fingerprintOf(kindRecords.group, ORG, fields, []);
const wrote = (digit: string, to?: Json, run: string | null = "r") => ({
  ...{ wrote: uid(digit), kind: "group", key: "o/p/s/Group::a", at: 6, clock: 1_500 },
  ...(run !== null && { run }),
  ...(to && { to: print(to), given: [] }),
});
const openWith = (...lines: object[]): OpenRuns =>
  contentsFrom(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));

const stateOf = (savedMs: number, records: Record<string, Json> = {}): EngineState => ({
  pending: [],
  savedAt: new Date(savedMs).toISOString(),
  resources: Object.entries(records).map(([digit, outputs]) => {
    const type = `${TOKEN_PREFIX}Group`;
    return { urn: `urn:pulumi:s::p::${type}::${digit}`, type, id: uid(digit), custom: true, inputs: {}, outputs };
  }),
});

const [OLD, NEW] = [
  { name: "a", description: "old" },
  { name: "a", description: "new" },
];
const SECRET = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "x" };
const HIDDEN = stateOf(2_000, { a: { ...NEW, name: SECRET } });

const [A, B] = [created("a"), created("b")];
const SAVED = stateOf(3_000, { a: NEW });

it.each<[string, object[], EngineState | undefined, number, string]>([
  ["lost", A, stateOf(500), 1, "killed before it saved: its create belongs to nobody"],
  ["lost", A, stateOf(9_000), 1, "killed, and another run has saved since: the state has nothing of it"],
  ["saved", [...A, ENDING], SAVED, 0, "ended: the state has its create"],
  ["saved", A, SAVED, 0, "ended, and said nothing: the state has all of its creates"],
  ["unclear", [...A, ...B], SAVED, 1, "of which the plugin alone died: one is missing"],
  ["saved", [...A, ...B, ENDING], SAVED, 0, "after which a person removed one: not its"],
  ["unclear", [...A, ENDING], stateOf(3_000), 1, "whose stack was removed: a person has to say"],
  ["saved", [wrote("a", NEW), ENDING], SAVED, 0, "that only updated: the state shows the update"],
  ["unclear", [wrote("a", NEW), ENDING], stateOf(3_000, { a: OLD }), 0, "that updated, and the state is another"],
  ["unclear", [wrote("a", NEW), ENDING], stateOf(1_900, { a: OLD }), 0, "whose engine died while it saved"],
  ["saved", [wrote("a"), ENDING], stateOf(3_000), 0, "that only deleted: the state lacks the record"],
  ["unclear", A, undefined, 1, "of a stack whose state cannot be read: nothing is known"],
  ["lost", [...A, { ...BEGAN, judged: "lost" }], stateOf(9_000, { a: NEW }), 0, "of which it is known: adopted"],
])("a run without checkpoints is %s: %#", (verdict, lines, state, leftovers, _why) => {
  const findings = findingsOf(openWith(BEGAN, ...lines), state);
  expect([...findings.verdicts.values()]).toEqual([verdict]);
  expect(findings.leftovers).toHaveLength(leftovers);
});

it.each<[boolean, object[], EngineState, string]>([
  [true, [wrote("a", NEW)], stateOf(500, { a: OLD }), "of a lost run"],
  [true, [wrote("a", OLD)], stateOf(500, { a: OLD }), "of a lost run that changed a secret alone"],
  [true, [wrote("a")], stateOf(500, { a: OLD }), "of a lost run that deleted the record"],
  [false, [wrote("a", NEW)], stateOf(500), "of a record that is in no state: it is in no plan"],
  [false, [wrote("a", NEW, null)], stateOf(2_000, { a: NEW }), "of a later run, which the state shows"],
  [true, [wrote("a", NEW, null)], stateOf(2_000, { a: OLD }), "of a later run, which the state does not show"],
  [true, [wrote("a", NEW, null)], stateOf(1_200, { a: NEW }), "of a later run that the engine has not saved yet"],
  [false, [wrote("a", NEW, null)], HIDDEN, "that is encrypted, and saved since"],
])("a write is open: %s, %#", (isOpen, lines, state, _why) => {
  const { touched, shown } = findingsOf(openWith(BEGAN, ...lines), state);
  expect([touched.length, shown.length]).toEqual(isOpen ? [1, 0] : [0, 1]);
});
