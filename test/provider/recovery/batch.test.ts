// Role bindings that the engine creates at the same time: those of one group go in one request, and each keeps its own outcome.
import { setImmediate, setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Json } from "../../../schema/index.ts";
import { countOf, type EngineRun, startSets } from "../../harness/role-binding-set.ts";
import { keyOf } from "../../support/scripted.ts";

const sets = startSets();
const { machine, identities } = sets;

const inputsOf = async (group: string, count: number): Promise<Json[]> => {
  const roles = await Promise.all(["viewer", "editor", "owner"].map(sets.role));
  const pairs = identities.flatMap((identity) => roles.map((role) => ({ identity, role })));
  return pairs.slice(0, count).map((pair, i) => ({ ...keyOf(`${group} ${i}`), parent: group, ...pair }));
};

/** The inputs that the engine creates with, after the checks of all. */
const checkAll = async ({ methods: { roleBinding } }: EngineRun, asked: readonly Json[]): Promise<Json[]> =>
  Promise.all(asked.map(async (inputs) => (await roleBinding.check({}, inputs)).inputs));

/** As the engine calls: each create after its check, and all of them at once. */
const createAtOnce = async (run: EngineRun, asked: readonly Json[]) =>
  Promise.allSettled((await checkAll(run, asked)).map((inputs) => run.methods.roleBinding.create(inputs)));

const uidsIn = (results: readonly PromiseSettledResult<{ id: string }>[]): string[] =>
  results.flatMap((one) => (one.status === "fulfilled" ? [one.value.id] : []));

const messageOf = (result: PromiseSettledResult<unknown> | undefined): string =>
  result?.status === "rejected" ? (result.reason as Error).message : "";

const createsOf = (run: EngineRun) => [countOf(run, "BatchCreateRoleBindings"), countOf(run, "CreateRoleBinding")];

it("concurrent role bindings are one request for each group, and each resource has its own binding", async () => {
  const [one, other] = [await sets.group(), await sets.group()];
  const run = await sets.run();
  const asked = [...(await inputsOf(one, 8)), ...(await inputsOf(other, 5))];
  const results = await createAtOnce(run, asked);
  expect(createsOf(run)).toEqual([2, 0]);
  expect(countOf(run, "ListRoleBindings")).toBe(2);
  expect(new Set(uidsIn(results)).size).toBe(13);
  for (const [i, result] of results.entries()) {
    const { parent, identity, role } = asked[i] as Json;
    const outs = { group: { uid: parent }, identity: { uid: identity }, role: { uid: role } };
    expect(result).toMatchObject({ status: "fulfilled", value: { outs } });
  }
});

it("concurrent role bindings are at most 25 in a request", async () => {
  const group = await sets.group();
  const roles = await sets.newRoles(6);
  const pairs = identities.flatMap((identity) => roles.map((role) => ({ identity, role })));
  const run = await sets.run();
  const asked = pairs.map((pair, i) => ({ ...keyOf(`${group} ${i}`), parent: group, ...pair }));
  expect(uidsIn(await createAtOnce(run, asked))).toHaveLength(30);
  expect(createsOf(run)).toEqual([2, 0]);
});

it("concurrent role bindings are one request too where the engine saves its state between two creates", async () => {
  const group = await sets.group();
  const run = await sets.run();
  const { roleBinding } = run.methods;
  const [first, second] = await checkAll(run, await inputsOf(group, 2));
  const begun = roleBinding.create(first as Json);
  // Longer than a create waits for one that is not announced.
  for (const begin = performance.now(); performance.now() - begin < 8; ) await setImmediate();
  expect(new Set(uidsIn(await Promise.allSettled([begun, roleBinding.create(second as Json)]))).size).toBe(2);
  expect(createsOf(run)).toEqual([1, 0]);
});

