import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { areDependenciesCurrent } from "../../../scripts/setup/dependencies.mjs";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-irm-dependencies-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const zod = { "node_modules/zod": { version: "4.6.7", integrity: "sha512-a" } };
const yaml = { "node_modules/yaml": { version: "2.9.1", integrity: "sha512-b" } };
const forMac = { "node_modules/fsevents": { version: "2.3.3", integrity: "sha512-c", optional: true } };

function writeWanted(packages: object): void {
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ packages: { "": {}, ...packages } }));
}
function writeInstalled(packages: object): void {
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  writeFileSync(join(folder, "node_modules", ".package-lock.json"), JSON.stringify({ packages }));
}

describe("node_modules", () => {
  test("is not current when it does not exist", async () => {
    writeWanted(zod);
    expect(await areDependenciesCurrent(folder)).toBe(false);
  });

  test("is current after an npm install by hand, other platforms' packages aside", async () => {
    writeWanted({ ...zod, ...forMac });
    writeInstalled(zod);
    expect(await areDependenciesCurrent(folder)).toBe(true);
  });

  test("is not current when a package is missing", async () => {
    writeWanted({ ...zod, ...yaml });
    writeInstalled(zod);
    expect(await areDependenciesCurrent(folder)).toBe(false);
  });

  test("is not current when a package differs from the version of the lockfile", async () => {
    writeWanted(zod);
    writeInstalled(zod);
    expect(await areDependenciesCurrent(folder)).toBe(true);

    writeWanted({ "node_modules/zod": { version: "4.6.8", integrity: "sha512-d" } });
    expect(await areDependenciesCurrent(folder)).toBe(false);
  });

  test("is not current when an npm ci was cut off before npm wrote its record", async () => {
    writeWanted(zod);
    mkdirSync(join(folder, "node_modules"));
    expect(await areDependenciesCurrent(folder)).toBe(false);
  });
});
