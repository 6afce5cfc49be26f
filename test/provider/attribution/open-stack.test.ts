// What a run without checkpoints writes ahead, and what the next runs make of it when it was killed.
import { beforeEach, describe, expect, it } from "vitest";
import type { Transport } from "../../../client/transport.ts";
import type { StateResource } from "../../../pulumi/state.ts";
import type { Json } from "../../../schema/index.ts";
import { isGroupThere, startSharedService } from "../../harness/provider.ts";
import { lostAnswer } from "../../support/scripted.ts";
import { createGroup, createWorld, type Run, type Stored, type World } from "./world.ts";

const service = await startSharedService();
const parent: string = service.organization as string;
let world: World;
let count = 0;
beforeEach(() => {
  world = createWorld(service);
  service.requests.length = 0;
  count += 1;
});

const group = (name: string, description = "one"): Json => ({ parent, name: `${name}-${count}`, description });
const claimMatch = { issuer: "https://issuer.example.com", subject: "ci" };

const saved = async (names: readonly string[]): Promise<Stored[]> => {
  const run = world.run();
  const all = await Promise.all(names.map((name) => run.create("group", name, group(name))));
  world.save(...all);
  service.clock.advance(10_000);
  return all;
};

it("a run without checkpoints has each write on disk before its request, after its own line", async () => {
  const [first, second] = (await saved(["a", "b"])) as [Stored, Stored];
  const seen: { method: string; last: Json | undefined; isOpen: boolean }[] = [];
  const transport: Transport = (request) => {
    const lines = request.method === "GET" ? [] : world.lines();
    const isOpen = lines.some((line) => line.began !== undefined);
    if (request.method !== "GET") seen.push({ method: request.method, last: lines.at(-1), isOpen });
    return service.transport(request);
  };
  const run = world.run({ isUnchecked: true, transport });
  await run.update(first, group("a", "two"));
  await run.delete(second);
  await run.create("group", "c", group("c"));
  expect(seen).toMatchObject([
    { method: "PATCH", last: { wrote: first.id, kind: "group", to: expect.any(String) }, isOpen: true },
    { method: "DELETE", last: { wrote: second.id, kind: "group" }, isOpen: true },
    { method: "POST", last: { intent: expect.any(String), run: expect.any(String) }, isOpen: true },
  ]);
});

it("a run without checkpoints writes no such line where the engine saves checkpoints", async () => {
  const [first] = (await saved(["a"])) as [Stored];
  const run = world.run();
  await run.update(first, group("a", "two"));
  await run.delete(first);
  expect(world.lines().flatMap(Object.keys)).not.toContain("wrote");
});

it("a run without checkpoints that the engine ended and saved is no open run", async () => {
  const [first] = (await saved(["a"])) as [Stored];
  const ended = new AbortController();
  const run = world.run({ isUnchecked: true, cancelled: ended.signal });
  const changed = await run.update(first, group("a", "two"));
  const created = await run.create("group", "b", group("b"));
  ended.abort();
  service.clock.advance(1_000);
  world.save(changed, created);
  const next = world.run();
  expect(await next.diff(changed, group("a", "two"))).toMatchObject({ changes: false });
  expect(world.messages).toEqual([]);
  expect(world.contents()).toMatchObject({ entries: [], runs: [], writes: [] });
});

