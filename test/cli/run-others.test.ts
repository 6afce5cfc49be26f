// Other providers in a run on a copy, without an engine: where they are found, what a preview says of them, and one that does not answer.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import { expect, test } from "vitest";
import { newGraph } from "../../access/graph/graph.ts";
import {
  ambientPlugins,
  commandOf,
  debuggedProviders,
  guardPlugins,
  projectPlugins,
} from "../../cli/run/others/installed.ts";
import { judgeFrom } from "../../cli/run/others/judge.ts";
import { startOthers } from "../../cli/run/others/others.ts";
import { attachedProvider, LIMITS, type ProviderCommand, startProvider } from "../../cli/run/others/process.ts";
import { type OutcomeInput, outcomeOf } from "../../cli/run/outcome.ts";
import type { Twin } from "../../cli/twin/twin.ts";
import { parsePreview } from "../../pulumi/preview.ts";
import { writeOtherProvider } from "../harness/other-provider.ts";
import { isRunning } from "../support/process.ts";
import { testFolder } from "../support/test-folder.ts";

const { GetSchemaResponse } = provider;
const folder = testFolder();

const write = (path: string, text = "", mode = 0o755): string => {
  const file = folder.write(path, text);
  chmodSync(file, mode);
  return dirname(file);
};

test("providers are found: in the project: a path of plugins or packages, and the local packages of these", () => {
  const inner = write("project/component/PulumiPlugin.yaml", "runtime: nodejs\npackages: { inner: ./inner }\n");
  const root = dirname(inner);
  const providers = [
    { name: "own", path: "bin" },
    { name: "irm", path: "plugin" },
  ];
  const packages = { component: "./component", random: "random@4.16.0", hub: "org/hub@1.0.0", git: "github.com/a/b" };
  expect(projectPlugins(root, { plugins: { providers }, packages })).toEqual([
    { name: "own", folder: join(root, "bin") },
    { name: "component", folder: join(root, "component") },
    { name: "inner", folder: join(root, "inner") },
  ]);
  expect(projectPlugins(root, { packages: { other: { source: "../other", version: "1.0.0" } } })).toEqual([
    { name: "other", folder: join(dirname(root), "other") },
  ]);
});

test("providers are found: on the PATH, the first of each name, unless the user ignores it", () => {
  const [one, two] = [write("one/pulumi-resource-aws"), write("two/pulumi-resource-aws")];
  for (const name of ["pulumi-resource-irm", "pulumi-language-x"]) write(`one/${name}`);
  write("one/pulumi-resource-text", "", 0o644);
  write("two/pulumi-resource-gcp");
  const PATH = ["relative", folder.path("missing"), one, two].join(":");
  expect(ambientPlugins({ PATH })).toEqual([
    { name: "aws", folder: one },
    { name: "irm", folder: one },
    { name: "gcp", folder: two },
  ]);
  expect(ambientPlugins({ PATH, PULUMI_IGNORE_AMBIENT_PLUGINS: "true" })).toEqual([]);
  expect(debuggedProviders({ PULUMI_DEBUG_PROVIDERS: "aws:1234,gcp:x" })).toEqual(new Map([["aws", 1234]]));
});

test("providers are found: a guard is in the place of each plugin that is not ours", () => {
  const home = folder.path("home");
  for (const name of ["resource-aws-v6.0.0/pulumi-resource-aws", "resource-irm-v0.1.0/pulumi-resource-irm"])
    write(`home/plugins/${name}`, "as it is");
  const repository = write("home/plugins/resource-github.com_a_b.git-v1.0.0/sub/PulumiPlugin.yaml");
  write("home/plugins/language-yaml-v1.0.0/pulumi-language-yaml", "as it is");
  write("home/plugins/resource-gcp-v1.0.0/pulumi-resource-gcp");
  write("home/plugins/resource-gcp-v1.0.0.partial");
  const own = folder.path("guarded");
  guardPlugins(home, own, ({ name, folder: at }) => `guard of ${name} at ${at}`);
  const files = readdirSync(own, { recursive: true, withFileTypes: true })
    .filter((one) => !one.isDirectory())
    .map((one) => readFileSync(join(one.parentPath, one.name), "utf8"));
  expect(files.toSorted()).toEqual([
    "as it is",
    "as it is",
    `guard of aws at ${join(home, "plugins", "resource-aws-v6.0.0")}`,
    `guard of github.com_a_b.git at ${repository}`,
  ]);
  // The engine passes over a link to a folder.
  expect(lstatSync(join(own, "plugins", "resource-irm-v0.1.0")).isDirectory()).toBe(true);
});

