// The steps of a rehearsal without an engine: how it ends, what it compares, and command lines that it refuses.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import type { AccessGraph } from "../../access/graph/graph.ts";
import { newGraph } from "../../access/graph/graph.ts";
import { parsePreview } from "../../access/preview/shape.ts";
import type { Proposal } from "../../access/review/proposal.ts";
import { copyOf } from "../../cli/copy.ts";
import { compareAccess } from "../../cli/rehearse/compare.ts";
import { EngineError, rehearsalEngine } from "../../cli/rehearse/engine.ts";
import { copyJournals } from "../../cli/rehearse/journal.ts";
import { createPlace, projectAt } from "../../cli/rehearse/place.ts";
import { type RehearsalInput, rehearse } from "../../cli/rehearse/rehearse.ts";
import type { Config } from "../../client/config.ts";
import { journalPath } from "../../provider/run/journal-path.ts";
import { clientOf } from "../access/client.ts";
import { startSharedServer } from "../harness/shared-server.ts";
import { temporaryFolder } from "../support/command.ts";
import { runIrm } from "../support/irm.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

/** Starts a process of its own, as an engine does, says so, and waits for ever. */
const HANGS = `
const child = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
require("node:fs").writeFileSync(process.env.PIDS, process.pid + " " + child.pid);
setInterval(() => {}, 1000);
`;

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await sleep(20);
};

describe("the engine of a rehearsal", () => {
  test("ends with all that it has started when the command is interrupted", async () => {
    const [pids, interrupt] = [folder.path("pids"), new AbortController()];
    const engine = rehearsalEngine([process.execPath, "-e", HANGS], interrupt.signal);
    const options = { cwd: folder.path(""), env: { ...process.env, PIDS: pids } };
    const run = expect(engine.run(["up"], options)).rejects.toThrow("interrupted here");
    await until(() => existsSync(pids) && readFileSync(pids, "utf8").includes(" "));
    const started = readFileSync(pids, "utf8").split(" ").map(Number);
    expect(started.map(isAlive)).toEqual([true, true]);
    interrupt.abort(new Error("interrupted here"));
    await run;
    await until(() => !started.some(isAlive));
    // Nothing begins after that.
    await expect(engine.run(["preview"], options)).rejects.toThrow("interrupted here");
  });

  test("a command that fails says what the engine printed", async () => {
    const engine = rehearsalEngine(
      [process.execPath, "-e", "console.error('no such stack'); process.exit(255)"],
      new AbortController().signal,
    );
    const failed = engine.must(["stack", "export", "--stack", "dev"], { cwd: folder.path(""), env: process.env });
    await expect(failed).rejects.toThrow(new EngineError("pulumi stack export failed: no such stack"));
  });
});

/** Answers as an engine until the update, which never ends. */
const STOPS_AT_UP = `
const [command, verb] = process.argv.slice(1);
const fs = require("node:fs");
if (command === "up") {
  fs.writeFileSync(process.env.PIDS, process.pid + " " + process.pid);
  setInterval(() => {}, 1000);
} else if (verb === "export") console.log(JSON.stringify({ version: 3, deployment: { manifest: {}, resources: [] } }));
`;

