// The provider relies on one internal of Pulumi: a text in `__provider`. These tests run the SDK's own dynamic provider, so that
// a new SDK that reads it differently fails here.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import messages, { type CheckResponse, type DiffResponse } from "@pulumi/pulumi/proto/provider_pb.js";
import Struct from "google-protobuf/google/protobuf/struct_pb.js";
import { describe, expect, it, onTestFinished } from "vitest";
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

describe("the handler text", () => {
  it("of each kind is its own, at most 80 characters long, and becomes the methods that the SDK calls", () => {
    expect(new Set(kindNames.map(handlerText)).size).toBe(kindNames.length);
    for (const kind of kindNames) {
      expect(handlerText(kind).length).toBeLessThanOrEqual(80);
      const { handler } = requireFromString(handlerText(kind), { appendPaths: [project.path("node_modules")] });
      for (const method of METHODS) expect(handler()[method]).toBeInstanceOf(Function);
    }
  });

  it("imports an export of package.json that does not load the SDK", () => {
    const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
    expect(exports["./dynamic"]).toBe("./provider/engine/handler.ts");
    const loaded = new Set<string>();
    const follow = (file: URL) => {
      if (loaded.has(file.href)) return;
      loaded.add(file.href);
      for (const [, name] of readFileSync(file, "utf8").matchAll(
        /^(?:import|export) (?!type )[^;]*?from "([^"]+)"/gms,
      )) {
        expect(name).not.toContain("@pulumi");
        if ((name as string).startsWith(".")) follow(new URL(name as string, file));
      }
    };
    follow(new URL("../../../provider/engine/handler.ts", import.meta.url));
    expect(loaded.size).toBeGreaterThan(20);
  });
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