describe("after a killed run without checkpoints", () => {
  it("that is under way is waited for, and the wait is reported", async () => {
    const [first] = (await saved(["a"])) as [Stored];
    // Its process is this one, which lives.
    await world.run({ isUnchecked: true }).create("group", "b", group("b"));
    await world.run().update(first, group("a", "two"));
    const waits = world.messages.flatMap(
      (text) => /^waiting for .*, (\d+) s so far: (.*?)\. /.exec(text)?.slice(1, 3) ?? [],
    );
    expect(waits.slice(0, 4)).toEqual(["2", "Group::a", "12", "Group::a"]);
  });

  it.each([
    ["does not want any more is a change, and is sent", "one", 1],
    ["still wants is sent once: the state catches up", "two", 0],
  ])("an update that the program %s", async (_, wanted, patches) => {
    const [first] = (await saved(["a"])) as [Stored];
    await world.killed((run) => run.update(first, group("a", "two")));
    service.requests.length = 0;
    expect(await world.run().diff(first, group("a", wanted))).toMatchObject({ changes: true, replaces: [] });
    expect(world.messages.join()).toMatch(
      /^warning: stack organization\/project\/stack is open: a run without checkpoints that began at \S+, process 99999999 on \S+, did not end, and the engine's state lacks 1 update\. Each resource is compared with its live record\.$/,
    );
    const { outs } = await world.run().update(first, group("a", wanted));
    expect(outs).toMatchObject({ description: wanted });
    expect(service.requests.filter(({ method }) => method === "PATCH")).toHaveLength(patches);
    expect(await service.call("GetGroup", { uid: first.id })).toMatchObject({ description: wanted });
    world.save({ ...first, outs });
    world.messages.length = 0;
    expect(await world.run().diff({ ...first, outs }, group("a", wanted))).toMatchObject({ changes: false });
    expect(world.messages).toEqual([]);
  });

  it("a resource whose group is gone may be replaced, though nothing allows it", async () => {
    const [first] = (await saved(["a"])) as [Stored];
    const own = world.run();
    const below = await own.create("identity", "ci", { parent: first.id, name: "ci", claimMatch });
    const [other] = (await saved(["other"])) as [Stored];
    world.save(first, below, other);
    await world.killed(async (run) => {
      await run.delete(below);
      await run.delete(first);
    });
    const inputs = { parent: first.id, name: "ci", claimMatch };
    const check = (run: Run, place: string) =>
      run.kinds.identity.check(inputs, { ...inputs, parent: place, __key: "organization/project/stack/Identity::ci" });
    expect((await check(world.run(), other.id)).failures).toEqual([]);
    world.env.IRM_JOURNAL = `${world.journal}/none`;
    expect((await check(world.run(), other.id)).failures).toMatchObject([{ property: "parent" }]);
  });

  it("a secret is sent again: no response shows which one the killed run sent", async () => {
    const oidc = (clientSecret: string) => ({ issuer: "https://login.example.com", clientId: "x", clientSecret });
    const idp = (secret: string): Json => ({ parent, name: `idp-${count}`, defaultRole: "viewer", oidc: oidc(secret) });
    const provider = await world.run().create("identityProvider", "idp", idp("old secret"));
    world.save(provider);
    await world.killed((run) => run.update(provider, idp("new secret")));
    service.requests.length = 0;
    const run = world.run();
    expect(await run.diff(provider, idp("old secret"))).toMatchObject({ changes: true });
    await world.run().update(provider, idp("old secret"));
    const sent = service.requests.filter(({ method }) => method === "PATCH").map(({ body }) => body);
    expect(sent).toMatchObject([expect.stringContaining("old secret")]);
    expect(JSON.stringify(world.lines())).not.toContain("secret");
  });

  it("all records are compared by few requests", async () => {
    const all = await saved(Array.from({ length: 60 }, (_, i) => `g${i}`));
    await world.killed((run) => run.update(all[0] as Stored, group("g0", "two")));
    service.requests.length = 0;
    const run = world.run();
    for (const one of all) await run.diff(one, group(one.name));
    expect(service.requests.length).toBeLessThan(12);
  });

  it("a preview without credentials stops, since it cannot compare", async () => {
    const [first] = (await saved(["a"])) as [Stored];
    await world.killed((run) => run.update(first, group("a", "two")));
    world.env = { IRM_IDENTITY: undefined, IRM_IDENTITY_TOKEN: undefined };
    await expect(world.run().diff(first, group("a"))).rejects.toThrow(
      "stack organization/project/stack is open: a run without checkpoints may not have ended. Its records have to be compared with the live ones, which needs credentials",
    );
  });

  it("a state that cannot be read makes nothing certain", async () => {
    const [first] = (await saved(["a"])) as [Stored];
    await world.killed((run) => run.create("group", "b", group("b")));
    world.problem = "pulumi stack export: no stack named that found";
    await world.run().diff(first, group("a"));
    expect(world.messages.join()).toContain(
      "The engine's state cannot be read (pulumi stack export: no stack named that found), so nothing of this is certain.",
    );
    expect(world.contents().runs).toMatchObject([{ began: expect.any(String) }]);
    expect(world.lines().flatMap(Object.keys)).not.toContain("judged");
  });

  it("a second killed run does not hide what the first one created: a third that asks for the same again creates another", async () => {
    const [first] = (await saved(["a"])) as [Stored];
    const b = (description: string) => group("b", description);
    const uids: string[] = [];
    for (const description of ["one", "two"])
      await world.killed(async (run) => void uids.push((await run.create("group", "b", b(description))).id));
    const created = await world.run().create("group", "b", b("one"));
    uids.push(created.id);
    expect(new Set(uids).size).toBe(3);
    world.save(first, created);
    await world.run().delete(first);
    expect(await Promise.all(uids.map((uid) => isGroupThere(service, uid)))).toEqual([false, false, true]);
  });

  it("a create whose response never came refuses no equal one under another name, and one of somebody else does", async () => {
    const [first] = (await saved(["a"])) as [Stored];
    const transport: Transport = async (request) => {
      const answer = await service.transport(request);
      if (request.method === "POST" && request.url.pathname.includes("groups")) throw lostAnswer(true);
      return answer;
    };
    await world.killed(async () => {
      const run = world.run({ isUnchecked: true, transport, cancelled: AbortSignal.abort() });
      await expect(run.create("group", "b", group("b"))).rejects.toThrow("unknown whether");
    });
    const renamed = await world.run().create("group", "c", group("b"));
    world.save(first, renamed);
    await createGroup(service, parent, renamed.outs.name as string, "one");
    await expect(world.run().create("group", "d", group("b"))).rejects.toThrow("nothing shows that this stack created");
  });
});

