// Adoption, as the engine sees it: an existing record becomes managed, and stays when its resource is deleted.
import { describe, expect, it } from "vitest";
import { kindRecords } from "../../../provider/kind/index.ts";
import type { Incomplete } from "../../../provider/reconcile/incomplete.ts";
import * as reconcile from "../../../provider/reconcile/index.ts";
import type { Json } from "../../../schema/index.ts";
import { Killed, startMachine } from "../../harness/provider.ts";
import { refusal } from "../../support/scripted.ts";

const { group } = kindRecords;

const machine = startMachine();

describe("adoption", () => {
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

  it("whose PATCH fails is recorded with the reason, and the next update changes it", async () => {
    const there = await machine.createByOther({ ...machine.inputs(), description: "old" });
    const args: Json = { ...machine.inputs(), __provider: "text", adopt: there.uid };
    const denied = machine.runOver(async ({ method }, send) =>
      method === "PATCH" ? refusal("PERMISSION_DENIED", "groups.update") : send(),
    );
    const creating = reconcile.create(group, denied.session, args);
    const error = (await creating.catch((thrown: unknown) => thrown)) as Incomplete;
    expect(error.id).toBe(there.uid);
    expect(error.properties).toMatchObject({ uid: there.uid, adopted: true, __provider: "text" });
    expect(error.reasons).toEqual([
      `UpdateGroup group ${there.uid} "${args.name}": PERMISSION_DENIED: Permission denied: groups.update\nSee docs/recovery.md#denied`,
    ]);
    const { outs } = await reconcile.update(group, machine.run().session, error.id, error.properties, args);
    expect(outs).toMatchObject({ uid: there.uid, name: args.name, description: "d", adopted: true });
  });
});
