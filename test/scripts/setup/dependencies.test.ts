// Whether `npm ci` has anything to do, by what npm has written down of the last one.
import { mkdirSync } from "node:fs";
import { expect, test } from "vitest";
import { areDependenciesCurrent } from "../../../scripts/setup/dependencies.mjs";
import { temporaryFolder } from "../../support/command.ts";

const zod = { "node_modules/zod": { version: "4.6.7", integrity: "sha512-a" } };
const newerZod = { "node_modules/zod": { version: "4.6.8", integrity: "sha512-d" } };
const yaml = { "node_modules/yaml": { version: "2.9.1", integrity: "sha512-b" } };
const forMac = { "node_modules/fsevents": { version: "2.3.3", integrity: "sha512-c", optional: true } };

test.each<[what: string, wanted: object, installed: object | undefined, isCurrent: boolean]>([
  ["does not exist", zod, undefined, false],
  ["is from an npm install by hand, other platforms' packages aside", { ...zod, ...forMac }, { packages: zod }, true],
  ["lacks a package", { ...zod, ...yaml }, { packages: zod }, false],
  ["has another version of a package", zod, { packages: newerZod }, false],
  ["is from an npm ci that was cut off before npm wrote its record", zod, {}, false],
])("node_modules that %s", async (_, packages, installed, isCurrent) => {
  const folder = temporaryFolder();
  folder.write("package-lock.json", JSON.stringify({ packages: { "": {}, ...packages } }));
  if (installed) mkdirSync(folder.path("node_modules"));
  if (installed && "packages" in installed) folder.write("node_modules/.package-lock.json", JSON.stringify(installed));
  expect(await areDependenciesCurrent(folder.path("."))).toBe(isCurrent);
  folder.remove();
});
