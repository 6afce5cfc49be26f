// examples/application, copied beside the package as a user gets it: both suites pass, and docs/server/ shows its files.
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { capture } from "../../scripts/base/child.mjs";
import { root } from "../../scripts/base/project.mjs";
import { environment, installPackage } from "../support/package.ts";
import { installPythonPackages } from "../support/python-environment.ts";

const example = join(root, "examples", "application");
const PYTEST = "9.2.0";
const [project, { folder: python, reason }] = await Promise.all([
  installPackage(),
  installPythonPackages({ name: `pytest-${PYTEST}`, title: `pytest ${PYTEST}`, packages: [`pytest==${PYTEST}`] }),
]);

/** Its own packages are those of the project above it, and the clone's vitest. */
const application = join(project.folder, "application");
cpSync(example, application, {
  recursive: true,
  filter: (path) => !/^(node_modules|venv|__pycache__)$/.test(basename(path)),
});
mkdirSync(join(application, "node_modules"));
symlinkSync(join(root, "node_modules", "vitest"), join(application, "node_modules", "vitest"));

/** The suite as a user starts it: the command is the `pulumi-irm` of the PATH. */
const suite = async (command: string, ...args: string[]) => {
  const bins = [join(project.folder, "node_modules", ".bin"), dirname(process.execPath), process.env.PATH];
  const env = { ...environment(), PATH: bins.join(delimiter), NO_COLOR: "1", IRM_COMMAND: undefined };
  return capture(command, args, { cwd: application, env });
};

test("the suite of vitest passes", async () => {
  const { code, output } = await suite(process.execPath, join("node_modules", "vitest", "vitest.mjs"), "run");
  expect([code, output]).toEqual([0, expect.stringMatching(/ Tests {2}4 passed \(4\)/)]);
});

const withoutPython = reason === undefined || process.env.IRM_REQUIRE_PYTHON === "1" ? "" : ` (${reason})`;
test.skipIf(withoutPython !== "")(`the suite of pytest passes${withoutPython}`, async () => {
  if (python === undefined) throw new Error(reason);
  const { code, output } = await suite(join(python, "bin", "python"), "-m", "pytest", "pytest");
  expect([code, output]).toEqual([0, expect.stringMatching(/= 4 passed in /)]);
});

test.each(["vitest", "pytest"])("docs/server/%s.md shows the files of the example exactly", (page) => {
  const text = readFileSync(join(root, "docs", "server", `${page}.md`), "utf8");
  const shown = [...text.matchAll(/^`(\S+)`:\n\n```\w*\n([\s\S]*?)^```$/gm)].map(([, file = "", content]) => [
    file,
    content,
  ]);
  expect(shown.map(([file]) => file)).toEqual(expect.arrayContaining(["seed.yaml"]));
  expect(shown).toHaveLength(page === "vitest" ? 3 : 5);
  for (const [file = "", content] of shown) expect(content, file).toBe(readFileSync(join(example, file), "utf8"));
});
