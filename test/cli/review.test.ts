// `irm review`: exit codes, flags and streams.
import { execFileSync } from "node:child_process";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Report } from "../../access/review/report.ts";
import { changed, created } from "../access/preview/fixture.ts";
import { shuffledIds, startServer, type TestServer } from "../harness/api-server.ts";
import { createUid } from "../harness/records.ts";
import { temporaryFolder } from "../support/command.ts";
import { runIrm } from "../support/irm.ts";

const folder = temporaryFolder();
const api = await startServer();
const ci: string = (await api.actor("ci")).uid;
afterAll(async () => {
  await api.close();
  folder.remove();
});
beforeEach(() => {
  vi.stubEnv("IRM_BASE_URL", api.baseUrl);
  vi.stubEnv("IRM_TOKEN", api.owner.token);
});
afterEach(() => vi.unstubAllEnvs());

const { write } = folder;

/** The identity "ci" would become owner of the organization. */
const preview = () =>
  write(
    "preview.json",
    JSON.stringify({
      steps: [created("RoleBinding", "b", { parent: api.organization, identity: ci, role: "owner" })],
      changeSummary: { create: 1 },
    }),
  );

test("prints the change in access of a preview, and exits with 0", async () => {
  const { code, stdout, stderr } = await runIrm("review", "--preview", preview(), "--format", "json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { identities, findings } = Report.parse(JSON.parse(stdout));
  expect(identities).toMatchObject([{ uid: ci, losses: [] }]);
  expect(identities[0]?.gains).toContainEqual({
    group: api.organization,
    groupName: "/",
    capability: "role_bindings.create",
    role: "owner",
  });
  expect(findings.map(({ rule, subject }) => [rule, subject])).toContainEqual(["gains-owner", ci]);
});

test("--preview - reads the preview from stdin", async () => {
  const file = preview();
  // The time of the review stands in both.
  const bodyOf = ({ stdout }: { stdout: string }) => ({ ...JSON.parse(stdout), origin: undefined });
  const expected = bodyOf(await runIrm("review", "--preview", file, "--format", "json"));
  const stdin = vi.spyOn(process, "stdin", "get").mockReturnValue(createReadStream(file) as never);
  const fromStdin = await runIrm("review", "--preview", "-", "--format", "json");
  expect(fromStdin).toMatchObject({ code: 0, stderr: "" });
  expect(bodyOf(fromStdin)).toEqual(expected);
  const empty = vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from([]) as never);
  expect(await runIrm("review", "--preview", "-")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("irm review: stdin is not JSON"),
  });
  for (const spy of [stdin, empty]) spy.mockRestore();
});

test.each(["terminal", "markdown"])("--format %s prints to stdout", async (format) => {
  const { code, stdout, stderr } = await runIrm("review", "--preview", preview(), "--format", format);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("1 identity gains access");
});

test("--format html prints a page with the change and the tree of groups", async () => {
  const { code, stdout, stderr } = await runIrm("review", "--preview", preview(), "--format", "html");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("<b>1</b> identity gains access</li>");
  expect(stdout).toContain('<li class="new"><ins><a href="#identity-1">ci</a></ins> <small>new</small></li>');
});

test("says of what it is: the stack of the preview, the service, the commit of the folder and the time", async () => {
  const { stdout } = await runIrm("review", "--preview", preview(), "--format", "json");
  const { origin } = Report.parse(JSON.parse(stdout));
  expect(origin).toMatchObject({ stack: "access/dev", service: api.baseUrl, commit: headOf(process.cwd()) });
  expect(Date.parse(origin?.time ?? "")).not.toBeNaN();
  const policy = write("origin.yaml", `organization: { uid: "${api.organization}" }\n`);
  const reviewed = await runIrm("review", "--policy", policy, "--format", "json");
  expect(reviewed.stderr).toBe("");
  const ofPolicy = Report.parse(JSON.parse(reviewed.stdout));
  // The folder of the policy is in no repository.
  expect(Object.keys(ofPolicy.origin ?? {})).toEqual(["service", "time"]);
});

