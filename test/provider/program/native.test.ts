// pulumi-irm/plugin: the same names as pulumi-irm, registered as native resources. The engine is a mock, which shows what it gets.
import * as pulumi from "@pulumi/pulumi";
import { beforeEach, expect, it } from "vitest";
import * as presets from "../../../access/preset/index.ts";
import * as dynamic from "../../../provider/index.ts";
import * as native from "../../../provider/program/native/index.ts";
import { awaitValue } from "../../../provider/program/output.ts";
import { GROUP, IDENTITY, ORG, ROLE } from "../../support/scripted.ts";

const { AccountAssociation, Group, GroupInvite, Identity, IdentityProvider, Provider } = native;
const { Repo, Role, RoleBinding, RoleBindingSet, Tag } = native;

let made: pulumi.runtime.MockResourceArgs[];
let calls: pulumi.runtime.MockCallArgs[];
let answer: (call: pulumi.runtime.MockCallArgs) => object;
const startEngine = async (isPreview = false) => {
  made = [];
  calls = [];
  answer = () => ({});
  const mocks: pulumi.runtime.Mocks = {
    newResource: (args) => {
      made.push(args);
      const id = args.name === "with an id of its own" ? args.name : args.type === "irm:index:Role" ? ROLE : GROUP;
      const group = args.name === "with its group" ? { uid: ORG, name: "acme" } : { name: "g" };
      return { id, state: { name: args.inputs.name, ...(args.type.endsWith(":RoleBinding") && { group }) } };
    },
    call: (args) => {
      calls.push(args);
      return answer(args);
    },
  };
  await pulumi.runtime.setMocks(mocks, "project", "stack", isPreview, "acme");
};
beforeEach(() => startEngine());

const claimMatch = { issuer: "https://a.example.com", subject: "s" };

const recordOptions = () => {
  const found: pulumi.CustomResourceOptions[] = [];
  const see: pulumi.ResourceTransformation = ({ opts }) => {
    found.push(opts);
    return undefined;
  };
  return { found, transformations: [see] };
};

it("the names of pulumi-irm/plugin are those of pulumi-irm and Provider, and each has a native form but for the presets", () => {
  const own: Record<string, unknown> = { ...native };
  const usual: Record<string, unknown> = { ...dynamic };
  const [names, others] = [Object.keys(own), Object.keys(usual)];
  expect(names.filter((name) => !others.includes(name))).toEqual(["Provider"]);
  expect(others.filter((name) => !names.includes(name))).toEqual([]);
  const same = others.filter((name) => own[name] === usual[name]);
  expect(same.toSorted()).toEqual(Object.keys(presets).toSorted());
});

it("a native resource has its type, its arguments and the organization of the stack alone", async () => {
  const group = new Group("g", { parent: ORG, name: "g" });
  const identity = new Identity("i", { parent: group, name: "i", claimMatch });
  const role = new Role("r", { parent: group, name: "r", capabilities: ["groups.list"], adopt: "match" });
  const repo = new Repo("repo", { parent: group, name: "repo" });
  const all = [
    group,
    identity,
    role,
    repo,
    new RoleBinding("b", { parent: group, identity, role }),
    new GroupInvite("invite", { parent: group, role: "viewer", ttl: "60s" }),
    new IdentityProvider("p", {
      parent: group,
      name: "p",
      defaultRole: "viewer",
      oidc: { issuer: "https://a.example.com", clientId: "c", pkceEnabled: true },
    }),
    new AccountAssociation("a", { parent: group, name: "a", amazon: { account: "123456789012" } }),
    new Tag("t", { parent: repo, name: "latest", digest: `sha256:${"0".repeat(64)}` }),
  ];
  await Promise.all(all.map(({ uid }) => awaitValue(uid)));
  const inputs = Object.fromEntries(made.map((one) => [one.type.replace("irm:index:", ""), one.inputs]));
  const __run = { organization: "acme" };
  const names = { group: "g", identity: "i", role: "r" };
  expect(inputs).toMatchObject({
    Group: { __run, parent: ORG, name: "g" },
    Identity: { __run, parent: GROUP, name: "i", claimMatch },
    Role: { __run, parent: GROUP, name: "r", capabilities: ["groups.list"], adopt: "match" },
    RoleBinding: { __run: { ...__run, names }, parent: GROUP, role: ROLE },
    GroupInvite: { __run, parent: GROUP, role: "viewer", ttl: "60s" },
  });
  const types = ["AccountAssociation", "Group", "GroupInvite", "Identity", "IdentityProvider", "Repo", "Role"];
  expect(Object.keys(inputs).toSorted()).toEqual([...types, "RoleBinding", "Tag"]);
  const hidden = made.flatMap((one) => Object.keys(one.inputs).filter((name) => name.startsWith("__")));
  expect(new Set(hidden)).toEqual(new Set(["__run"]));
});

