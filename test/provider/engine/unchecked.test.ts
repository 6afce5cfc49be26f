// Runs without checkpoints that are refused before they send anything.
import { beforeEach, describe, expect, it } from "vitest";
import type { StateResource } from "../../../pulumi/state.ts";
import type { Json } from "../../../schema/index.ts";
import { startSharedService } from "../../harness/provider.ts";
import { createWorld, type World } from "../attribution/world.ts";

const service = await startSharedService();
const group = { parent: service.organization as string, name: "" };
let world: World;
beforeEach(({ task }) => {
  group.name = task.id;
  world = createWorld(service);
  service.requests.length = 0;
});

const other = (type: string, own: Partial<StateResource> = {}): StateResource => ({
  ...{ urn: `urn:pulumi:stack::project::${type}::x`, type, id: "1", custom: true, inputs: {}, outputs: {} },
  ...own,
});

const REFUSED = "PULUMI_SKIP_CHECKPOINTS: this run is refused, and nothing is sent:\n  - ";
const HOW = "\nOr unset PULUMI_SKIP_CHECKPOINTS: with checkpoints, nothing of this is needed.";

const create = () => world.run({ isUnchecked: true }).create("group", "team", group);
const writes = () => service.requests.filter(({ method }) => method !== "GET");

describe("a run without checkpoints", () => {
  it.each(["random:index/randomPet:RandomPet", "pulumi-nodejs:dynamic:Resource", "pulumi-nodejs:dynamic/other:Thing"])(
    "is refused where the state has a %s",
    async (type) => {
      world.others = [other(type)];
      await expect(create()).rejects.toThrow(
        `${REFUSED}the stack has resources of other providers, which keep no journal: what a killed run did with them would be lost. ` +
          `Put them into a stack of their own: urn:pulumi:stack::project::${type}::x${HOW}`,
      );
      expect(writes()).toEqual([]);
      expect(world.lines()).toEqual([]);
    },
  );

  it.each<[StateResource, string]>([
    [other("pulumi:pulumi:Stack", { custom: false }), "the stack itself"],
    [other("pulumi:providers:random"), "a provider, which has no record"],
    [other("pulumi:pulumi:StackReference", { external: true }), "a reference"],
    [other("acme:index:Component", { custom: false }), "a component"],
    [other("random:index/randomPet:RandomPet", { external: true }), "what is only read"],
    [other("irm:index:Group"), "our own"],
  ])("takes %j: %s", async (resource) => {
    world.others = [resource];
    await create();
    expect(writes()).toHaveLength(1);
  });

  it("is refused where the state cannot be read, and where CI does not keep the journal: all problems at once", async () => {
    world.problem = "pulumi stack export: no stack named that found";
    world.env = { CI: "true", IRM_JOURNAL: undefined };
    await expect(create()).rejects.toThrow(
      new RegExp(
        `^${REFUSED}in CI it needs a folder .* to a folder that is kept\n  - whether the stack has resources of other providers is not known: pulumi stack export: no stack named that found\n`,
      ),
    );
    expect(writes()).toEqual([]);
  });

  it.each(["update", "delete"] as const)("is refused before an %s too, once for all resources", async (verb) => {
    const stored = await world.run().create("group", "team", group);
    service.requests.length = 0;
    world.others = [other("random:index/randomPet:RandomPet")];
    const run = world.run({ isUnchecked: true });
    const act = () => (verb === "update" ? run.update(stored, { ...group, description: "x" }) : run.delete(stored));
    await expect(act()).rejects.toThrow(REFUSED);
    await expect(act()).rejects.toThrow("failed for the same reason as Group::team");
    expect(writes()).toEqual([]);
  });

  it("is told so by its preview, which goes on", async () => {
    world.others = [other("random:index/randomPet:RandomPet")];
    const { kinds } = world.run({ isUnchecked: true });
    const inputs = { ...group, __key: "organization/project/stack/Group::team", __preview: true };
    expect((await kinds.group.check({}, inputs)).failures).toEqual([]);
    expect(world.messages.join("\n")).toContain(`warning: the update will fail:\n${REFUSED}`);
  });

  it("is not refused where the engine saves checkpoints", async () => {
    world.others = [other("random:index/randomPet:RandomPet")];
    world.env = { CI: "true" };
    await world.run().create("group", "team", group);
    expect(writes()).toHaveLength(1);
  });

  it("refuses a role binding that exists already, unless allowDuplicate or adopt decides", async () => {
    const checked = world.run();
    const { id: parent } = await checked.create("group", "team", group);
    const claimMatch = { issuer: "https://issuer.example.com", subject: "ci" };
    const { id: identity } = await checked.create("identity", "ci", { parent, name: "ci", claimMatch });
    const binding = { parent, identity, role: "viewer" };
    const first = await checked.create("roleBinding", "first", binding);
    world.save();
    world.journal = `${world.journal}/new`;
    service.requests.length = 0;
    const create = (more: Json = {}) =>
      world.run({ isUnchecked: true }).create("roleBinding", "second", { ...binding, ...more });
    await expect(create()).rejects.toThrow(
      new RegExp(
        `RoleBinding::second: a role binding with the same parent and fields exists, and nothing shows that this stack created it; nothing was sent:\n {2}- role binding ${first.id}.*\n.*allowDuplicate: true\\.\\nSee docs/recovery\\.md#equal$`,
      ),
    );
    expect(writes()).toEqual([]);
    expect((await create({ adopt: first.id })).id).toBe(first.id);
    expect((await create({ allowDuplicate: true })).id).not.toBe(first.id);
  });
});
