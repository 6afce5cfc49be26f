import { describe, expect, it } from "vitest";
import { systemTransport } from "../../client/transport.ts";
import { Secret } from "../../plugin/value.ts";
import { initFailure, urnOf } from "../harness/plugin.ts";
import { setUp } from "./fixture.ts";

const { service, org, plugin, startProcess, nextProcess, created } = await setUp();
const send = systemTransport();

/** The answers to POSTs of groups are held back. */
const holdCreates = () => {
  const sent = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const transport: typeof send = async (request) => {
    if (request.method !== "POST" || !/\/groups\b/.test(request.url.pathname)) return send(request);
    const answer = await send(request);
    sent.resolve();
    await release.promise;
    return answer;
  };
  return { transport, sent: sent.promise, release: release.resolve };
};

it("a call ends after the customTimeouts of its resource, and the next update takes the record over", async () => {
  const urn = urnOf("Group", "slow");
  const wire = holdCreates();
  const first = await nextProcess(wire.transport);
  const { inputs } = await first.check(urn, { parent: org, name: "slow" });
  await expect(first.create(urn, inputs, { seconds: 0.05 })).rejects.toThrow(
    "4 DEADLINE_EXCEEDED: slow: not finished after 0.05 s (customTimeouts); the next update continues from the intent journal",
  );
  await wire.sent;
  wire.release();
  const second = await nextProcess();
  const { id } = await second.create(urn, inputs);
  expect(second.messages.at(-1)).toContain(`adopting group ${id} "slow"`);
});

it("a call sends nothing once the engine has cancelled; that of the next operation is answered", async () => {
  const one = await created("Group", { parent: org, name: "stays" });
  const sent: string[] = [];
  const plugin = await nextProcess(async (request) => {
    sent.push(request.method);
    return send(request);
  });
  await plugin.read(one.urn, one.id, one.outs);
  sent.length = 0;
  await plugin.cancel();
  await expect(plugin.create(one.urn, one.inputs)).rejects.toThrow(/^1 CANCELLED: cancelled$/);
  await expect(plugin.delete(one.urn, one.id, one.outs)).rejects.toThrow(/^1 CANCELLED: cancelled$/);
  await expect(plugin.invoke("irm:index:getGroup", { uid: one.id })).rejects.toThrow(/^1 CANCELLED: cancelled$/);
  // Requests are sent one after another: what a cancelled call would send comes before this.
  await plugin.attach();
  await plugin.read(one.urn, one.id, one.outs);
  expect(sent).toEqual(["GET"]);
  await plugin.configure();
  expect((await plugin.check(urnOf("Group", "next"), { parent: org, name: "next" })).failures).toEqual([]);
});

it("a call that creates nothing does not speak of the journal when the engine cancels", async () => {
  const wire = Promise.withResolvers<void>();
  const plugin = await nextProcess(async () => {
    wire.resolve();
    return new Promise(() => undefined);
  });
  const call = expect(plugin.invoke("irm:index:getGroup", { name: "x", parent: org })).rejects.toThrow(
    /^1 CANCELLED: cancelled$/,
  );
  await wire.promise;
  await plugin.cancel();
  await call;
});

it("a call of 720 hours is not over at once", async () => {
  const urn = urnOf("Group", "long");
  const { inputs } = await plugin.check(urn, { parent: org, name: "long" });
  expect(await plugin.create(urn, inputs, { seconds: 720 * 3600 })).toMatchObject({
    outs: { name: "long" },
  });
});

it("a call that leaves a record incomplete gives the engine its id, its outputs and the reason", async () => {
  const urn = urnOf("Group", "adopts");
  const existing = await created("Group", { parent: org, name: "theirs" });
  const refuse: typeof send = async (request) =>
    request.method === "PATCH"
      ? { status: 400, headers: {}, body: JSON.stringify({ code: 3, message: "not like this" }) }
      : send(request);
  const plugin = await nextProcess(refuse);
  const { inputs } = await plugin.check(urn, { parent: org, name: "theirs", adopt: existing.id, description: "new" });
  const error = await plugin.create(urn, inputs).catch((reason: unknown) => reason);
  const { id, outs, reasons } = initFailure(error);
  expect(id).toBe(existing.id);
  expect(outs).toMatchObject({ uid: existing.id, adopted: true });
  for (const name of ["__key", "__service", "__provider"]) expect(outs).not.toHaveProperty(name);
  expect(reasons).toEqual([expect.stringContaining("not like this")]);
});

it("a call that writes what was not checked, or of an unknown type, is refused before it sends", async () => {
  await expect(plugin.create(urnOf("Group", "unchecked"), { parent: org, name: "unchecked" })).rejects.toThrow(
    /^2 UNKNOWN: these inputs of a Group have not been checked$/,
  );
  await expect(plugin.update(urnOf("RoleBindingSet", "unchecked"), org, {}, {})).rejects.toThrow(
    /^2 UNKNOWN: these inputs of a RoleBindingSet have not been checked$/,
  );
  await expect(plugin.check(urnOf("Grup", "x"), {})).rejects.toThrow("2 UNKNOWN: there is no resource type Grup");
});

