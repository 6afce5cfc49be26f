// `irm check`: mistakes on stdout, how many on stderr, and the exit code.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test, vi } from "vitest";
import { offlineText } from "../../access/roles/lock.ts";
import { signIn } from "../harness/signed-in.ts";
import { startTeam } from "../harness/team.ts";
import { startCommand } from "../support/command.ts";
import { exactFailure, failure, runIrm } from "../support/irm.ts";
import { testFolder, within } from "../support/test-folder.ts";

const folder = testFolder();

const { write } = folder;

test("prints each mistake as file:line:column: path: text, in the order of the file, and exits with 1", async () => {
  const file = write(
    "wrong.yaml",
    "organization: acme\nidentities:\n  a: {}\nroles: { publisher: { can: [repo.lst] } }\naccess: { /: { viewr: [a] } }\n",
  );
  const { code, stdout, stderr } = await runIrm("check", file);
  expect(stdout.split("\n")).toEqual([
    expect.stringContaining(`${file}:3:3: identities.a: names no workload that can assume it; give one of github, `),
    `${file}:4:29: roles.publisher.can[0]: there is no capability repo.lst; did you mean repo.list?`,
    `${file}:5:16: access./.viewr: there is no role viewr; did you mean viewer?`,
    "",
  ]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "irm check: 3 mistakes\n" });
});

test("prints nothing on stdout where there are no mistakes, and exits with 0", async () => {
  const file = write(
    "right.yaml",
    'organization: acme\nidentities: { a: { google: { uniqueId: "107517467455664443765" } } }\naccess: { /: { viewer: [a] } }\n',
  );
  expect(await runIrm("check", file)).toEqual({
    code: 0,
    stdout: "",
    stderr: `${file} has no mistakes: 0 groups, 1 identity, 0 roles, 1 role binding\n${offlineText(undefined)}\n`,
  });
});

test.each([
  ["viewer", 0, "passed  nobody owns it\n1 test, all passed\n"],
  ["owner", 3, expect.stringMatching(/^FAILED {2}nobody owns it\n.*\n1 test, 1 failed\n$/)],
])("runs the tests of a policy that gives %s, and exits with %i", async (role, code, stdout) => {
  const identities = '{ a: { google: { uniqueId: "107517467455664443765" } } }';
  const file = write("own.yaml", `organization: acme\nidentities: ${identities}\naccess: { /: { ${role}: [a] } }`);
  write("own.tests.yaml", "tests: [{ name: nobody owns it, identity: a, cannot: { capability: [roles.delete] } }]");
  expect(await runIrm("check", file)).toMatchObject({ code, stdout });
});

test("prints the mistakes of the tests beside the policy, and runs none", async () => {
  const file = write("tested.yaml", "organization: acme\n");
  const tests = write("tested.tests.yaml", "tests: [{ name: x, identity: b, cannot: { capability: [groups.list] } }]");
  const stdout = expect.stringMatching(`^${tests}:1:\\d+: .*there is no identity b.*\n$`);
  expect(await runIrm("check", file)).toEqual({ code: 1, stdout, stderr: "irm check: 1 mistake\n" });
});

test("warns of what may be meant, and exits with 0", async () => {
  const file = write(
    "warnings.yaml",
    `organization: acme
identities:
  old: { github: { repository: acme/images, branch: main } }
  both: { github: { repository: acme/*, ownerId: "1", branch: main } }
  other: { github: { repository: umbrella/images, branch: main } }
  new: { github: { repository: Acme/charts, ownerId: "1", repositoryId: "2", branch: main } }
  odd: { claimMatch: { issuer: https://issuer.example, subject: "a*" } }
`,
  );
  const { code, stdout, stderr } = await runIrm("check", file);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr.split("\n").filter((line) => line.startsWith("warning"))).toEqual([
    expect.stringMatching(
      /^warning: .*warnings\.yaml:3:3: identities\.old: has a GitHub subject without numeric ids, and identities\.new, of the same owner, has one with them: .* write repo:OWNER@OWNER_ID\/REPOSITORY@REPOSITORY_ID:…/,
    ),
    expect.stringMatching(
      /^warning: .*:7:56: identities\.odd\.claimMatch\.subject: is compared byte for byte, so \* stands for itself; where it is to stand for any characters, write subjectPattern: "a\[\^\/:\]\*"$/,
    ),
  ]);
});

