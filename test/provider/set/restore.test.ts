// The lines that name what a set removes are the lines that restore it.
import { expect, it } from "vitest";
import { startSets } from "../../harness/role-binding-set.ts";

const sets = startSets();
const { machine } = sets;

/** What a program has in `bindings` with the lines of the last log pasted into it. */
const pasted = (): [identity: string, role: string][] => {
  const lines = machine.messages.findLast((text) => text.includes("to restore one, add its pair to bindings:"));
  const text = lines?.split("\n").slice(1).join("\n") ?? "";
  const pairs = new Function(`return [\n${text}\n];`)() as { identity: string; role: string }[];
  return pairs.map(({ identity, role }) => [identity, role]);
};

it("what a set removed is there again after its lines in the log are pasted into bindings", async () => {
  const group = await sets.group();
  const first = await sets.up(sets.inputs(group, ["one viewer", "two editor", "three viewer"]));
  const second = await sets.up(sets.inputs(group, ["three viewer"]), first);
  expect(await sets.pairs(group)).toEqual(["three viewer"]);
  await sets.up(sets.inputs(group, ["three viewer", ...pasted()]), second);
  expect(await sets.pairs(group)).toEqual(["one viewer", "three viewer", "two editor"]);
});
