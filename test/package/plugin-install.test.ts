// The plugin as users install it, with an empty home of the engine. Nothing but loopback can be reached.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
import { root } from "../../scripts/base/project.mjs";
import { createStack } from "../harness/engine-stack.ts";
import { createWorkplace } from "../harness/engine-workplace.ts";
import { programsOf } from "../support/document.ts";
import { installPackage, writeProject } from "../support/package.ts";

const [project, place] = await Promise.all([installPackage(), createWorkplace()]);
afterAll(() => place.close());

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** A file that the build has put beside the package. */
const released = (file: RegExp): string => {
  const [name = ""] = readdirSync(join(root, "release")).filter((one) => file.test(one));
  return join(root, "release", name);
};

const PLUGINS = "plugins:\n  providers:\n    - name: irm\n      path: node_modules/pulumi-irm/plugin\n";
const NOWHERE = "http://127.0.0.1:9";

const open = (name: string, files: Record<string, string | object>) => {
  const program = writeProject(join(place.folder, name), files);
  const offline = { HTTPS_PROXY: NOWHERE, HTTP_PROXY: NOWHERE, NO_PROXY: "127.0.0.1,localhost" };
  const PATH = [inject("languagesEngine"), process.env.PATH].filter(Boolean).join(delimiter);
  return createStack({
    folder: join(place.folder, `${name}-stack`),
    program,
    env: { ...place.env, ...offline, PATH },
  });
};

const groups = (name: string): number => place.rows("groups", "name = ?", name).length;
const quietly = ["--yes", "--skip-preview"];

test("npm and two lines in Pulumi.yaml; a refresh and a destroy need no other file of the package", async () => {
  const program = `
    import { Group } from "pulumi-irm/plugin";
    import "./documented.js";
    new Group("npm", { parent: "${place.server.organization}", name: "npm" });`;
  const documented = programsOf(project.path, "docs/resources.md").find(({ text }) =>
    text.includes("pulumi-irm/plugin"),
  );
  const stack = await open("npm", {
    "Pulumi.yaml": `name: npm\nruntime: nodejs\nmain: index.js\n${PLUGINS}`,
    "package.json": { type: "module" },
    "index.js": program,
    "documented.js": (documented?.text ?? "").replaceAll("<uid of your organization>", place.server.organization),
  });
  const modules = join(place.folder, "npm", "node_modules");
  symlinkSync(join(project.folder, "node_modules"), modules);
  const { output } = await stack.must("up", ...quietly);
  expect(output).not.toMatch(/warning/i);
  expect([groups("npm"), groups("platform")]).toEqual([1, 1]);
  expect(place.rows("identities", "name = ?", "release workflow")).toHaveLength(1);

  rmSync(modules);
  mkdirSync(join(modules, "pulumi-irm"), { recursive: true });
  cpSync(join(project.path, "plugin"), join(modules, "pulumi-irm", "plugin"), { recursive: true });
  await stack.must("refresh", ...quietly, "--expect-no-changes");
  await stack.must("destroy", ...quietly);
  expect(groups("npm")).toBe(0);
});

test("one command with a file of the release, for a program in YAML: that for every platform, or for this one", async () => {
  const stack = await open("file", {
    "Pulumi.yaml": `name: file
runtime: yaml
resources:
  file: { type: irm:Group, properties: { parent: ${place.server.organization}, name: file } }
`,
  });
  const install = (file: RegExp) =>
    stack.must("plugin", "install", "resource", "irm", `v${version}`, "--reinstall", "--file", released(file));
  await install(/^pulumi-resource-irm-v[^-]*\.tar\.gz$/);
  const { output } = await stack.must("up", ...quietly);
  expect(output).not.toMatch(/warning/i);
  await install(/^pulumi-resource-irm-v.*-\w+\.tar\.gz$/);
  await stack.must("up", ...quietly, "--expect-no-changes");
  expect(groups("file")).toBe(1);
});
