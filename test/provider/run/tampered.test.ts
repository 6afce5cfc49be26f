// A journal that somebody or a broken disk has changed: no record is adopted or deleted only because it names it.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { methodsWith } from "../../../provider/engine/methods.ts";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import { desiredFrom } from "../../../provider/record/desired.ts";
import { KEY } from "../../../provider/record/state.ts";
import type { Json } from "../../../schema/index.ts";
import { configureGroup, type Process, startMachine } from "../../harness/provider.ts";
import { keyOf } from "../../support/scripted.ts";

const { group, identity } = kindRecords;

const machine = startMachine();

const { file } = machine;

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

const killed = async () => {
  const foreign = await machine.createByOther(machine.inputs());
  const args = machine.inputs();
  machine.service.clock.advance(5_000);
  const { id } = await machine.create(args);
  return { args, id, foreign };
};

it("a line that is not an entry is quarantined with one warning, and breaks neither up nor refresh nor destroy", async () => {
  const args = machine.inputs();
  const methods = await configureGroup(machine.run());
  const { id, outs } = await methods.create(args);
  appendFileSync(file(), '{"intent":"a"}\nwhat is this\n');
  const warning = [
    expect.stringMatching(
      `^the intent journal ${file()} has 2 lines that are not entries, ignored and kept in ${file()}\\.invalid by the ` +
        'next up:\n {2}- "\\{\\\\"intent\\\\":\\\\"a\\\\"\\}": key must be text; .*\n {2}- "what is this": it is not JSON\n' +
        "If one is of a create that a killed run did not finish, its record may have no resource: search for it\\. ",
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

it.each<[string, (uid: string) => string, (() => string)?]>([
  ["that existed before, in the same group", (uid) => uid, () => "existed before the create"],
  ["that does not exist", () => `${machine.org}/0123456789abcdef`],
  ["in another group", (uid) => `${uid}/0123456789abcdef`, () => `is not in ${machine.org}`],
])("an entry that names another record %s: the created one is found", async (_what, uidFrom, why) => {
  const { args, id, foreign } = await killed();
  tamper("uid", { uid: uidFrom(foreign.uid) });
  expect((await machine.create(args)).id).toBe(id);
  expect(machine.posts).toBe(1);
  expect(await machine.named(foreign.name)).toMatchObject([{ uid: foreign.uid }]);
  expect(machine.messages.at(-1)).toContain(`adopting group ${id}`);
  const named = `${args.__key}: the intent journal names ${uidFrom(foreign.uid)} for it, which`;
  expect(machine.messages.filter((text) => text.includes("the intent journal"))).toEqual(
    why === undefined ? [] : [`${named} ${why()}: it is ignored, and kept in ${file()}.invalid`],
  );
  if (why) expect(readFileSync(`${file()}.invalid`, "utf8")).toContain(foreign.uid);
});

it("an entry that names a record of another resource leaves each resource its own record", async () => {
  const [one, two] = [machine.inputs(), machine.inputs()];
  const first = await machine.create(one);
  await machine.run().session.journal.acknowledge("group", [first.id], one.__key as string);
  const second = await machine.create(two);
  tamper("uid", { uid: first.id });
  const next = machine.run();
  // The engine acknowledged it: a diff of the other resource came first.
  next.session.ownership.inState(first.id, one.__key as string);
  expect((await reconcile.create(group, next.session, two)).id).toBe(second.id);
});

it("an entry that names a newer, foreign and different record adopts nothing until a person decides", async () => {
  const { args, id } = await killed();
  const later = await machine.createByOther({ ...args, description: "another" });
  await machine.service.session.call("DeleteGroup", { uid: id });
  tamper("uid", { uid: later.uid });
  for (let run = 0; run < 2; run += 1)
    await expect(machine.create(args)).rejects.toThrow(
      `${args.__key}: the intent journal of an earlier run names group ${later.uid} "${args.name}", which differs ` +
        `from what was requested, and no other record matches.\nIf it belongs to this resource, adopt it with adopt: "${later.uid}", and ` +
        "deleteAdopted: true to delete it with the resource; if not: npx pulumi-irm recover clean --key " +
        `"${args.__key}". Until then nothing is created.`,
    );
  expect(machine.posts).toBe(1);
  const adopted = await machine.create({ ...args, adopt: later.uid });
  expect(adopted.outs).toMatchObject({ uid: later.uid, description: "d", adopted: true });
  expect(await machine.unsettled(args)).toEqual([]);
});

it("an entry of another kind than its record: that is found by its hash, which includes the kind", async () => {
  const { args, id } = await killed();
  tamper("intent", { kind: "role" });
  expect((await machine.create(args)).id).toBe(id);
  expect(machine.messages[0]).toContain(
    `the intent journal names ${id} for it, which is recorded as a role: it is ignored`,
  );
});

it("an entry of another parent than its record: that is reported, but not adopted", async () => {
  const { args, id, foreign } = await killed();
  tamper("intent", { parent: foreign.uid });
  await expect(machine.create(args)).rejects.toThrow(
    "a group with the same parent and fields exists, and nothing shows that this stack created it; nothing was sent:",
  );
  expect(machine.messages[0]).toContain(`names ${id} for it, which is not in ${foreign.uid}: it is ignored`);
  expect(existsSync(`${file()}.invalid`)).toBe(true);
});

it("adoption of another record than the entry names does not report an unrelated record as unmanaged", async () => {
  const { args, foreign } = await killed();
  tamper("uid", { uid: foreign.uid });
  const other = await machine.createByOther(machine.inputs());
  await machine.create({ ...args, adopt: other.uid, name: other.name });
  expect(machine.messages).toEqual([expect.stringContaining("it is ignored, and kept in ")]);
});

const claimMatch = (repository: string): Json => ({
  issuer: "https://token.actions.githubusercontent.com",
  subject: `repo:${repository}:ref:refs/heads/main`,
});

const methodsOf = async ({ environment }: Process, cwd?: string) => {
  const { identity: methods } = methodsWith({ ...environment, ...(cwd !== undefined && { cwd }) });
  await methods.configure({ config: { get: () => undefined } });
  return methods;
};

const records = async () => {
  const name = String(machine.inputs().name);
  const parent = machine.org;
  const args: Json = { ...keyOf(name), parent, name: `harmless ${name}`, claimMatch: claimMatch("acme/harmless") };
  const boss: Json = { parent, name: `boss of ${name}`, claimMatch: claimMatch("acme/boss") };
  const request = { parent, identity: { name: boss.name, claimMatch: boss.claimMatch } };
  const { uid } = await machine.service.call("CreateIdentity", request);
  return { args, boss, uid };
};

/** A journal by which an interrupted run has created the record of `as` for the resource. */
const bring = ({ [KEY]: key }: Json, as: Json, uid?: string): void => {
  const inputs = desiredFrom(identity, as).fingerprint;
  machine.leave({ key, kind: "identity", parent: machine.org, inputs, at: Date.now() }, uid);
};

const preview = async (methods: Awaited<ReturnType<typeof methodsOf>>, args: Json) =>
  methods.check({}, { ...args, __preview: true });

it("a journal in the work tree is refused by the preview and by the update, which sends nothing; a read and a delete do without it", async () => {
  const { args, boss, uid } = await records();
  mkdirSync(join(machine.journal, ".git"));
  bring(args, boss, uid);
  const methods = await methodsOf(machine.run(), machine.journal);
  const problem = `the folder of the intent journals, ${machine.journal}, is in the work tree ${machine.journal}`;
  await expect(preview(methods, args)).rejects.toThrow(problem);
  await expect(methods.create(args)).rejects.toThrow(problem);
  expect(machine.posts).toBe(0);

  const { id, outs } = await (await methodsOf(machine.run())).create({ ...args, ...keyOf("other") });
  const later = await methodsOf(machine.run(), machine.journal);
  expect((await later.read(id, outs)).id).toBe(id);
  await later.delete(id, outs);
});

it.each([["by its uid"], ["by a create that is pending"]])(
  "a journal that names the identity of another %s: nothing adopts it",
  async (how) => {
    const { args, boss, uid } = await records();
    bring(args, boss, how === "by its uid" ? uid : undefined);
    const question =
      `${args[KEY]}: the intent journal of an earlier run names identity ${uid} "${boss.name}", which differs from what the ` +
      "program asks for: claimMatch.subject, name.\nIf it belongs to this resource";
    await expect(preview(await methodsOf(machine.run()), args)).rejects.toThrow(question);
    await expect((await methodsOf(machine.run())).create(args)).rejects.toThrow(question);
    expect(machine.posts).toBe(0);
  },
);

it("a journal that names the identity of somebody else with what the program asks for: the preview says that it is adopted", async () => {
  const { boss, uid } = await records();
  const args = { ...boss, ...keyOf("harmless") };
  bring(args, boss, uid);
  await preview(await methodsOf(machine.run()), args);
  expect(machine.messages).toEqual([
    expect.stringMatching(
      `^Identity harmless adopts identity ${uid} "${boss.name}", created by an earlier run at \\d{4}-.*Z$`,
    ),
  ]);
  expect((await (await methodsOf(machine.run())).create(args)).id).toBe(uid);
});

it("a preview shows what an interrupted run created, or may have where an argument is known only to the run, and nothing once it is deleted; it does not write to the journal", async () => {
  const { args } = await records();
  const { id } = await reconcile.create(identity, machine.run().session, args);
  const lines = machine.lines();
  await preview(await methodsOf(machine.run()), args);
  expect(machine.messages.at(-1)).toContain(`adopts identity ${id} "${args.name}", created by an earlier run at`);
  const unknown = { ...args, name: "04da6b54-80e4-46f7-96ec-b56ff0331ba9" };
  await preview(await methodsOf(machine.run()), unknown);
  expect(machine.messages.at(-1)).toContain(`may adopt identity ${id} "${args.name}", created by an earlier run at`);
  expect(machine.lines()).toEqual(lines);
  await machine.service.session.call("DeleteIdentity", { uid: id });
  machine.messages.splice(0);
  await preview(await methodsOf(machine.run()), args);
  expect(machine.messages).toEqual([]);
});

it("a preview says so where a request may still be under way, without a wait", async () => {
  const { args } = await records();
  await expect(reconcile.create(identity, machine.run("timeout").session, args)).rejects.toThrow("It is unknown");
  const run = machine.run();
  await preview(await methodsOf(run), args);
  expect(machine.messages.at(-1)).toContain("may adopt an identity, created by an earlier run at");
  expect(run.clock.sleeps).toEqual([]);
});
