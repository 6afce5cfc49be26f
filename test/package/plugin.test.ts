// The plugin as it is published: a folder in the npm package, and the same as a file of the release.
import { spawn, spawnSync } from "node:child_process";
import { once as eventOf } from "node:events";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { Client, credentials } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { oldNodeFolder } from "../support/old-node.ts";
import { environment, installPackage, once } from "../support/package.ts";

const TOO_OLD = String.raw`pulumi-irm: Node \d+\.\d+\.\d+ is too old; Node 22\.19 or later is required`;

const project = await installPackage();
const folder = await once("plugin-alone", (own) => {
  cpSync(join(project.path, "plugin"), join(own, "plugin"), { recursive: true });
  return join(own, "plugin");
});

/** What the engine reads first: the port. Then the engine is gone. */
const firstLine = async (command: string): Promise<string> => {
  const child = spawn(command, ["127.0.0.1:1"], {
    env: environment(),
    cwd: dirname(folder),
    stdio: ["pipe", "pipe", "inherit"],
  });
  for await (const line of createInterface(child.stdout)) {
    child.stdin.end();
    return line;
  }
  return "";
};

/** With a PATH that has only this folder, and what a shell script needs. */
const saidWith = async (path: string): Promise<string> => {
  const tools = await once("tools", (own) => {
    for (const name of ["dirname", "readlink"]) symlinkSync(toolOf(name), join(own, name));
    return own;
  });
  const env = { PATH: `${path}:${tools}` };
  const { status, stdout, stderr } = spawnSync(join(folder, "pulumi-resource-irm"), { env, encoding: "utf8" });
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  return stderr;
};
const toolOf = (name: string): string =>
  spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim();

test("the executable of the plugin starts with Node alone, also by a relative link to it", async () => {
  const links = join(dirname(folder), "links");
  mkdirSync(links);
  symlinkSync("../plugin/pulumi-resource-irm", join(links, "direct"));
  symlinkSync("direct", join(links, "indirect"));
  for (const command of [join(folder, "pulumi-resource-irm"), join(links, "direct"), join(links, "indirect")])
    expect(await firstLine(command)).toMatch(/^\d+$/);
});

test("the executable of the plugin says that there is no Node", async () => {
  expect(await saidWith("/nonexistent")).toBe(
    'pulumi-resource-irm: there is no "node" on the PATH; install Node 22.19 or later\n',
  );
});

test("the executable of the plugin says that Node is too old", async () => {
  expect(await saidWith(await oldNodeFolder())).toMatch(new RegExp(`^${TOO_OLD}\n$`));
});

test("the executable of the plugin refuses its configuration where Node is too old, and ends with the engine", async () => {
  const child = spawn(join(folder, "pulumi-resource-irm"), ["-logtostderr", "127.0.0.1:1"], {
    env: { ...environment(), PATH: `${await oldNodeFolder()}:${process.env.PATH}` },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const said: Buffer[] = [];
  child.stderr.on("data", (chunk) => said.push(chunk));
  const [port] = await eventOf(child.stdout, "data");
  const client = new Client(`127.0.0.1:${String(port).trim()}`, credentials.createInsecure());
  const bytes = (value: Buffer) => value;
  const call = (method: string): Promise<string> =>
    new Promise((resolve) => {
      client.makeUnaryRequest(
        ...([`/pulumirpc.ResourceProvider/${method}`, bytes, bytes, Buffer.alloc(0)] as const),
        (error) => resolve(error ? `${error.code} ${error.details}` : "OK"),
      );
    });
  // What the engine asks before it uses a provider, in its order; without an answer it calls the plugin broken.
  expect([await call("Handshake"), await call("GetPluginInfo")]).toEqual([expect.stringMatching(/^12 /), "OK"]);
  for (const method of ["GetSchema", "CheckConfig", "DiffConfig", "Configure"])
    expect(await call(method)).toMatch(new RegExp(`^9 ${TOO_OLD}$`));
  client.close();
  child.stdin.end();
  expect(await eventOf(child, "exit")).toEqual([1, null]);
  expect(Buffer.concat(said).toString()).toBe("");
});

test("the npm package has the plugin, and no other file of the release", () => {
  const files = readdirSync(project.path, { recursive: true, encoding: "utf8" });
  expect(files.filter((file) => /\.(tar\.gz|whl)$/.test(file))).toEqual([]);
  expect(readdirSync(join(project.path, "plugin")).toSorted()).toEqual([
    "LICENSE-third-party.txt",
    "compile-cache.js",
    "component.mjs",
    "generated",
    "main.mjs",
    "pulumi-resource-irm",
    "pulumi-resource-irm.cmd",
    "rolldown-runtime.mjs",
    "start.js",
    "supported-node.js",
    "undici.mjs",
  ]);
});
