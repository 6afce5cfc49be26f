// What `adopt` means for a resource whose record somebody deleted, and the file of uids beside the program.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Methods, providerWith } from "../../../provider/engine/methods.ts";
import { FORMER, KEY, MATCH, PROVIDER } from "../../../provider/record/state.ts";
import type { Json } from "../../../schema/index.ts";
import { startMachine } from "../../harness/provider.ts";
import { journalFolder } from "../../support/scripted.ts";

const machine = startMachine();

/** A program without a file of uids, unless it is given. */
const folderWith = (uids?: Json): string => {
  const folder = mkdtempSync(join(tmpdir(), "irm-adoption-"));
  writeFileSync(join(folder, "Pulumi.yaml"), "name: p\nruntime: yaml\n");
  if (uids !== undefined) writeFileSync(join(folder, "adopt.json"), JSON.stringify({ resources: uids }));
  return folder;
};
const folder = folderWith();

describe.each([
  ["dynamic", false],
  ["native", true],
])("of a %s resource, adopt", (_form, looksUp) => {
  /** A process of the provider: of one command of the engine. */
  const start = async (cwd = folder, journal = machine.journal, aheadMs = 0): Promise<Methods> => {
    const { environment } = machine.runAt(aheadMs);
    const env = { ...environment.env, IRM_JOURNAL: journal };
    const { group } = providerWith({ ...environment, env, cwd }, { looksUp }).kinds;
    await group.configure({ config: { get: () => undefined } });
    return group;
  };
  /** What the program passes where it finds no record: of a native resource the provider looks. */
  const missing = (adopt: string): unknown => (looksUp ? adopt : { adopt, reason: `no groups with the uid ${adopt}` });
  const keyed = (args: Json): Json & { [KEY]: string } => ({
    ...args,
    ...(looksUp ? {} : { [PROVIDER]: "text" }),
    [KEY]: `organization/project/stack/Group::${args.name}`,
  });
  const checked = async (group: Methods, olds: Json, news: Json): Promise<Json> => {
    const { inputs, failures } = await group.check(olds, news);
    expect(failures).toEqual([]);
    return inputs;
  };
  /** The engine gives a native resource its outputs and inputs, and a dynamic one its outputs. */
  const refreshed = async (id: string, outs: Json, inputs: Json, cwd = folder): Promise<string> => {
    // By then no new record is hidden any more.
    const group = await start(cwd, machine.journal, 60_000);
    return (await group.read(id, { ...inputs, ...outs }, looksUp ? inputs : undefined)).id;
  };
  const remove = (uid: string) => machine.service.session.call("DeleteGroup", { uid });
  /** The state after the update that adopts a group. */
  const adopted = async (args: Json) => {
    const { uid } = await machine.createByOther(args);
    const group = await start();
    const inputs = await checked(group, {}, { ...args, adopt: uid });
    const { id, outs } = await group.create(inputs);
    expect({ id, posts: machine.posts }).toEqual({ id: uid, posts: 0 });
    return { uid, inputs, outs };
  };

  it("creates the record again that a refresh has found gone, says so, and means nothing from then on", async () => {
    const args = keyed(machine.inputs());
    const { uid, inputs, outs } = await adopted(args);
    await remove(uid);
    expect(await refreshed(uid, outs, inputs)).toBe("");

    const update = await start();
    machine.messages.length = 0;
    const news = await checked(update, {}, { ...args, adopt: missing(uid) });
    expect(machine.messages).toEqual([
      `Group ${args.name} creates its group again: ${uid}, which it had adopted, was deleted`,
    ]);
    expect(news).not.toHaveProperty("adopt");
    expect(news).not.toHaveProperty("onDelete");
    const created = await update.create(news);
    expect(created.id).not.toBe(uid);
    expect(created.outs.adopted).toBeUndefined();
    expect(machine.posts).toBe(1);

    const next = await start();
    const same = await checked(next, news, { ...args, adopt: missing(uid) });
    expect(same).toEqual(news);
    expect((await next.diff(created.id, { ...news, ...created.outs }, same)).changes).toBe(false);

    // Once more, of the record that the update has created.
    await remove(created.id);
    expect(await refreshed(created.id, created.outs, news)).toBe("");
    const again = await start();
    await again.create(await checked(again, {}, { ...args, adopt: missing(uid) }));
    expect(machine.posts).toBe(2);
  });

  it("by match creates it again too", async () => {
    const args = keyed(machine.inputs());
    const { uid, inputs, outs } = await adopted(args);
    await remove(uid);
    expect(await refreshed(uid, outs, inputs)).toBe("");
    const update = await start();
    expect(await checked(update, {}, { ...args, adopt: missing("match") })).toMatchObject({ [FORMER]: uid });
  });

  it("of a component, by uid, creates it again too", async () => {
    const args = keyed(machine.inputs());
    const { uid, inputs, outs } = await adopted(args);
    await remove(uid);
    expect(await refreshed(uid, outs, inputs)).toBe("");
    const update = await start();
    const news = await checked(update, {}, { ...args, [MATCH]: uid });
    expect(news).toMatchObject({ [FORMER]: uid });
    expect(news).not.toHaveProperty("adopt");
    expect(await checked(await start(), news, { ...args, [MATCH]: uid })).toEqual(news);
  });

  it("stays an error where nothing shows that the resource had the record: no POST is sent", async () => {
    const args = keyed(machine.inputs());
    const { uid, inputs, outs } = await adopted(args);
    await remove(uid);
    expect(await refreshed(uid, outs, inputs)).toBe("");
    const mistyped = `${machine.org}/00000000000000ab`;
    const other = keyed(machine.inputs());
    const elsewhere = mkdtempSync(join(journalFolder, "elsewhere-"));
    for (const [group, news, adopt] of [
      [await start(), args, mistyped],
      [await start(), other, uid],
      [await start(folder, elsewhere), args, uid],
    ] as const) {
      const { inputs: left, failures } = await group.check({}, { ...news, adopt: missing(adopt) });
      expect(failures).toEqual([
        { property: looksUp ? "adopt" : "", reason: expect.stringContaining(`no groups with the uid ${adopt}`) },
      ]);
      expect(left).not.toHaveProperty(FORMER);
    }
    expect(machine.posts).toBe(0);
  });

  it("of a resource that is in the state is not looked up again, also where its record is gone", async () => {
    const args = keyed(machine.inputs());
    const { uid, inputs, outs } = await adopted(args);
    await remove(uid);
    const group = await start();
    const same = await checked(group, inputs, { ...args, adopt: missing(uid) });
    expect(same).toEqual(inputs);
    expect((await group.diff(uid, { ...inputs, ...outs }, same)).changes).toBe(false);
  });

  it("does not keep a replacement from being created", async () => {
    const args = keyed(machine.inputs());
    const { uid, inputs } = await adopted(args);
    const group = await start();
    await checked(group, inputs, { ...args, adopt: uid });
    expect(await checked(group, {}, { ...args, adopt: uid })).toMatchObject({ [FORMER]: uid });
  });

  it("comes from adopt.json beside the program, until the resource has a record", async () => {
    const args = keyed(machine.inputs());
    const { uid } = await machine.createByOther(args);
    const cwd = folderWith({ [`Group::${args.name}`]: uid });
    const first = await start(cwd);
    const inputs = await checked(first, {}, args);
    expect(inputs).toMatchObject({ adopt: uid, onDelete: "the adopted record stays" });
    expect(machine.messages).toEqual([expect.stringContaining(`Group ${args.name} takes over group ${uid}`)]);
    const { id, outs } = await first.create(inputs);
    expect(id).toBe(uid);
    const second = await start(cwd);
    expect(await checked(second, inputs, args)).toEqual(inputs);
    // A resource that has created its record keeps it.
    const { adopt: _, onDelete: _onDelete, ...created } = inputs;
    expect(await checked(second, created, args)).toEqual(created);

    await remove(uid);
    expect(await refreshed(id, outs, inputs, cwd)).toBe("");
    const update = await start(cwd);
    await update.create(await checked(update, {}, args));
    expect(machine.posts).toBe(1);
    const mistyped = folderWith({ [`Group::${args.name}`]: `${machine.org}/00000000000000ab` });
    const { failures } = await (await start(mistyped)).check({}, args);
    expect(failures).toMatchObject([{ property: "adopt" }]);
    expect(machine.posts).toBe(1);
  });
});

it("a file of uids with mistakes is one error, with all of them", async () => {
  const { environment } = machine.run();
  const cwd = folderWith({ "Gruop::a": "x", team: `${machine.org}/00000000000000ab` });
  const { group } = providerWith({ ...environment, cwd }).kinds;
  await group.configure({ config: { get: () => undefined } });
  await expect(group.check({}, machine.inputs())).rejects.toThrow(
    [
      `${join(cwd, "adopt.json")}: resources.Gruop::a: there is no resource type Gruop; did you mean Group?`,
      `${join(cwd, "adopt.json")}: resources.Gruop::a: must be a uid`,
      `${join(cwd, "adopt.json")}: resources.team: must be Type::name, such as Group::platform`,
    ].join("\n"),
  );
});
