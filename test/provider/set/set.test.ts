// A set of role bindings: by pairs, with names, in few requests.
import { beforeAll, describe, expect, it } from "vitest";
import type { Json } from "../../../schema/index.ts";
import { workloadToken } from "../../harness/provider.ts";
import { countOf, type EngineRun, startSets } from "../../harness/role-binding-set.ts";
import { UNKNOWN } from "../../support/scripted.ts";

const sets = startSets();
const { machine, identities } = sets;
const uidsIn = (outs: Json, member = "bindings") => (outs[member] as Json[]).map(({ uid }) => uid);

it("a set creates 60 pairs with one list and three POSTs, and a preview then asks nothing", async () => {
  const group = await sets.group();
  const roles = await sets.newRoles(12);
  const pairs = identities.flatMap((identity) => roles.map((role) => [identity, role] as const));
  const run = await sets.run();
  const state = await run.up(sets.inputs(group, pairs));
  expect(countOf(run, "BatchCreateRoleBindings")).toBe(3);
  expect(countOf(run, "ListRoleBindings")).toBe(1);
  expect(run.requests.filter((one) => one.startsWith("POST"))).toHaveLength(3);
  expect(uidsIn(state.outs)).toHaveLength(60);
  expect(await sets.pairs(group)).toHaveLength(60);
  // One fsync for a batch: 60 entries and their 60 outcomes.
  expect(machine.lines().filter((line) => "intent" in line && !("uid" in line))).toHaveLength(60);
  const next = await sets.run();
  expect(await next.preview(sets.inputs(group, pairs.toReversed()), state)).toMatchObject({ changes: false });
  expect(next.requests.filter((one) => /roleBinding/.test(one))).toEqual([]);
  // The engine knows the bindings: their entries are done.
  expect(machine.lines().filter((line) => "known" in line)).toHaveLength(60);
});

it("a set lists nothing in a group of the same run, unless a RoleBinding is declared there", async () => {
  const pairs = ["one viewer"] as const;
  const run = await sets.run();
  const newGroup = async () => (await run.methods.group.create(machine.inputs())).id;
  const alone = sets.inputs(await newGroup(), pairs);
  expect(uidsIn((await run.up(alone)).outs)).toHaveLength(1);
  expect(countOf(run, "ListRoleBindings")).toBe(0);
  const shared = await newGroup();
  const binding = {
    ...{ __key: "organization/project/stack/RoleBinding::beside", parent: shared },
    ...{ identity: identities[0], role: "viewer" },
  };
  const { inputs } = await run.methods.roleBinding.check({}, binding);
  const { id } = await run.methods.roleBinding.create(inputs);
  await expect(run.up(sets.inputs(shared, pairs))).rejects.toThrow(
    `role binding ${id} is already managed by organization/project/stack/RoleBinding::beside; declare the pair once`,
  );
  expect(await sets.pairs(shared)).toEqual(["one viewer"]);
});

it("a set has the uids and names of its bindings as outputs, in the order of the program", async () => {
  const group = await sets.group();
  const viewer = await sets.role("viewer");
  const { outs } = await sets.up(sets.inputs(group, ["two editor", [identities[0] as string, viewer]]));
  expect(outs).toMatchObject({
    parent: group,
    bindings: [
      { identity: { uid: identities[1], name: "two" }, role: { uid: await sets.role("editor"), name: "editor" } },
      { identity: { uid: identities[0], name: "one" }, role: { uid: viewer, name: "viewer" } },
    ],
    unmanaged: [],
    exclusive: false,
    maxRemovals: 20,
    updateTime: expect.stringMatching(/^2/),
  });
  expect(Object.keys((outs.bindings as Json[])[0] ?? {})).toEqual(["uid", "identity", "role"]);
});

it("a set adds before it removes, and names each pair in the preview", async () => {
  const group = await sets.group();
  const [one] = identities as [string];
  const first = await sets.up(sets.inputs(group, ["one viewer", "two viewer"]));
  machine.messages.length = 0;
  const run = await sets.run();
  const names = [
    { identity: "two", role: "viewer" },
    { identity: "three", role: "editor" },
  ];
  const wanted = sets.inputs(group, ["two viewer", "three editor"], { names });
  const next = await run.up(wanted, first);
  expect(run.requests.filter((request) => /^(POST|DELETE)/.test(request))).toEqual([
    `POST roleBindings/${group}`,
    `DELETE roleBindings/${uidsIn(first.outs)[0]}`,
  ]);
  expect(await sets.pairs(group)).toEqual(["three editor", "two viewer"]);
  expect(uidsIn(next.outs)[0]).toBe(uidsIn(first.outs)[1]);
  const name = `set-${group}`;
  expect(machine.messages).toEqual([
    `RoleBindingSet ${name} changes:\n  - adds "three" as "editor"\n  - removes "one" as "viewer"`,
    `RoleBindingSet ${name}: removing 1 role binding of group ${group}; to restore one, add its pair to bindings:\n` +
      `  { identity: "${one}", role: "${await sets.role("viewer")}" }, // "one" as "viewer"`,
  ]);
});

