// What must not end access: an exclusive set removes only what a preview has shown, and keeps what must not disappear.
import { expect, it } from "vitest";
import { SECRET_ARGUMENTS } from "../../../provider/record/state.ts";
import { keptBy } from "../../../provider/set/live.ts";
import { UNKNOWN } from "../../../pulumi/value.ts";
import type { Json } from "../../../schema/index.ts";
import { Killed } from "../../harness/provider.ts";
import { countOf, startSets } from "../../harness/role-binding-set.ts";

const sets = startSets();
const { machine, identities } = sets;
const EXCLUSIVE = { exclusive: true };

it("an exclusive set removes nothing first, shows by name what it found, and then removes only that", async () => {
  const group = await sets.group();
  const undeclared = await sets.bind(group, "two", "editor");
  const wanted = sets.inputs(group, ["one viewer"], EXCLUSIVE);
  const first = await sets.up(wanted);
  expect(await sets.pairs(group)).toEqual(["one viewer", "two editor"]);
  expect(first.outs.unmanaged).toMatchObject([{ uid: undeclared, identity: { name: "two" } }]);
  machine.messages.length = 0;
  expect(await sets.preview(wanted, first)).toMatchObject({ changes: true });
  expect(machine.messages).toEqual([
    `RoleBindingSet set-${group} changes:\n  - removes "two" as "editor", which the program does not declare`,
  ]);
  await sets.bind(group, "three", "viewer");
  machine.messages.length = 0;
  const second = await sets.up(wanted, first);
  expect(await sets.pairs(group)).toEqual(["one viewer", "three viewer"]);
  expect(machine.messages.at(-1)).toContain(
    `{ identity: "${identities[1]}", role: "${await sets.role("editor")}" }, // "two" as "editor"`,
  );
  expect(second.outs.unmanaged).toMatchObject([{ identity: { name: "three" } }]);
  const third = await sets.up(wanted, second);
  expect(await sets.pairs(group)).toEqual(["one viewer"]);
  expect(await sets.preview(wanted, third)).toMatchObject({ changes: false });
});

it("a set that becomes exclusive lists what it adopts once, and does not keep it as well", async () => {
  const group = await sets.group();
  const existing = await sets.bind(group, "two", "editor");
  const first = await sets.up(sets.inputs(group, ["one viewer"]));
  machine.messages.length = 0;
  const pairs = ["one viewer", "two editor"] as const;
  await sets.preview(sets.inputs(group, pairs, EXCLUSIVE), first);
  expect(machine.messages).toEqual([
    expect.stringMatching(`^RoleBindingSet set-\\S+ changes:\n  - adopts .*, role binding ${existing}$`),
  ]);
});

it("an exclusive set says in the preview which of the removed are pull tokens, also of many", async () => {
  const { call } = machine.service.session;
  const group = await sets.group();
  const create = async (name: string, relationship: Json) =>
    (await call("CreateIdentity", { parent: group, identity: { name, ...relationship } } as never)).uid as string;
  const issuer = "https://pulltoken.issuer.chainguard.dev";
  const keys = { issuer, issuerKeys: '{"keys":[]}', subject: "pull-token-1" };
  const token = await create("cluster", { staticKeys: keys });
  const claims = await create("claims", { claimMatch: { issuer, subject: "pull-token-1" } });
  await sets.bind(group, token, "registry.pull");
  await sets.bind(group, claims, "registry.pull");
  const { expirationTime } = (await call("GetIdentity", { uid: token })).staticKeys ?? {};
  const text = `"cluster" as "registry.pull", a pull token that ends ${expirationTime}, not used yet`;
  const wanted = (further: Json) => sets.inputs(group, [], { ...further, [SECRET_ARGUMENTS]: [] });
  const before = await sets.up(wanted({}));
  machine.messages.length = 0;
  const run = await sets.run();
  await run.preview(wanted(EXCLUSIVE), before);
  const later = "for now: the preview after this update shows whether it is removed";
  expect(machine.messages.join("\n").split("\n").toSorted()).toEqual([
    `  - keeps "claims" as "registry.pull" ${later}`,
    `  - keeps ${text} ${later}`,
    `RoleBindingSet set-${group} changes:`,
  ]);
  expect(run.requests.filter((one) => one === "GET identities")).toHaveLength(1);
  const first = await sets.up(wanted(EXCLUSIVE), before);
  machine.messages.length = 0;
  await sets.preview(wanted(EXCLUSIVE), first);
  expect(machine.messages.join("\n")).toContain(`  - removes ${text}, which the program does not declare`);
  await expect(sets.preview(wanted({ ...EXCLUSIVE, maxRemovals: 1 }), first)).rejects.toThrow(`  - ${text}\n`);
});

it("an exclusive set keeps a binding of the identity that the run acts as, and says why", async () => {
  const group = await sets.group();
  const own = machine.service.identity as string;
  const kept = await sets.bind(group, own, "editor");
  const before = sets.inputs(group, [[own, "viewer"]], EXCLUSIVE);
  const wanted = sets.inputs(group, [], EXCLUSIVE);
  const first = await sets.up(before);
  machine.messages.length = 0;
  const second = await sets.up(wanted, first);
  const reason = "this run acts as this identity";
  expect(machine.messages.join("\n")).toContain(`(${kept}) on purpose: ${reason}`);
  expect(second.outs.unmanaged).toMatchObject([{ kept: reason }, { kept: reason }]);
  expect(await sets.pairs(group)).toHaveLength(2);
  machine.messages.length = 0;
  expect(await sets.preview(wanted, second)).toMatchObject({ changes: false });
  expect(machine.messages.join("\n")).toMatch(/does not change:\n {2}- keeps ".*" as "(editor|viewer)" on purpose/);
});