test("refuses what AccessPolicy refuses of people: without an organization that exists, there is no identity provider", async () => {
  const people = "people: { sso: { externalGroups: { SRE: [viewer] } } }\n";
  const file = write("people/access.yaml", `organization: acme\n${people}`);
  expect(await runIrm("check", file)).toMatchObject({
    code: 1,
    stdout: `${file}:2:11: people.sso: this run creates the organization, so it has no identity provider yet; add people once it has one\n`,
  });
  expect((await runIrm("check", file, "--organization-exists")).code).toBe(0);
  const uid = "f".repeat(40);
  expect((await runIrm("check", write("uid.yaml", `organization: { uid: ${uid} }\n${people}`))).code).toBe(0);
  write("people/adopt.json", JSON.stringify({ groups: { "/": uid } }));
  expect((await runIrm("check", file)).code).toBe(0);
});

test("checks access.yaml of this folder where no file is given, and says of a folder that it is no file", async () => {
  write("access.yaml", "organization: acme\n");
  const check = (...files: string[]) => within(folder.path("."), () => runIrm("check", ...files));
  expect(await check()).toMatchObject({ code: 0, stderr: expect.stringMatching(/^access\.yaml has no mistakes: /) });
  expect(await check(".")).toMatchObject({ code: 1, stdout: ".:1:1: . is not a regular file\n" });
});

test("names the command for a file of tests", async () => {
  const file = write("access.tests.yaml", "tests: []\n");
  expect(await runIrm("check", file)).toEqual(
    exactFailure(
      1,
      `irm check: ${file} is a file of tests: \`npx pulumi-irm test ${file}\` finds its mistakes and runs it\n`,
    ),
  );
});

test("ends with its own exit code where its reader has gone, as in irm check FILE | head, and escapes control characters of a file", async () => {
  const started = startCommand("check", "/no/access.yaml");
  started.process.stdout?.destroy();
  expect(await started.finished).toEqual(exactFailure(1, "irm check: 1 mistake\n"));
  const file = write("escape.yaml", 'organization: acme\naccess: { "\\e[31mred": {} }\n');
  const { stdout } = await runIrm("check", file);
  expect(stdout).not.toContain("\u001b");
  expect(stdout).toContain("there is no group \\u001b[31mred");
});

const ROLES_LINE = `${offlineText(undefined)}\n`;
afterEach(() => vi.unstubAllEnvs());

const POLICY = `organization: acme
groups: { platform: { groups: { registry: {} } } }
identities:
  release: { in: platform, github: { repository: acme/images, branch: main } }
roles:
  publisher: { in: platform, can: [repo.list, tag.create] }
access:
  platform/registry: { publisher: [release] }
`;
const TESTS = `tests:
  - name: release publishes
    identity: release
    can: [tag.create]
    at: platform/registry
  - name: nobody publishes
    capability: tag.create
    only: []
`;

const writeAll = (files: Readonly<Record<string, string>>, name = "own"): ((file: string) => string) => {
  const own = `${name}-${Object.keys(files).join("-").replaceAll("/", "_")}`;
  for (const [file, text] of Object.entries(files)) folder.write(join(own, file), text);
  return (file) => folder.path(join(own, file));
};

const REASON = "platform/release can tag.create at platform/registry, by its binding to publisher";

test("runs the tests of a file on the policy beside it, and exits with 3 if one fails", async () => {
  const path = writeAll({ "access.yaml": POLICY, "access.tests.yaml": TESTS });
  expect(await runIrm("test", path("access.tests.yaml"))).toEqual({
    code: 3,
    stdout: `passed  release publishes\nFAILED  nobody publishes\n        ${REASON}\n2 tests, 1 failed\n`,
    stderr: ROLES_LINE,
  });
  const { code, stdout } = await runIrm("test", path("access.tests.yaml"), "--format", "json");
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toEqual({
    tests: [
      { name: "release publishes", passed: true },
      { name: "nobody publishes", passed: false, reason: REASON },
    ],
  });
});

test("runs the section of a policy and of what it includes, and the file beside it", async () => {
  const own = "tests: [{ name: own, identity: release, cannot: tag.delete }]\n";
  const path = writeAll({
    "team.yaml": `include: [more.yaml]\n${POLICY}${own}`,
    "more.yaml": "tests: [{ name: included, identity: release, cannot: repo.delete }]\n",
    "team.tests.yaml": TESTS,
  });
  const { code, stdout } = await runIrm("test", path("team.yaml"), "--format", "json");
  expect(code).toBe(3);
  expect(JSON.parse(stdout).tests.map(({ name, passed }: { name: string; passed: boolean }) => [name, passed])).toEqual(
    [
      ["own", true],
      ["included", true],
      ["release publishes", true],
      ["nobody publishes", false],
    ],
  );
  const alone = await runIrm("test", path("team.tests.yaml"), "--format", "json");
  expect(JSON.parse(alone.stdout).tests).toHaveLength(2);
});

