// A record is managed by only one resource: through a rename, an adoption, a run that ended, and two providers.
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeEach, expect, it, vi } from "vitest";
import { type HttpRequest, systemTransport } from "../../../client/transport.ts";
import type { Methods, methodsWith } from "../../../provider/engine/methods.ts";
import type { StateKind } from "../../../provider/kind/index.ts";
import { createOwnership } from "../../../provider/run/ownership.ts";
import type { Environment } from "../../../provider/run/session.ts";
import type { Json } from "../../../schema/index.ts";
import { manualClock } from "../../harness/clock.ts";
import { isGroupThere, startSharedService } from "../../harness/provider.ts";
import { temporaryFolder } from "../../support/command.ts";
import { keyOf, lostAnswer } from "../../support/scripted.ts";

const service = await startSharedService();
const org: string = service.organization as string;

let messages: string[];
beforeEach(() => {
  messages = [];
});

const run = async (): Promise<Methods> => (await service.methods({ log: (text) => void messages.push(text) })).group;

/** As the engine compares what the program declares: after its check. A refresh compares before. */
const compare = async (own: Methods, id: string, outs: Json, news: Json) => {
  await own.check(news, news);
  return own.diff(id, outs, news);
};

const inputs = (name: string, more: Json = {}): Json => ({
  ...keyOf(name),
  parent: org,
  name: "record",
  allowDuplicate: true,
  ...more,
});

/** So many deletes have left the record to the other resource. */
const expectKept = async (id: string, times = 1): Promise<void> => {
  const kept = `group ${id} "record" stays: another resource of this stack manages it`;
  expect(messages).toEqual(Array(times).fill(kept));
  expect(await isGroupThere(service, id)).toBe(true);
};

it("a renamed resource that adopts its record keeps it, also when the run before ended between the adoption and the deletion of the old name", async () => {
  const old = await (await run()).create(inputs("old"));
  const first = await run();
  const renamed = await first.create(inputs("new", { adopt: old.id }));
  expect(renamed.id).toBe(old.id);
  await first.delete(old.id, old.outs);

  const next = await run();
  await compare(next, old.id, renamed.outs, inputs("new", { adopt: old.id }));
  await next.delete(old.id, old.outs);
  await expectKept(old.id, 2);
});

it("a renamed resource that adopts its record keeps it from a resource whose state has no key, also once the program no longer says adopt", async () => {
  const old = await (await run()).create(inputs("keyless"));
  const { outs } = await (await run()).create(inputs("keeper", { adopt: old.id }));
  const next = await run();
  await compare(next, old.id, outs, inputs("keeper"));
  const { __key, ...ofFirstVersion } = old.outs;
  await next.delete(old.id, ofFirstVersion);
  await expectKept(old.id);
});

it("a record cannot be adopted by a second resource, and stays when another one of the state goes", async () => {
  const one = await (await run()).create(inputs("one"));
  const next = await run();
  await compare(next, one.id, one.outs, inputs("one"));
  await expect(next.create(inputs("two", { adopt: one.id }))).rejects.toThrow(
    `${inputs("two").__key}: adopt: group ${one.id} is already managed by ${inputs("one").__key}`,
  );
  const twice = { ...one.outs, ...keyOf("twice") };
  await next.delete(one.id, twice);
  await expectKept(one.id);
});

it("a record stays with its resource under another name, also after a refresh under the earlier one", async () => {
  const { id, outs } = await (await run()).create(inputs("before"));
  const next = await run();
  // The engine refreshes what is in the state, and then checks what the program declares.
  await next.read(id, outs);
  await next.diff(id, outs, inputs("before"));
  await next.check(inputs("before"), inputs("after"));
  expect(await next.diff(id, outs, inputs("after"))).toMatchObject({ replaces: [] });
  // One record still has one resource.
  await next.check(inputs("before"), inputs("another"));
  await expect(next.diff(id, outs, inputs("another"))).rejects.toThrow(
    `${id} is already managed by ${inputs("after").__key}`,
  );
});

