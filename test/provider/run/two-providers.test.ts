// Two explicit providers in one operation of the engine: each is a process, and the rules of a record hold across them. Here each is a
// provider with a session of its own over the log that they share.

import { setImmediate } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { systemTransport } from "../../../client/transport.ts";
import type { methodsWith } from "../../../provider/engine/methods.ts";
import type { StateKind } from "../../../provider/kind/index.ts";
import type { Environment } from "../../../provider/run/session.ts";
import type { Json } from "../../../schema/index.ts";
import { manualClock } from "../../harness/clock.ts";
import { isGroupThere, startSharedService } from "../../harness/provider.ts";
import { temporaryFolder } from "../../support/command.ts";
import { keyOf, lostAnswer } from "../../support/scripted.ts";

const folder = temporaryFolder();
afterAll(() => {
  vi.unstubAllEnvs();
  folder.remove();
});
const service = await startSharedService();
const org: string = service.organization as string;
vi.stubEnv("TMPDIR", folder.path(""));

let operation = 0;
let messages: string[];
beforeEach(() => {
  operation += 1;
  messages = [];
});

type Provider = ReturnType<typeof methodsWith>;

const engineHere = () => ({ address: `127.0.0.1:${operation}`, pid: process.pid });
/** A provider of the current operation. */
const provider = (own: Partial<Environment> = {}): Promise<Provider> =>
  service.methods({ engine: engineHere(), ...own, log: (text) => void messages.push(text) });
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
    expect(messages).toEqual([`group ${old.id} "record" stays: another resource of this stack manages it`]);
    expect(await isGroupThere(service, old.id)).toBe(true);
  });

  it("that the state has under one is refused in the preview of the other, also at another spelling of the address", async () => {
    const old = await (await provider()).group.create(group("kept"));
    const [first] = await nextOperation();
    await first.group.check(group("kept"), group("kept"));
    await first.group.diff(old.id, old.outs, group("kept"));
    const { port } = new URL(service.baseUrl);
    const second = await provider({ env: { IRM_BASE_URL: `http://LOCALHOST:${port}/` } });
    const { failures } = await second.group.check({}, group("other", { adopt: old.id, __preview: true }));
    const owner = keyOf("kept").__key;
    expect(failures).toEqual([{ property: "adopt", reason: `group ${old.id} is already managed by ${owner}` }]);
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

it("a name that a create would change is created once, although the list of what exists was read before", async () => {
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

it("equal records of two providers are created in turn: a search for the lost one does not take the other for it", async () => {
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

it("a folder that cannot be used is one error in full, and then the name of the resource that reported it", async () => {
  vi.stubEnv("TMPDIR", "/dev/null");
  try {
    const only = await provider();
    await expect(only.group.create(group("first"))).rejects.toThrow("set TMPDIR to a folder of your own");
    await expect(only.group.create(group("second"))).rejects.toThrow("failed for the same reason as Test::first");
  } finally {
    vi.stubEnv("TMPDIR", folder.path(""));
  }
});