describe("the arguments of an explicit provider", () => {
  it("are checked, each with its name", async () => {
    expect(await plugin.checkConfig({ baseUrll: "https://x", identity: "me", colour: "red" }, "acme")).toEqual([
      "baseUrll: unknown argument; did you mean baseUrl?",
      "colour: unknown argument",
      "identity: must be the uid of an identity: 40 hexadecimal digits, then / and 16 more for each level",
    ]);
  });

  it("replace the environment", async () => {
    const { IRM_IDENTITY_TOKEN: token = "" } = service.env;
    // Its audience is the exchange of that service.
    const list = { IRM_ALLOW_TOKEN_SOURCES: "ACME" };
    const plugin = await startProcess({
      IRM_IDENTITY_TOKEN: undefined,
      IRM_BASE_URL: "https://elsewhere.example.com",
      ACME: token,
      ...list,
    });
    await plugin.configure({ baseUrl: service.baseUrl, identityTokenEnv: "ACME" }, "acme");
    const { inputs } = await plugin.check(urnOf("Group", "there"), { parent: org, name: "there" });
    expect(inputs).toMatchObject({ __at: expect.stringContaining(`${service.baseUrl} `) });
    expect((await plugin.create(urnOf("Group", "there"), inputs)).outs).toMatchObject({ name: "there" });
  });

  it("must not hold a token in clear text", async () => {
    const plugin = await startProcess();
    await expect(plugin.configure({ token: "plain" }, "acme")).rejects.toThrow(
      "provider acme: token: must be a secret, or the state holds it in clear text",
    );
    await plugin.configure({ token: new Secret("secret") }, "acme");
  });

  it("count for every name but those that the engine gives a default provider", async () => {
    const wrong = (name: string) => plugin.checkConfig({ baseUrll: "https://x" }, name);
    for (const name of ["default_eu", "default-eu", "default2", "default_1_2", "defaults"])
      expect(await wrong(name)).toEqual(["baseUrll: unknown argument; did you mean baseUrl?"]);
    for (const name of ["default", "default_0_1_0", "default_0_1_0_alpha_1", "default_0_1_0_https_/x.example.com"])
      expect(await wrong(name)).toEqual([]);
    expect(await wrong("default_https_/x.example.com/plugins")).toEqual([]);
  });

  it("show as a change of the provider, and never replace it", async () => {
    expect(await plugin.diffConfig({ baseUrl: "https://a" }, { baseUrl: "https://b", identity: "x" })).toEqual({
      baseUrl: { kind: "UPDATE", isInput: true },
      identity: { kind: "ADD", isInput: true },
    });
    expect(await plugin.diffConfig({ baseUrl: "https://a" }, { baseUrl: "https://a" })).toEqual({});
  });
});

it("a process that an engine attaches to serves one provider until the operation ends", async () => {
  const plugin = await startProcess();
  await plugin.attach();
  await plugin.configure({}, "acme");
  await plugin.attach();
  await plugin.configure({}, "acme");
  await expect(plugin.configure({}, "umbrella")).rejects.toThrow(
    "2 UNKNOWN: provider urn:pulumi:stack::project::pulumi:providers:irm::umbrella: this process serves provider urn:pulumi:stack::project::pulumi:providers:irm::acme until its operation ends. With PULUMI_DEBUG_PROVIDERS, a program can have only one provider of this package. If the operation was killed, restart the process",
  );
  await plugin.cancel();
  await plugin.attach();
  await plugin.configure({}, "default_0_1_0");
  await plugin.configure({}, "default");
  await expect(plugin.configure({}, "acme")).rejects.toThrow("this process serves the default provider until");
});

it("a stack at another address is refused where only its configuration names it, and read and deleted at the environment's", async () => {
  const one = await created("Group", { parent: org, name: "stays" });
  const plugin = await startProcess();
  await plugin.configure({ baseUrl: "https://evil.example", authUrl: "https://evil.example" });
  const checked = await plugin.check(one.urn, { parent: org, name: "stays" }, one.inputs).catch(String);
  for (const name of ["baseUrl", "authUrl"])
    expect(checked).toContain(`stack configuration irm:${name}: https://evil.example differs from ${service.baseUrl}`);
  const called = await plugin.invoke("irm:index:getRole", { name: "viewer" }).catch(String);
  expect(called).toContain("https://evil.example differs from");
  await plugin.delete(one.urn, one.id, one.outs);
});

it("a stack at another address is confirmed by the argument of its provider", async () => {
  const { baseUrl } = service;
  const one = await created("Group", { parent: org, name: "moves" });
  const moved = baseUrl.replace("127.0.0.1", "127.0.0.2");
  const explicit = async (settings: object) => {
    const plugin = await startProcess();
    const token = new Secret(service.env.IRM_IDENTITY_TOKEN);
    await plugin.configure({ baseUrl: moved, token, ...settings }, "acme");
    return plugin
      .check(one.urn, { parent: org, name: "moves", __preview: true }, one.inputs)
      .catch((error: Error) => error);
  };
  expect(String(await explicit({}))).toContain(
    `movedFrom: "${baseUrl}" of provider acme, or for one run IRM_MOVED_FROM=${baseUrl}`,
  );
  expect(await explicit({ movedFrom: baseUrl })).toMatchObject({
    failures: [],
    inputs: { __at: expect.stringContaining(`${moved} `) },
  });
});