it("a record is free for another resource where only a refresh has met it", async () => {
  const { id, outs } = await (await run()).create(inputs("earlier"));
  const next = await run();
  await next.read(id, outs);
  await next.diff(id, outs, inputs("earlier"));
  const news = inputs("later", { adopt: id });
  expect((await next.check({}, { ...news, __preview: true })).failures).toEqual([]);
  expect((await next.create(news)).id).toBe(id);
  await next.delete(id, outs);
  await expectKept(id);
});

it("a record that an earlier one has adopted is an error when the engine reads it", async () => {
  const one = await (await run()).create(inputs("second"));
  const next = await run();
  await next.create(inputs("first", { adopt: one.id }));
  const conflict = `${inputs("second").__key}: ${one.id} is already managed by ${inputs("first").__key}; a record can be managed by only one resource, so adopt or import it in one of them; pulumi state delete removes the other from the state, and the record stays`;
  await expect(compare(next, one.id, one.outs, inputs("second"))).rejects.toThrow(conflict);
  expect(await isGroupThere(service, one.id)).toBe(true);
});

it("a record that is replaced is deleted, and its replacement is not", async () => {
  const one = await (await run()).create(inputs("moved"));
  const otherGroup = await (await run()).create(inputs("elsewhere"));
  const next = await run();
  const news = inputs("moved", { parent: otherGroup.id, allowReplace: true });
  expect(await compare(next, one.id, one.outs, news)).toMatchObject({ replaces: ["parent"] });
  const two = await next.create(news);
  await next.delete(one.id, one.outs);
  expect([await isGroupThere(service, one.id), await isGroupThere(service, two.id)]).toEqual([false, true]);
});

it("a plan to adopt is refused when another resource adopts or manages the record, and does not conflict with itself", () => {
  const claims = createOwnership();
  expect(claims.plan("uid", "a")).toBeUndefined();
  expect(claims.plan("uid", "a")).toBeUndefined();
  expect(claims.plan("uid", "b")).toBe("is adopted by a as well");
  expect(() => claims.inState("uid", "c", true)).toThrow("uid is already managed by a");
  claims.inState("owned", "d", true);
  expect(claims.plan("owned", "e")).toBe("is already managed by d");
});

it("the check of a new resource reports an equal record in a preview only, and keeps the preview's mark out of the inputs", async () => {
  const { id } = await (await run()).create(inputs("there"));
  messages = [];
  const news = inputs("like it", { allowDuplicate: false });
  const preview = await run();
  const checked = await preview.check({}, { ...news, __preview: true });
  expect(checked.failures).toEqual([]);
  expect(Object.keys(checked.inputs)).not.toContain("__preview");
  expect(messages).toEqual([expect.stringContaining(`  - group ${id}, created `)]);
  await preview.check(news, { ...news, __preview: true });
  await (await run()).check({}, news);
  expect(messages).toHaveLength(1);
});

const folder = temporaryFolder();
afterAll(() => {
  vi.unstubAllEnvs();
  folder.remove();
});
vi.stubEnv("TMPDIR", folder.path(""));

let operation = 0;
beforeEach(() => {
  operation += 1;
});

type Provider = ReturnType<typeof methodsWith>;

const engineHere = () => ({ address: `127.0.0.1:${operation}`, pid: process.pid });
const provider = (own: Partial<Environment> = {}): Promise<Provider> =>
  service.methods({ engine: engineHere(), ...own, log: (text) => void messages.push(text) });
const nextOperation = async (): Promise<[Provider, Provider]> => {
  operation += 1;
  return [await provider(), await provider()];
};

// Two explicit providers in one operation of the engine: each is a process, and the rules of a record hold across them. Here each is a
// provider with a session of its own over the log that they share.
it("a record of two providers whose name the program marks as secret is not named by the other", async () => {
  const { id, outs } = await (await provider()).group.create(inputs("hidden", { name: "hidden name" }));
  const [first, second] = await nextOperation();
  const news = inputs("hidden", { name: "hidden name" });
  await first.group.check(news, news, (names) => names.includes("name"));
  await first.group.diff(id, outs, news);
  messages.length = 0;
  const binding = { ...keyOf("binding"), parent: id, identity: service.identity, role: "viewer" };
  await second.roleBinding.check({}, binding, () => false, true);
  expect(messages).toEqual([
    expect.stringMatching(/^RoleBinding binding is new: .*, role "viewer", group \[secret\]$/),
  ]);
});

