// The inputs that the classes register. tsc reads this file: an expected error that is missing is an error.
import * as pulumi from "@pulumi/pulumi";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Group, Identity, type IdentityArgs, Role, RoleBinding, RoleBindingSet } from "../../../provider/index.ts";
import { handlerText } from "../../../provider/program/form.ts";
import { awaitValue } from "../../../provider/program/output.ts";
import { mockEngine } from "../../support/mock-engine.ts";
import { GROUP, IDENTITY, ORG, ROLE } from "../../support/scripted.ts";

let made: pulumi.runtime.MockResourceArgs[];
beforeEach(async () => {
  made = [];
  await mockEngine((args) => {
    made.push(args);
    return { id: GROUP, state: { uid: "not looked at", name: args.inputs.name } };
  });
});

const claimMatch = { issuer: "https://a.example.com", subject: "s" };

it("a resource of each class has its type and its handler", async () => {
  const group = new Group("g", { parent: ORG, name: "g" });
  const identity = new Identity("i", { parent: group, name: "i", claimMatch });
  const role = new Role("r", { parent: group, name: "r", capabilities: ["groups.list"] });
  await awaitValue(new RoleBinding("b", { parent: group, identity, role }).uid);
  expect(made.map(({ type, inputs }) => [type, inputs.__provider]).sort()).toEqual([
    ["pulumi-nodejs:dynamic/irm:Group", handlerText("group")],
    ["pulumi-nodejs:dynamic/irm:Identity", handlerText("identity")],
    ["pulumi-nodejs:dynamic/irm:Role", handlerText("role")],
    ["pulumi-nodejs:dynamic/irm:RoleBinding", handlerText("roleBinding")],
  ]);
});

it("a resource refers to resources by their uid, and keeps plain uids", async () => {
  const group = new Group("g", { root: true, name: "g" });
  const own = `${ORG}/3333333333333333`;
  await awaitValue(new RoleBinding("b", { parent: group, identity: IDENTITY, role: pulumi.output(own) }).uid);
  const { __provider, ...inputs } = made[1]?.inputs ?? {};
  expect(inputs).toEqual({
    __key: "-/project/stack/RoleBinding::b",
    parent: GROUP,
    identity: IDENTITY,
    role: own,
    names: { group: "g" },
  });
});

it("a resource ignores the names of pairs whose changes are ignored", async () => {
  let ignored: string[] | undefined;
  const see: pulumi.ResourceTransformation = ({ opts }) => {
    ignored = opts.ignoreChanges;
    return undefined;
  };
  const ignoreChanges = ["bindings[0].role", "maxRemovals"];
  const bindings = [{ identity: IDENTITY, role: "viewer" }];
  const set = new RoleBindingSet("s", { parent: ORG, bindings }, { ignoreChanges, transformations: [see] });
  await awaitValue(set.uid);
  expect(ignored).toEqual([...ignoreChanges, "names[0].role"]);
});

it("a resource that is read by its uid has no arguments", async () => {
  await awaitValue(Role.get("r", ROLE).uid);
  await awaitValue(RoleBinding.get("b", IDENTITY).uid);
  expect(made.map(({ id, inputs: { __provider, ...inputs } }) => [id, inputs])).toEqual([
    [ROLE, { __key: "-/project/stack/Role::r" }],
    [IDENTITY, { __key: "-/project/stack/RoleBinding::b" }],
  ]);
  expect(await awaitValue(Group.get("g", GROUP).uid)).toBe(GROUP);
});