it("a set adopts a pair that exists, with a line in the log, and leaves what it does not declare", async () => {
  const group = await sets.group();
  const [, two] = identities as [string, string];
  const mine = await sets.bind(group, "one", "viewer");
  const foreign = await sets.bind(group, "two", "editor");
  const run = await sets.run();
  const { outs } = await run.up(sets.inputs(group, ["one viewer"]));
  expect(machine.posts).toBe(0);
  expect(uidsIn(outs)).toEqual([mine]);
  expect(outs.unmanaged).toEqual([
    { uid: foreign, identity: { uid: two, name: "two" }, role: { uid: await sets.role("editor"), name: "editor" } },
  ]);
  expect(machine.messages.at(-1)).toBe(
    `RoleBindingSet set-${group}: adopts role bindings that exist:\n  - "one" as "viewer": ${mine}`,
  );
});

it("a set shows after a refresh what was removed by hand, and adds it again", async () => {
  const group = await sets.group();
  const [, two] = identities as [string, string];
  const wanted = sets.inputs(group, ["one viewer", "two viewer"]);
  const first = await sets.up(wanted);
  await sets.unbind(uidsIn(first.outs)[0] as string);
  await sets.bind(group, "three", "viewer");
  machine.service.clock.advance(60_000);
  const run = await sets.run();
  const refreshed = await run.refresh(first);
  expect(countOf(run, "ListRoleBindings")).toBe(1);
  expect(refreshed.inputs).toMatchObject({ bindings: [{ identity: two, role: "viewer" }] });
  expect(refreshed.outs.unmanaged).toMatchObject([{ identity: { name: "three" } }]);
  expect(await run.preview(wanted, refreshed)).toMatchObject({ changes: true });
  await sets.up(wanted, refreshed);
  expect(await sets.pairs(group)).toEqual(["one viewer", "three viewer", "two viewer"]);
});

it("a set removes a pair that leaves the program in a run that refreshes first", async () => {
  const group = await sets.group();
  const first = await sets.up(sets.inputs(group, ["one viewer", "two editor"]));
  const run = await sets.run();
  const refreshed = await run.refresh(first);
  // The engine compares what it has read with the inputs of the state, before the program runs.
  await run.methods.roleBindingSet.diff(group, refreshed.outs, first.inputs);
  await run.up(sets.inputs(group, ["one viewer"]), refreshed);
  expect(await sets.pairs(group)).toEqual(["one viewer"]);
});

it("a set is gone after a refresh when its group is, and stays when it has no bindings", async () => {
  const group = await sets.group();
  const empty = await sets.up(sets.inputs(group, []));
  expect((await sets.refresh(empty)).outs).toMatchObject({ parent: group, bindings: [] });
  await machine.service.session.call("DeleteGroup", { uid: group });
  const { methods } = await sets.run();
  expect(await methods.roleBindingSet.read(group, empty.outs)).toEqual({ id: "", props: {} });
});

it("a set deletes its bindings, those that are gone and the ones of its own identity last included", async () => {
  const group = await sets.group();
  const own = machine.service.identity as string;
  const state = await sets.up(sets.inputs(group, [[own, "viewer"], "one viewer", "two viewer"]));
  const [ownUid, first, second] = uidsIn(state.outs);
  await sets.unbind(first as string);
  await sets.bind(group, "three", "viewer");
  const run = await sets.run();
  await run.delete(state);
  expect(run.requests.filter((request) => request.startsWith("DELETE"))).toEqual(
    [first, second, ownUid].map((uid) => `DELETE roleBindings/${uid}`),
  );
  expect(await sets.pairs(group)).toEqual(["three viewer"]);
});

it("a set keeps a secret name out of state and log", async () => {
  const group = await sets.group();
  const names = [{ identity: "[secret]", role: "viewer" }];
  const run = await sets.run();
  const state = await run.up(sets.inputs(group, ["one viewer"], { names }));
  expect(state.outs.bindings).toMatchObject([{ identity: { uid: identities[0] }, role: { name: "viewer" } }]);
  expect(machine.messages).toEqual([`RoleBindingSet set-${group} is new:\n  - adds [secret] as "viewer"`]);
  expect(JSON.stringify([state, await sets.refresh(state), machine.messages])).not.toContain('"one"');
});

