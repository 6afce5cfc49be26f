// What is published: built, packed, installed with npm in an empty project, and used there by plain node.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { binFolder, root } from "../../scripts/project.mjs";

let project: string;
let installed: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "pulumi-irm-package-"));
  installed = join(project, "node_modules", "pulumi-irm");
  run(process.execPath, [join(root, "scripts", "build.ts")], root);
  const packed = JSON.parse(run("npm", ["pack", "./dist", "--json", "--pack-destination", project], root));
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", private: true, type: "module" }));
  run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", join(project, packed[0].filename)], project);
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Without what the npm that runs these tests has put into the environment. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD$|NODE_OPTIONS$)/.test(name)),
  );
}

function run(command: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env: environment(), encoding: "utf8" });
  if (status !== 0) throw new Error(`${[command, ...args].join(" ")}: exit code ${status}\n${stdout}${stderr}`);
  return stdout;
}

function exportsOf(specifier: string): string[] {
  const program = `console.log(JSON.stringify(Object.keys(await import(${JSON.stringify(specifier)}))))`;
  return JSON.parse(run(process.execPath, ["--input-type=module", "--eval", program], project));
}

describe("the installed package", () => {
  test("runs its command with npx", () => {
    expect(run("npx", ["--no-install", "irm", "--help"], project)).toMatch(/usage/i);
  });

  test.each([
    ["pulumi-irm", ["Group", "Identity", "Role", "RoleBinding"]],
    ["pulumi-irm/dynamic", ["kinds"]],
    ["pulumi-irm/schema", ["operations"]],
    ["pulumi-irm/server", ["createServer"]],
  ])("lets plain node import %s with %j", (specifier, names) => {
    expect(exportsOf(specifier)).toEqual(expect.arrayContaining(names));
  });

  test("serves with the SQL and other files that are not TypeScript", () => {
    const program = `
      const { createServer } = await import("pulumi-irm/server");
      const server = await createServer();
      const statusOf = async (path) => (await fetch(server.baseUrl + path)).status;
      console.log(await statusOf("/iam/v2beta1/groups"), await statusOf("/assets/swagger-ui.js"));
      await server.close();`;
    // 401: it is up, has its tables, and wants a token. 200: the renderer of its page is in the package.
    expect(run(process.execPath, ["--input-type=module", "--eval", program], project).trim()).toBe("401 200");
  });

  test("has types that a TypeScript program checks against", () => {
    writeFileSync(
      join(project, "program.ts"),
      [
        'import { Group } from "pulumi-irm";',
        'new Group("a", { parent: "0123456789abcdef0123456789abcdef01234567", name: "a" });',
        "// @ts-expect-error a group has no such argument: without types this line would be accepted",
        'new Group("b", { parent: "0123456789abcdef0123456789abcdef01234567", name: "b", colour: "red" });',
        "",
      ].join("\n"),
    );
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2024"];
    run(join(binFolder, "tsc"), [...options, "program.ts"], project);
  });

  test("is compiled: no TypeScript sources, no tests, nothing that only a clone needs", () => {
    const files = readdirSync(installed, { recursive: true, encoding: "utf8" });
    expect(files.filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))).toEqual([]);
    expect(files.filter((file) => /^(test|scripts|examples|node_modules)\b/.test(file))).toEqual([]);

    const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    expect(manifest).not.toHaveProperty("private");
    expect(manifest).not.toHaveProperty("scripts");
    expect(manifest).not.toHaveProperty("devDependencies");
    expect(existsSync(join(installed, "README.md"))).toBe(existsSync(join(root, "README.md")));
  });

  test("cannot be packed from the clone itself, and says how it is done", () => {
    expect(() => run("npm", ["pack", "--dry-run"], root)).toThrow("npm run build && npm pack ./dist");
  });
});