test("an interrupted rehearsal leaves no process, no file and no twin", async () => {
  const api = await startSharedServer();
  const [own, tmp, pids] = [folder.path("stopped"), folder.path("tmp"), folder.path("stopped-pids")];
  for (const one of [own, tmp]) mkdirSync(one);
  writeFileSync(join(own, "Pulumi.yaml"), "name: acme\nruntime: nodejs\n");
  const interrupt = new AbortController();
  const before = process.env.TMPDIR;
  process.env.TMPDIR = tmp;
  try {
    const proposal = { before: graphOf([]), after: graphOf([]), unknown: [] } as unknown as Proposal;
    const input: RehearsalInput = {
      command: [process.execPath, "-e", STOPS_AT_UP, "--"],
      ...{ cwd: own, env: { ...process.env, PULUMI_BACKEND_URL: "file:///state", PIDS: pids }, stack: "dev" },
      preview: parsePreview(JSON.stringify({ steps: [] }), "test"),
      ...{ proposal, proposalOf: async () => proposal, copyOf },
      clients: new Map([[api.baseUrl, clientOf(api)]]),
    };
    const run = expect(rehearse(input, interrupt.signal)).rejects.toThrow("interrupted here");
    await until(() => existsSync(pids) && readFileSync(pids, "utf8").includes(" "));
    const [place] = readdirSync(tmp);
    expect(readdirSync(join(tmp, place as string))).toContain("rehearsal.json");
    const { services } = JSON.parse(readFileSync(join(tmp, place as string, "rehearsal.json"), "utf8"));
    interrupt.abort(new Error("interrupted here"));
    await run;
    expect(readdirSync(tmp)).toEqual([]);
    await expect(fetch(services[0].url)).rejects.toThrow("fetch failed");
    await until(() => !isAlive(Number(readFileSync(pids, "utf8").split(" ")[0])));
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
});

describe("the place of a rehearsal", () => {
  test("has no credentials and no seal, and goes whole", () => {
    const home = folder.path("home");
    const given = {
      ...{ IRM_TOKEN: "t", IRM_IDENTITY_TOKEN_FILE: "f", OTHER_TOKEN: "o", PULUMI_ACCESS_TOKEN: "p", IRM_SEAL: "s" },
      ...{ PULUMI_HOME: home, PULUMI_BACKEND_URL: "https://api.example", PULUMI_OPTION_TARGET: "x", KEPT: "k" },
    };
    const place = createPlace(given, ["OTHER_TOKEN"]);
    try {
      const lost = ["IRM_TOKEN", "IRM_IDENTITY_TOKEN_FILE", "OTHER_TOKEN", "PULUMI_ACCESS_TOKEN", "IRM_SEAL"];
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
  ])("has the journal of a stack on %s, where the run will look for it", (name, backend, organization, isExplicit) => {
    const [own, journals] = [folder.path(`journaled ${name}`), folder.path(`journals ${name}`)];
    for (const one of [own, journals]) mkdirSync(one);
    const env = { PULUMI_BACKEND_URL: backend, IRM_BASE_URL: "https://irm.example.com/" };
    const baseUrl = "https://irm.example.com";
    const pathIn = (at: string, of: NodeJS.ProcessEnv) =>
      journalPath(`${organization}/acme/dev`, { baseUrl, journal: at } as Config, of, own);
    writeFileSync(pathIn(journals, env), "a line\n");
    const inputs = isExplicit ? { journal: journals } : {};
    const state = { id: "11-22", inputs };
    const step = {
      op: "same",
      urn: "urn:pulumi:dev::acme::pulumi:providers:irm::one",
      oldState: state,
      newState: state,
    };
    const preview = parsePreview(JSON.stringify({ steps: [step] }), "test");
    const config = isExplicit ? {} : { "irm:journal": journals };
    const place = createPlace(env, []);
    const to = { ...place.env, PULUMI_BACKEND_URL: "http://127.0.0.1:1" };
    const real = backend.startsWith("https") ? "acme-inc" : "organization";
    const named = (stack: string) => ({
      cwd: own,
      env,
      config,
      name: `${real}/acme/${stack}`,
      preview,
      addresses: [baseUrl],
    });
    try {
      copyJournals(place, named("other"), to);
      expect(readdirSync(place.journal)).toEqual([]);
      copyJournals(place, named("dev"), to);
      expect(readFileSync(pathIn(place.journal, to), "utf8")).toBe("a line\n");
    } finally {
      place.remove();
    }
  });

  test("finds the settings of a stack where the project has them", () => {
    const own = folder.path("project");
    mkdirSync(join(own, "below"), { recursive: true });
    writeFileSync(join(own, "Pulumi.yaml"), "name: acme\nruntime: nodejs\nstackConfigDir: stacks\n");
    const { name, settingsOf } = projectAt(join(own, "below"));
    expect([name, settingsOf("dev")]).toEqual(["acme", join(own, "stacks", "Pulumi.dev.yaml")]);
    expect(() => projectAt("/")).toThrow("there is no Pulumi.yaml in this folder, and none above it");
  });
});

const ORG = "a".repeat(40);
const TEAM = `${ORG}/${"b".repeat(16)}`;
const BOT = `${ORG}/${"c".repeat(16)}`;
const NEW_UID = `${ORG}/${"d".repeat(16)}`;
const NEW_ORG = "f".repeat(40);
const ORG_URN = "urn:pulumi:dev::acme::irm:index:Group::org";
const URN = "urn:pulumi:dev::acme::irm:index:Identity::new";

const URNS = new Map([
  [NEW_UID, URN],
  [NEW_ORG, ORG_URN],
]);

const graphOf = (bindings: readonly [identity: string, group: string][]): AccessGraph => {
  const graph = newGraph();
  graph.groups.set(ORG, { id: ORG, uid: ORG, name: "acme", parent: null });
  graph.groups.set(TEAM, { id: TEAM, uid: TEAM, name: "team", parent: ORG });
  graph.groups.set(ORG_URN, { id: ORG_URN, uid: null, name: "new-org", parent: null });
  for (const [id, uid, name] of [[BOT, BOT, "bot"] as const, [URN, null, "new"] as const])
    graph.identities.set(id, { id, uid, name, group: ORG, relationship: null });
  graph.roles.set("r", { id: "r", uid: "r", name: "reader", group: ORG, capabilities: ["repo.list"] });
  bindings.forEach(([identity, group], i) => {
    graph.bindings.set(`${i}`, { id: `${i}`, uid: `${i}`, identity, group, role: "r" });
  });
  return graph;
};

const twinWith = (grants: readonly [identity: string, group: string][]) =>
  new Map(
    [BOT, NEW_UID].map((uid) => [
      uid,
      new Map(grants.filter(([own]) => own === uid).map(([, group]) => [group, new Map([["repo.list", "reader"]])])),
    ]),
  );

describe("the comparison", () => {
  type Held = readonly [identity: string, group: string][];
  /** `carried`: what the review shows of the steps that the run has carried out */
  const compared = (
    review: Held,
    twin: Held,
    more: { carried?: Held; unknown?: Proposal["unknown"]; unsure?: string[] } = {},
  ) => {
    const { carried = review, unknown = [], unsure = [] } = more;
    const proposalOf = (held: Held) => ({ before: graphOf([]), after: graphOf(held), unknown }) as unknown as Proposal;
    const { gains, differences, undecided } = compareAccess({
      ...{ proposal: proposalOf(review), carried: proposalOf(carried), unsure: new Set(unsure) },
      actors: new Set([BOT]),
      ...{ before: twinWith([]), after: twinWith(twin), urns: URNS },
    });
    const short = ({ change, in: where, row }: (typeof differences)[number]) =>
      `${where} ${change} ${row.name} at ${row.groupName}`;
    return {
      gains: gains.map(({ uid, name }) => [uid, name]),
      differences: differences.map(short),
      undecided: undecided.map(short),
    };
  };

  test("finds the new identity of a review in the record that the twin has created", () => {
    const none = { differences: [], undecided: [] };
    expect(compared([[URN, TEAM]], [[NEW_UID, TEAM]])).toEqual({ gains: [[null, "new"]], ...none });
  });

  test("names each row that only one of the two has", () => {
    expect(compared([[BOT, TEAM]], [[BOT, ORG]])).toMatchObject({
      differences: ["twin gain bot at /", "review gain bot at team"],
      undecided: [],
    });
  });

  test("is about the steps that an unfinished run has carried out: the others are undecided", () => {
    expect(compared([[BOT, TEAM]], [], { carried: [] })).toMatchObject({
      differences: [],
      undecided: ["review gain bot at team"],
    });
    expect(compared([[BOT, TEAM]], [[BOT, ORG]], { carried: [] })).toMatchObject({
      differences: ["twin gain bot at /"],
    });
    // The binding above has failed, which covers it in the review.
    expect(compared([[BOT, ORG]], [[BOT, TEAM]], { carried: [[BOT, TEAM]] })).toMatchObject({
      differences: [],
      undecided: ["twin gain bot at team", "review gain bot at /"],
    });
  });

  test("does not count what the creator of an organization gets with it, and counts it of anyone else", () => {
    expect(compared([], [[BOT, NEW_ORG]])).toMatchObject({ differences: [], undecided: [] });
    expect(compared([], [[NEW_UID, NEW_ORG]])).toMatchObject({ differences: ["twin gain new at /"] });
  });

  test("leaves open what a step may have done in part", () => {
    expect(compared([], [[BOT, TEAM]], { unsure: [TEAM] })).toMatchObject({ differences: [] });
    expect(compared([], [[BOT, TEAM]], { unsure: [BOT] })).toMatchObject({ differences: [] });
    expect(compared([], [[BOT, ORG]], { unsure: [TEAM] })).toMatchObject({ differences: ["twin gain bot at /"] });
  });

  test("takes a row for possible where the review says that it does not know it, and for no other identity", () => {
    const unknown: Proposal["unknown"] = [{ subject: "x", message: "", hides: { of: "binding", identity: BOT } }];
    expect(compared([], [[BOT, TEAM]], { unknown })).toMatchObject({
      differences: [],
      undecided: ["twin gain bot at team"],
    });
    expect(compared([], [[NEW_UID, TEAM]], { unknown })).toMatchObject({ differences: ["twin gain new at team"] });
  });
});

describe("irm rehearse refuses", () => {
  test.each([
    [["rehearse", "--as", "ci"], 'irm rehearse: --as: "ci" is not a uid'],
    [["rehearse", "--rate-limit", "0"], 'irm rehearse: --rate-limit takes a whole number from 1 to 999999, not "0"'],
    [["review", "--as", BOT], "irm review: --as is for --rehearse"],
    [
      ["review", "--rehearse", "--policy", "access.yaml"],
      "irm review: --rehearse runs the program of this folder, and --policy does not",
    ],
  ])("%j", async (args, message) => {
    expect(await runIrm(...args)).toMatchObject({
      code: 2,
      stdout: "",
      stderr: `${message}\nRun \`npx pulumi-irm ${args[0]} --help\`.\n`,
    });
  });
});