const headOf = (cwd: string): string => execFileSync("git", ["rev-parse", "HEAD"], { cwd, encoding: "utf8" }).trim();

test("exits with 3 for a finding of a denied rule, unless it is allowed by uid or name", async () => {
  const run = async (...flags: string[]) => (await runIrm("review", "--preview", preview(), ...flags)).code;
  const deny = ["--deny", "root-binding", "--deny", "gains-owner"];
  expect(await run(...deny)).toBe(3);
  expect(await run(...deny, "--allow", `root-binding@${ci}`)).toBe(3);
  expect(await run(...deny, "--allow", `root-binding@${ci}`, "--allow", "gains-owner@ci")).toBe(0);
  const rules = write("rules.yaml", "# what we deny\ndeny: [gains-owner]\nallow:\n  - gains-owner@ci\n");
  expect(await run("--rules", rules)).toBe(0);
  expect(await run("--rules", rules, "--deny", "root-binding")).toBe(3);
});

test("says of an allowance that nothing has its subject, and reviews all the same", async () => {
  const allow = [
    "gains-owner@nobody",
    "root-binding@owne",
    "rules-changed@review.yaml",
    "test-fails@it holds",
    `gains-owner@${ci}`,
  ];
  const { code, stdout, stderr } = await runIrm(
    ...["review", "--preview", preview(), "--format", "json", ...allow.flatMap((one) => ["--allow", one])],
  );
  expect(code).toBe(0);
  expect(Report.parse(JSON.parse(stdout)).findings).not.toEqual([]);
  const texts = [
    'gains-owner@nobody excuses nothing: there is no identity, group or role "nobody"',
    'root-binding@owne excuses nothing: there is no identity, group or role "owne"; did you mean owner?',
    'test-fails@it holds excuses nothing: there is no identity, group or role "it holds"',
  ];
  expect(stderr).toBe(texts.map((text) => `irm review: ${text}\n`).join(""));
});

