// AccessPolicy as the engine asks the plugin for it: what of a request is refused before anything is planned, and how its options reach the
// component. test/lifecycle/policy-languages.test.ts constructs it with a real engine.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import * as pulumi from "@pulumi/pulumi";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import Struct from "google-protobuf/google/protobuf/struct_pb.js";
import { expect, it } from "vitest";
import { argumentsFrom, dependenciesOf, optionsFrom } from "../../plugin/component.ts";
import { type Request, requestTypes } from "../../plugin/request-type.ts";
import { type Marked, Secret } from "../../plugin/value.ts";
import { readMessage } from "../../plugin/wire-format.ts";
import { awaitValue } from "../../provider/program/output.ts";
import { UNKNOWN } from "../../pulumi/value.ts";
import { connectPlugin } from "../harness/plugin-call.ts";
import { temporaryFolder } from "../support/command.ts";
import { COMPILED } from "../support/compiled.ts";
import { setUp } from "./fixture.ts";

const { nextProcess } = await setUp();
const TOKEN = "irm:index:AccessPolicy";

const requestWith = (members: Partial<Request<"construct">>): Request<"construct"> => ({
  ...readMessage(requestTypes.construct, new Uint8Array()),
  ...members,
});

const construct = async (type: string, inputs: Marked) => {
  const plugin = await nextProcess();
  await plugin.attach();
  return plugin.construct(type, "acme", inputs);
};

it("a request for a component is refused with each value that the policy cannot be read with", async () => {
  const policy = { organization: "acme", groups: { platform: UNKNOWN }, access: { "/": { viewer: ["a", UNKNOWN] } } };
  const inputs = { file: new Secret("access.yaml"), policy, exclusive: UNKNOWN, identityProviders: UNKNOWN };
  const unknown =
    "is not known yet. AccessPolicy reads its policy before anything is planned: give a value that is known by then";
  await expect(construct(TOKEN, inputs)).rejects.toThrow(
    [
      "2 UNKNOWN: AccessPolicy acme:",
      `exclusive ${unknown}`,
      "file must not be secret: a policy says who may do what, and its reviewers read it",
      "identityProviders must be a map whose names are known; its values may be known later",
      `policy.access./.viewer[1] ${unknown}`,
      `policy.groups.platform ${unknown}`,
    ].join("\n  - "),
  );
});

it("a request for a component is refused for another component, and while no engine has attached itself", async () => {
  await expect(construct("irm:index:Team", {})).rejects.toThrow(
    "2 UNKNOWN: unknown component irm:index:Team; available: irm:index:AccessPolicy",
  );
  await expect((await nextProcess()).construct(TOKEN, "a", {})).rejects.toThrow("the engine has not attached itself");
});