it("concurrent role bindings do not wait for long where one that was checked is never created", async () => {
  const group = await sets.group();
  const run = await sets.run();
  const { roleBinding } = run.methods;
  const [first, ...others] = await inputsOf(group, 4);
  const { inputs } = await roleBinding.check({}, first as Json);
  for (const other of others) await roleBinding.check({}, other);
  expect(uidsIn(await Promise.allSettled([roleBinding.create(inputs)]))).toHaveLength(1);
  // Nobody waits for them again.
  expect(uidsIn(await createAtOnce(run, await inputsOf(await sets.group(), 2)))).toHaveLength(2);
  expect(createsOf(run)).toEqual([1, 1]);
});

it("concurrent role bindings are waited for longer where the engine takes long between two creates", async () => {
  const [before, group] = [await sets.group(), await sets.group()];
  const run = await sets.run();
  const { roleBinding } = run.methods;
  await createAtOnce(run, await inputsOf(before, 1));
  await setTimeout(100);
  const asked = await checkAll(run, await inputsOf(group, 2));
  const begun = roleBinding.create(asked[0] as Json);
  await setTimeout(400);
  expect(uidsIn(await Promise.allSettled([begun, roleBinding.create(asked[1] as Json)]))).toHaveLength(2);
  expect(createsOf(run)).toEqual([1, 1]);
});

it("concurrent role bindings are not waited for after vain waits, and later again", async () => {
  const run = await sets.run();
  const { roleBinding } = run.methods;
  for (let i = 0; i < 3; i += 1) {
    const [first, second] = (await inputsOf(await sets.group(), 2)) as [Json, Json];
    const { inputs } = await roleBinding.check({}, first);
    await roleBinding.check({}, second);
    await roleBinding.create(inputs);
  }
  const createApart = async (): Promise<void> => {
    const [first, second] = await checkAll(run, await inputsOf(await sets.group(), 2));
    const begun = roleBinding.create(first as Json);
    await setTimeout(20);
    await Promise.all([begun, roleBinding.create(second as Json)]);
  };
  await createApart();
  expect(createsOf(run)).toEqual([0, 5]);
  for (let i = 0; i < 7; i += 1)
    for (const one of await inputsOf(await sets.group(), 2)) await roleBinding.check({}, one);
  await createApart();
  expect(createsOf(run)).toEqual([1, 5]);
});

it("concurrent role bindings are two requests where two resources ask for the same", async () => {
  const group = await sets.group();
  const [first] = (await inputsOf(group, 1)) as [Json];
  const run = await sets.run();
  const results = await createAtOnce(run, [first, { ...first, ...keyOf(`${group} again`) }]);
  expect(createsOf(run)).toEqual([0, 2]);
  expect(new Set(uidsIn(results)).size).toBe(uidsIn(results).length);
});

it("concurrent role bindings of which the service refuses one: the error is that resource's own", async () => {
  const group = await sets.group();
  const asked = await inputsOf(group, 3);
  const gone = `${machine.org}/00000000000000ff`;
  const run = await sets.run();
  const results = await createAtOnce(run, asked.with(1, { ...asked[1], identity: gone }));
  expect(uidsIn(results)).toHaveLength(2);
  expect(messageOf(results[1])).toMatch(/^CreateRoleBinding role binding in .*identity .*00ff does not exist/s);
  expect(createsOf(run)).toEqual([1, 3]);
  // Nothing is pending.
  expect(machine.lines().filter((line) => "closed" in line)).toHaveLength(4);
});

it("concurrent role bindings whose response has another order are each found by what they grant", async () => {
  const group = await sets.group();
  const asked = await inputsOf(group, 3);
  const turned: Parameters<typeof machine.runOver>[0] = async (request, send) => {
    const answer = await send();
    if (!request.url.pathname.endsWith(":batchCreate")) return answer;
    const { roleBindings } = JSON.parse(answer.body) as { roleBindings: Json[] };
    return { ...answer, body: JSON.stringify({ roleBindings: roleBindings.toReversed() }) };
  };
  const results = await createAtOnce(await sets.run(machine.runOver(turned)), asked);
  for (const [i, result] of results.entries())
    expect(result).toMatchObject({
      value: { outs: { identity: { uid: asked[i]?.identity }, role: { uid: asked[i]?.role } } },
    });
  expect(await sets.pairs(group)).toHaveLength(3);
});