describe("a wrong command line exits with 2 and says all that is wrong with it", () => {
  test.each([
    [["--deny", "gains-ownr"], 'irm review: --deny: there is no rule "gains-ownr"; did you mean gains-owner?'],
    [
      ["--allow", "gains-owner"],
      'irm review: --allow: "gains-owner" is not RULE@SUBJECT, such as gains-owner@platform/release',
    ],
    [["--format", "jsn"], "argument 'jsn' is invalid. Allowed choices are terminal, markdown, json, html."],
    [["--preview", "a", "--policy", "b"], "irm review: --preview and --policy cannot be combined"],
    [["--exclusive"], "irm review: --exclusive is for --policy"],
    [["--rules", "/nowhere/rules.yaml"], "irm review: --rules: there is no file /nowhere/rules.yaml"],
  ])("%j", async (flags, message) => {
    const { code, stdout, stderr } = await runIrm("review", ...flags);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  test("in a file of rules", async () => {
    const rules = write("wrong.yaml", "deny: [gains-ownr, x]\nalow: []\n");
    const { code, stderr } = await runIrm("review", "--rules", rules, "--deny", "root-bindin");
    expect(code).toBe(2);
    expect(stderr).toContain(`${rules}: alow is unknown; did you mean allow?`);
    expect(stderr).toContain(`${rules}: deny[0]: there is no rule "gains-ownr"; did you mean gains-owner?`);
    expect(stderr).toContain(`${rules}: deny[1]: there is no rule "x"; there are gains-owner, `);
    expect(stderr).toContain('--deny: there is no rule "root-bindin"; did you mean root-binding?');
  });
});

test("all of a file of rules at once, also where its shape is wrong", async () => {
  const rules = write(
    "shape.yaml",
    "denny: []\ndeny: [gains-ownr]\nallow: gains-owner@x\nrequired: { owner: 2, owners: two }\n",
  );
  const { code, stderr } = await runIrm("review", "--rules", rules);
  expect(code).toBe(2);
  for (const problem of [
    "allow: must be a list",
    "required.owners: must be a number",
    "denny is unknown; did you mean deny?",
    "required: owner is unknown; did you mean owners?",
    'deny[0]: there is no rule "gains-ownr"; did you mean gains-owner?',
  ])
    expect(stderr).toContain(`${rules}: ${problem}\n`);
});

describe("a file of rules", () => {
  const run = (text: string) => runIrm("review", "--preview", preview(), "--rules", write("rules.yaml", text));

  test("may be empty, and may use anchors", async () => {
    expect((await run("")).code).toBe(0);
    expect((await run("deny: &all [root-binding, gains-owner]\n# the same\nx: *all\n")).stderr).toContain(
      "x is unknown",
    );
    expect((await run("deny: [&rule gains-owner, *rule]\n")).code).toBe(3);
  });

  test.each([
    ["an alias without an anchor", "deny: [*none]\n", ":1:8: deny[0]: the alias *none has no anchor &none above it"],
    ["a list without end", "[".repeat(20_000), "is nested more than 400 levels deep"],
    ["two documents", "deny: []\n---\ndeny: []\n", "a second document begins here"],
    ["a name that every object has", "__proto__: { deny: [] }\n", "__proto__ cannot be a name here"],
    ["a key twice", "deny: [gains-owner]\ndeny: []\n", ":2:1: deny: is here twice; the first is at 1:1"],
    ["values of other kinds", "deny: [null, 3]\nallow: gains-owner@ci\n", "rules.yaml: allow: must be a list"],
    ["no map", "gains-owner\n", "rules.yaml: must be a map"],
  ])("with %s exits with 2 and says so", async (_, text, message) => {
    const { code, stdout, stderr } = await run(text);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });
});

describe("everything else exits with 1", () => {
  test("a preview with errors yields no review", async () => {
    const diagnostics = [{ severity: "error", message: "name is wrong\n" }];
    const file = write("broken.json", JSON.stringify({ steps: [], diagnostics }));
    expect(await runIrm("review", "--preview", file)).toEqual({
      code: 1,
      stdout: "",
      stderr: "irm review: the preview has errors. Correct them first:\n  - name is wrong\n",
    });
  });

  test("a file that is not there, and one that is no preview", async () => {
    const missing = await runIrm("review", "--preview", "/nowhere.json");
    expect(missing).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("there is no file "),
    });
    const other = await runIrm("review", "--preview", write("other.json", "[1]"));
    expect(other).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("is not a preview") });
  });

  test("a preview of another service", async () => {
    const bound = created("RoleBinding", "b", { __service: "https://irm.example.com", parent: api.organization });
    const { code, stdout, stderr } = await runIrm(
      "review",
      "--preview",
      write("other.json", JSON.stringify({ steps: [bound] })),
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(
      "irm review: the preview is of the service at https://irm.example.com, and IRM_BASE_URL names",
    );
  });

  test("a service without its credentials", async () => {
    const { code, stderr } = await runIrm(
      "review",
      "--preview",
      preview(),
      "--service",
      "https://irm.example.com=NO_SUCH",
    );
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining("irm review: --service: the environment has no NO_SUCH"),
    });
  });

  test("no address of the API", async () => {
    vi.stubEnv("IRM_BASE_URL", undefined);
    const { code, stderr } = await runIrm("review", "--preview", preview());
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("no address of the API") });
  });
});

test("a caller that may not list bindings gets a review that says so, and exit code 0", async () => {
  const { token } = await api.actor("blind", { role: "registry.pull" });
  vi.stubEnv("IRM_TOKEN", token);
  const { code, stdout } = await runIrm("review", "--preview", preview(), "--format", "json");
  expect(code).toBe(0);
  expect(Report.parse(JSON.parse(stdout)).notVisible).toContainEqual({
    kind: "roleBinding",
    group: api.organization,
    groupName: "/",
    message: expect.stringContaining("role_bindings.list is needed"),
  });
});

