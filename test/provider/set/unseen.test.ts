// What must not end access: removals that no preview has shown.
import { describe, expect, it } from "vitest";
import { UNKNOWN } from "../../../pulumi/value.ts";
import { Killed } from "../../harness/provider.ts";
import { startSets } from "../../harness/role-binding-set.ts";

const sets = startSets();
const { machine, identities } = sets;
const EXCLUSIVE = { exclusive: true };
const log = () => machine.messages.join("\n");

const change = async (uid: string, role: string): Promise<void> => {
  const roleUid = await sets.role(role);
  await machine.service.session.call("UpdateRoleBinding", {
    roleBinding: { uid, roleUid },
    updateMask: "roleUid",
  } as never);
};

describe("a set", () => {
  it("does not remove what the preview has shown as kept on purpose, when the reason has gone by then", async () => {
    const group = await sets.group();
    await sets.bind(group, "two", "editor");
    const wanted = sets.inputs(group, ["one viewer"], EXCLUSIVE);
    const first = await sets.up(wanted);
    // As another identity has recorded it.
    const [found] = first.outs.unmanaged as object[];
    const kept = {
      ...first,
      outs: { ...first.outs, unmanaged: [{ ...found, kept: "this run acts as this identity" }] },
    };
    const changed = sets.inputs(group, ["one editor"], EXCLUSIVE);
    machine.messages.length = 0;
    const second = await sets.up(changed, kept);
    expect(log()).toContain('keeps "two" as "editor" on purpose');
    expect(await sets.pairs(group)).toEqual(["one editor", "two editor"]);
    machine.messages.length = 0;
    await sets.up(changed, second);
    expect(log()).toContain('removes "two" as "editor", which the program does not declare');
    expect(await sets.pairs(group)).toEqual(["one editor"]);
  });

  it.each(["managed", "undeclared"])(
    "does not remove a %s binding that has another role than the preview has shown",
    async (which) => {
      const group = await sets.group();
      const other = await sets.bind(group, "two", "viewer");
      const first = await sets.up(sets.inputs(group, ["one viewer"], EXCLUSIVE));
      const [{ uid: own }] = first.outs.bindings as [{ uid: string }];
      await change(which === "managed" ? own : other, "owner");
      const wanted = sets.inputs(group, which === "managed" ? ["one viewer", "two viewer"] : ["one viewer"], {
        ...EXCLUSIVE,
        maxRemovals: 5,
      });
      const second = await sets.up(wanted, first);
      const name = which === "managed" ? "one" : "two";
      expect(await sets.pairs(group)).toContain(`${name} owner`);
      machine.messages.length = 0;
      await sets.up(wanted, second);
      expect(log()).toContain(`removes "${name}" as "owner"`);
      expect(await sets.pairs(group)).not.toContain(`${name} owner`);
    },
  );

  it("shows that it removes the second binding of a pair that it declares", async () => {
    const group = await sets.group();
    const wanted = sets.inputs(group, ["one viewer"], EXCLUSIVE);
    const first = await sets.up(wanted);
    await sets.bind(group, "one", "viewer");
    const second = await sets.refresh(first);
    machine.messages.length = 0;
    const third = await sets.up(wanted, second);
    expect(log()).toContain('removes "one" as "viewer", which exists twice');
    expect(await sets.pairs(group)).toEqual(["one viewer"]);
    expect(await sets.preview(wanted, third)).toMatchObject({ changes: false });
  });

  it("does not remove what an interrupted run has created and the program has dropped since, before a preview shows it", async () => {
    const group = await sets.group();
    const both = sets.inputs(group, ["one viewer", "two viewer"], { maxRemovals: 1 });
    await expect((await sets.run(machine.dying("after"))).up(both)).rejects.toThrow(Killed);
    const wanted = sets.inputs(group, ["one viewer"], { maxRemovals: 1 });
    const first = await sets.up(wanted);
    expect(await sets.pairs(group)).toEqual(["one viewer", "two viewer"]);
    machine.messages.length = 0;
    await sets.up(wanted, first);
    expect(log()).toContain('removes "two" as "viewer"');
    expect(await sets.pairs(group)).toEqual(["one viewer"]);
  });

  it("whose bindings a preview does not know shows no removal, and is not over the limit", async () => {
    const group = await sets.group();
    const limited = { ...EXCLUSIVE, maxRemovals: 1 };
    const first = await sets.up(sets.inputs(group, ["one viewer", "two viewer"], limited));
    machine.messages.length = 0;
    const unknown = { ...sets.inputs(group, [], limited), bindings: UNKNOWN };
    expect(await sets.preview(unknown, first)).toMatchObject({ changes: true });
    expect(log()).not.toContain("removes");
  });

  it("that moves to another group shows what it adds there, and removes here", async () => {
    const [group, other] = [await sets.group(), await sets.group()];
    const [one] = identities as [string];
    const first = await sets.up(sets.inputs(group, ["one viewer"]));
    machine.messages.length = 0;
    const moved = { ...sets.inputs(other, ["one editor"]), __key: first.inputs.__key };
    expect(await sets.preview(moved, first)).toMatchObject({ replaces: ["parent"] });
    expect(log()).toBe(
      `RoleBindingSet set-${group} moves to another group:\n  - adds ${one} as "editor"\n  - removes "one" as "viewer"`,
    );
  });

  it("of another stack, exclusive in the same group, loses nothing unseen, and does not lose a pair that both declare", async () => {
    const group = await sets.group();
    const own = sets.inputs(group, ["one viewer", "three viewer"], EXCLUSIVE);
    const pairs = sets.inputs(group, ["two viewer", "three viewer"], EXCLUSIVE);
    const other = { ...pairs, __key: "organization/project/other/RoleBindingSet::other" };
    const first = await sets.up(own);
    const second = await sets.up(other);
    expect(await sets.pairs(group)).toEqual(["one viewer", "three viewer", "two viewer"]);
    await sets.up(own, first);
    expect(await sets.pairs(group)).toHaveLength(3);
    machine.messages.length = 0;
    await sets.up(other, second);
    expect(log()).toContain('other changes:\n  - removes "one" as "viewer", which the program does not declare');
    expect(await sets.pairs(group)).toEqual(["three viewer", "two viewer"]);
  });
});