test("providers are found: an executable starts as it is, and a language runs a plugin without one", () => {
  const [built, project] = [write("built/pulumi-resource-a"), write("project-of-b/PulumiPlugin.yaml")];
  expect(commandOf({ name: "a", folder: built }, ["pulumi"])).toEqual([join(built, "pulumi-resource-a")]);
  const run = ["pulumi", "plugin", "run", "--kind", "resource", project, "--"];
  expect(commandOf({ name: "b", folder: project }, ["pulumi"])).toEqual(run);
  expect(() => commandOf({ name: "c", folder: built }, ["pulumi"])).toThrow(
    `the provider c cannot be started: ${built} has no pulumi-resource-c and no PulumiPlugin.yaml; build it, or correct the path in Pulumi.yaml`,
  );
});

const bucketUrn = (name: string) => `urn:pulumi:dev::acme::aws:s3/bucket:Bucket::${name}`;
const bucketStep = (op: string, name: string, state: object = {}) => {
  const own = { urn: bucketUrn(name), type: "aws:s3/bucket:Bucket", id: name, ...state };
  return { op, urn: bucketUrn(name), newState: own, oldState: own };
};
const read = (name: string, outputs?: object) => bucketStep("read", name, { external: true, outputs });
const preview = parsePreview(
  JSON.stringify({
    steps: [
      ...[bucketStep("same", "same"), bucketStep("update", "changed"), bucketStep("import", "imported")],
      ...[read("known", { a: 1 }), read("new"), read("secret", { a: "[secret]" })],
    ],
  }),
  "test",
);
const judge = judgeFrom(preview);

test("in a preview, a resource keeps its state, a read keeps its answer, and the rest is not known", () => {
  const answers = ["same", "known", "new", "secret", "imported", "unseen"].map((one) =>
    judge.readOf(bucketUrn(one), one),
  );
  const empty = { inputs: {}, outputs: {} };
  expect(answers).toEqual(["kept", { inputs: {}, outputs: { a: 1 } }, empty, empty, undefined, undefined]);
  expect(judge.readOf(bucketUrn("known"), "another id")).toBeUndefined();
  const changed = ["changed", "same", "unseen"].map((one) => judge.isChanged(bucketUrn(one)));
  expect(changed).toEqual([true, false, undefined]);
  expect(judge.leftOut).toEqual(["changed", "imported", "new", "secret"].map(bucketUrn));
  // Beside targets the engine leaves nothing out, so an empty value would go on.
  const targeted = judgeFrom(preview, ["--target=urn:x"]);
  expect([targeted.leftOut, targeted.readOf(bucketUrn("new"), "new")]).toEqual([[], undefined]);
});

const METHOD = "/pulumirpc.ResourceProvider";
const launch = async (file: string) => {
  const child = spawn(file, ["127.0.0.1:1"], { stdio: ["pipe", "pipe", "inherit"] });
  const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { ended: once(child, "exit"), provider: attachedProvider("guard", Number(port)) };
};

