// The run on a copy without an engine: how it ends and where it takes place.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { copyOf } from "../../cli/copy.ts";
import { engineArguments } from "../../cli/engine-command.ts";
import { UsageError } from "../../cli/irm-command.ts";
import { copyJournals } from "../../cli/run/copy-stack.ts";
import { type RunInput, runOnTwins } from "../../cli/run/on-twins.ts";
import { createPlace, projectAt } from "../../cli/run/place.ts";
import { giveFolder, programUser, readAs, removeFolder } from "../../cli/run/user.ts";
import type { Config } from "../../client/config.ts";
import { RUN_FILE } from "../../client/run-file.ts";
import { journalPath } from "../../provider/run/journal-path.ts";
import { engineWith } from "../../pulumi/command.ts";
import { parsePreview } from "../../pulumi/preview.ts";
import { clientOf } from "../access/client.ts";
import { serve } from "../harness/api-server.ts";
import { temporaryFolder } from "../support/command.ts";
import { isRunning } from "../support/process.ts";
import { testFolder } from "../support/test-folder.ts";

const folder = testFolder();
afterEach(() => void vi.unstubAllEnvs());

/** Starts a process of its own, as an engine does, says so, and waits for ever. */
const HANGS = `
const child = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
require("node:fs").writeFileSync(process.env.PIDS, process.pid + " " + child.pid);
setInterval(() => {}, 1000);
`;

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await sleep(20);
};

test("the engine of a run: ends with all that it has started when the command is interrupted", async () => {
  const [pids, interrupt] = [folder.path("pids"), new AbortController()];
  const engine = engineWith([process.execPath, "-e", HANGS], { signal: interrupt.signal });
  const options = { cwd: folder.path(""), env: { ...process.env, PIDS: pids } };
  const run = expect(engine.run(["up"], options)).rejects.toThrow("interrupted here");
  await until(() => existsSync(pids) && readFileSync(pids, "utf8").includes(" "));
  const started = readFileSync(pids, "utf8").split(" ").map(Number);
  expect(started.map(isRunning)).toEqual([true, true]);
  interrupt.abort(new Error("interrupted here"));
  await run;
  await until(() => !started.some(isRunning));
  // Nothing begins after that.
  await expect(engine.run(["preview"], options)).rejects.toThrow("interrupted here");
});

test("the engine of a run: a command that fails says what the engine printed", async () => {
  const engine = engineWith([process.execPath, "-e", "console.error('no such stack'); process.exit(255)"]);
  const failed = engine.must(["stack", "export", "--stack", "dev"], { cwd: folder.path(""), env: process.env });
  await expect(failed).rejects.toThrow("pulumi stack export failed: no such stack");
});

/** Answers as an engine until the update, which never ends. */
const STOPS_AT_UP = `
const [command, verb] = process.argv.slice(1);
const fs = require("node:fs");
if (command === "up") {
  fs.writeFileSync(process.env.PIDS, process.pid + " " + process.pid);
  setInterval(() => {}, 1000);
} else if (verb === "export") console.log(JSON.stringify({ version: 3, deployment: { manifest: { time: "2026-01-28T12:54:21Z" }, resources: [] } }));
`;