it("the check of a set reports all problems at once; it needs a group and a list of pairs", async () => {
  const { methods } = await sets.run();
  const group = await sets.group();
  const [one, two] = identities as [string, string];
  const bindings = [
    { identity: one, role: "viewer" },
    { identity: "who", role: "Viewer!" },
    { identity: two, rolle: "viewer" },
    { identity: one, role: "viewer" },
    { identity: UNKNOWN, role: "viewer" },
    { identity: UNKNOWN, role: "viewer" },
    "viewer",
  ];
  const { failures } = await methods.roleBindingSet.check(
    {},
    { parent: `${group} `, bindings, exclusive: "yes", maxRemovals: -1, exlusive: true },
  );
  const uid = "must be a uid: 40 hexadecimal digits, then / and 16 more for each level below";
  expect(failures).toEqual([
    { property: "exlusive", reason: "unknown argument; did you mean exclusive?" },
    { property: "bindings[2].rolle", reason: "unknown argument; did you mean role?" },
    { property: "parent", reason: uid },
    { property: "bindings[1].identity", reason: uid },
    { property: "bindings[1].role", reason: `${uid}, or the name of a built-in role` },
    { property: "bindings[2].role", reason: "is required" },
    { property: "bindings[6]", reason: "must be an object: { identity, role }" },
    { property: "exclusive", reason: "must be true or false" },
    { property: "maxRemovals", reason: "must be a whole number of role bindings" },
    { property: "bindings[3]", reason: "the same identity and role as bindings[0]" },
  ]);
  const check = async (args: Json) => (await methods.roleBindingSet.check({}, args)).failures;
  expect(await check({})).toEqual([
    { property: "parent", reason: uid },
    { property: "bindings", reason: "is required" },
  ]);
  const parent = machine.org;
  expect(await check({ parent, bindings: "viewer" })).toEqual([{ property: "bindings", reason: "must be a list" }]);
  expect(await check({ parent, bindings: UNKNOWN })).toEqual([]);
});

it("the check of a set refuses a role in the preview, and otherwise before anything changes", async () => {
  const group = await sets.group();
  const [one] = identities as [string];
  const inputs = sets.inputs(group, ["one viewer", [one, await sets.role("viewer")]]);
  const run = await sets.run();
  const { failures } = await run.methods.roleBindingSet.check({}, inputs);
  expect(failures).toEqual([{ property: "bindings[1]", reason: "the same identity and role as bindings[0]" }]);
  await expect(run.methods.roleBindingSet.create(inputs)).rejects.toThrow(
    /nothing is changed:\n {2}- bindings\[1\]: the same identity and role as bindings\[0\]$/,
  );
  expect(machine.posts).toBe(0);
});

it("the check of a set refuses a second set of a group, and names both", async () => {
  const { methods } = await sets.run();
  const group = await sets.group();
  const key = (name: string) => ({ __key: `organization/project/stack/${name}` });
  const set = (name: string, further: Json = {}) =>
    methods.roleBindingSet.check({}, { ...key(`RoleBindingSet::${name}`), parent: group, bindings: [], ...further });
  expect((await set("first")).failures).toEqual([]);
  expect((await set("first")).failures).toEqual([]);
  expect((await set("second")).failures).toEqual([
    {
      property: "parent",
      reason: "RoleBindingSet first declares the bindings of this group already; put all of them into one set",
    },
  ]);
});

// It may create role bindings and not list them: the API's list is short, and does not say so.
describe("a set of a caller without role_bindings.list", () => {
  let blind: string;
  let custom: string;

  beforeAll(async () => {
    const { call, issuer } = machine.service;
    const parent = machine.org;
    const role = async (name: string, capabilities: string[]) =>
      (await call("CreateRole", { parent, role: { name, capabilities } })).uid;
    custom = await role("lists groups", ["CAP_IAM_GROUPS_LIST"]);
    const binder = await role("binds", ["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLE_BINDINGS_CREATE"]);
    const claimMatch = { issuer, subject: "blind" };
    blind = (await call("CreateIdentity", { parent, identity: { name: "blind", claimMatch } })).uid;
    await sets.bind(parent, blind, binder);
  });

  const run = async (): Promise<EngineRun> => {
    const process = machine.run();
    const token = await workloadToken(machine.service, "blind");
    const env = { ...process.environment.env, IRM_IDENTITY: blind, IRM_IDENTITY_TOKEN: token };
    return sets.run({ ...process, environment: { ...process.environment, env } });
  };

  it("is refused before anything changes: its pairs may exist already", async () => {
    const group = await sets.group();
    await sets.bind(group, "one", custom);
    const own = await run();
    await expect(own.up(sets.inputs(group, [[identities[0] as string, custom]]))).rejects.toThrow(
      `RoleBindingSet set-${group}: nothing is changed: the role bindings of group ${group} cannot be listed, so pairs that exist ` +
        "would be created a second time; grant the identity of this run role_bindings.list there",
    );
    expect(countOf(own, "CreateRoleBinding") + countOf(own, "BatchCreateRoleBindings")).toBe(0);
    expect(await sets.pairs(group)).toEqual(["one lists groups"]);
  });

  it("is not taken for empty by a refresh or a deletion", async () => {
    const group = await sets.group();
    const state = await sets.up(sets.inputs(group, [[identities[0] as string, custom]]));
    await expect((await run()).refresh(state)).rejects.toThrow("Permission denied is not treated as deletion");
    await expect((await run()).delete(state)).rejects.toThrow("PERMISSION_DENIED");
    const wanted = sets.inputs(group, [[identities[1] as string, custom]]);
    await expect((await run()).up(wanted, state)).rejects.toThrow("Permission denied is not treated as deletion");
    expect(await sets.pairs(group)).toEqual(["one lists groups"]);
  });
});
