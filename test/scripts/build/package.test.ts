import { describe, expect, test } from "vitest";
import { distPackage, entriesOf, entryText, supportedNode, targetsOf } from "../../../scripts/build/package.ts";

const root = {
  name: "pulumi-irm",
  version: "0.1.0",
  private: true,
  type: "module",
  exports: {
    ".": "./provider/index.ts",
    "./server": "./server/index.ts",
    "./access.schema.json": "./schema/generated/access.schema.json",
    "./package.json": "./package.json",
  },
  bin: { irm: "./cli/main.ts" },
  scripts: { prepack: "exit 1" },
  dependencies: { zod: "4.6.7" },
  peerDependencies: { "@pulumi/pulumi": "^3.142.0" },
  devDependencies: { vitest: "5.1.1" },
};

describe("the published package.json", () => {
  const dist = distPackage(root);

  test("names one file for each export, with its types first, and keeps other files", () => {
    expect(dist.exports).toEqual({
      ".": { types: "./index.d.ts", default: "./index.js" },
      "./server": { types: "./server.d.ts", default: "./server.js" },
      "./access.schema.json": "./access.schema.json",
      "./package.json": "./package.json",
    });
    expect(Object.keys((dist.exports as Record<string, object>)["."] ?? {})[0]).toBe("types");
    expect(dist.bin).toEqual({ irm: "lib/cli/main.js" });
  });

  test("has entries for tools that ignore exports", () => {
    expect(dist).toMatchObject({ type: "commonjs", main: "./index.js", types: "./index.d.ts" });
  });

  test("keeps fields for users and drops fields for the clone", () => {
    const fields = ["name", "version", "exports", "bin", "dependencies", "peerDependencies"];
    expect(Object.keys(dist).toSorted()).toEqual([...fields, "type", "main", "types", "files"].toSorted());
  });

  test("does not change the package.json of the root", () => {
    expect(root.exports["."]).toBe("./provider/index.ts");
  });

  test("names the files that it needs", () => {
    const files = ["./index.js", "./index.d.ts", "./server.d.ts", "./server.js"];
    const others = ["./access.schema.json", "./package.json", "lib/cli/main.js"];
    expect(targetsOf(dist)).toEqual([...files, ...others]);
  });

  test("has an entry for each export that is TypeScript", () => {
    expect(entriesOf(root)).toEqual([
      { name: "index", source: "./provider/index.ts" },
      { name: "server", source: "./server/index.ts" },
    ]);
  });
});

describe("an entry", () => {
  test("checks the version of Node before it loads a module, and lists every name", () => {
    expect(entryText("lib/server/index.js", ["createServer"]).split("\n").slice(0, 4)).toEqual([
      '"use strict";',
      'require("./supported-node.js");',
      'var module_ = require("./lib/server/index.js");',
      "exports.createServer = module_.createServer;",
    ]);
  });

  test.each([
    ["20.20.2", true],
    ["22.18.0", true],
    ["22.19.0", false],
    ["23.0.0", false],
    ["24.1.0", false],
  ])("on Node %s, refused: %s", (version, isRefused) => {
    const run = () => new Function("process", supportedNode("pulumi-irm", ">=22.19"))({ versions: { node: version } });
    if (isRefused) expect(run).toThrow(`pulumi-irm: Node ${version} is too old; Node 22.19 or later is required`);
    else expect(run).not.toThrow();
  });

  test("needs a range that it can read", () => {
    expect(() => supportedNode("a", "22")).toThrow('engines.node must be ">=MAJOR.MINOR", not 22');
  });
});
