// Sets whose runs are interrupted: lost responses, refusals, kills, and other resources that manage the same bindings.
import { expect, it } from "vitest";
import type { Json } from "../../../schema/index.ts";
import { Killed } from "../../harness/provider.ts";
import { countOf, type EngineSet, startSets } from "../../harness/role-binding-set.ts";

const sets = startSets();
const { machine, identities } = sets;
const three = (group: string) =>
  sets.inputs(
    group,
    identities.slice(0, 3).map((uid) => [uid, "viewer"] as const),
  );
const PAIRS = ["one viewer", "three viewer", "two viewer"];
const uidsIn = (outs: Json) => (outs.bindings as Json[]).map(({ uid }) => uid);

const partial = (error: unknown): EngineSet => {
  const { id, properties } = error as { id: string; properties: Json };
  expect(id).toBe(properties.parent);
  return { outs: properties, inputs: properties };
};

it("a batch lost by a timeout, with nothing found, fails, and the next run waits for the late bindings", async () => {
  const group = await sets.group();
  await expect((await sets.run(machine.run("timeout"))).up(three(group))).rejects.toThrow(
    "It is unknown whether the 3 role bindings were created. The intent journal keeps the create as pending",
  );
  expect(machine.lines().filter((line) => "intent" in line)).toHaveLength(3);
  expect(await sets.pairs(group)).toEqual([]);
  const late = await Promise.all(identities.slice(0, 3).map((identity) => sets.bind(group, identity, "viewer")));
  const { outs } = await sets.up(three(group));
  expect(machine.posts).toBe(1);
  expect(uidsIn(outs).toSorted()).toEqual(late.toSorted());
  expect(machine.messages.at(-1)).toContain(`"one" as "viewer": ${uidsIn(outs)[0]}, created by an earlier run`);
});

it("a batch whose response is lost, found in part, is sent again for the rest only", async () => {
  const group = await sets.group();
  const wire: Parameters<typeof machine.runOver>[0] = async (request, send) => {
    if (request.method !== "POST" || isSent) return send();
    isSent = true;
    await sets.bind(group, "two", "viewer");
    return { status: 503, headers: {}, body: "" };
  };
  let isSent = false;
  const run = await sets.run(machine.runOver(wire));
  await run.up(three(group));
  expect(countOf(run, "BatchCreateRoleBindings")).toBe(2);
  expect(await sets.pairs(group)).toEqual(PAIRS);
});

it("a run that is killed in the second of two batches continues there", async () => {
  const group = await sets.group();
  const roles = await sets.newRoles(6);
  const wanted = sets.inputs(
    group,
    identities.flatMap((identity) => roles.map((role) => [identity, role] as const)),
  );
  const faulty = machine.runOver(async (request, send) => {
    if (request.method === "POST" && JSON.parse(request.body ?? "{}").requests.length === 5) throw new Error("broken");
    return send();
  });
  const state = partial(await (await sets.run(faulty)).up(wanted).catch((error: unknown) => error));
  expect(uidsIn(state.outs)).toHaveLength(25);
  const run = await sets.run();
  const { outs } = await run.up(wanted, state);
  expect(uidsIn(outs)).toHaveLength(30);
  expect(await sets.pairs(group)).toHaveLength(30);
});

it("a run that is killed keeps what it manages while the list does not show it", async () => {
  const group = await sets.group();
  const state = await sets.up(sets.inputs(group, ["one viewer"]));
  await expect((await sets.run(machine.dying("before"))).up(three(group), state)).rejects.toThrow(Killed);
  const lagging = machine.runOver(async (request, send) => {
    const answer = await send();
    if (!request.url.pathname.endsWith("/roleBindings")) return answer;
    const { roleBindings = [] } = JSON.parse(answer.body) as { roleBindings?: Json[] };
    const shown = roleBindings.filter(({ uid }) => !uidsIn(state.outs).includes(uid));
    return { ...answer, body: JSON.stringify({ roleBindings: shown }) };
  });
  const { outs } = await (await sets.run(lagging)).up(three(group), state);
  expect(uidsIn(outs)[0]).toBe(uidsIn(state.outs)[0]);
  expect(await sets.pairs(group)).toEqual(PAIRS);
});

it("a set that is deleted takes with it what an interrupted run has created for it, and the state lacks", async () => {
  const group = await sets.group();
  const state = await sets.up(sets.inputs(group, ["one viewer"]));
  await sets.bind(group, "one", "editor");
  await expect((await sets.run(machine.dying("after"))).up(three(group), state)).rejects.toThrow(Killed);
  expect(await sets.pairs(group)).toEqual(["one editor", ...PAIRS]);
  machine.messages.length = 0;
  await sets.delete(state);
  expect(await sets.pairs(group)).toEqual(["one editor"]);
  expect(machine.messages.join("\n")).toMatch(/removing 3 role bindings[\s\S]*"two" as "viewer"/);
});