test("a program with two services is reviewed with credentials for each", async () => {
  const other = await startServer({ ids: shuffledIds(7) });
  try {
    const there = await other.actor("there");
    const bind = (name: string, parent: string, identity: string, service: string) =>
      created("RoleBinding", name, { __service: service, parent, identity, role: "editor" });
    const group = await createUid(other, "groups", other.organization, { name: "team" });
    await createUid(other, "repos", group, { name: "images" });
    const steps = [
      bind("here", api.organization, ci, api.baseUrl),
      bind("there", other.organization, there.uid, other.baseUrl),
      changed("delete", "Group", "team", group, { outputs: { name: "team", __service: other.baseUrl } }),
    ];
    const file = write("two.json", JSON.stringify({ steps, changeSummary: { create: 2 } }));
    const alone = await runIrm("review", "--preview", file);
    expect(alone).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`give --service ${other.baseUrl}=VARIABLE`),
    });
    vi.stubEnv("OTHER_TOKEN", other.owner.token);
    const flags = ["--preview", file, "--service", `${other.baseUrl}=OTHER_TOKEN`, "--format", "json"];
    const { code, stdout, stderr } = await runIrm("review", ...flags);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { identities, origin, blocked } = Report.parse(JSON.parse(stdout));
    expect(blocked).toMatchObject([{ subject: "team", certain: true, contents: [{ kind: "repo", name: "images" }] }]);
    expect(identities.map(({ uid }) => uid).sort()).toEqual([ci, there.uid].sort());
    expect(identities.every(({ gains }) => gains.length > 0)).toBe(true);
    expect(origin?.service).toBe(`${api.baseUrl}, ${other.baseUrl}`);
    expect(stdout).not.toContain(other.owner.token);
    // Without a service of the environment, the flags name all of them.
    vi.stubEnv("IRM_BASE_URL", undefined);
    vi.stubEnv("OWN_TOKEN", api.owner.token);
    const both = await runIrm("review", ...flags, "--service", `${api.baseUrl}=OWN_TOKEN`);
    expect({ code: both.code, stderr: both.stderr }).toEqual({ code: 0, stderr: "" });
    const named = Report.parse(JSON.parse(both.stdout));
    expect(named.identities).toEqual(identities);
    expect(identities.map(({ uid, service }) => [uid, service]).sort()).toEqual(
      [
        [ci, api.baseUrl],
        [there.uid, other.baseUrl],
      ].sort(),
    );
    const terminal = await runIrm("review", ...flags.slice(0, -2), "--service", `${api.baseUrl}=OWN_TOKEN`);
    expect(terminal.stdout).toContain(`at ${other.baseUrl}`);
    expect(named.origin?.service).toBe(`${other.baseUrl}, ${api.baseUrl}`);
    expect(await runIrm("review", ...flags)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        `the preview is of the service at ${api.baseUrl}, and neither IRM_BASE_URL nor --service names it`,
      ),
    });
  } finally {
    await other.close();
  }
});

