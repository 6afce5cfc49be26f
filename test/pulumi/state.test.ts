// What a process of the engine's operation reads of the engine's state, by a `pulumi` on the PATH that a test writes, and of the project's files.
import { chmodSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { askEngine } from "../../provider/run/stored-stack.ts";
import { stackSetting } from "../../pulumi/project.ts";
import { EngineStateError, readEngineState } from "../../pulumi/state.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/command.ts";
import { testFolder } from "../support/test-folder.ts";

const folder = testFolder().path(".");

const STACK = "acme/access/production";

/** Reads it where `pulumi` is this script. */
const readWith = (script: string, stack = STACK, env: Record<string, string> = {}) => {
  const file = join(folder, "pulumi");
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return readEngineState(
    askEngine({ env: { PATH: [folder, process.env.PATH].join(delimiter), ...env }, cwd: folder }),
    stack,
  );
};

const URN = "urn:pulumi:production::access::irm:index:Group::team";
const exported = {
  deployment: {
    manifest: { time: "2026-01-28T12:54:21Z" },
    resources: [{ urn: URN, type: "irm:index:Group", id: "u", inputs: { name: "team" } }],
    pending_operations: [{ type: "creating", resource: { urn: URN, type: "irm:index:Group", inputs: null } }],
  },
};

describe("the state of the engine", () => {
  it("has the resources and the pending operations of the stack, by its whole name, and is empty of a stack that has none", async () => {
    const state = await readWith(`echo "$*" >&2; cat <<'END'\n${JSON.stringify(exported)}\nEND`);
    expect(state.savedAt).toBe("2026-01-28T12:54:21Z");
    expect(state.resources).toMatchObject([{ urn: URN, id: "u", inputs: { name: "team" }, outputs: {} }]);
    expect(state.pending).toMatchObject([{ type: "creating", resource: { urn: URN, inputs: {} } }]);
    const none = await readWith(`echo '{"deployment":{"manifest":{"time":"2026-01-28T12:54:21Z"}}}'`);
    expect(none).toMatchObject({ resources: [], pending: [] });
  });

  it("is read again where the engine saves it at that moment", async () => {
    const torn = "error: get stack: failed to load checkpoint: EOF";
    const script = `if [ -e met ]; then cat <<'END'\n${JSON.stringify(exported)}\nEND\nelse touch met; echo "${torn}" >&2; exit 1; fi`;
    expect((await readWith(script)).resources).toHaveLength(1);
    await expect(readWith(`echo "${torn}" >&2; exit 1`)).rejects.toThrow("failed to load checkpoint: EOF");
  });

  it.each([
    ["acme/access/production", "acme/access/production", "its whole name"],
    ["~4711/access/production", "production", "the organization is not known"],
  ])("is asked for %s as %s: %s", async (stack, name) => {
    const args = `stack export --stack ${name} --non-interactive --color never`;
    await expect(readWith('echo "error: $*" >&2; exit 1', stack)).rejects.toThrow(`pulumi stack export: ${args}`);
  });

  it("is read without the options that the environment gives the run", async () => {
    const script = 'echo "error: file=$PULUMI_OPTION_FILE backend=$PULUMI_BACKEND_URL" >&2; exit 1';
    const env = { PULUMI_OPTION_FILE: "/tmp/x", PULUMI_BACKEND_URL: "file:///b" };
    await expect(readWith(script, STACK, env)).rejects.toThrow("pulumi stack export: file= backend=file:///b");
  });

  it.each([
    ["echo 'error: no stack named that found' >&2; exit 6", "pulumi stack export: no stack named that found"],
    ["printf 'warning: old\\nerror: locked\\n' >&2; exit 1", "pulumi stack export: locked"],
    ["exit 3", "pulumi stack export: it ended with 3"],
    ["echo 'a s3cret that is no JSON'", "pulumi stack export: it printed no JSON"],
    ["echo '{}'", "pulumi stack export: deployment Invalid input: expected object, received undefined"],
  ])("cannot be read where pulumi does: %s", async (script, message) => {
    const error = await readWith(script).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EngineStateError);
    expect((error as Error).message).toBe(message);
  });

  it("cannot be read without an engine on the PATH, and is not waited for after ^C", async () => {
    const reading = readEngineState(askEngine({ env: { PATH: join(folder, "nowhere") }, cwd: folder }), STACK);
    await expect(reading).rejects.toThrow("pulumi stack export: there is no pulumi on the PATH");
    const cancel = new AbortController();
    cancel.abort();
    const command = { env: { PATH: folder }, cwd: folder, cancelled: cancel.signal };
    await expect(readEngineState(askEngine(command), STACK)).rejects.toThrow("pulumi stack export: it was cancelled");
  });
});

let project: TemporaryFolder;
beforeEach(() => {
  project = temporaryFolder();
});
afterEach(() => project.remove());
const write = (files: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(files)) project.write(name, text);
};
const settingIn = (at = "."): unknown => stackSetting(project.path(at), "dev", "irm:journal");

it("finds a setting of a stack beside the project's file, also from a folder below it", () => {
  expect(settingIn()).toBeUndefined();
  write({ "Pulumi.yaml": "name: access\nmain: src", "src/index.ts": "" });
  expect(settingIn("src")).toBeUndefined();
  write({
    "Pulumi.dev.yaml": "config:\n  irm:journal: /var/irm",
    "Pulumi.prod.yaml": "config:\n  irm:journal: /var/other",
  });
  expect(settingIn()).toBe("/var/irm");
  expect(settingIn("src")).toBe("/var/irm");
  write({ "Pulumi.dev.yaml": "# irm:journal\nconfig:\n  irm:baseUrl: https://api.example" });
  expect(settingIn()).toBeUndefined();
  write({ "Pulumi.dev.yaml": "config:\n  irm:journal:\n    secure: v1:abc" });
  expect(settingIn()).toEqual({ secure: "v1:abc" });
});

it("finds it in the folder that the project names for its stacks, under either name", () => {
  write({ "stacks/Pulumi.dev.yml": "config: { irm:journal: /var/irm }" });
  for (const name of ["stackConfigDir", "config"]) {
    write({ "Pulumi.yml": `name: access\n${name}: stacks` });
    expect(settingIn()).toBe("/var/irm");
  }
  write({ "Pulumi.yml": "name: access\nconfig: { irm:baseUrl: https://api.example }" });
  expect(settingIn()).toBeUndefined();
});