it("a batch that is refused is tried pair by pair: the others are created, and the error names the refused one", async () => {
  const group = await sets.group();
  const gone = `${machine.org}/00000000000000ff`;
  const names = [{ identity: "one", role: "viewer" }, { identity: "nobody", role: "editor" }, {}];
  const wanted = sets.inputs(group, ["one viewer", [gone, "editor"], "three viewer"], { names });
  const run = await sets.run();
  const error = await run.up(wanted).catch((reason: unknown) => reason as Error);
  expect(error).toMatchObject({
    message: expect.stringMatching(
      `^RoleBindingSet set-${group}: 1 role binding was not created:\n {2}- "nobody" as "editor": CreateRoleBinding role binding ` +
        `in ${group}: INVALID_ARGUMENT: .*identity ${gone} does not exist`,
    ),
  });
  expect([countOf(run, "BatchCreateRoleBindings"), countOf(run, "CreateRoleBinding")]).toEqual([1, 3]);
  expect(await sets.pairs(group)).toEqual(["one viewer", "three viewer"]);
  // The next run continues from there, and nothing is pending.
  const state = partial(error);
  const { outs } = await sets.up(three(group), state);
  expect(uidsIn(outs)).toHaveLength(3);
  expect(await sets.pairs(group)).toEqual(PAIRS);
});

it("a batch that is refused removes nothing while an addition is refused", async () => {
  const group = await sets.group();
  const first = await sets.up(three(group));
  const wanted = sets.inputs(group, [[`${machine.org}/00000000000000ff`, "viewer"]]);
  await expect(sets.up(wanted, first)).rejects.toThrow("does not exist");
  expect(await sets.pairs(group)).toEqual(PAIRS);
});

const binding = (name: string, group: string, identity: string, further: Json = {}) => ({
  __provider: "p",
  __key: `organization/project/stack/RoleBinding::${name}`,
  ...{ parent: group, identity, role: "viewer", ...further },
});

it("a binding that moves into a set in one run is adopted, and the other's delete leaves it", async () => {
  const group = await sets.group();
  const [one] = identities as [string];
  const before = await (await sets.run()).methods.roleBinding.create(binding("b", group, one));
  const { up, methods, requests } = await sets.run();
  const { outs } = await up(sets.inputs(group, ["one viewer"]));
  await methods.roleBinding.delete(before.id, before.outs);
  expect(uidsIn(outs)).toEqual([before.id]);
  expect(requests.filter((request) => request.startsWith("DELETE"))).toEqual([]);
  expect(await sets.pairs(group)).toEqual(["one viewer"]);
});

it("a binding that moves into a set whose run is killed stays in the next run", async () => {
  const group = await sets.group();
  const [one] = identities as [string];
  const own = sets.inputs(group, ["one viewer"]);
  const other = { ...own, __key: "organization/project/stack/RoleBindingSet::renamed" };
  const created = await (await sets.run()).methods.roleBinding.create(binding("moved", group, one));
  const first = await sets.up(own);
  const renamed = await sets.up(other);
  expect(uidsIn(renamed.outs)).toEqual([created.id]);
  // The state has the binding three times now.
  const next = await sets.run();
  await next.up(other, renamed);
  await next.delete(first);
  await next.methods.roleBinding.delete(created.id, created.outs);
  expect(next.requests.filter((request) => request.startsWith("DELETE"))).toEqual([]);
  expect(await sets.pairs(group)).toEqual(["one viewer"]);
  // The set that keeps it can still give it up.
  await sets.up({ ...other, bindings: [] }, renamed);
  expect(await sets.pairs(group)).toEqual([]);
});

it("a binding moves out of a set in one run by adopt, whichever comes first", async () => {
  for (const isSetFirst of [true, false]) {
    const group = await sets.group();
    const [one] = identities as [string];
    const state = await sets.up(sets.inputs(group, ["one viewer"]));
    const [uid] = uidsIn(state.outs) as [string];
    const { up, methods } = await sets.run();
    const { inputs, failures } = await methods.roleBinding.check(
      {},
      binding(`b${isSetFirst}`, group, one, { adopt: uid }),
    );
    expect(failures).toEqual([]);
    const adopt = () => methods.roleBinding.create(inputs);
    if (!isSetFirst) await adopt();
    await up(sets.inputs(group, []), state);
    if (isSetFirst) await adopt();
    expect(await sets.pairs(group)).toEqual(["one viewer"]);
  }
});