const other = (type: string, own: Partial<StateResource> = {}): StateResource => ({
  ...{ urn: `urn:pulumi:stack::project::${type}::x`, type, id: "1", custom: true, inputs: {}, outputs: {} },
  ...own,
});

const REFUSED = "PULUMI_SKIP_CHECKPOINTS: this run is refused, and nothing is sent:\n  - ";
const HOW = "\nOr unset PULUMI_SKIP_CHECKPOINTS: with checkpoints, nothing of this is needed.";

const team = (more: Json = {}) => ({ ...group("team"), ...more });
const create = () => world.run({ isUnchecked: true }).create("group", "team", team());
const writes = () => service.requests.filter(({ method }) => method !== "GET");

describe("a run without checkpoints that is refused, before it sends anything", () => {
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
    const stored = await world.run().create("group", "team", team());
    service.requests.length = 0;
    world.others = [other("random:index/randomPet:RandomPet")];
    const run = world.run({ isUnchecked: true });
    const act = () => (verb === "update" ? run.update(stored, team({ description: "x" })) : run.delete(stored));
    await expect(act()).rejects.toThrow(REFUSED);
    await expect(act()).rejects.toThrow("failed for the same reason as Group::team");
    expect(writes()).toEqual([]);
  });

  it("is told so by its preview, which goes on, and is not refused where the engine saves checkpoints", async () => {
    world.others = [other("random:index/randomPet:RandomPet")];
    const { kinds } = world.run({ isUnchecked: true });
    const inputs = team({ __key: "organization/project/stack/Group::team", __preview: true });
    expect((await kinds.group.check({}, inputs)).failures).toEqual([]);
    expect(world.messages.join("\n")).toContain(`warning: the update will fail:\n${REFUSED}`);
    world.env = { CI: "true" };
    await world.run().create("group", "team", team());
    expect(writes()).toHaveLength(1);
  });

  it("refuses a role binding that exists already, unless allowDuplicate or adopt decides", async () => {
    const checked = world.run();
    const { id: parent } = await checked.create("group", "team", team());
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
        `RoleBinding::second: a role binding with the same parent and fields exists, and nothing shows that this stack created it; nothing was sent:\n {2}- role binding ${first.id}.*\n.*allowDuplicate: true\\.\\nSee docs/troubleshooting\\.md#equal$`,
      ),
    );
    expect(writes()).toEqual([]);
    expect((await create({ adopt: first.id })).id).toBe(first.id);
    expect((await create({ allowDuplicate: true })).id).not.toBe(first.id);
  });
});
