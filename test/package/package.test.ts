// The published package: built, packed, installed with npm in an empty project, and used there by plain Node.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { expect, test } from "vitest";
import { pageFrom } from "../../scripts/base/markdown.ts";
import { root } from "../../scripts/base/project.mjs";
import { documents } from "../support/document.ts";
import { oldNodeFolder } from "../support/old-node.ts";
import { environment, installPackage, runIn } from "../support/package.ts";

const project = await installPackage();

const EXPORTS = [
  ["pulumi-irm", ["Group", "Identity", "Role", "RoleBinding"]],
  ["pulumi-irm/dynamic", ["kinds"]],
  ["pulumi-irm/schema", ["operations"]],
  ["pulumi-irm/server", ["createServer"]],
] as const;

const node = (program: string, ...options: string[]): string =>
  runIn(project.folder, process.execPath, ...options, "--eval", program).trim();

test.each(["pulumi-irm", "irm"])("the installed package runs its command with npx %s", (name) => {
  expect(runIn(project.folder, "npx", "--no-install", name, "--help")).toMatch(/^Usage: npx pulumi-irm /);
});

test("the installed package is the same module for import and require() in plain Node", () => {
  const specifiers = JSON.stringify(EXPORTS.map(([specifier]) => specifier));
  const program = `
      Promise.all(${specifiers}.map(async (specifier) => {
        const [imported, required] = [await import(specifier), require(specifier)];
        const names = Object.keys(required);
        return { names, same: names.length > 0 && names.every((name) => imported[name] === required[name]) };
      })).then((found) => console.log(JSON.stringify(found)));`;
  const found = JSON.parse(node(program, "--input-type=commonjs")) as { names: string[]; same: boolean }[];
  expect(found.map(({ same }) => same)).toEqual(EXPORTS.map(() => true));
  for (const [place, [, names]] of EXPORTS.entries())
    expect(found[place]?.names).toEqual(expect.arrayContaining([...names]));
});

test("the installed package serves with its SQL and other files that are not TypeScript", () => {
  const program = `
      const { createServer } = await import("pulumi-irm/server");
      const server = await createServer();
      const statusOf = async (path) => (await fetch(server.baseUrl + path)).status;
      console.log(await statusOf("/iam/v2beta1/groups"), await statusOf("/assets/swagger-ui.js"));
      await server.close();`;
  // 401: it runs, has its tables, and requires a token. 200: the package has the renderer of its page.
  expect(node(program, "--input-type=module")).toBe("401 200");
});

test("the installed package is compiled: it has no TypeScript sources, no tests, and no files for the clone", () => {
  const files = readdirSync(project.path, { recursive: true, encoding: "utf8" }).filter(
    (file) => !/^node_modules\b/.test(file),
  );
  expect(files.filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))).toEqual([]);
  expect(files.filter((file) => /^(test|scripts|examples|declarations|docs\/images)\b/.test(file))).toEqual([]);

  const manifest = JSON.parse(readFileSync(join(project.path, "package.json"), "utf8"));
  expect(manifest).not.toHaveProperty("private");
  expect(manifest.publishConfig).toEqual({ access: "public", provenance: true });
  for (const file of ["LICENSE", "CHANGELOG.md", "SECURITY.md"])
    expect(existsSync(join(project.path, file)), file).toBe(true);
  expect(manifest).not.toHaveProperty("scripts");
  expect(manifest).not.toHaveProperty("devDependencies");
});

test("the installed package has the code of the dynamic provider in one file, with the licences of what it contains", () => {
  const text = readFileSync(join(project.path, "lib", "dynamic.js"), "utf8");
  const imported = [...text.matchAll(/\b(?:from|import\()\s*["']([^"']+)["']/g)].map(([, name = ""]) => name);
  expect(imported.filter((name) => !isBuiltin(name))).toEqual([]);
  expect(readFileSync(join(project.path, "lib", "dynamic.LICENSE.txt"), "utf8")).toContain("zod");
});

test("the installed package cannot be packed from the clone, and says how to pack it", () => {
  expect(() => runIn(root, "npm", "pack", "--dry-run")).toThrow("npm run build && npm pack ./dist");
});

test("an older Node gets one sentence from every import and require()", async () => {
  const old = join(await oldNodeFolder(), "node");
  const stderrOf = (...args: string[]): string => {
    const { status, stderr } = spawnSync(old, args, { cwd: project.folder, env: environment(), encoding: "utf8" });
    expect(status).toBe(1);
    return stderr;
  };
  const sentence = stderrOf("node_modules/pulumi-irm/lib/cli/main.js")
    .trim()
    .replace(/^irm: /, "");
  expect(sentence).toMatch(/^Node \d+\.\d+\.\d+ is too old; Node 22\.19 or later is required$/);
  for (const [specifier] of EXPORTS)
    for (const program of [`require("${specifier}")`, `import("${specifier}")`]) {
      const text = stderrOf("--eval", program);
      expect(text.split(`pulumi-irm: ${sentence}`)).toHaveLength(2);
      expect(text).not.toMatch(/^\s+at /m);
    }
});

test("the published package has the types that it runs with under every module resolution (attw)", async () => {
  const { problems } = (await checkPackage(createPackageFromTarballData(readFileSync(project.tarball)))) as {
    problems: unknown[];
  };
  expect(problems).toEqual([]);
});

test("the published package breaks no rule of packaging (publint)", async () => {
  const { messages } = await publint({ pkgDir: project.path, pack: false, level: "suggestion", strict: true });
  expect(messages).toEqual([]);
});

test("the published package uses the SDK of its project", () => {
  const manifest = JSON.parse(readFileSync(join(project.path, "package.json"), "utf8"));
  expect(manifest.dependencies).not.toHaveProperty("@pulumi/pulumi");
  expect(manifest.peerDependencies).toEqual({ "@pulumi/pulumi": expect.stringMatching(/^\^3\.\d+\.0$/) });
});

test("the published documents link to existing files", () => {
  const names = documents(project.path);
  expect(names).toEqual(expect.arrayContaining(["README.md", "docs/resources/tag.md", "docs/server.md"]));
  // Links and anchors only: pages also mention files of the repository, which the package lacks.
  const pages = new Map(names.map((name) => [name, pageFrom(readFileSync(join(project.path, name), "utf8"))]));
  const broken = [...pages].flatMap(([name, { links }]) =>
    links
      .map(({ target }) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      // The registry's page takes the pictures of README from the repository.
      .filter((target) => !target.startsWith("docs/images/"))
      .filter((target) => {
        const [file = "", anchor] = target.split("#");
        const path = file === "" ? name : join(dirname(name), file);
        if (!existsSync(join(project.path, path))) return true;
        return anchor !== undefined && !pages.get(path)?.anchors.some((one) => one.name === anchor);
      })
      .map((target) => `${name}: ${target}`),
  );
  expect(broken).toEqual([]);
});

test("the published documents contain the files that the help of each command names", () => {
  // As npx starts it, but faster.
  const irm = join(project.folder, "node_modules", ".bin", "irm");
  const help = [[], ["serve"], ["serve", "token"], ["recover"]].map((command) =>
    runIn(project.folder, irm, ...command, "--help"),
  );
  const named = help.flatMap((text) => text.match(/\bdocs\/[\w-]+\.md/g) ?? []);
  expect(named.filter((file) => !existsSync(join(project.path, file)))).toEqual([]);
});
