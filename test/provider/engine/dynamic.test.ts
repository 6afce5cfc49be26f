// We rely on one internal of Pulumi, a text in `__provider`: the SDK's own dynamic provider reads it here.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import messages, { type CheckResponse, type DiffResponse } from "@pulumi/pulumi/proto/provider_pb.js";
import Struct from "google-protobuf/google/protobuf/struct_pb.js";
import { expect, it, onTestFinished } from "vitest";
import { engineOf, untilEnd } from "../../../provider/engine/engine-end.ts";
import type { Methods } from "../../../provider/engine/methods.ts";
import { type KindName, kindRecords } from "../../../provider/kind/index.ts";
import { handlerText } from "../../../provider/program/form.ts";
import { connectPlugin } from "../../harness/plugin-call.ts";
import { GROUP, ORG, ROLE } from "../../support/scripted.ts";
import { testFolder } from "../../support/test-folder.ts";

const require = createRequire(import.meta.url);
// A dependency of the SDK, resolved as the SDK does.
const requireFromString = createRequire(require.resolve("@pulumi/pulumi"))("require-from-string");
const kindNames = Object.keys(kindRecords) as KindName[];

// A project that has the package, as the SDK finds it: in its folder.
const project = testFolder();
mkdirSync(project.path("node_modules"));
symlinkSync(process.cwd(), project.path("node_modules/pulumi-irm"));

const METHODS = ["configure", "check", "diff", "create", "read", "update", "delete"];

it("the handler text of each kind is its own, at most 80 characters long, and becomes the methods that the SDK calls", () => {
  expect(new Set(kindNames.map(handlerText)).size).toBe(kindNames.length);
  for (const kind of kindNames) {
    expect(handlerText(kind).length).toBeLessThanOrEqual(80);
    const { handler } = requireFromString(handlerText(kind), { appendPaths: [project.path("node_modules")] });
    for (const method of METHODS) expect(handler()[method]).toBeInstanceOf(Function);
  }
});

it("the handler text imports an export of package.json that does not load the SDK", () => {
  const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(exports["./dynamic"]).toBe("./provider/engine/handler.ts");
  const loaded = new Set<string>();
  const follow = (file: URL) => {
    if (loaded.has(file.href)) return;
    loaded.add(file.href);
    for (const [, name] of readFileSync(file, "utf8").matchAll(/^(?:import|export) (?!type )[^;]*?from "([^"]+)"/gms)) {
      expect(name).not.toContain("@pulumi");
      if ((name as string).startsWith(".")) follow(new URL(name as string, file));
    }
  };
  follow(new URL("../../../provider/engine/handler.ts", import.meta.url));
  expect(loaded.size).toBeGreaterThan(20);
});

it("the SDK's dynamic provider runs the text: configures, checks and compares with it", async () => {
  const main = require.resolve("@pulumi/pulumi/cmd/dynamic-provider");
  const stdio = ["ignore", "pipe", "inherit"] as const;
  const provider = spawn(process.execPath, [main, "127.0.0.1:1"], { cwd: project.path("."), stdio: [...stdio] });
  const [port] = await once(provider.stdout, "data");
  const { call, close } = connectPlugin(Number(port), {
    structFrom: (value) => Struct.Struct.fromJavaScript(value as never),
  });
  onTestFinished(() => {
    close();
    provider.kill();
  });
  const output = once(provider.stdout, "data");
  const Args = { "irm:baseUrl": "https://api.example.com", "irm:colour": "blue" };
  await call("configure", { Args }, messages.ConfigureRequest);

  const wrong = { __provider: handlerText("group"), parent: GROUP, name: "ENG" };
  const checked = await call<CheckResponse>("check", { Olds: {}, News: wrong }, messages.CheckRequest);
  expect(checked.getFailuresList().map((failure) => [failure.getProperty(), failure.getReason()])).toEqual([
    ["name", 'name must match "^[a-z0-9 ._-]{1,}$"'],
  ]);
  expect(checked.getInputs()?.toJavaScript()).toEqual({ ...wrong, __service: "https://api.example.com" });

  // All keys are visible. Otherwise no misspelt one could be reported.
  expect(String(await output)).toContain("irm:colour is ignored");

  const olds = { __provider: handlerText("roleBinding"), uid: GROUP, identityUid: ORG, roleUid: ROLE };
  const members = { Id: GROUP, Olds: olds, News: { ...olds, parent: ROLE } };
  const differing = await call<DiffResponse>("diff", members, messages.DiffRequest);
  expect(differing.getChanges()).toBe(messages.DiffResponse.DiffChanges.DIFF_SOME);
  expect(differing.getReplacesList()).toEqual(["parent"]);
});

const DYNAMIC = "node_modules/@pulumi/pulumi/cmd/dynamic-provider/index.js";
const windows = `C:\\app\\${DYNAMIC.replaceAll("/", "\\")}`;
const at = (port: number) => ({ host: "127.0.0.1", port });
// A process that the engine started ends with the engine and only then; work under way finishes first.
// test/lifecycle/interrupt.test.ts proves it with a real engine.
it.each<[string, string[], { host: string; port: number } | undefined]>([
  ["the SDK's dynamic provider", [`/app/${DYNAMIC}`, "127.0.0.1:41233"], at(41233)],
  ["the same on Windows", [windows, "127.0.0.1:1"], at(1)],
  ["the same without an address", [`/app/${DYNAMIC}`], undefined],
  ["a test", ["/app/node_modules/vitest/vitest.mjs", "127.0.0.1:41233"], undefined],
  ["a program", ["/app/node_modules/@pulumi/pulumi/cmd/run/index.js", "127.0.0.1:41233"], undefined],
  ["a REPL", [], undefined],
])("the process of the engine %s", (_what, args, engine) => {
  expect(engineOf(["/usr/bin/node", ...args])).toEqual(engine);
});

/** Methods whose creates are `create`, until the engine ends; `exits` counts the ends of the process. */
const endingWith = (create: Methods["create"]) => {
  const exits: number[] = [];
  const end = Promise.withResolvers<void>();
  const methods = { group: { create } as Methods, role: { create } as Methods };
  const kinds = untilEnd(methods, end.promise, () => exits.push(1));
  return { kinds, exits, end: () => Promise.resolve(end.resolve()).then(() => end.promise) };
};
const created = { id: "x", outs: {} };

it("the end of the engine ends the process at once when nothing is under way, and the end of a call does not", async () => {
  const { kinds, exits, end } = endingWith(async () => created);
  await kinds.group.create({});
  expect(exits).toEqual([]);
  await end();
  expect(exits).toEqual([1]);
});

it("the end of the engine waits for all work under way, of every kind, including failures", async () => {
  const calls = [Promise.withResolvers<never>(), Promise.withResolvers<never>()];
  const waiting = [...calls];
  const { kinds, exits, end } = endingWith(() => waiting.shift()?.promise as Promise<never>);
  const [first, second] = [kinds.group.create({}), kinds.role.create({})];
  await end();
  calls[0]?.resolve(created as never);
  expect(await first).toEqual(created);
  expect(exits).toEqual([]);
  calls[1]?.reject(new Error("no answer"));
  await expect(second).rejects.toThrow("no answer");
  expect(exits).toEqual([1]);
});
