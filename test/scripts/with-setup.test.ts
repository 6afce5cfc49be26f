import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../scripts/base/project.mjs";
import { engineVersion, goEdition, languagesEdition, nodejsEdition } from "../../scripts/engine/version.mjs";
import { fakeEngine } from "./fake-engine.ts";

const script = join(root, "scripts", "with-setup.mjs");

function withSetup(args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  return spawnSync(process.execPath, [script, ...args], { encoding: "utf8", ...options });
}

test("a command with set-up has only the command's stdout, stderr and exit code", () => {
  const { status, stdout, stderr } = withSetup(["sh", "-c", "echo out; echo err >&2; exit 7"]);
  expect({ status, stdout, stderr }).toEqual({ status: 7, stdout: "out\n", stderr: "err\n" });
});

test("a command with set-up runs node as the project's Node, whatever the PATH says", () => {
  const { stdout } = withSetup(["node", "-p", "process.execPath"], {
    env: { ...process.env, PATH: "/usr/bin:/bin" },
  });
  expect(realpathSync(stdout.trim())).toBe(realpathSync(join(root, "node_modules", ".bin", "node")));
});

test("a command with set-up runs in the user's folder after npm has changed to the clone", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pulumi-irm-caller-")));
  const env = { ...process.env, INIT_CWD: folder };
  expect(withSetup(["--in-callers-folder", "pwd"], { cwd: root, env }).stdout.trim()).toBe(folder);
  expect(withSetup(["pwd"], { cwd: root, env }).stdout.trim()).toBe(realpathSync(root));
  rmSync(folder, { recursive: true });
});

test.each([
  [[], "yaml/below", "that the program of the folder above is in"],
  [["--cwd", "python"], ".", "of the folder that --cwd names"],
  [["--cwd=go"], ".", "of the folder that --cwd= names"],
])("a command with set-up pulumi %j in %s: the engine has the language %s", (args, caller) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pulumi-irm-caller-")));
  for (const [name, runtime] of Object.entries({ yaml: "yaml", python: "\n  name: python", go: "go" })) {
    mkdirSync(join(folder, name, "below"), { recursive: true });
    writeFileSync(join(folder, name, "Pulumi.yaml"), `name: a\nruntime: ${runtime}\n`);
  }
  // The only engine there is.
  const { name, pieces } = args.includes("--cwd=go") ? goEdition : languagesEdition;
  fakeEngine(join(folder, "cache", "pulumi-irm", "engine", name), engineVersion, pieces);
  const env = { PATH: "/usr/bin:/bin", XDG_CACHE_HOME: join(folder, "cache"), INIT_CWD: join(folder, caller) };
  const run = withSetup(["--engine", "--in-callers-folder", "pulumi", ...args], { cwd: root, env });
  rmSync(folder, { recursive: true });
  expect(run).toMatchObject({ status: 0, stdout: `v${engineVersion}\n`, stderr: "" });
});

test("without --engine, the cached engine comes after that of the PATH, and none is installed", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pulumi-irm-caller-")));
  const cache = join(folder, "cache");
  const env = { PATH: `${join(folder, "bin")}:/usr/bin:/bin`, XDG_CACHE_HOME: cache, INIT_CWD: folder };
  const find = () => withSetup(["--in-callers-folder", "sh", "-c", "command -v pulumi"], { cwd: root, env });
  expect([find().stdout, existsSync(cache)]).toEqual(["", false]);
  const cached = join(cache, "pulumi-irm", "engine", nodejsEdition.name);
  fakeEngine(cached, engineVersion, nodejsEdition.pieces);
  expect(find().stdout).toBe(`${join(cached, "pulumi")}\n`);
  fakeEngine(join(folder, "bin"), engineVersion);
  expect(find().stdout).toBe(`${join(folder, "bin", "pulumi")}\n`);
  rmSync(folder, { recursive: true });
});

test("a command with set-up ends by the signal that it gets, after the command has ended by it", async () => {
  const child = spawn(process.execPath, [script, "sh", "-c", "echo ready; read -r line"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  child.kill("SIGTERM");
  expect(await new Promise((resolve) => child.once("close", (_code, name) => resolve(name)))).toBe("SIGTERM");
});

test.each([
  [[], "usage: node scripts/with-setup.mjs", "no command"],
  [["--engin", "pulumi"], "usage: node scripts/with-setup.mjs", "an option that does not exist"],
  [["no-such-program"], "no-such-program is neither in", "a program that does not exist"],
])("a command with set-up %j is an error in one sentence that says %j: %s", (args, message) => {
  const { status, stderr } = withSetup(args);
  expect(status).toBe(1);
  expect(stderr).toContain(message);
  expect(stderr.trim().split("\n")).toHaveLength(1);
});