it.each([
  ["a preview", true],
  ["an update", false],
])("a native resource in %s has the uid of its group, where the state has none", async (_what, isPreview) => {
  await startEngine(isPreview);
  const args = { parent: ORG, identity: IDENTITY, role: ROLE };
  const binding = new RoleBinding("b", args);
  expect(await awaitValue(binding.group)).toEqual({ uid: ORG, name: "g" });
  expect(binding.group).toBe(binding.group);
  expect(await awaitValue(new RoleBinding("with its group", args).group)).toEqual({ uid: ORG, name: "acme" });
  // The option keeps the group of the record, and the SDK knows the argument alone.
  const kept = new Group("kept", { parent: ROLE, name: "g" }, { ignoreChanges: ["parent"] });
  expect(await awaitValue(kept.parent)).toBe(ORG);
  expect(await awaitValue(new dynamic.Group("dynamic", { parent: ROLE, name: "g" }).parent)).toBe(ORG);
  expect(kept.parent).toBe(kept.parent);
});

it("a native resource has its argument as parent in a unit test whose ids are no uids", async () => {
  expect(await awaitValue(new Group("with an id of its own", { parent: ORG, name: "g" }).parent)).toBe(ORG);
});

it("a native resource passes the options that a dynamic one refuses or stores, to the engine", async () => {
  const provider = new Provider("other", { baseUrl: "https://api.example.com" });
  const { found, transformations } = recordOptions();
  const own = { provider, import: GROUP, replaceOnChanges: ["name"], deleteBeforeReplace: true };
  const opts = { ...own, customTimeouts: { create: "5s" }, transformations };
  await awaitValue(new Group("g", { parent: ORG, name: "g" }, opts).uid);
  expect(found[0]).toMatchObject({ ...own, customTimeouts: { create: "5s" } });
  expect(made.at(-1)?.inputs).toEqual({ __run: { organization: "acme" }, parent: ORG, name: "g" });
});

it("a native resource has the dynamic one as an alias, and the other way round, also by each former name", async () => {
  const { found, transformations } = recordOptions();
  const opts = { aliases: [{ name: "before" }, "urn:pulumi:s::p::t::n"], transformations };
  const args = { parent: ORG, name: "g" };
  await awaitValue(new Group("a", args, opts).uid);
  await awaitValue(new dynamic.Group("b", args, opts).uid);
  await awaitValue(new RoleBindingSet("c", { parent: GROUP, bindings: [] }, { transformations }).uid);
  const aliases = await Promise.all(found.map((one) => awaitValue(pulumi.output(one.aliases))));
  const withType = (type: string) => [...opts.aliases, { type }, { name: "before", type }];
  expect(aliases).toEqual([
    withType("pulumi-nodejs:dynamic/irm:Group"),
    withType("irm:index:Group"),
    [{ type: "pulumi-nodejs:dynamic/irm:RoleBindingSet" }],
  ]);
});

it("a native resource is read by its uid in its own form, and one that extends a class is native too", async () => {
  const role = native.Role.get("r", ROLE);
  await awaitValue(role.uid);
  expect(role).toBeInstanceOf(native.Role);
  expect(made[0]).toMatchObject({ type: "irm:index:Role", id: ROLE, inputs: { __run: { organization: "acme" } } });
  class Team extends native.Group {}
  await awaitValue(new Team("g", { parent: ORG, name: "g" }).uid);
  expect(made[1]?.type).toBe("irm:index:Group");
});

it("a native resource and a dynamic one refer to each other", async () => {
  const group = new dynamic.Group("g", { parent: ORG, name: "g" });
  const below = new Group("below", { parent: group, name: "below" });
  await awaitValue(new dynamic.Group("last", { parent: below, name: "last" }).uid);
  expect(made.map(({ type, inputs }) => [type, inputs.parent])).toEqual([
    ["pulumi-nodejs:dynamic/irm:Group", ORG],
    ["irm:index:Group", GROUP],
    ["pulumi-nodejs:dynamic/irm:Group", GROUP],
  ]);
  const role = new Role("r", { parent: ORG, name: "r", capabilities: ["groups.list"] });
  await awaitValue(role.uid);
  // @ts-expect-error a role is no group
  expect(() => new dynamic.Group("x", { parent: role, name: "x" })).toThrow(
    "parent takes a Group or its uid; it was given a Role",
  );
});

it("Provider has its settings as texts, and a token that is secret", async () => {
  const { found, transformations } = recordOptions();
  const args = { baseUrl: "https://api.example.com", requestTimeout: 5, token: "not a real token" };
  const provider = new Provider("other", args, { transformations });
  await awaitValue(provider.id);
  expect(made[0]?.type).toBe("pulumi:providers:irm");
  expect(made[0]?.inputs).toEqual({
    ...args,
    requestTimeout: "5",
    token: expect.objectContaining({ value: args.token }),
  });
  expect(found[0]).toMatchObject({ additionalSecretOutputs: ["token"] });
  const { token } = provider as unknown as { token: pulumi.Output<string> };
  expect(await pulumi.isSecret(token)).toBe(true);
});