test("an interrupted run leaves no process, no file and no twin", async () => {
  const api = await serve();
  const [own, tmp, pids] = [folder.path("stopped"), folder.path("tmp"), folder.path("stopped-pids")];
  for (const one of [own, tmp]) mkdirSync(one);
  writeFileSync(join(own, "Pulumi.yaml"), "name: acme\nruntime: nodejs\n");
  const interrupt = new AbortController();
  vi.stubEnv("TMPDIR", tmp);
  const input: RunInput = {
    command: [process.execPath, "-e", STOPS_AT_UP, "--"],
    ...{ cwd: own, env: { ...process.env, PULUMI_BACKEND_URL: "file:///state", PIDS: pids }, stack: "dev" },
    preview: parsePreview(JSON.stringify({ steps: [] }), "test"),
    copyOf,
    clients: new Map([[api.baseUrl, clientOf(api)]]),
  };
  const run = expect(runOnTwins(input, interrupt.signal)).rejects.toThrow("interrupted here");
  await until(() => existsSync(pids) && readFileSync(pids, "utf8").includes(" "));
  const [place] = readdirSync(tmp);
  expect(readdirSync(join(tmp, place as string))).toContain(RUN_FILE);
  const { services } = JSON.parse(readFileSync(join(tmp, place as string, RUN_FILE), "utf8"));
  interrupt.abort(new Error("interrupted here"));
  await run;
  expect(readdirSync(tmp)).toEqual([]);
  await expect(fetch(services[0].url)).rejects.toThrow("fetch failed");
  await until(() => !isRunning(Number(readFileSync(pids, "utf8").split(" ")[0])));
});

test("the place of a run has no credentials, and goes whole", () => {
  const home = folder.path("home");
  const given = {
    ...{ IRM_TOKEN: "t", IRM_IDENTITY_TOKEN_FILE: "f", OTHER_TOKEN: "o", PULUMI_ACCESS_TOKEN: "p" },
    ...{ PULUMI_HOME: home, PULUMI_BACKEND_URL: "https://api.example", PULUMI_OPTION_TARGET: "x", KEPT: "k" },
  };
  const place = createPlace(given, ["OTHER_TOKEN"]);
  try {
    const lost = ["IRM_TOKEN", "IRM_IDENTITY_TOKEN_FILE", "OTHER_TOKEN", "PULUMI_ACCESS_TOKEN"];
    expect(lost.filter((name) => name in place.env)).toEqual([]);
    expect(place.env.PULUMI_OPTION_TARGET).toBeUndefined();
    expect(place.env).toMatchObject({ KEPT: "k", PULUMI_BACKEND_URL: `file://${place.folder}/state` });
  } finally {
    place.remove();
  }
  expect(existsSync(place.folder)).toBe(false);
});

test.each([
  ["a folder", "file:///state", "organization", false],
  ["a bucket", "s3://states?region=eu-west-1", "organization", false],
  ["Pulumi Cloud", "https://api.pulumi.com", "acme-inc", false],
  ["Pulumi Cloud, of a plugin that does not know the organization", "https://api.pulumi.com", "~11-22", false],
  ["a folder, of an explicit provider with a folder of its own", "file:///state", "organization", true],
])("the place of a run has the journal of a stack on %s", (name, backend, organization, isExplicit) => {
  const [own, journals] = [folder.path(`journaled ${name}`), folder.path(`journals ${name}`)];
  for (const one of [own, journals]) mkdirSync(one);
  const env = { PULUMI_BACKEND_URL: backend, IRM_BASE_URL: "https://irm.example.com/" };
  const baseUrl = "https://irm.example.com";
  const pathIn = (at: string, of: NodeJS.ProcessEnv) =>
    journalPath(`${organization}/acme/dev`, { baseUrl, journal: at } as Config, of, own);
  writeFileSync(pathIn(journals, env), "a line\n");
  const state = { id: "11-22", inputs: isExplicit ? { journal: journals } : {} };
  const urn = "urn:pulumi:dev::acme::pulumi:providers:irm::one";
  const step = { op: "same", urn, oldState: state, newState: state };
  const preview = parsePreview(JSON.stringify({ steps: [step] }), "test");
  const config = isExplicit ? {} : { "irm:journal": journals };
  const place = createPlace(env, []);
  const to = { ...place.env, PULUMI_BACKEND_URL: "http://127.0.0.1:1" };
  const real = backend.startsWith("https") ? "acme-inc" : "organization";
  const named = (stack: string) => ({
    ...{ cwd: own, env, config, preview, addresses: [baseUrl] },
    name: `${real}/acme/${stack}`,
  });
  onTestFinished(place.remove);
  copyJournals(place, named("other"), to);
  expect(readdirSync(place.journal)).toEqual([]);
  copyJournals(place, named("dev"), to);
  expect(readFileSync(pathIn(place.journal, to), "utf8")).toBe("a line\n");
});