test("the guard of a provider passes on a schema, refuses a create, and says why there is none", async () => {
  const home = folder.path("launched");
  const real = writeOtherProvider(join(home, "plugins", "resource-other-v1.2.3"));
  write("launched/plugins/resource-broken-v1.0.0/pulumi-resource-broken", "#!/bin/sh\nexit 3\n");
  const [at, place] = [folder.path("a place"), folder.path("a place/home")];
  mkdirSync(place, { recursive: true });
  const others = await startOthers({
    ...{ cwd: folder.path(""), env: { ...process.env, PULUMI_HOME: home }, run: process.env, engine: ["pulumi"] },
    place: { folder: at, env: { PULUMI_HOME: place } },
    project: { name: "acme", plugins: [] },
    judge: judgeFrom(parsePreview(JSON.stringify({ steps: [] }), "test")),
  });
  const [other, broken] = await Promise.all([
    launch(join(place, "plugins", "resource-other-v1.2.3", "pulumi-resource-other")),
    launch(join(place, "plugins", "resource-broken-v1.0.0", "pulumi-resource-broken")),
  ]);
  try {
    const schema = await other.provider.call(`${METHOD}/GetSchema`, Buffer.alloc(0));
    expect(GetSchemaResponse.deserializeBinary(schema).getSchema()).toContain("other:index:Thing");
    const create = other.provider.call(`${METHOD}/Create`, Buffer.alloc(0));
    await expect(create).rejects.toMatchObject({
      details: "a review does not run other providers: nothing was created",
    });
    const sentence =
      "the provider broken ended with exit code 3: run pulumi preview, which shows what the provider prints";
    const none = broken.provider.call(`${METHOD}/Handshake`, Buffer.alloc(0));
    await expect(none).rejects.toMatchObject({ details: sentence });
    expect([others.problems(), real.running().length]).toEqual([[sentence], 1]);
  } finally {
    await Promise.all([other, broken].map(({ provider }) => provider.close()));
    await others.close();
  }
  await Promise.all([other.ended, broken.ended]);
  expect(real.running()).toEqual([]);
});

const commandFor = (script: string): ProviderCommand => ({
  ...{ name: "aws", file: process.execPath, args: ["-e", script], cwd: folder.path(""), env: process.env },
});
const start = (script: string, limits = {}) =>
  startProvider(commandFor(script), new AbortController().signal, { ...LIMITS, endMs: 200, ...limits });
const ADVICE = "run pulumi preview, which shows what the provider prints";
/** It listens, and never answers. */
const SILENT = `
    const server = require("node:net").createServer(() => {});
    server.listen(0, "127.0.0.1", () => console.log(server.address().port));
    process.on("SIGINT", () => {});
  `;

test.each([
  ["ends at once", "process.exit(3)", {}, `the provider aws ended with exit code 3: ${ADVICE}`],
  ["prints something else", "console.log('hello')", {}, `the provider aws printed no port: ${ADVICE}`],
  ["prints nothing", "setInterval(() => {}, 1000)", { startMs: 300 }, `did not start within 0.3 seconds: ${ADVICE}`],
])("a silent provider says why there is none: %s", async (_, script, limits, message) => {
  await expect(start(script, limits)).rejects.toThrow(message);
});

test("a silent provider is ended when it does not answer in time, with all that it has started", async () => {
  const file = folder.path("pids");
  const child = "require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])";
  const note = `require("node:fs").writeFileSync(${JSON.stringify(file)}, process.pid + " " + ${child}.pid);`;
  const provider = await start(note + SILENT, { answerMs: 300 });
  const path = "/pulumirpc.ResourceProvider/GetSchema";
  const message = `the provider aws did not answer GetSchema within 0.3 seconds: ${ADVICE}`;
  await expect(provider.call(path, Buffer.alloc(0))).rejects.toThrow(message);
  // It says so at once from then on.
  await expect(provider.call(path, Buffer.alloc(0))).rejects.toThrow(message);
  await provider.close();
  const pids = readFileSync(file, "utf8").split(" ").map(Number);
  while (pids.some(isRunning)) await sleep(20);
});

test("a silent provider is named when it ends under a request", async () => {
  const provider = await start(`${SILENT} setTimeout(() => process.exit(7), 500);`);
  const call = provider.call("/pulumirpc.ResourceProvider/Invoke", Buffer.alloc(0));
  await expect(call).rejects.toThrow(`the provider aws ended with exit code 7: ${ADVICE}`);
  await provider.close();
});

