// What a process that the engine has started reads of the project's files.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { stackSetting } from "../../../provider/run/project-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "irm-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));
const write = (files: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
};
const sealIn = (at = "."): unknown => stackSetting(join(folder, at), "dev", "irm:seal");

test("finds a setting of a stack beside the project's file, also from a folder below it", () => {
  expect(sealIn()).toBeUndefined();
  write({ "Pulumi.yaml": "name: access\nmain: src", "src/index.ts": "" });
  expect(sealIn("src")).toBeUndefined();
  write({ "Pulumi.dev.yaml": "config:\n  irm:seal: seal.json", "Pulumi.prod.yaml": "config:\n  irm:seal: other.json" });
  expect(sealIn()).toBe("seal.json");
  expect(sealIn("src")).toBe("seal.json");
  write({ "Pulumi.dev.yaml": "# irm:seal\nconfig:\n  irm:baseUrl: https://api.example" });
  expect(sealIn()).toBeUndefined();
  write({ "Pulumi.dev.yaml": "config:\n  irm:seal:\n    secure: v1:abc" });
  expect(sealIn()).toEqual({ secure: "v1:abc" });
});

test("finds it in the folder that the project names for its stacks, under either name", () => {
  write({ "stacks/Pulumi.dev.yml": "config: { irm:seal: seal.json }" });
  for (const name of ["stackConfigDir", "config"]) {
    write({ "Pulumi.yml": `name: access\n${name}: stacks` });
    expect(sealIn()).toBe("seal.json");
  }
  write({ "Pulumi.yml": "name: access\nconfig: { irm:baseUrl: https://api.example }" });
  expect(sealIn()).toBeUndefined();
});
