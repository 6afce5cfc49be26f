// What a process that the engine has started reads of the project's files.
import { afterEach, beforeEach, expect, test } from "vitest";
import { stackSetting } from "../../pulumi/project.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/command.ts";

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());
const write = (files: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(files)) folder.write(name, text);
};
const settingIn = (at = "."): unknown => stackSetting(folder.path(at), "dev", "irm:journal");

test("finds a setting of a stack beside the project's file, also from a folder below it", () => {
  expect(settingIn()).toBeUndefined();
  write({ "Pulumi.yaml": "name: access\nmain: src", "src/index.ts": "" });
  expect(settingIn("src")).toBeUndefined();
  write({
    "Pulumi.dev.yaml": "config:\n  irm:journal: /var/irm",
    "Pulumi.prod.yaml": "config:\n  irm:journal: /var/other",
  });
  expect(settingIn()).toBe("/var/irm");
  expect(settingIn("src")).toBe("/var/irm");
  write({ "Pulumi.dev.yaml": "# irm:journal\nconfig:\n  irm:baseUrl: https://api.example" });
  expect(settingIn()).toBeUndefined();
  write({ "Pulumi.dev.yaml": "config:\n  irm:journal:\n    secure: v1:abc" });
  expect(settingIn()).toEqual({ secure: "v1:abc" });
});

test("finds it in the folder that the project names for its stacks, under either name", () => {
  write({ "stacks/Pulumi.dev.yml": "config: { irm:journal: /var/irm }" });
  for (const name of ["stackConfigDir", "config"]) {
    write({ "Pulumi.yml": `name: access\n${name}: stacks` });
    expect(settingIn()).toBe("/var/irm");
  }
  write({ "Pulumi.yml": "name: access\nconfig: { irm:baseUrl: https://api.example }" });
  expect(settingIn()).toBeUndefined();
});
