// `irm test`: a policy or a file of tests, alone and live; what it prints, and its exit codes.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import { offlineText } from "../../access/roles/lock.ts";
import { signIn } from "../harness/signed-in.ts";
import { startTeam } from "../harness/team.ts";
import { exactFailure, failure, runIrm } from "../support/irm.ts";
import { testFolder, within } from "../support/test-folder.ts";

const ROLES_LINE = `${offlineText(undefined)}\n`;
const folder = testFolder();
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

/** Files of a folder of their own. */
const write = (files: Readonly<Record<string, string>>, name = "own"): ((file: string) => string) => {
  const own = `${name}-${Object.keys(files).join("-").replaceAll("/", "_")}`;
  for (const [file, text] of Object.entries(files)) folder.write(join(own, file), text);
  return (file) => folder.path(join(own, file));
};

const REASON = "platform/release can tag.create at platform/registry, by its binding to publisher";

test("runs the tests of a file on the policy beside it, and exits with 3 if one fails", async () => {
  const path = write({ "access.yaml": POLICY, "access.tests.yaml": TESTS });
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
  const path = write({
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

test("finds access.tests.yaml and access.yaml of this folder; all of the example pass", async () => {
  const example = fileURLToPath(new URL("../../examples/policy", import.meta.url));
  expect(await within(example, () => runIrm("test"))).toMatchObject({
    code: 0,
    stderr: ROLES_LINE,
    stdout: expect.stringContaining("3 tests, all passed\n"),
  });
});

test("a file of tests may name its policy, where that has another name, and repeat its organization", async () => {
  const path = write({ "policy/main.yaml": POLICY, "checks.yaml": `policy: policy/main.yaml\n${TESTS}` });
  expect((await runIrm("test", path("checks.yaml"))).code).toBe(3);
  const beside = write({ "access.yaml": POLICY, "access.tests.yaml": `organization: acme\n${TESTS}` });
  expect((await runIrm("test", beside("access.tests.yaml"))).code).toBe(3);
});

describe("mistakes exit with 1, and no test runs", () => {
  const OTHER = "the policy of these tests is of acme, not of other; leave this out";
  test.each<[string, Record<string, string>, string, file?: string]>([
    [
      "a name that does not exist, with the nearest",
      { "access.yaml": POLICY, "access.tests.yaml": TESTS.replace("identity: release", "identity: relase") },
      'access.tests.yaml:2:5: "release publishes": there is no identity relase; did you mean release?',
    ],
    [
      "an unknown field of the file",
      { "access.yaml": POLICY, "access.tests.yaml": `test: []\n${TESTS}` },
      "access.tests.yaml:1:1: test: there is no such field here; did you mean tests?",
    ],
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
  ])("%s", async (name, files, message, file = "access.tests.yaml") => {
    const path = write(files, name);
    expect(await runIrm("test", path(file), "--format", "json")).toEqual(failure(1, message));
  });

  test("each of them is a line that begins with its place, and the last line counts them", async () => {
    const path = write({ "access.tests.yaml": "tests: [{ can: tag.craete, identity: a }]\n" }, "lines");
    const file = path("access.tests.yaml");
    expect((await runIrm("test", file)).stderr).toBe(
      `${file}:1:9: tests[0].name: is required\n` +
        `${file}:1:16: tests[0].can: there is no capability tag.craete; did you mean tag.create or tag.delete?\n` +
        "irm test: 2 mistakes\n",
    );
  });

  test("no files of the usual names", async () => {
    const path = write({ "a/b": "" });
    expect(await within(path("a"), () => runIrm("test"))).toEqual(
      exactFailure(
        1,
        "irm test: there are no tests in access.tests.yaml or the section tests of access.yaml, in this folder\n",
      ),
    );
  });
});

describe("--live", async () => {
  const { api, platform, registry, publisher, reader } = await startTeam();
  await api.actor("release", { role: publisher, at: registry, in: platform });

  const live = async (tests: string, token = api.owner.token) => {
    signIn(api, token);
    const path = write({ "live.tests.yaml": tests }, `live-${tests.length}-${token.length}`);
    return runIrm("test", path("live.tests.yaml"), "--live", "--format", "json");
  };

  test("asks the API, by names with their group", async () => {
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

  test("what the caller cannot see passes no test of what must not be", async () => {
    const { code, stdout } = await live(
      `tests:\n  - { name: nobody, capability: vuln.create, only: [] }\n`,
      reader.token,
    );
    expect(code).toBe(3);
    expect(JSON.parse(stdout).tests[0].reason).toMatch(/not visible/);
  });

  test("a name that does not exist is a mistake, and an API that refuses is reported", async () => {
    expect(await live("tests: [{ name: a, identity: platform/relase, cannot: tag.create }]\n")).toEqual(
      failure(1, '"a": there is no identity platform/relase; did you mean platform/release?'),
    );
    expect(await live("tests: [{ name: a, identity: owner, cannot: tag.create }]\n", "x")).toEqual(
      failure(1, /^irm test: /),
    );
  });
});