it.each<[string, owners: string[], removed: string[], kept: string[]]>([
  ["all are to be removed", ["a", "b"], ["a", "b"], ["b: it is the last owner of the organization"]],
  ["another one stays", ["a", "b"], ["a"], []],
  ["one is the run's own", ["a", "mine"], ["a", "mine"], ["mine: this run acts as this identity"]],
])("an exclusive set keeps the last owner of the organization: %s", (_, owners, removed, kept) => {
  const organization = "a".repeat(40);
  const role = { uid: "b".repeat(40), name: "owner" };
  const live = owners.map((uid) => ({ uid, identity: { uid: `of ${uid}` }, role, record: { uid } }));
  const removals = live.filter(({ uid }) => removed.includes(uid));
  const reasons = keptBy({ exclusive: true }, organization, live, removals, "of mine");
  expect([...reasons].map(([uid, reason]) => `${uid}: ${reason}`)).toEqual(kept);
  expect(keptBy({ exclusive: true }, `${organization}/0000000000000001`, live, removals, undefined).size).toBe(0);
});

it("an exclusive set removes at most maxRemovals, or fails in the preview and before the first", async () => {
  const group = await sets.group();
  const [one, two] = identities as [string, string];
  for (const identity of [one, two]) await sets.bind(group, identity, "editor");
  const limited = { ...EXCLUSIVE, maxRemovals: 2 };
  const first = await sets.up(sets.inputs(group, ["one viewer"], limited));
  const wanted = sets.inputs(group, ["three viewer"], limited);
  const text =
    `RoleBindingSet set-${group}: would remove 3 role bindings, more than maxRemovals (2); nothing is changed:\n` +
    '  - "one" as "viewer"';
  await expect(sets.preview(wanted, first)).rejects.toThrow(text);
  const run = await sets.run();
  await expect(run.methods.roleBindingSet.update(group, first.outs, wanted)).rejects.toThrow(text);
  expect(run.requests.filter((request) => !request.startsWith("GET"))).toEqual([]);
  await sets.up({ ...wanted, maxRemovals: 3 }, first);
  expect(await sets.pairs(group)).toEqual(["three viewer"]);
});

it("an exclusive set with an API token that shows no identity removes nothing", async () => {
  const group = await sets.group();
  await sets.bind(group, "two", "editor");
  const wanted = sets.inputs(group, [], EXCLUSIVE);
  const state = await sets.up(wanted);
  const process = machine.run();
  const { transport } = process.environment;
  const token = await tokenOf(process.environment);
  const opaque: typeof transport = async (request) => transport({ ...request, token });
  const env = { ...process.environment.env, IRM_TOKEN: "opaque" };
  const run = await sets.run({ ...process, environment: { ...process.environment, env, transport: opaque } });
  await expect(run.up(wanted, state)).rejects.toThrow("the API token does not show its identity");
  expect(countOf(run, "DeleteRoleBinding")).toBe(0);
  expect(await sets.pairs(group)).toEqual(["two editor"]);
});

const tokenOf = async (environment: { transport: (request: never) => Promise<unknown>; env: Json }) => {
  const { baseUrl, authUrl, identity = "" } = machine.service;
  const answer = await fetch(`${authUrl}/sts/exchange?${new URLSearchParams({ aud: baseUrl, identity })}`, {
    headers: { authorization: `Bearer ${environment.env.IRM_IDENTITY_TOKEN}` },
  });
  return ((await answer.json()) as { token: string }).token;
};

const log = () => machine.messages.join("\n");

const change = async (uid: string, role: string): Promise<void> => {
  const roleUid = await sets.role(role);
  await machine.service.call("UpdateRoleBinding", { roleBinding: { uid, roleUid }, updateMask: "roleUid" });
};

it("a set does not remove what the preview has kept on purpose, when the reason has gone", async () => {
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
  "a set keeps a %s binding whose role has changed since the preview",
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

it("a set shows that it removes the second binding of a pair that it declares", async () => {
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

it("a set removes what an interrupted run has created, and the program dropped, only after a preview", async () => {
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

it("a set whose bindings a preview does not know shows no removal, and is not over the limit", async () => {
  const group = await sets.group();
  const limited = { ...EXCLUSIVE, maxRemovals: 1 };
  const first = await sets.up(sets.inputs(group, ["one viewer", "two viewer"], limited));
  machine.messages.length = 0;
  const unknown = { ...sets.inputs(group, [], limited), bindings: UNKNOWN };
  expect(await sets.preview(unknown, first)).toMatchObject({ changes: true });
  expect(log()).not.toContain("removes");
});

it("a set that moves to another group shows what it adds there, and removes here", async () => {
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

it("a set of another stack, exclusive in the group, loses nothing unseen, nor a pair of both", async () => {
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