const ORG = "a".repeat(40);
const TEAM = `${ORG}/${"b".repeat(16)}`;
const BOT = `${TEAM}/${"c".repeat(16)}`;
const urnOf = (type: string, name: string) => `urn:pulumi:dev::acme::${type}::${name}`;
const [group, bot, binding] = (["Group", "Identity", "RoleBinding"] as const).map((type) =>
  urnOf(`irm:index:${type}`, type.toLowerCase()),
) as [string, string, string];
const bucket = urnOf("aws:s3/bucket:Bucket", "bucket");

const stepOf = (op: string, urn: string, more: { id?: string; on?: string[]; parent?: string } = {}) => {
  const type = urn.split("::")[2];
  const state = { urn, type, id: more.id, inputs: { parent: more.parent ?? ORG }, dependencies: more.on ?? [] };
  return { op, urn, ...(op === "delete" ? { oldState: state } : { newState: state, oldState: more.id && state }) };
};

const outcome = (planned: object[], more: Partial<OutcomeInput> = {}) => {
  const before = newGraph();
  before.groups.set(ORG, { id: ORG, uid: ORG, name: "acme", parent: null });
  before.groups.set(TEAM, { id: TEAM, uid: TEAM, name: "team", parent: ORG });
  const copy = { records: { groups: [{ uid: ORG }, { uid: TEAM }] } };
  return outcomeOf({
    ...{ preview: parsePreview(JSON.stringify({ steps: planned }), "test"), before },
    ...{ steps: [], settled: new Set<string>(), errors: [], leftOut: [], twins: [{ copy } as unknown as Twin] },
    ...more,
  });
};

const failed = (urn: string, op = "create") => ({ urn, op, ok: false, error: "no" });

test("the outcome names what is missing in the group that holds the record which the API names", () => {
  const error = `UpdateIdentity identity ${BOT}: Permission denied: needs identity.update, identity.list at ${BOT}`;
  const { steps } = outcome([stepOf("update", bot, { id: BOT })], {
    steps: [{ urn: bot, op: "update", ok: false, error }],
  });
  const missing = { capabilities: ["identity.update", "identity.list"], group: TEAM, groupName: "team" };
  expect(steps).toEqual([{ urn: bot, op: "update", ok: false, error, missing }]);
});

test("the outcome leaves out what an engine says of a resource whose check it no longer waits for", () => {
  const text = "aws:s3/bucket:Bucket resource 'bucket' has a problem: ";
  const errors = [`${text}grpc: the client connection is closing`, `${text}no such region`];
  expect(outcome([], { errors }).errors).toEqual([errors[1]]);
});

test("the outcome says of a step that did not run which failure it waited for", () => {
  const planned = [
    stepOf("create", group),
    stepOf("create", bot, { on: [group] }),
    stepOf("create", binding, { on: [bot] }),
  ];
  const { steps } = outcome(planned, { steps: [failed(group)] });
  expect(steps.map(({ ok, error }) => [ok, error])).toEqual([
    [false, "no"],
    [false, "it did not run, since group failed"],
    [false, "it did not run, since group failed"],
  ]);
});

test("the outcome names the failures that a step waited for, of many the first five", () => {
  const groups = [1, 2, 3, 4, 5, 6, 7].map((n) => urnOf("irm:index:Group", `g${n}`));
  const errorOf = (on: string[]) => {
    const planned = [...groups.map((urn) => stepOf("create", urn)), stepOf("create", bot, { on })];
    return outcome(planned, { steps: groups.map((urn) => failed(urn)) }).steps.at(-1)?.error;
  };
  expect(errorOf(groups.slice(1, 2))).toBe("it did not run, since g2 failed");
  expect(errorOf(groups.slice(1, 4))).toBe("it did not run, since g2, g3 and g4 failed");
  expect(errorOf(groups)).toBe("it did not run, since g1, g2, g3, g4, g5 and 2 more failed");
  const deleted = [
    stepOf("create", group),
    stepOf("delete", binding, { id: `${TEAM}/${"d".repeat(16)}`, on: [bot] }),
    stepOf("delete", bot, { id: BOT }),
  ];
  const { steps } = outcome(deleted, { steps: [failed(group), failed(binding, "delete")] });
  expect(steps.at(-1)?.error).toBe("it did not run, since rolebinding failed");
});

