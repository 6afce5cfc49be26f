// The leftovers of an interrupted run, with its journal and on a machine without it.
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Json } from "../../../schema/index.ts";
import { configureGroup, Killed, startMachine } from "../../harness/provider.ts";
import { keyOf } from "../../support/scripted.ts";

const { group, roleBinding } = kindRecords;

const machine = startMachine();

it("the journal has the entry before the POST, with no input but the parent, readable only by its owner", async () => {
  const args: Json = { ...machine.inputs(), description: "very secret" };
  await machine.create(args);
  const [intent, made] = machine.lines();
  expect(intent).toEqual({
    intent: expect.any(String),
    key: args.__key,
    kind: "group",
    parent: machine.org,
    inputs: expect.stringMatching(/^[0-9a-f]{64}$/),
    given: [],
    at: expect.any(Number),
    notBefore: expect.any(Number),
  });
  expect(made).toEqual({ ...intent, uid: expect.stringContaining(machine.org), at: expect.any(Number) });
  const [name] = readdirSync(machine.journal).filter((one) => one.endsWith(".jsonl"));
  expect(statSync(join(machine.journal, name as string)).mode & 0o777).toBe(0o600);
});

it("the journal asks after a change of the program; adopted by its uid, the record is updated", async () => {
  const args = machine.inputs();
  await machine.create(args, "timeout after").catch(() => undefined);
  const [{ uid } = {}] = await machine.named(args.name);
  const changed = { ...args, description: "new" };
  await expect(machine.create(changed)).rejects.toThrow(
    `${args.__key}: the intent journal of an earlier run names group ${uid} "${args.name}", which differs from what the program ` +
      `asks for: description.\nIf it belongs to this resource, adopt it with adopt: "${uid}", and deleteAdopted: true to delete it ` +
      `with the resource; if not: npx pulumi-irm recover clean --key "${args.__key}". Until then nothing is created.`,
  );
  expect(machine.posts).toBe(1);
  expect(await machine.named(args.name)).toMatchObject([{ uid, description: "d" }]);
  expect((await machine.create({ ...changed, adopt: uid })).id).toBe(uid);
  expect(await machine.named(args.name)).toMatchObject([{ uid, description: "new" }]);
  expect(await machine.unsettled(args)).toEqual([]);
});

it("the journal reports when the create was sent, not when the record is adopted", async () => {
  const args = machine.inputs();
  await machine.killed(args, "after");
  const [{ at }] = machine.lines() as [{ at: number }];
  const tenMinutesLater = machine.runOver(async (_, send) => {
    const answer = await send();
    return { ...answer, headers: { ...answer.headers, date: new Date(at + 600_000).toUTCString() } };
  });
  await reconcile.create(group, tenMinutesLater.session, args);
  expect(machine.messages).toEqual([
    expect.stringMatching(`created by an earlier run at ${new Date(at).toISOString()}$`),
  ]);
});

it("the journal leaves an equal record to the resource that an earlier run created it for", async () => {
  const args = machine.inputs();
  await machine.killed(args);
  const twin = await machine.create({ ...args, ...keyOf("twin") });
  const { id } = await machine.create(args);
  expect(id).not.toBe(twin.id);
  expect(await machine.named(args.name)).toHaveLength(2);
});

it("the journal does not offer a record that the engine has acknowledged since, nor one that was deleted", async () => {
  const args = machine.inputs();
  const first = await machine.create(args);
  await machine.run().session.journal.acknowledge("group", [first.id], args.__key as string);
  const second = await machine.create({ ...args, allowDuplicate: true });
  expect(second.id).not.toBe(first.id);
  for (const { id } of [first, second]) await machine.service.session.call("DeleteGroup", { uid: id });
  expect([first.id, second.id]).not.toContain((await machine.create(args)).id);
});

it.each([
  ["from the last attempt of the request, however many there were", 2, 1_000, 10_000],
  ["by the service's clock, where the journal moves between machines whose clocks differ", 0, 600_000, 5_000],
])("the journal makes a run wait %s", async (_, refused, laterMs, arrivesMs) => {
  const args = machine.inputs();
  let late: (() => Promise<unknown>) | undefined;
  const killed = machine.runOver(async ({ method }, send) => {
    if (method !== "POST") return send();
    if (machine.posts <= refused) return { status: 429, headers: { "retry-after": "40" }, body: "" };
    late = send;
    throw new Killed();
  });
  await expect(reconcile.create(group, killed.session, args)).rejects.toThrow(Killed);
  // The next run begins so much later. Only then the service carries out the request.
  const beginsAt = killed.clock.now() + laterMs;
  const next = machine.runOver(async (_, send, clock) => {
    if (clock.now() > beginsAt + arrivesMs) {
      await late?.();
      late = undefined;
    }
    return send();
  }, beginsAt);
  const { id } = await reconcile.create(group, next.session, args);
  expect(late).toBeUndefined();
  expect(await machine.named(args.name)).toMatchObject([{ uid: id }]);
});

it("the journal has the records that another run of the stack has created since", async () => {
  const [one, two] = [machine.run().session, machine.run().session];
  await reconcile.create(group, one, machine.inputs());
  const args = machine.inputs();
  const { id } = await reconcile.create(group, two, args);
  expect((await reconcile.create(group, one, args)).id).toBe(id);
  expect(await machine.named(args.name)).toMatchObject([{ uid: id }]);
});

it("the journal does not wait for a record that was deleted since", async () => {
  const args = machine.inputs();
  const one = machine.run();
  const { id, outs } = await (await configureGroup(one)).create(args);
  await (await configureGroup(machine.run())).delete(id, outs);
  const three = machine.run();
  await (await configureGroup(three)).create(args);
  expect(three.clock.now()).toBe(0);
  expect(machine.lines()).toHaveLength(2);
});

