// Two explicit providers in one operation of the engine: each is a process, and the rules of a record hold across them. Here each is a
// provider with a session of its own over the log that they share.

import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { systemTransport } from "../../../client/transport.ts";
import type { methodsWith } from "../../../provider/engine/methods.ts";
import type { StateKind } from "../../../provider/kind/index.ts";
import type { Environment } from "../../../provider/run/session.ts";
import type { Json } from "../../../schema/index.ts";
import { manualClock } from "../../harness/clock.ts";
import { isGroupThere, type Service, startService } from "../../harness/provider.ts";
import { temporaryFolder } from "../../support/command.ts";
import { keyOf, lostAnswer } from "../../support/scripted.ts";

const folder = temporaryFolder();
let service: Service;
let org: string;
beforeAll(async () => {
  vi.stubEnv("TMPDIR", folder.path(""));
  service = await startService();
  org = service.organization as string;
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await service.close();
  folder.remove();
});

let operation = 0;
let messages: string[];
beforeEach(() => {
  operation += 1;
  messages = [];
});

type Provider = ReturnType<typeof methodsWith>;

/** As the engine compares what the program declares: after its check. */
const compare = async ({ group: own }: Provider, id: string, outs: Json, news: Json): Promise<void> => {
  await own.check(news, news);
  await own.diff(id, outs, news);
};

const engineHere = () => ({ address: `127.0.0.1:${operation}`, pid: process.pid });
/** A provider of the current operation. */
const provider = (own: Partial<Environment> = {}): Promise<Provider> =>
  service.methods({ engine: engineHere(), ...own, log: (text) => void messages.push(text) });
/** The process that serves the dynamic resources of the current operation. */
const dynamic = (): Promise<Provider> => provider();
/** The next operation of the engine, with two providers. */
const nextOperation = async (): Promise<[Provider, Provider]> => {
  operation += 1;
  return [await provider(), await provider()];
};