it("a record of two providers that the state has under one is refused in the preview of the other, also at another spelling of the address", async () => {
  const old = await (await provider()).group.create(inputs("kept"));
  const [first] = await nextOperation();
  await first.group.check(inputs("kept"), inputs("kept"));
  await first.group.diff(old.id, old.outs, inputs("kept"));
  const { port } = new URL(service.baseUrl);
  const second = await provider({ env: { IRM_BASE_URL: `http://LOCALHOST:${port}/` } });
  const { failures } = await second.group.check({}, inputs("other", { adopt: old.id, __preview: true }));
  const owner = keyOf("kept").__key;
  expect(failures).toEqual([{ property: "adopt", reason: `group ${old.id} is already managed by ${owner}` }]);
});

const failuresOf = async (methods: Provider, kind: StateKind, name: string, more: Json) =>
  (await methods[kind].check({}, { ...keyOf(name), parent: org, ...more })).failures;
const uid = (digit: string) => `${org}/${digit.repeat(16)}`;
it("the bindings of a group are not declared by an exclusive set under one provider and a RoleBinding under another", async () => {
  const binding = { identity: uid("1"), role: uid("2") };
  const [first, second] = [await provider(), await provider()];
  expect(await failuresOf(first, "roleBindingSet", "all", { bindings: [], exclusive: true })).toEqual([]);
  const reason =
    "RoleBinding one is in the group of RoleBindingSet all, which is exclusive and would remove it; " +
    "declare its pair in the set instead, or leave out exclusive";
  expect(await failuresOf(second, "roleBinding", "one", binding)).toEqual([{ property: "parent", reason }]);
  const [third, fourth] = await nextOperation();
  expect(await failuresOf(third, "roleBinding", "one", binding)).toEqual([]);
  expect(await failuresOf(fourth, "roleBindingSet", "all", { bindings: [], exclusive: true })).toEqual([
    { property: "exclusive", reason },
  ]);
});

it("a name that a create would change is created once, although the list of what exists was read before", async () => {
  const [first, second] = [await provider(), await provider()];
  const repo = await first.repo.create({ ...keyOf("repo"), parent: org, name: "repo" });
  const latest = { parent: repo.id, name: "latest" };
  const tag = (name: string, digit: string) => ({ ...keyOf(name), ...latest, digest: `sha256:${digit.repeat(64)}` });
  await first.tag.create(tag("one", "1"));
  await expect(second.tag.create(tag("two", "2"))).rejects.toThrow(
    `${keyOf("one").__key} declares tag "latest" in ${repo.id} too, and a second create would change it; nothing was sent`,
  );
});

it("equal records of two providers are created in turn: a search for the lost one does not take the other for it", async () => {
  const send = systemTransport();
  const sent: string[] = [];
  const isCreate = ({ method, url }: HttpRequest) => method === "POST" && url.pathname.includes("/groups");
  const [isSent, isAtWork] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = await provider({
    transport: async (request) => {
      if (!isCreate(request)) return send(request);
      sent.push("first");
      if (sent.length > 1) return send(request);
      isSent.resolve();
      // It never arrives. Meanwhile the other provider sends the same request, or waits for its turn.
      await isAtWork.promise;
      throw lostAnswer(true);
    },
  });
  const atWork = async () => {
    isAtWork.resolve();
    await setImmediate();
  };
  const second = await provider({
    transport: async (request) => {
      if (isCreate(request)) {
        sent.push("second");
        await atWork();
      }
      return send(request);
    },
    clock: { ...manualClock(), sleep: atWork },
  });
  const creating = first.group.create(inputs("one", { name: "equal" }));
  await isSent.promise;
  const records = await Promise.all([creating, second.group.create(inputs("two", { name: "equal" }))]);
  expect(sent).toEqual(["first", "first", "second"]);
  expect(new Set(records.map(({ id }) => id)).size).toBe(2);
  for (const { id } of records) expect(await isGroupThere(service, id)).toBe(true);
});
