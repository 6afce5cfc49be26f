import { describe, expect, it } from "vitest";
import { Secret } from "../../plugin/value.ts";
import { urnOf } from "../harness/plugin.ts";
import { setUp } from "./fixture.ts";

const { service, org, plugin, startProcess, created } = await setUp();

describe("the arguments of an explicit provider", () => {
  it("are checked, each with its name", async () => {
    const problems = await plugin.checkConfig(
      { baseUrl: "ftp://x", authUrl: "issuer.example.com", identity: "me", tokenEnv: "no name", colour: "red" },
      "acme",
    );
    expect(problems).toEqual([
      "colour: unknown argument",
      "baseUrl: must be an https URL; http is for loopback only, since tokens would travel in the clear",
      "authUrl: has no scheme; write https://issuer.example.com",
      "identity: must be the uid of an identity: 40 hexadecimal digits, then / and 16 more for each level",
      "tokenEnv: must be the name of an environment variable",
    ]);
    expect(await plugin.checkConfig({ baseUrll: "https://x" }, "acme")).toEqual([
      "baseUrll: unknown argument; did you mean baseUrl?",
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

describe("a stack at another address", () => {
  it("is refused where only its configuration names it, and read and deleted at the environment's", async () => {
    const one = await created("Group", { parent: org, name: "stays" });
    const plugin = await startProcess();
    await plugin.configure({ baseUrl: "https://evil.example", authUrl: "https://evil.example" });
    const checked = await plugin.check(one.urn, { parent: org, name: "stays" }, one.inputs).catch(String);
    for (const name of ["baseUrl", "authUrl"])
      expect(checked).toContain(
        `stack configuration irm:${name}: https://evil.example differs from ${service.baseUrl}`,
      );
    const called = await plugin.invoke("irm:index:getRole", { name: "viewer" }).catch(String);
    expect(called).toContain("https://evil.example differs from");
    await plugin.delete(one.urn, one.id, one.outs);
  });

  it("is confirmed by the argument of its provider", async () => {
    const { baseUrl } = service;
    const one = await created("Group", { parent: org, name: "moves" });
    const moved = baseUrl.replace("127.0.0.1", "127.0.0.2");
    const explicit = async (settings: object) => {
      const plugin = await startProcess();
      const token = new Secret(service.env.IRM_IDENTITY_TOKEN);
      await plugin.configure({ baseUrl: moved, token, ...settings }, "acme");
      const result = await plugin
        .check(one.urn, { parent: org, name: "moves", __preview: true }, one.inputs)
        .catch((error: Error) => error);
      return result;
    };
    expect(String(await explicit({}))).toContain(
      `movedFrom: "${baseUrl}" of provider acme, or for one run IRM_MOVED_FROM=${baseUrl}`,
    );
    expect(await explicit({ movedFrom: baseUrl })).toMatchObject({
      failures: [],
      inputs: { __at: expect.stringContaining(`${moved} `) },
    });
  });
});
