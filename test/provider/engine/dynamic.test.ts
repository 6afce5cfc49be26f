// The provider relies on one internal of Pulumi: a text in `__provider`. These tests run the SDK's own dynamic provider, so that
// a new SDK that reads it differently fails here.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type KindName, kindRecords } from "../../../provider/kind/index.ts";
import { handlerText } from "../../../provider/program/form.ts";
import { GROUP, ORG, ROLE } from "../../support/scripted.ts";

const require = createRequire(import.meta.url);
// A dependency of the SDK, resolved as the SDK does.
const sdkRequire = createRequire(require.resolve("@pulumi/pulumi"));
const requireFromString = sdkRequire("require-from-string");
const kindNames = Object.keys(kindRecords) as KindName[];

// A project that has the package, as the SDK finds it: in its folder.
const project = mkdtempSync(join(tmpdir(), "irm-handler-"));
mkdirSync(join(project, "node_modules"));
symlinkSync(process.cwd(), join(project, "node_modules", "pulumi-irm"));
afterAll(() => rmSync(project, { recursive: true }));

const METHODS = ["configure", "check", "diff", "create", "read", "update", "delete"];

describe("the handler text", () => {
  it.each(kindNames)("of %s is at most 80 characters", (kind) => {
    expect(handlerText(kind).length).toBeLessThanOrEqual(80);
  });

  it.each(kindNames)("of %s is the same for every resource of the kind, and differs from other kinds", (kind) => {
    expect(handlerText(kind)).toBe(handlerText(kind));
    expect(new Set(kindNames.map(handlerText)).size).toBe(kindNames.length);
  });

  it.each(kindNames)("of %s becomes the methods that the SDK calls", (kind) => {
    const methods = requireFromString(handlerText(kind), { appendPaths: [join(project, "node_modules")] }).handler();
    for (const method of METHODS) expect(methods[method]).toBeInstanceOf(Function);
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

describe("the SDK's dynamic provider", async () => {
  const main = require.resolve("@pulumi/pulumi/cmd/dynamic-provider");
  const provider: ChildProcess = spawn(process.execPath, [main, "127.0.0.1:1"], {
    cwd: project,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [port] = await once(provider.stdout as NodeJS.ReadableStream, "data");
  const grpc = sdkRequire("@grpc/grpc-js");
  const { ResourceProviderClient } = require("@pulumi/pulumi/proto/provider_grpc_pb");
  const client: Record<string, (...args: unknown[]) => void> & { close(): void } = new ResourceProviderClient(
    `127.0.0.1:${String(port).trim()}`,
    grpc.credentials.createInsecure(),
  );
  afterAll(() => {
    client.close();
    provider.kill();
  });

  const provpb = require("@pulumi/pulumi/proto/provider_pb");
  const { Struct } = sdkRequire("google-protobuf/google/protobuf/struct_pb");

  const call = (method: string, request: object): Promise<Record<string, () => never>> =>
    new Promise((resolve, reject) => {
      client[method]?.(request, (error: Error | undefined, answer: never) => (error ? reject(error) : resolve(answer)));
    });

  it("runs the text: configures, checks and compares with it", async () => {
    const configure = new provpb.ConfigureRequest();
    configure.setArgs(Struct.fromJavaScript({ "irm:baseUrl": "https://api.example.com", "irm:colour": "blue" }));
    const output = once(provider.stdout as NodeJS.ReadableStream, "data");
    await call("configure", configure);

    const wrong = { __provider: handlerText("group"), parent: GROUP, name: "ENG" };
    const check = new provpb.CheckRequest();
    check.setOlds(Struct.fromJavaScript({}));
    check.setNews(Struct.fromJavaScript(wrong));
    const checked = (await call("check", check)) as never as {
      getFailuresList(): { getProperty(): string; getReason(): string }[];
      getInputs(): { toJavaScript(): object };
    };
    expect(checked.getFailuresList().map((failure) => [failure.getProperty(), failure.getReason()])).toEqual([
      ["name", 'name must match "^[a-z0-9 ._-]{1,}$"'],
    ]);
    expect(checked.getInputs().toJavaScript()).toEqual({ ...wrong, __service: "https://api.example.com" });

    // All keys are visible. Otherwise no misspelt one could be reported.
    expect(String(await output)).toContain("irm:colour is ignored");

    const olds = { __provider: handlerText("roleBinding"), uid: GROUP, identityUid: ORG, roleUid: ROLE };
    const diff = new provpb.DiffRequest();
    diff.setId(GROUP);
    diff.setOlds(Struct.fromJavaScript(olds));
    diff.setNews(Struct.fromJavaScript({ ...olds, parent: ROLE }));
    const differing = (await call("diff", diff)) as never as { getChanges(): number; getReplacesList(): string[] };
    expect(differing.getChanges()).toBe(provpb.DiffResponse.DiffChanges.DIFF_SOME);
    expect(differing.getReplacesList()).toEqual(["parent"]);
  }, 30_000);
});