it("the journal reports a create with an unknown outcome, also when no program declares it any more", async () => {
  const lost = machine.inputs();
  await machine.create(machine.inputs());
  const { session } = machine.run("timeout");
  await expect(reconcile.create(group, session, lost)).rejects.toThrow("It is unknown whether the group was created");
  const { uid } = await machine.createByOther(lost);
  const report = expect.stringMatching(
    `^${lost.__key}: the outcome of a create at .+ is unknown: it may have created a group in ${machine.org}; it may be:\n` +
      `  - group ${uid} "${lost.name}", created .+\n` +
      "The next pulumi up that declares the resource resolves it\\. If no program declares it, delete the records that no resource manages, then run: " +
      `npx pulumi-irm recover clean --key "${lost.__key}"\\nSee docs/troubleshooting\\.md#open$`,
  );
  const { id, outs } = await (await configureGroup(machine.run())).create(machine.inputs());
  expect(machine.messages.splice(0)).toEqual([
    expect.stringContaining("waiting for what an earlier request may still create"),
  ]);
  await (await configureGroup(machine.run())).read(id, outs);
  expect(machine.messages.splice(0)).toEqual([report]);
  await (await configureGroup(machine.run())).delete(id, outs);
  expect(machine.messages).toEqual([report]);
});

it("the journal is not needed for a read or a delete, and stops a create where it cannot be written", async () => {
  const { id, outs } = await (await configureGroup(machine.run())).create(machine.inputs());
  writeFileSync(join(machine.journal, "file"), "");
  machine.journal = join(machine.journal, "file", "below");
  expect((await (await configureGroup(machine.run())).read(id, outs)).id).toBe(id);
  await (await configureGroup(machine.run())).delete(id, outs);
  expect(await machine.named(outs.name)).toEqual([]);
  await expect(machine.create(machine.inputs())).rejects.toThrow(
    /^the intent journal .* cannot be (read|written) \(ENOTDIR\); free some space or choose another folder: irm:journal/,
  );
  expect(machine.posts).toBe(1);
});

describe("a create whose equal record exists, where nothing shows that the stack created it", () => {
  const refusal = (key: unknown, { uid, name }: Json) =>
    `${key}: a group with the same parent and fields exists, and nothing shows that this stack created it; nothing was sent:\n` +
    `  - group ${uid} "${name}", created `;

  it("is refused, and sends nothing, whether or not the stack has a journal", async () => {
    const args = machine.inputs();
    const there = await machine.createByOther(args);
    for (const _run of ["first", "second"]) {
      const error = await machine.create(args).catch((thrown: Error) => thrown);
      expect(String(error)).toContain(refusal(args.__key, there));
      expect(String(error)).toContain(
        "could not be read: this process was not started by an engine.\n" +
          `If it belongs to this resource: adopt: "${there.uid}", with deleteAdopted: true to delete it with the resource.`,
      );
    }
    expect(machine.posts).toBe(0);
    expect(await machine.unsettled(args)).toEqual([]);
  });

  it.each([
    ["with allowDuplicate", { allowDuplicate: true }],
    ["where the description differs, so that people can tell the records apart", { description: "another" }],
  ])("is sent %s", async (_, own) => {
    const args = machine.inputs();
    await machine.createByOther(args);
    await machine.create({ ...args, ...own });
    expect(machine.messages).toEqual([]);
    expect(await machine.named(args.name)).toHaveLength(2);
  });

  it("is refused also in a group that the run has adopted", async () => {
    const outer = await machine.createByOther(machine.inputs());
    const args: Json = { ...machine.inputs(), parent: outer.uid };
    const there = await machine.createByOther(args);
    const { session } = machine.run();
    await reconcile.create(group, session, { ...keyOf("outer"), parent: machine.org, name: "outer", adopt: outer.uid });
    await expect(reconcile.create(group, session, args)).rejects.toThrow(refusal(args.__key, there));
  });

  it("of a role binding is sent, and names the record that exists", async () => {
    const { session } = machine.run();
    const roleUid = await machine.service.role("viewer");
    const inputs = { parent: machine.org, identityUid: machine.service.identity, roleUid };
    const first = await reconcile.create(roleBinding, machine.onOtherMachine(), { ...keyOf("there"), ...inputs });
    await reconcile.create(roleBinding, session, { ...keyOf("again"), ...inputs });
    expect(machine.messages).toEqual([expect.stringContaining(`- role binding ${first.id} `)]);
  });
});

it("adoption reports the record that an earlier run may have created, when it is another one", async () => {
  const args = machine.inputs();
  await machine.killed(args, "after");
  const [made] = await machine.named(args.name);
  const other = await machine.createByOther(machine.inputs());
  await machine.create({ ...args, adopt: other.uid });
  expect(machine.messages).toEqual([
    expect.stringMatching(
      `may have created a group in ${machine.org}; it may be:\n  - group ${made?.uid} .+\nNo resource manages it now\\.$`,
    ),
  ]);
});

it("adoption of a record that is elsewhere or missing changes nothing", async () => {
  const args = machine.inputs();
  const below = `${machine.org}/00000000000000aa`;
  await expect(machine.create({ ...args, adopt: `${below}/00000000000000ab` })).rejects.toThrow(
    `${args.__key}: adopt: group ${below}/00000000000000ab is in ${below}, not in ${machine.org}`,
  );
  await expect(machine.create({ ...args, adopt: below })).rejects.toThrow(
    `${args.__key}: adopt: group ${below} does not exist; leave adopt out to create a new one`,
  );
  expect(machine.posts).toBe(0);
});
