import { describe, expect, test } from "vitest";
import { distPackage, targetsOf } from "../../scripts/dist-package.ts";

const root = {
  name: "pulumi-irm",
  version: "0.1.0",
  private: true,
  type: "module",
  exports: { ".": "./provider/index.ts", "./package.json": "./package.json" },
  bin: { irm: "./cli/main.ts" },
  scripts: { prepack: "exit 1" },
  dependencies: { zod: "4.6.7" },
  devDependencies: { vitest: "5.1.1" },
};

describe("the package.json that is published", () => {
  const dist = distPackage(root);

  test("names compiled files with their types first, and leaves other files alone", () => {
    expect(dist.exports).toEqual({
      ".": { types: "./provider/index.d.ts", default: "./provider/index.js" },
      "./package.json": "./package.json",
    });
    expect(Object.keys((dist.exports as Record<string, object>)["."] ?? {})[0]).toBe("types");
    expect(dist.bin).toEqual({ irm: "./cli/main.js" });
  });

  test("keeps what a user's npm needs and drops what only a clone needs", () => {
    expect(Object.keys(dist)).toEqual(["name", "version", "type", "exports", "bin", "dependencies"]);
  });

  test("rewrites conditions and a bin that is a single file", () => {
    const conditional = distPackage({ exports: { ".": { import: "./a.ts", require: "./b.cjs" } }, bin: "./c.ts" });
    expect(conditional).toEqual({
      exports: { ".": { import: { types: "./a.d.ts", default: "./a.js" }, require: "./b.cjs" } },
      bin: "./c.js",
    });
  });

  test("does not change the root's", () => {
    expect(root.exports["."]).toBe("./provider/index.ts");
  });

  test("says which files it needs", () => {
    expect(targetsOf(dist)).toEqual([
      "./provider/index.d.ts",
      "./provider/index.js",
      "./package.json",
      "./cli/main.js",
    ]);
  });
});