test("the place of a run finds the settings of a stack where the project has them", () => {
  const own = folder.path("project");
  mkdirSync(join(own, "below"), { recursive: true });
  writeFileSync(join(own, "Pulumi.yaml"), "name: acme\nruntime: nodejs\nstackConfigDir: stacks\n");
  const { name, settingsOf } = projectAt(join(own, "below"));
  expect([name, settingsOf("dev")]).toEqual(["acme", join(own, "stacks", "Pulumi.dev.yaml")]);
  expect(() => projectAt("/")).toThrow("there is no Pulumi.yaml in this folder, and none above it");
});

const URN = "urn:pulumi:dev::acme::irm:index:Group::team";

test("what chooses the resources of an update is passed on, each value with its flag", () => {
  const words = ["--target", URN, `--replace=${URN}`, "--target-dependents", "--exclude", "**::team"];
  const found = [`--target=${URN}`, `--replace=${URN}`, "--target-dependents", "--exclude=**::team"];
  expect(engineArguments(words)).toEqual(found);
  expect(engineArguments(found)).toEqual(found);
});

test.each<[string[], string, string]>([
  [["--yes"], "it runs without a question anyway", '"--yes" is not passed on to the engine; only'],
  [["--config-file=x"], "it would be another stack", '"--config-file" is not passed on'],
  [["-t", URN], "one spelling is enough", '"-t" is not passed on'],
  [["--target"], "the value is missing", '--target takes the URN of a resource, or a pattern with *, not ""'],
  [["--target", "--yes"], "the engine would take the flag as the value", 'not "--yes"'],
  [["--target-dependents=false"], "it is given or not", "--target-dependents takes no value"],
  [["--parallel", "1"], "so is its value, in the same error", '"--parallel" is not passed on'],
])("%j is refused: %s", (words, _, message) => {
  expect(() => engineArguments(words)).toThrow(UsageError);
  expect(() => engineArguments(words)).toThrow(message);
});

const isRoot = process.getuid?.() === 0;

test.runIf(isRoot).each([
  ["root", "may do what this process may"],
  ["no-such-user", "there is no such user on this machine"],
  ["nobody; id", "is not the name of a user"],
])("%s is refused (needs root)", (name, why) => {
  expect(() => programUser(name)).toThrow(`--user ${JSON.stringify(name)}: ${why}`);
});

test.skipIf(isRoot)("anybody but root is refused (needs another user)", () => {
  expect(() => programUser("nobody")).toThrow("only root can run the program as another user");
});

test.runIf(isRoot)("that user reads no more than its own, and its links lead nowhere (needs root)", () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const user = programUser("nobody");
  const { uid } = user.spawn;
  writeFileSync(folder.path("secret"), "a secret", { mode: 0o600 });
  chmodSync(folder.path("."), 0o755);
  symlinkSync(folder.path("secret"), folder.path("link"));
  expect(String(readAs(undefined, folder.path("link")))).toBe("a secret");
  expect(() => readAs(user, folder.path("link"))).toThrow(`the user nobody cannot read ${folder.path("link")}`);

  const place = folder.path("place");
  mkdirSync(folder.path("place/inner"), { recursive: true, mode: 0o700 });
  mkdirSync(folder.path("kept"));
  symlinkSync(folder.path("kept"), folder.path("place/inner/link"));
  giveFolder(user, place, ["events"]);
  expect([".", "inner", "events"].map((name) => statSync(`${place}/${name}`).uid)).toEqual([0, uid, uid]);
  expect(statSync(place).mode & 0o777).toBe(0o711);
  removeFolder(user, place);
  expect([existsSync(place), existsSync(folder.path("kept"))]).toEqual([false, true]);
});