test("finds access.tests.yaml and access.yaml of this folder, and all of the example pass; a file of tests may name its policy", async () => {
  const example = fileURLToPath(new URL("../../examples/policy", import.meta.url));
  expect(await within(example, () => runIrm("test"))).toMatchObject({
    code: 0,
    stderr: ROLES_LINE,
    stdout: expect.stringContaining("3 tests, all passed\n"),
  });
  const path = writeAll({ "policy/main.yaml": POLICY, "checks.yaml": `policy: policy/main.yaml\n${TESTS}` });
  expect((await runIrm("test", path("checks.yaml"))).code).toBe(3);
  const beside = writeAll({ "access.yaml": POLICY, "access.tests.yaml": `organization: acme\n${TESTS}` });
  expect((await runIrm("test", beside("access.tests.yaml"))).code).toBe(3);
});

const OTHER = "the policy of these tests is of acme, not of other; leave this out";
test.each<[string, Record<string, string>, string, file?: string]>([
  [
    "a mistake of the policy",
    { "access.yaml": POLICY.replace("publisher: [", "publishr: ["), "access.tests.yaml": TESTS },
    "access.yaml:8:24: access.platform/registry.publishr: there is no role publishr; did you mean publisher?",
  ],
  ["no policy", { "access.tests.yaml": TESTS }, "there is no policy beside the tests: name it with policy: FILE"],
  [
    "an organization that is not the policy's",
    { "access.yaml": POLICY, "access.tests.yaml": `organization: other\n${TESTS}` },
    `access.tests.yaml:1:1: organization: ${OTHER}`,
  ],
  ["no tests", { "access.yaml": POLICY }, "access.yaml has no tests", "access.yaml"],
  ["no file", {}, "access.tests.yaml:1:1: there is no file "],
])("mistakes exit with 1: %s", async (name, files, message, file = "access.tests.yaml") => {
  const path = writeAll(files, name);
  expect(await runIrm("test", path(file), "--format", "json")).toEqual(failure(1, message));
});

test("mistakes exit with 1: each is a line that begins with its place, and the last line counts them", async () => {
  const path = writeAll({ "access.tests.yaml": "tests: [{ can: tag.craete, identity: a }]\n" }, "lines");
  const file = path("access.tests.yaml");
  expect((await runIrm("test", file)).stderr).toBe(
    `${file}:1:9: tests[0].name: is required\n` +
      `${file}:1:16: tests[0].can: there is no capability tag.craete; did you mean tag.create or tag.delete?\n` +
      "irm test: 2 mistakes\n",
  );
});

test("mistakes exit with 1: no files of the usual names", async () => {
  const path = writeAll({ "a/b": "" });
  expect(await within(path("a"), () => runIrm("test"))).toEqual(
    exactFailure(
      1,
      "irm test: there are no tests in access.tests.yaml or the section tests of access.yaml, in this folder\n",
    ),
  );
});

const { api, platform, registry, publisher, reader } = await startTeam();
await api.actor("release", { role: publisher, at: registry, in: platform });

const live = async (tests: string, token = api.owner.token) => {
  signIn(api, token);
  const path = writeAll({ "live.tests.yaml": tests }, `live-${tests.length}-${token.length}`);
  return runIrm("test", path("live.tests.yaml"), "--live", "--format", "json");
};

test("--live: asks the API, by names with their group", async () => {
  const { code, stdout } = await live(`tests:
  - { name: publishes, identity: platform/release, can: tag.create, at: platform/registry }
  - { name: nobody else, capability: tag.create, only: [owner] }
`);
  expect(code).toBe(3);
  expect(JSON.parse(stdout).tests).toEqual([
    { name: "publishes", passed: true },
    {
      name: "nobody else",
      passed: false,
      reason: expect.stringMatching(
        /^platform\/release can tag.create at platform\/registry, by its binding to publisher \([0-9a-f/]+\)$/,
      ),
    },
  ]);
});

test("--live: what the caller cannot see passes no test of what must not be", async () => {
  const { code, stdout } = await live("tests: [{ name: nobody, capability: vuln.create, only: [] }]\n", reader.token);
  expect(code).toBe(3);
  expect(JSON.parse(stdout).tests[0].reason).toMatch(/not visible/);
});

test("--live: a name that does not exist is a mistake, and an API that refuses is reported", async () => {
  expect(await live("tests: [{ name: a, identity: platform/relase, cannot: tag.create }]\n")).toEqual(
    failure(1, '"a": there is no identity platform/relase; did you mean platform/release?'),
  );
  expect(await live("tests: [{ name: a, identity: owner, cannot: tag.create }]\n", "x")).toEqual(
    failure(1, /^irm test: /),
  );
});