test("the outcome takes a planned change for done where the engine found that there is none", () => {
  const planned = [stepOf("update", bot, { id: BOT })];
  expect(outcome(planned, { settled: new Set([bot]) }).steps).toEqual([]);
  const undone = { urn: bot, op: "update", ok: false };
  const error = "it did not run: in its update, the program does not declare it";
  expect(outcome(planned).steps).toEqual([{ ...undone, error }]);
  // The program may have ended before.
  expect(outcome(planned, { errors: ["an error"] }).steps).toEqual([{ ...undone, error: "it did not run" }]);
  // What the engine has kept, it has not deleted.
  for (const settled of [new Set<string>(), new Set([bot])]) {
    const [deleted] = outcome([stepOf("delete", bot, { id: BOT })], { settled }).steps;
    expect(deleted?.error).toBe("it did not run: in its update, the program still declares it");
  }
});

test("the outcome counts what waits for a change of another provider as not run, in either direction", () => {
  const why = "it waits for bucket, which another provider changes";
  const created = [
    stepOf("create", bucket),
    stepOf("create", group, { on: [bucket] }),
    stepOf("create", bot, { on: [group] }),
  ];
  const refusal = { urn: bucket, op: "create", ok: false, error: "a review does not run other providers" };
  expect(outcome(created, { steps: [refusal] })).toMatchObject({
    ...{ steps: [], others: [{ urn: bucket, op: "create" }] },
    notRun: [group, bot].map((urn) => ({ urn, op: "create", why })),
  });
  // What depends on a resource is deleted before it.
  const deleted = [stepOf("delete", bucket, { id: "b", on: [group] }), stepOf("delete", group, { id: TEAM })];
  expect(outcome(deleted, { steps: [{ ...refusal, op: "delete" }] }).notRun).toEqual([
    { urn: group, op: "delete", why },
  ]);
});

test("the outcome does not count what ran, or was skipped, although it waits for a read that was refused", () => {
  const read = { urn: bucket, op: "read", ok: false, error: "a review does not run other providers" };
  const planned = [stepOf("create", group, { on: [bucket] }), stepOf("create", bot, { on: [group] })];
  const text = "irm:index:Group resource 'group': property name value {<nil>} has a problem: must be set";
  const ran = [read, { urn: bot, op: "create", ok: true }];
  const { steps, notRun, errors } = outcome(planned, { steps: ran, settled: new Set([group]), errors: [text] });
  const why = "it waits for bucket, which another provider reads";
  expect([steps, errors]).toEqual([[], []]);
  expect(notRun).toEqual([bot, group].map((urn) => ({ urn, op: "create", why })));
});

test("the outcome leaves out what the SDK repeats of a failed step, and keeps an error of the program", () => {
  const repeated = "Error: resource group [irm:index:Group] failed to register";
  const own = "Error: resource other [irm:index:Group] failed to register";
  const { errors } = outcome([stepOf("create", group)], {
    steps: [failed(group)],
    errors: [repeated, own, "a review does not run other providers: nothing was read"],
  });
  expect(errors).toEqual([own]);
});

test("the outcome leaves out what the engine says of values that a failed step would have given", () => {
  const of = (name: string, value: string) =>
    `irm:index:RoleBinding resource '${name}': property role value ${value} has a problem: must be a uid`;
  const planned = [stepOf("create", group), stepOf("create", binding, { on: [group] })];
  const kept = [of("rolebinding", "{nonsense}"), of("another", "output<string>{}")];
  const left = ["output<string>{}", "{map[role:output<string>{}]}"].map((value) => of("rolebinding", value));
  const { errors } = outcome(planned, { steps: [failed(group)], errors: [...left, ...kept] });
  expect(errors).toEqual(kept);
});
