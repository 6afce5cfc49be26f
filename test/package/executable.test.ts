// The executable, which contains Node: without any Node on the PATH.
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, inject, test } from "vitest";
import { root } from "../../scripts/base/project.mjs";
import { createWorkplace } from "../harness/engine-workplace.ts";
import { withoutPython } from "../harness/language-program.ts";
import { writeOtherProvider } from "../harness/other-provider.ts";
import { createPythonEnvironment } from "../harness/python.ts";
import { buildRelease, type Release, writeProject } from "../support/package.ts";

const [release, place] = await Promise.all([buildRelease(), createWorkplace()]);
afterAll(() => place.close());

const { artifacts } = JSON.parse(release) as Release;
const folder = join(root, "release", `${process.platform}-${process.arch}`);
const engine = inject("languagesEngine") ?? "/nonexistent";
const home = join(place.folder, "home");

/** An environment without Node; `tools` are the folder of the executable, or of the wheel's commands. */
const bare = (tools = folder) => ({
  ...{ ...place.env, HOME: place.folder, PATH: [tools, engine].join(delimiter) },
  ...{
    PULUMI_BACKEND_URL: `file://${place.folder}`,
    PULUMI_CONFIG_PASSPHRASE: "test",
    PULUMI_HOME: home,
    PULUMI_SKIP_UPDATE_CHECK: "true",
  },
});

const runIn = (cwd: string, env: Record<string, string>, command: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8" });
  return { status, stdout, output: stdout + stderr };
};

const up = (program: string, env: Record<string, string>) => {
  for (const args of ["stack init dev", "up --yes --skip-preview"])
    expect(runIn(program, env, "pulumi", ...args.split(" "))).toMatchObject({ status: 0 });
};

const firstLine = async (env: Record<string, string>, name: string, ...args: string[]) => {
  const child = spawn(join(folder, name), args, { env, stdio: ["pipe", "pipe", "inherit"] });
  for await (const line of createInterface(child.stdout)) return { line, stop: () => child.kill() };
  throw new Error(`${name} has ended`);
};

test("is the command, the plugin and the server with an empty PATH", async () => {
  const env = { PATH: "", HOME: place.folder };
  const { status, stdout } = runIn(place.folder, env, join(folder, "pulumi-irm"), "--help");
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^Usage: pulumi-irm COMMAND/) });
  expect(stdout).not.toContain("npx");

  const plugin = await firstLine(env, "pulumi-resource-irm", "127.0.0.1:9");
  plugin.stop();
  expect(plugin.line).toMatch(/^\d+$/);

  const server = await firstLine(env, "pulumi-irm", "serve", "--json", "--port", "0");
  const { localUrl } = JSON.parse(server.line);
  const pages = ["/", "/assets/home.css", "/assets/swagger-ui.js", "/openapi.json", "/iam/v2beta1/groups"];
  const statuses = await Promise.all(pages.map(async (page) => (await fetch(localUrl + page)).status));
  server.stop();
  expect(statuses).toEqual([200, 200, 200, 200, 401]);
});

test("creates and reviews a program in YAML, which irm init has written, beside a provider of others", () => {
  const env = bare();
  writeOtherProvider(join(home, "plugins", "resource-other-v1.2.3"));
  expect(runIn(place.folder, env, "pulumi-irm", "init", "yaml", "--organization", "bare").status).toBe(0);
  const program = join(place.folder, "yaml");
  const addThing = (name: string) => {
    const thing = `  ${name}: { type: other:Thing, properties: { text: ${name} }, options: { version: 1.2.3 } }\n`;
    appendFileSync(join(program, "Pulumi.yaml"), thing);
  };
  addThing("there");
  up(program, env);
  expect(place.rows("groups", "name = ?", "bare")).toHaveLength(1);

  const policy = readFileSync(join(program, "access.yaml"), "utf8");
  expect(policy).not.toContain("node_modules");
  writeFileSync(join(program, "access.yaml"), policy.replace("viewer: [pull-requests]", "editor: [pull-requests]"));
  addThing("new");
  const { status, stdout } = runIn(program, env, "pulumi-irm", "review", "--stack", "dev", "--format", "json");
  const { identities, errors, differs, others } = JSON.parse(stdout);
  expect({ status, errors, differs }).toEqual({ status: 3, errors: [], differs: [] });
  expect(others).toEqual([expect.objectContaining({ op: "create", urn: expect.stringMatching(/::new$/) })]);
  expect(identities).toEqual([expect.objectContaining({ name: "pull-requests" })]);
  expect(identities[0].gains[0]).toMatchObject({ role: "editor", groupName: "/" });
});

test.skipIf(withoutPython !== "")(`creates a program in Python, with the wheel of the platform${withoutPython}`, () => {
  const { folder: sdk, reason } = inject("pythonSdk");
  if (sdk === undefined) throw new Error(reason);
  const program = writeProject(join(place.folder, "python"), {
    "Pulumi.yaml": "name: python\nruntime: python\n",
    "__main__.py": `import pulumi_irm as irm\n\nirm.Group("python", parent="${place.server.organization}", name="python")\n`,
  });
  const wheel = artifacts.find(({ name }) => /linux_|macosx_/.test(name))?.name ?? "none";
  const { VIRTUAL_ENV } = createPythonEnvironment(program, sdk, [join(root, "release", wheel)]);
  const env = { ...bare(join(VIRTUAL_ENV, "bin")), VIRTUAL_ENV };
  expect(runIn(program, env, "pulumi-irm", "--version")).toMatchObject({ status: 0 });
  up(program, env);
  expect(place.rows("groups", "name = ?", "python")).toHaveLength(1);
});