it("the process of a component ends with its engine, though the engine answers the component no more", async () => {
  const folder = temporaryFolder();
  const asked = Promise.withResolvers<void>();
  const monitor = createServer(() => asked.resolve()).listen(0, "127.0.0.1");
  await once(monitor, "listening");
  const address = `127.0.0.1:${(monitor.address() as AddressInfo).port}`;
  const child = spawn(process.execPath, [fileURLToPath(new URL("../../plugin/main.ts", import.meta.url)), address], {
    env: { PATH: process.env.PATH, HOME: folder.path("."), NODE_COMPILE_CACHE: COMPILED },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const [port] = await once(createInterface({ input: child.stdout }), "line");
  const { call, close } = connectPlugin(Number(port), { structFrom: () => new Struct.Struct() });
  const urn = "urn:pulumi:stack::project::pulumi:providers:irm::default";
  await call("configure", { Urn: urn, Id: "p-1" }, messages.ConfigureRequest);
  const construct = { Type: TOKEN, Name: "acme", Monitorendpoint: address };
  void call("construct", construct, messages.ConstructRequest).catch(() => undefined);
  await asked.promise;
  // As when the engine dies.
  child.stdin.end();
  expect((await exited)[0]).toBe(0);
  close();
  monitor.close();
  folder.remove();
});

it("the arguments of a component are those that the program gives, with identity providers that carry their resources, their marks and what is not known", async () => {
  const identityProviders = { one: "uid", two: new Secret("hidden"), three: UNKNOWN };
  const inputs = { file: "access.yaml", adopt: null, identityProviders };
  const inputdependencies = [["identityProviders", { urns: ["urn:sso"] }]] as const;
  const args = argumentsFrom(requestWith({ inputs, inputdependencies }));
  expect(Object.keys(args)).toEqual(["file", "identityProviders"]);
  expect(args.file).toBe("access.yaml");
  const { one, two, three } = args.identityProviders as Record<string, pulumi.Output<string>>;
  expect(await awaitValue(one as pulumi.Output<string>)).toBe("uid");
  expect(await pulumi.isSecret(two as pulumi.Output<string>)).toBe(true);
  expect(await pulumi.isSecret(one as pulumi.Output<string>)).toBe(false);
  expect(await (three as unknown as { isKnown: Promise<boolean> }).isKnown).toBe(false);
  const [resource] = (one as unknown as { resources(): Set<pulumi.Resource> }).resources();
  expect(await awaitValue((resource as pulumi.Resource).urn)).toBe("urn:sso");
});

it("the arguments of a component come after the resources that the policy names", () => {
  const inputdependencies = [
    ["identityProviders", { urns: ["urn:sso"] }],
    ["policy", { urns: ["urn:group", "urn:other"] }],
    ["file", { urns: ["urn:group"] }],
  ] as const;
  expect(dependenciesOf({ inputdependencies })).toEqual(["urn:group", "urn:other"]);
});

/** What a process of its own prints: Vitest watches these rejections too. */
const outputOf = (program: string): string => {
  const module = new URL("../../plugin/component.ts", import.meta.url).href;
  const text = `import { withRejections } from ${JSON.stringify(module)};
    const reject = (text) => void Promise.reject(new Error(text));
    const later = () => new Promise((done) => setTimeout(done, 20));
    ${program}`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", text], { encoding: "utf8" });
  return stdout || (/^Error: .*$/m.exec(stderr)?.[0] ?? stderr);
};

it("a rejection that nothing handles is the error of the component, and those that follow end nothing; after a component that was constructed it ends the process", () => {
  expect(
    outputOf(`await withRejections(() => { reject("first"); return later(); }).catch((error) => console.log(error.message));
      reject("second");
      await later();
      console.log("lives");`),
  ).toBe("first\nlives\n");
  expect(outputOf('await withRejections(later); reject("a defect"); await later();')).toBe("Error: a defect");
});

it("the options of a component are those of the program, and none where it gives none", async () => {
  const nothing = { name: "", type: "", stack: "", project: "", parenturn: "", noparent: 0 };
  const options = optionsFrom(
    requestWith({
      aliases: [
        { urn: "urn:former", spec: nothing },
        { urn: "", spec: { ...nothing, name: "former", type: "t", stack: "s", project: "p", parenturn: "urn:above" } },
        { urn: "", spec: { ...nothing, noparent: 1 } },
      ],
      parent: "urn:parent",
      protect: 1,
      retainondelete: 1,
      deletedwith: "urn:with",
      dependencies: ["urn:before"],
      ignorechanges: ["description"],
      providers: [["irm", "urn:pulumi:s::p::pulumi:providers:irm::mine::id-1"]],
    }),
  );
  const urnOf = (one: unknown) => awaitValue((one as pulumi.Resource).urn);
  const { aliases, parent, deletedWith, dependsOn, providers, ...others } = options;
  expect(aliases).toEqual([
    "urn:former",
    { name: "former", type: "t", stack: "s", project: "p", parent: "urn:above" },
    { parent: undefined },
  ]);
  expect(await Promise.all([parent, deletedWith, (dependsOn as unknown[])[0]].map(urnOf))).toEqual([
    "urn:parent",
    "urn:with",
    "urn:before",
  ]);
  const { irm } = providers as unknown as Record<string, pulumi.ProviderResource>;
  expect(await awaitValue((irm as pulumi.ProviderResource).id)).toBe("id-1");
  expect(others).toEqual({ protect: true, retainOnDelete: true, ignoreChanges: ["description"] });
  expect(optionsFrom(requestWith({}))).toEqual({ aliases: [], providers: {} });
});
