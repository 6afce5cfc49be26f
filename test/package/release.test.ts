// What a release would publish: its list, and each file as its users install it.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../scripts/base/project.mjs";
import { buildRelease, installPackage, once, type Release, runIn } from "../support/package.ts";

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const { artifacts } = JSON.parse(await buildRelease()) as Release;
const names = artifacts.map(({ name }) => name);
const pathOf = (name: string) => join(root, "release", name);

test("a release has these files, with their checksums", () => {
  expect(names.filter((name) => !/linux|darwin|manylinux|macosx/.test(name))).toEqual([
    `pulumi-irm-${version}.tgz`,
    `pulumi-irm-go-v${version}.tar.gz`,
    `pulumi-resource-irm-v${version}.tar.gz`,
    `pulumi_irm-${version}-py3-none-any.whl`,
  ]);
  expect(names).toHaveLength(7);
  for (const { name, bytes, sha256 } of artifacts) {
    const content = readFileSync(pathOf(name));
    expect({ bytes: content.length, sha256: createHash("sha256").update(content).digest("hex") }).toEqual({
      bytes,
      sha256,
    });
  }
  const sums = artifacts.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join("");
  expect(readFileSync(pathOf("SHA256SUMS"), "utf8")).toBe(sums);
});

test("publishes nothing without --dry-run", () => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts", "release.ts")], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining("docs/internals/release.md") });
});

test.each(["pulumi-irm", "pulumi-resource-irm"])(
  "the archive of %s has the executable and its licenses",
  async (command) => {
    const archive = names.find((name) => name.startsWith(`${command}-v${version}-`)) as string;
    const folder = await once(command, (own) => {
      execFileSync("tar", ["-xzf", pathOf(archive), "-C", own]);
      return own;
    });
    expect(runIn(folder, "ls").trim().split("\n")).toEqual(["LICENSE-node.txt", "LICENSE-third-party.txt", command]);
    const args = command === "pulumi-irm" ? ["--version"] : ["127.0.0.1:9"];
    const { stdout } = spawnSync(join(folder, command), args, { env: { PATH: "" }, input: "", encoding: "utf8" });
    expect(stdout).toMatch(command === "pulumi-irm" ? /^\d+\.\d+\.\d+\n$/ : /^\d+\n$/);
  },
);

test("an install brings these packages beside the SDK's, and none that only the server needs", async () => {
  const { folder, path } = await installPackage();
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  const below = (name: string, found = new Set<string>()): Set<string> => {
    for (const own of Object.keys(packages[`node_modules/${name}`]?.dependencies ?? {}))
      if (!found.has(own)) below(own, found.add(own));
    return found;
  };
  const own = [...below("pulumi-irm").difference(below("@pulumi/pulumi"))];
  expect(own.toSorted()).toEqual([
    ...["@bufbuild/protobuf", "commander", "fast-json-patch", "jose", "re2js", "undici", "yaml", "zod"],
  ]);
  const kilobytes = (one: string) => Number.parseInt(runIn(folder, "du", "-sk", one), 10);
  expect(own.reduce((sum, name) => sum + kilobytes(join("node_modules", name)), 0)).toBeLessThan(20_000);
  expect(kilobytes(path)).toBeLessThan(16_000);
});