describe("a service that lists records of another one", () => {
  let evil: TestServer;
  // The same ids: each of its uids is one of ours.
  beforeAll(async () => {
    evil = await startServer();
    // There, it is an owner already.
    expect([evil.organization, (await evil.actor("ci", { role: "owner" })).uid]).toEqual([api.organization, ci]);
  });
  afterAll(() => evil.close());
  beforeEach(() => void vi.stubEnv("EVIL_TOKEN", evil.owner.token));

  const review = async (steps: object[], ...flags: string[]) => {
    const file = write("evil.json", JSON.stringify({ steps, changeSummary: { create: steps.length } }));
    const service = `${evil.baseUrl}=EVIL_TOKEN`;
    const all = ["--preview", file, "--service", service, "--format", "json", "--deny", "gains-owner", ...flags];
    const { code, stdout, stderr } = await runIrm("review", ...all);
    return { code, stderr, report: Report.parse(JSON.parse(stdout)) };
  };
  const bind = (name: string, service: string, role: string, identity = ci) =>
    created("RoleBinding", name, { __service: service, parent: api.organization, identity, role });

  test("hides no gain of ours behind its own, whatever its records and roles are", async () => {
    const { code, report } = await review([bind("here", api.baseUrl, "owner"), bind("there", evil.baseUrl, "viewer")]);
    expect(code).toBe(3);
    const denied = report.findings.filter((one) => one.denied);
    expect(denied).toMatchObject([{ rule: "gains-owner", subject: ci, service: api.baseUrl }]);
    const ours = report.identities.find(({ service }) => service === api.baseUrl);
    expect(ours?.gains.map(({ capability }) => capability)).toContain("role_bindings.create");
  });

  test("changes nothing of ours: who may assume an identity there is not who may here", async () => {
    const claimMatch = { issuer: "https://evil.example.com", subject: "x" };
    const own = { __service: evil.baseUrl, parent: api.organization, name: "ci" };
    const steps = [
      changed("update", "Identity", "ci", ci, { outputs: own, new: { ...own, claimMatch } }),
      bind("here", api.baseUrl, "viewer"),
    ];
    const { report } = await review(steps);
    expect(report.identities.map(({ uid, change, service }) => [uid, change, service])).toEqual([
      [ci, "updated", evil.baseUrl],
      [ci, "none", api.baseUrl],
    ]);
  });

  test("is what a test of access is about as well, and a name means no record of the other", async () => {
    const text = "tests: [{ name: only the owner gives, capability: role_bindings.create, only: [owner, ci] }]\n";
    const tests = ["--tests", write("two.tests.yaml", text)];
    const there = (await evil.actor("there")).uid;
    const steps = [bind("b", api.baseUrl, "viewer"), bind("c", evil.baseUrl, "owner", there)];
    const { code, report } = await review(steps, ...tests);
    expect(code).toBe(3);
    const reason = expect.stringContaining("there can role_bindings.create at /, by its binding to owner");
    expect(report.tests).toMatchObject([{ passed: false, reason }]);
  });
});

test("an identity that the caller cannot list may be assumed by a pull request", async () => {
  const group = async (name: string) =>
    (await api.ok("POST", `/iam/v2beta1/groups/${api.organization}`, { body: { name } })).uid as string;
  const [hidden, seen] = [await group("hidden"), await group("seen")];
  const bot = await api.actor("bot", { in: hidden });
  const reader = await api.actor("reader", { role: "viewer", at: seen });
  vi.stubEnv("IRM_TOKEN", reader.token);
  const run = async (role: string, ...flags: string[]) => {
    const steps = [created("RoleBinding", "b", { parent: seen, identity: bot.uid, role })];
    const file = write("hidden.json", JSON.stringify({ steps, changeSummary: { create: 1 } }));
    const { code, stdout } = await runIrm("review", "--preview", file, "--format", "json", ...flags);
    return { code, ...Report.parse(JSON.parse(stdout)) };
  };
  const { code, findings, unknown } = await run("editor", "--deny", "pull-request-writes");
  expect(code).toBe(3);
  expect(findings).toMatchObject([{ rule: "pull-request-writes", subject: bot.uid, unknown: true, denied: true }]);
  expect(unknown.map(({ message }) => message)).toContain(
    `who can assume identity ${bot.uid} is not visible, and it gains capabilities that change things at seen`,
  );
  expect(await run("viewer", "--deny", "pull-request-writes")).toMatchObject({ code: 0, findings: [] });
  expect((await run("editor", "--deny", "gains-owner", "--deny", "matches-many")).code).toBe(0);
});