const group = (name: string, more: Json = {}): Json => ({
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

describe("a record of two providers", () => {
  it("whose name the program marks as secret is not named by the other", async () => {
    const { id, outs } = await (await provider()).group.create(group("hidden", { name: "hidden name" }));
    const [first, second] = await nextOperation();
    const news = group("hidden", { name: "hidden name" });
    await first.group.check(news, news, (names) => names.includes("name"));
    await first.group.diff(id, outs, news);
    messages.length = 0;
    const binding = { ...keyOf("binding"), parent: id, identity: service.identity, role: "viewer" };
    await second.roleBinding.check({}, binding, () => false, true);
    expect(messages).toEqual([
      expect.stringMatching(/^RoleBinding binding is new: .*, role "viewer", group \[secret\]$/),
    ]);
  });

  it("that a resource of one adopts stays when its old resource, under the other, is deleted", async () => {
    const old = await (await provider()).group.create(group("old"));
    const [first, second] = await nextOperation();
    const taken = await second.group.create(group("new", { adopt: old.id }));
    expect(taken.id).toBe(old.id);
    await first.group.delete(old.id, old.outs);
    await expectKept(old.id);
  });

  it("that a resource of one is going to adopt stays as well", async () => {
    const old = await (await provider()).group.create(group("left"));
    const [first, second] = await nextOperation();
    const news = group("planned", { adopt: old.id });
    expect((await second.group.check({}, news)).failures).toEqual([]);
    await first.group.delete(old.id, old.outs);
    expect((await second.group.create(news)).id).toBe(old.id);
    expect(await isGroupThere(service, old.id)).toBe(true);
  });

  it("that one deletes is not adopted under the other", async () => {
    const old = await (await provider()).group.create(group("gone"));
    const [first, second] = await nextOperation();
    await first.group.delete(old.id, old.outs);
    await expect(second.group.create(group("late", { adopt: old.id }))).rejects.toThrow(
      `adopt: group ${old.id} is being deleted by this run`,
    );
  });

  it("that the state has under one is refused in the preview of the other, also at another spelling of the address", async () => {
    const old = await (await provider()).group.create(group("kept"));
    const [first] = await nextOperation();
    await compare(first, old.id, old.outs, group("kept"));
    const { port } = new URL(service.baseUrl);
    const second = await provider({ env: { IRM_BASE_URL: `http://LOCALHOST:${port}/` } });
    const { failures } = await second.group.check({}, group("other", { adopt: old.id, __preview: true }));
    const owner = keyOf("kept").__key;
    expect(failures).toEqual([{ property: "adopt", reason: `group ${old.id} is already managed by ${owner}` }]);
  });

  it("that one keeps stays when the other deletes it, also at another address that may be the same service", async () => {
    const old = await (await provider()).group.create(group("declared"));
    const [first, second] = await nextOperation();
    await compare(first, old.id, old.outs, group("declared"));
    const third = await provider({ env: { IRM_BASE_URL: "http://127.0.0.1:9" } });
    const twice = { ...old.outs, ...keyOf("twice") };
    await second.group.delete(old.id, twice);
    await third.group.delete(old.id, { ...twice, __service: "http://127.0.0.1:9" });
    await expectKept(old.id, 2);
  });

  it("is free again in the next operation", async () => {
    const old = await (await provider()).group.create(group("moves"));
    const [first] = await nextOperation();
    await compare(first, old.id, old.outs, group("moves"));
    const [, second] = await nextOperation();
    expect((await second.group.create(group("moved", { adopt: old.id }))).id).toBe(old.id);
  });
});

describe("a stack that moves from dynamic resources to the plugin", () => {
  it("keeps a record that a resource of the plugin adopts when its dynamic resource is deleted, and what is in its group", async () => {
    const old = await (await dynamic()).group.create(group("dynamic"));
    const below = await (await dynamic()).group.create(group("below", { parent: old.id }));
    operation += 1;
    const first = await dynamic();
    // It has begun before the plugin.
    await compare(first, old.id, old.outs, group("dynamic"));
    const second = await provider();
    const [taken, kept] = [group("native", { adopt: old.id }), group("kept", { parent: old.id, adopt: below.id })];
    await second.group.create(kept);
    await expect(first.group.delete(old.id, { ...old.outs, forceDestroy: true })).rejects.toThrow(
      "this run keeps these records, or leaves them in place; nothing was deleted",
    );
    operation += 1;
    const [third, fourth] = [await dynamic(), await provider()];
    expect((await fourth.group.create(taken)).id).toBe(old.id);
    await third.group.delete(old.id, old.outs);
    await expectKept(old.id);
  });

  it("keeps a record that a dynamic resource adopts when its resource of the plugin is deleted, which begins only then", async () => {
    const old = await (await provider()).group.create(group("native"));
    operation += 1;
    const first = await dynamic();
    expect((await first.group.create(group("dynamic", { adopt: old.id }))).id).toBe(old.id);
    const second = await provider();
    await second.group.delete(old.id, old.outs);
    await expectKept(old.id);
  });

  it("keeps what a dynamic resource had before the plugin began", async () => {
    const old = await (await dynamic()).group.create(group("declared"));
    operation += 1;
    const [first, second] = [await dynamic(), await provider()];
    await compare(first, old.id, old.outs, group("declared"));
    const other = await second.group.create(group("other"));
    await compare(first, old.id, old.outs, group("declared"));
    await second.group.delete(old.id, { ...old.outs, ...keyOf("twice") });
    await expectKept(old.id);
    await second.group.delete(other.id, other.outs);
  });

  it("does not adopt what the dynamic provider deletes", async () => {
    const old = await (await dynamic()).group.create(group("removed"));
    operation += 1;
    const [first, second] = [await dynamic(), await provider()];
    const other = await second.group.create(group("other"));
    await first.group.delete(old.id, old.outs);
    await expect(second.group.create(group("late", { adopt: old.id }))).rejects.toThrow("is being deleted by this run");
    await second.group.delete(other.id, other.outs);
  });
});

describe("the bindings of a group", () => {
  const check = async (methods: Provider, kind: StateKind, name: string, more: Json) =>
    (await methods[kind].check({}, { ...keyOf(name), parent: org, ...more })).failures;
  const uid = (digit: string) => `${org}/${digit.repeat(16)}`;
  it("are not declared by an exclusive set under one provider and a RoleBinding under another", async () => {
    const binding = { identity: uid("1"), role: uid("2") };
    const [first, second] = [await provider(), await provider()];
    expect(await check(first, "roleBindingSet", "all", { bindings: [], exclusive: true })).toEqual([]);
    const reason =
      "RoleBinding one is in the group of RoleBindingSet all, which is exclusive and would remove it; " +
      "declare its pair in the set instead, or leave out exclusive";
    expect(await check(second, "roleBinding", "one", binding)).toEqual([{ property: "parent", reason }]);
    const [third, fourth] = await nextOperation();
    expect(await check(third, "roleBinding", "one", binding)).toEqual([]);
    expect(await check(fourth, "roleBindingSet", "all", { bindings: [], exclusive: true })).toEqual([
      { property: "exclusive", reason },
    ]);
  });
});

describe("a name that a create would change", () => {
  it("is created once, although the list of what exists was read before", async () => {
    const [first, second] = [await provider(), await provider()];
    const repo = await first.repo.create({ ...keyOf("repo"), parent: org, name: "repo" });
    const digest = (digit: string) => `sha256:${digit.repeat(64)}`;
    const tag = (name: string, digit: string) => ({
      ...keyOf(name),
      parent: repo.id,
      name: "latest",
      digest: digest(digit),
    });
    await first.tag.create(tag("one", "1"));
    await expect(second.tag.create(tag("two", "2"))).rejects.toThrow(
      `${keyOf("one").__key} declares tag "latest" in ${repo.id} too, and a second create would change it; nothing was sent`,
    );
  });
});

describe("equal records of two providers", () => {
  it("are created in turn: a search for the lost one does not take the other for it", async () => {
    const send = systemTransport();
    const sent: string[] = [];
    const isSent = Promise.withResolvers<void>();
    const isAtWork = Promise.withResolvers<void>();
    const hasSearched = Promise.withResolvers<void>();
    const first = await provider({
      transport: async (request) => {
        const isCreate = request.method === "POST" && request.url.pathname.includes("/groups");
        if (isCreate) sent.push("first");
        if (isCreate && sent.length === 1) {
          isSent.resolve();
          // It never arrives. Meanwhile the other provider sends the same request, or waits for its turn.
          await isAtWork.promise;
          throw lostAnswer(true);
        }
        const answer = await send(request);
        if (sent.length > 1) hasSearched.resolve();
        return answer;
      },
    });
    const second = await provider({
      transport: async (request) => {
        const answer = await send(request);
        if (request.method !== "POST" || !request.url.pathname.includes("/groups")) return answer;
        sent.push("second");
        isAtWork.resolve();
        await hasSearched.promise;
        return answer;
      },
      clock: {
        ...manualClock(),
        sleep: async () => {
          isAtWork.resolve();
          await setImmediate();
        },
      },
    });
    const [one, two] = [group("one", { name: "equal" }), group("two", { name: "equal" })];
    const creating = first.group.create(one).finally(hasSearched.resolve);
    await isSent.promise;
    const records = await Promise.all([creating, second.group.create(two)]);
    expect(sent).toEqual(["first", "first", "second"]);
    expect(new Set(records.map(({ id }) => id)).size).toBe(2);
    for (const { id } of records) expect(await isGroupThere(service, id)).toBe(true);
  });
});

describe("a folder that cannot be used", () => {
  it("is one error in full, and then the name of the resource that reported it", async () => {
    vi.stubEnv("TMPDIR", "/dev/null");
    try {
      const only = await provider();
      await expect(only.group.create(group("first"))).rejects.toThrow("set TMPDIR to a folder of your own");
      await expect(only.group.create(group("second"))).rejects.toThrow("failed for the same reason as Test::first");
    } finally {
      vi.stubEnv("TMPDIR", folder.path(""));
    }
  });
});