it("a resource explains an option that cannot work, and stores the one that the engine drops", async () => {
  const args = { parent: ORG, name: "g" };
  expect(() => new Group("g", args, { import: GROUP })).toThrow(
    /^Group g: the option import does not work for dynamic resources; take the record over with the argument adopt, [^.]*\(docs\/resources\.md#limits\)\.$/,
  );
  const provider = new (class extends pulumi.ProviderResource {})("other", "p", {});
  expect(() => new Group("g", args, { provider })).toThrow(
    /^Group g: the option provider does not work for dynamic resources; [^.]*one stack for each service\.$/,
  );
  await awaitValue(new Group("g", args, { replaceOnChanges: ["name"] }).uid);
  expect(made.at(-1)?.inputs.__replaceOnChanges).toEqual(["name"]);
});

it("the types accept exactly one alternative", () => {
  const base = { parent: ORG, name: "ci" };
  const good: IdentityArgs[] = [
    { ...base, claimMatch },
    { ...base, claimMatch: { issuerPattern: "a", subject: "s", audience: "x" } },
    { ...base, awsIdentity: { awsAccount: "1", arn: "a", userIdPattern: "b" } },
    { ...base, servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" },
  ];
  const bad: IdentityArgs[] = [
    // @ts-expect-error two relationships
    { ...base, claimMatch, servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" },
    // @ts-expect-error no relationship
    { ...base },
    // @ts-expect-error both forms of the subject
    { ...base, claimMatch: { ...claimMatch, subjectPattern: "b" } },
    // @ts-expect-error no subject
    { ...base, claimMatch: { issuer: "a" } },
  ];
  expect([good.length, bad.length]).toEqual([4, 4]);
});

it("the types require either a parent or root", () => {
  const rows = [
    () => new Group("a", { parent: ORG, name: "a" }),
    () => new Group("b", { root: true, name: "b" }),
    // @ts-expect-error both
    () => new Group("c", { root: true, parent: ORG, name: "c" }),
    // @ts-expect-error none
    () => new Group("d", { name: "d" }),
  ];
  expect(rows).toHaveLength(4);
});

it("a set of role bindings registers its pairs by uid, with the names that the program knows", async () => {
  const group = new Group("g", { parent: ORG, name: "g" });
  const bindings = [
    { identity: IDENTITY, role: "viewer" },
    { identity: IDENTITY, role: ROLE },
  ];
  await awaitValue(new RoleBindingSet("s", { parent: group, bindings, exclusive: true }).uid);
  const { __provider, ...inputs } = made.at(-1)?.inputs ?? {};
  expect(__provider).toBe(handlerText("roleBindingSet"));
  expect(inputs).toEqual({
    __key: "-/project/stack/RoleBindingSet::s",
    parent: GROUP,
    bindings,
    names: [{ role: "viewer" }, {}],
    exclusive: true,
  });
});

it("a set of role bindings that declares a new pair twice, or stands beside another one, is refused where it is written", () => {
  const group = new Group("g", { parent: ORG, name: "g" });
  const identity = new Identity("i", { parent: group, name: "i", claimMatch });
  const pair = { identity, role: "viewer" };
  const declare = (name: string, bindings = [pair], exclusive = false) =>
    new RoleBindingSet(name, { parent: group, bindings, exclusive });
  expect(() => declare("twice", [pair, { identity, role: "editor" }, { ...pair }])).toThrow(
    "RoleBindingSet twice: bindings[2]: the same identity and role as bindings[0]",
  );
  expect(() => declare("second")).toThrow(
    "RoleBindingSet second: parent: RoleBindingSet twice declares the bindings of this group already",
  );
  const other = new Group("other", { parent: ORG, name: "other" });
  new RoleBinding("b", { parent: other, identity, role: "viewer" });
  expect(() => new RoleBindingSet("s", { parent: other, bindings: [], exclusive: true })).toThrow(
    "RoleBindingSet s: exclusive: RoleBinding b is in the group of RoleBindingSet s, which is exclusive and would remove it",
  );
});

const namesIn = async (binding: RoleBinding): Promise<unknown> => {
  await awaitValue(binding.uid);
  return made.at(-1)?.inputs.names;
};

it("the names of a role binding have the path of a group that the program declares, and the name of its organization", async () => {
  const acme = new Group("acme", { root: true, name: "acme" });
  const platform = new Group("platform", { parent: acme, name: "platform" });
  const registry = new Group("registry", { parent: platform.uid, name: "registry" });
  const bind = (name: string, parent: Group) => new RoleBinding(name, { parent, identity: IDENTITY, role: ROLE });
  expect(await namesIn(bind("a", registry))).toEqual({ group: "platform/registry" });
  expect(await namesIn(bind("b", platform))).toEqual({ group: "platform" });
  expect(await namesIn(bind("c", acme))).toEqual({ group: "acme" });
});

it("the names of a role binding have no path with a secret name in it", async () => {
  const acme = new Group("acme", { root: true, name: "acme" });
  const hidden = new Group("hidden", { parent: acme, name: pulumi.secret("hidden") });
  const below = new Group("below", { parent: hidden, name: "below" });
  const names = await namesIn(new RoleBinding("b", { parent: below, identity: IDENTITY, role: ROLE }));
  expect(names).toEqual({ group: "[secret]" });
});

class RandomPet extends pulumi.CustomResource {
  constructor(name: string, opts?: pulumi.CustomResourceOptions) {
    super("random:index/randomPet:RandomPet", name, {}, opts);
  }
}

class Team extends pulumi.ComponentResource {
  constructor(name: string) {
    super("acme:index:Team", name);
  }
}

const errorOf = async (program: () => void): Promise<string | undefined> => {
  await mockEngine(() => ({ id: GROUP, state: {} }));
  const ended = Promise.withResolvers<string | undefined>();
  const init = async (): Promise<void> => {
    try {
      program();
      ended.resolve(undefined);
    } catch (error) {
      ended.resolve((error as Error).message);
    }
  };
  await pulumi.runtime.runInPulumiStack(init);
  const error = await ended.promise;
  // A component registers its outputs.
  await pulumi.runtime.disconnect();
  return error;
};

afterEach(() => vi.unstubAllEnvs());

const pet = () => new RandomPet("pet");

const REFUSAL =
  "PULUMI_SKIP_CHECKPOINTS: random:index/randomPet:RandomPet pet is of another provider, which keeps no journal: what a killed run did with it would be lost. " +
  "Put it into a stack of its own, or unset PULUMI_SKIP_CHECKPOINTS.";

it.each<[string, string, () => unknown, string | undefined]>([
  ["without checkpoints is refused where it declares a resource of another provider", "true", pet, REFUSAL],
  ["without checkpoints may read one", "true", () => new RandomPet("read", { id: "1" }), undefined],
  ["without checkpoints may have components", "true", () => new Team("component"), undefined],
  ["with checkpoints is not refused", "", pet, undefined],
])("a program %s", async (_, skips, declare, expected) => {
  vi.stubEnv("PULUMI_SKIP_CHECKPOINTS", skips);
  const error = await errorOf(() => {
    new Group("team", { parent: ORG, name: "team" });
    declare();
  });
  expect(error).toBe(expected);
});