it("Provider refuses unknown arguments, all at once", () => {
  // @ts-expect-error no such arguments
  expect(() => new Provider("other", { baseURL: "https://api.example.com", colour: "red" })).toThrow(
    "Provider other:\n  - baseURL: unknown argument; did you mean baseUrl?\n  - colour: unknown argument",
  );
  expect(made).toEqual([]);
});

it("a function calls the plugin with its arguments, also with later inputs and resources as uids", async () => {
  answer = ({ inputs }) => ({ uid: GROUP, name: inputs.name ?? "found" });
  const found = [
    await native.getGroup({ name: "a", parent: ORG }),
    await native.getRepo({ name: "r", parent: ORG }),
    await native.getTag({ uid: GROUP }),
    await native.getAccountAssociation({ group: GROUP }),
  ];
  expect(found.map(({ uid }) => uid)).toEqual(found.map(() => GROUP));
  const group = new Group("g", { parent: ORG, name: "g" });
  expect(await awaitValue(native.getIdentityOutput({ name: Promise.resolve("i"), parent: group }).name)).toBe("i");
  await awaitValue(native.getAccountAssociationOutput({ group }).uid);
  await awaitValue(native.getRepoOutput({ uid: pulumi.output(GROUP) }).uid);
  expect(calls.map(({ token, inputs }) => [token, inputs])).toEqual([
    ["irm:index:getGroup", { name: "a", parent: ORG }],
    ["irm:index:getRepo", { name: "r", parent: ORG }],
    ["irm:index:getTag", { uid: GROUP }],
    ["irm:index:getAccountAssociation", { group: GROUP }],
    ["irm:index:getIdentity", { name: "i", parent: GROUP }],
    ["irm:index:getAccountAssociation", { group: GROUP }],
    ["irm:index:getRepo", { uid: GROUP }],
  ]);
});

it("a function refuses a parent that is undefined by mistake, and does not search the root", async () => {
  await expect(native.getRole({ name: "viewer", parent: undefined })).rejects.toThrow(
    "parent of the role to look for was passed as undefined",
  );
  expect(calls).toEqual([]);
});

it("a function uses the provider of its options", async () => {
  answer = () => ({ uid: GROUP, name: "a", groups: [] });
  const provider = new Provider("other", { baseUrl: "https://api.example.com" });
  await native.getGroup({ name: "a" }, { provider });
  await Array.fromAsync(native.listGroups({}, { parent: new Group("g", { parent: ORG, name: "g" }, { provider }) }));
  expect(calls.map((call) => call.provider?.replace(/^.*::(.*)::.*$/, "$1"))).toEqual(["other", "other"]);
});

it("a function is unknown in a preview that does not know the settings of its provider", async () => {
  await startEngine(true);
  const found = native.getGroupOutput({ name: "a" }).uid as unknown as { isKnown: Promise<boolean> };
  expect(await found.isKnown).toBe(false);
  const repo = native.getRepoOutput({ uid: GROUP }) as unknown as { isKnown: Promise<boolean> };
  expect(await repo.isKnown).toBe(false);
  await expect(native.getGroup({ name: "a" })).rejects.toThrow(
    /^getGroup: the settings of its provider are not known in this preview; use getGroupOutput$/,
  );
  await expect(Array.fromAsync(native.listGroups())).rejects.toThrow(
    /^listGroups: the settings of its provider are not known in this preview$/,
  );
});

it("a function that lists has all that the plugin found", async () => {
  answer = () => ({ repos: [{ uid: GROUP }, { uid: ROLE }] });
  expect(await Array.fromAsync(native.listRepos({ uidp: { childrenOf: ORG } }))).toEqual([
    { uid: GROUP },
    { uid: ROLE },
  ]);
  expect(await Array.fromAsync(native.listRoleBindings({ role: "viewer" }))).toEqual([]);
  expect(calls.map(({ token, inputs }) => [token, inputs])).toEqual([
    ["irm:index:listRepos", { uidp: { childrenOf: ORG } }],
    ["irm:index:listRoleBindings", { role: "viewer" }],
  ]);
});

it("a resource in both forms is an error of the program: they would manage one record", () => {
  new Group("platform", { parent: ORG, name: "platform" });
  const text =
    'Group platform: declared as a dynamic resource ("pulumi-irm") and as a native one ("pulumi-irm/plugin"), which is one resource ' +
    "in two forms; remove one of them, or give it another name (docs/resources.md#native-plugin).";
  expect(() => new dynamic.Group("platform", { parent: ORG, name: "other" })).toThrow(text);
  new dynamic.RoleBindingSet("all", { parent: GROUP, bindings: [] });
  expect(() => new RoleBindingSet("all", { parent: GROUP, bindings: [] })).toThrow("RoleBindingSet all: declared as");
  dynamic.Group.get("platform", GROUP);
});
