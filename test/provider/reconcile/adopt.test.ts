// Adoption, as the engine sees it: an existing record becomes managed, and stays when its resource is deleted.
import { describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Json } from "../../../schema/index.ts";
import { Killed, startMachine } from "../../harness/provider.ts";

const { group } = kindRecords;

const machine = startMachine();

describe("adoption", () => {
  it("adopts the record, changes the fields that differ, and remembers that it existed before", async () => {
    const args = machine.inputs();
    const there = await machine.createByOther({ ...args, description: "old" });
    const { id, outs } = await reconcile.create(group, machine.run().session, { ...args, adopt: there.uid });
    expect(id).toBe(there.uid);
    expect(outs).toMatchObject({ description: "d", adopted: true });
    expect(machine.posts).toBe(0);
    await reconcile.remove(group, machine.run().session, id, outs);
    expect(machine.messages).toEqual([
      `group ${id} "${args.name}" was adopted and is left in place; deleteAdopted: true deletes it with the resource`,
    ]);
    expect(await machine.named(args.name)).toMatchObject([{ uid: id }]);
    await reconcile.remove(group, machine.run().session, id, { ...outs, deleteAdopted: true });
    expect(await machine.named(args.name)).toEqual([]);
  });

  it("settles a pending entry of an earlier run: with two candidates, a person chooses", async () => {
    const args: Json = { ...machine.inputs(), allowDuplicate: true };
    const twins = await Promise.all([
      reconcile.create(group, machine.onOtherMachine(), args),
      reconcile.create(group, machine.onOtherMachine(), args),
    ]);
    await reconcile.create(group, machine.run("reset").session, args).catch(() => undefined);
    const [kept] = twins;
    const { id } = await reconcile.create(group, machine.run().session, { ...args, adopt: kept.id });
    expect(id).toBe(kept.id);
    expect(await machine.run().session.journal.findUnsettled(args.__key as string)).toEqual([]);
  });

  it("reports the record that an earlier run may have created, when it is another one", async () => {
    const args = machine.inputs();
    await expect(reconcile.create(group, machine.dying("after").session, args)).rejects.toThrow(Killed);
    const [made] = await machine.named(args.name);
    const other = await machine.createByOther(machine.inputs());
    await reconcile.create(group, machine.run().session, { ...args, adopt: other.uid });
    expect(machine.messages).toEqual([
      expect.stringMatching(
        new RegExp(
          `may have created a group in ${machine.org}; it may be:\n  - group ${made?.uid} .+\nNo resource manages it now\\.$`,
        ),
      ),
    ]);
  });

  it("of a record that is elsewhere or missing changes nothing", async () => {
    const args = machine.inputs();
    const below = `${machine.org}/00000000000000aa`;
    await expect(
      reconcile.create(group, machine.run().session, { ...args, adopt: `${below}/00000000000000ab` }),
    ).rejects.toThrow(`${args.__key}: adopt: group ${below}/00000000000000ab is in ${below}, not in ${machine.org}`);
    await expect(reconcile.create(group, machine.run().session, { ...args, adopt: below })).rejects.toThrow(
      `${args.__key}: adopt: group ${below} does not exist; leave adopt out to create a new one`,
    );
    expect(machine.posts).toBe(0);
  });
});
