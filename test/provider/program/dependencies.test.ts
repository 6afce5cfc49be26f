// Dependencies from plain uids, with the SDK's own mocks for the engine.
import * as pulumi from "@pulumi/pulumi";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  AccountAssociation,
  Group,
  Identity,
  IdentityProvider,
  Repo,
  Role,
  RoleBinding,
  Tag,
} from "../../../provider/index.ts";
import { mockEngine } from "../../support/mock-engine.ts";
import { GROUP, ORG } from "../../support/scripted.ts";

const below = (uid: string, digit: string) => `${uid}/${digit.repeat(16)}`;
const PARENT = below(ORG, "a");
const claimMatch = { issuer: "https://a.example.com", subject: "s" };

let ids: Record<string, string | undefined>;
let edges: Record<string, Promise<string[]>>;

beforeEach(async () => {
  ids = {};
  edges = {};
  await mockEngine(({ name }) => ({ id: ids[name], state: {} }) as pulumi.runtime.MockResourceResult, true);
});
afterEach(() => {
  vi.useRealTimers();
});

const nameOf = (resource: pulumi.Resource) => (resource as unknown as { __name: string }).__name;

const noting = (name: string, opts: pulumi.CustomResourceOptions = {}): pulumi.CustomResourceOptions => ({
  ...opts,
  transformations: [
    ({ name: own, props, opts }) => {
      // Children inherit their parent's transformations.
      if (own !== name) return undefined;
      edges[name] = Promise.resolve(opts.dependsOn ?? []).then((found) =>
        ([found].flat(3) as pulumi.Resource[]).map(nameOf),
      );
      return { props, opts };
    },
  ],
});

const group = (name: string, parent: pulumi.Input<string> | Group, opts?: pulumi.CustomResourceOptions) =>
  new Group(name, { parent, name }, noting(name, opts));

describe("a resource that names another by its plain uid", () => {
  it.each([["before it"], ["after it, in the same tick"]])("depends on it, declared %s", async (when) => {
    ids = { parent: PARENT, child: below(PARENT, "b") };
    const declare = [() => group("parent", ORG), () => group("child", PARENT)];
    for (const one of when === "before it" ? declare : declare.reverse()) one();
    expect(await edges.child).toEqual(["parent"]);
    expect(await edges.parent).toEqual([]);
  });

  it("depends on it by any argument with a uid: a repo, a default role, a source, an identity of a service", async () => {
    const [repo, role, identity] = [below(PARENT, "b"), below(PARENT, "c"), below(PARENT, "d")];
    ids = { parent: PARENT, repo, role, identity, association: PARENT };
    group("parent", ORG);
    new Repo("repo", { parent: PARENT, name: "r" }, noting("repo"));
    new Role("role", { parent: PARENT, name: "r", capabilities: ["groups.list"] }, noting("role"));
    new Identity("identity", { parent: PARENT, name: "i", claimMatch }, noting("identity"));
    new Tag("tag", { parent: repo, name: "t", digest: `sha256:${"0".repeat(64)}` }, noting("tag"));
    new Repo("mirror", { parent: PARENT, name: "m", syncConfig: { source: repo } }, noting("mirror"));
    const oidc = { issuer: "https://a.example.com", clientId: "c", clientSecret: "s" };
    new IdentityProvider("login", { parent: PARENT, name: "l", defaultRole: role, oidc }, noting("login"));
    const chainguard = { serviceBindings: { BUILDER: identity } };
    new AccountAssociation("association", { parent: PARENT, name: "a", chainguard }, noting("association"));
    new RoleBinding("binding", { parent: PARENT, identity, role }, noting("binding"));
    expect((await edges.binding)?.toSorted()).toEqual(["identity", "parent", "role"]);
    expect(await edges.tag).toEqual(["repo"]);
    expect((await edges.mirror)?.toSorted()).toEqual(["parent", "repo"]);
    expect((await edges.login)?.toSorted()).toEqual(["parent", "role"]);
    expect((await edges.association)?.toSorted()).toEqual(["identity", "parent"]);
  });

  it("finds a parent whose own parent is a resource", async () => {
    ids = { top: PARENT, middle: below(PARENT, "b"), leaf: below(below(PARENT, "b"), "c") };
    const top = group("top", ORG);
    group("middle", top.uid);
    group("leaf", below(PARENT, "b"));
    expect(await edges.leaf).toEqual(["middle"]);
  });

  it("keeps the dependencies that the program gave", async () => {
    ids = { parent: PARENT, child: below(PARENT, "b"), other: below(ORG, "e") };
    group("parent", ORG);
    const other = group("other", ORG);
    group("child", PARENT, { dependsOn: [other] });
    expect(await edges.child).toEqual(["other", "parent"]);
  });

  it.each<[string, Record<string, string | undefined>]>([
    ["where no resource of the program has the uid", { other: below(ORG, "e") }],
    ["that is unknown in a preview", { other: undefined }],
  ])("depends on nothing %s", async (_, known) => {
    ids = { ...known, child: below(PARENT, "b") };
    group("other", ORG);
    group("child", PARENT);
    expect(await edges.child).toEqual([]);
  });
});

// A wait for one of these candidates would never end: its registration waits for the other one.
it.each<[string, (x: Group) => Group]>([
  ["depends on the resource itself", (x) => group("a", ORG, { dependsOn: [x] })],
  ["reads it", ({ uid }) => new Group("a", { parent: ORG, name: "a", description: pulumi.interpolate`by ${uid}` })],
  ["is below it in the program's tree", (x) => group("a", ORG, { parent: x })],
  ["has a promise of its dependencies", (x) => group("a", ORG, { dependsOn: Promise.resolve([x]) })],
])("a wait that could never end does not begin on a group that %s", async (_, declare) => {
  ids = { a: below(ORG, "e"), x: below(PARENT, "b") };
  declare(group("x", PARENT));
  expect(await edges.x).toEqual([]);
});

it("a wait that could never end does not begin on a group that refers back to it by another plain uid", async () => {
  ids = { x: below(PARENT, "b"), y: below(below(ORG, "f"), "b"), a: below(ORG, "e"), z: below(ORG, "1") };
  const x = group("x", PARENT);
  const y = group("y", PARENT);
  group("a", ORG, { dependsOn: [y] });
  group("z", ORG, { dependsOn: [x] });
  expect(await Promise.all([edges.x, edges.y])).toEqual([[], []]);
});

it("a wait that could never end does not begin or is given up after ten seconds without progress", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  ids = { a: PARENT, x: below(PARENT, "b") };
  // A dependency that no option shows.
  new Group("a", { parent: ORG, name: new Promise<string>(() => undefined) });
  group("x", PARENT);
  await new Promise((resolve) => setImmediate(resolve));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await edges.x).toEqual([]);
});

it("a program without plain uids gets its options unchanged", async () => {
  ids = { parent: GROUP };
  const parent = new Group("parent", { root: true, name: "parent" });
  group("child", parent);
  expect(await edges.child).toEqual([]);
});
