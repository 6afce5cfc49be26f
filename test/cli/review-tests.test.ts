// `irm review` runs tests of access on what a change leads to: those of the base, whatever the change does to them, and its own.
import { unlinkSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import type { Change } from "../../access/change/change.ts";
import { Report } from "../../access/review/report.ts";
import type { Client } from "../../client/client.ts";
import { createRecord, updateRecord } from "../../client/records.ts";
import { resources } from "../../schema/index.ts";
import type { TestServer } from "../harness/api-server.ts";
import { grant, makeChange, writeChangeFile } from "../harness/change-file.ts";
import { createUid } from "../harness/records.ts";
import { signIn, signInForEach } from "../harness/signed-in.ts";
import { startTeam } from "../harness/team.ts";
import { failure, runIrm } from "../support/irm.ts";
import { useRepository } from "../support/repository.ts";

const { api, platform, registry, publisher } = await startTeam();
const { uid: release } = await api.actor("release", { role: publisher, at: registry, in: platform });
signInForEach(api);
let server: TestServer;

const TESTS = `tests:
  - { name: release publishes nowhere else, identity: platform/release, cannot: { capability: tag.create, at: platform } }
  - { name: only the owner gives access, capability: role_bindings.create, only: [owner] }
`;

const repository = useRepository({ "Pulumi.yaml": "name: acme\n", "access.tests.yaml": TESTS });
beforeEach(() => {
  server = api;
});

const base = (tests: string) => repository.onMain({ "access.tests.yaml": tests });
const write = (tests: string): void => repository.write({ "access.tests.yaml": tests });
const changeFile = () => repository.at(".git/change.json");

type Act = (client: Client) => Promise<unknown>;

const run = async (acts: Act | readonly Act[], ...flags: string[]) => {
  const made =
    changes.get(acts) ??
    (await makeChange(server, async (client) => {
      for (const act of [acts].flat()) await act(client);
    }));
  changes.set(acts, made);
  const finished = await runIrm("review", writeChangeFile(changeFile(), made), "--format", "json", ...flags);
  return { ...finished, report: finished.stdout === "" ? undefined : Report.parse(JSON.parse(finished.stdout)) };
};
const changes = new Map<unknown, Change>();
const GIVES = {
  owner: grant(api, platform, release, "owner"),
  viewer: grant(api, platform, release, "viewer"),
};
const gives = (role: keyof typeof GIVES): Act => GIVES[role];

const failures = (report: Report | undefined): string[] | undefined =>
  report?.findings
    .filter(({ rule }) => rule === "test-fails")
    .map(({ name, denied, message }) => `${denied} ${name}: ${message}`);
const rulesChanged = (report: Report | undefined) =>
  report?.findings.find(({ rule, message }) => rule === "rules-changed" && message.includes("tests of access"))
    ?.message;

const reviewed = async (acts: Act | readonly Act[]) => {
  const { code, report } = await run(acts, "--base", "main");
  return { verdict: [code, ...(failures(report) ?? [])], report };
};

test("a change that breaks a test has its finding, names the binding, and exits with 3 although no rule is denied", async () => {
  const { verdict, report } = await reviewed(gives("owner"));
  expect(verdict).toEqual([
    3,
    "true release publishes nowhere else: platform/release can tag.create at platform, by its binding to owner",
    "true only the owner gives access: platform/release can role_bindings.create at platform, by its binding to owner",
  ]);
  expect(report?.tests?.map(({ passed }) => passed)).toEqual([false, false]);
});

test("a change that breaks none exits with 0, and says that they passed", async () => {
  const { verdict, report } = await reviewed(gives("viewer"));
  expect(verdict).toEqual([0]);
  expect(report?.tests).toEqual([
    { name: "release publishes nowhere else", passed: true },
    { name: "only the owner gives access", passed: true },
  ]);
  expect((await runIrm("review", changeFile(), "--base", "main")).stdout).toContain("2 tests of access: all passed");
});

test("a change is not excused by removing a test, or the file: it counts, and that is a finding", async () => {
  write("tests: []\n");
  const { verdict, report } = await reviewed(gives("owner"));
  expect(verdict).toHaveLength(3);
  expect(rulesChanged(report)).toBe(
    'this change edits the tests of access: - test "release publishes nowhere else", - test "only the owner gives access"; what it removes counts until the merge, and what it adds counts already',
  );
  unlinkSync(repository.at("access.tests.yaml"));
  expect((await reviewed(gives("owner"))).verdict).toEqual(verdict);
});

test("a change is not excused by editing a test: both forms run", async () => {
  write(TESTS.replace("only: [owner]", "only: [owner, platform/release]"));
  const { verdict, report } = await reviewed(gives("owner"));
  expect(verdict[0]).toBe(3);
  expect(report?.tests?.map(({ name, passed }) => [name, passed])).toEqual([
    ["release publishes nowhere else", false],
    ["only the owner gives access", false],
    ["only the owner gives access", true],
  ]);
  expect(rulesChanged(report)).toContain('- test "only the owner gives access", + test "only the owner gives access"');
});

test("a test that failed before the change too is listed as such, and fails only by what the change adds to it", async () => {
  base("tests: [{ name: nobody gives access, capability: [role_bindings.create, roles.update], only: [] }]\n");
  const { verdict, report } = await reviewed(gives("viewer"));
  expect(verdict).toEqual([0]);
  const reason = expect.stringContaining("owner can role_bindings.create, roles.update at /");
  expect(report?.tests).toEqual([{ name: "nobody gives access", passed: false, reason, failedBefore: true }]);
  for (const format of ["terminal", "markdown", "html"]) {
    const { stdout } = await runIrm("review", changeFile(), "--format", format);
    expect(stdout.replaceAll(/\s+/g, " "), format).toContain("1 test of access: 1 failed before this change too");
    expect(stdout.replaceAll(/<[^>]+>|[\s`"]+/g, " "), format).toContain("nobody gives access");
  }
  expect((await reviewed(gives("owner"))).verdict).toEqual([
    3,
    "true nobody gives access: platform/release can role_bindings.create, roles.update at platform, by its binding to owner",
  ]);
});

describe("of several organizations", async () => {
  const { api: two } = await startTeam();
  const second = await createUid(two, "groups", "", { name: "second" });
  const { uid: ci } = await two.actor("ci");
  beforeEach(() => {
    server = two;
    signIn(two);
  });
  const only = "tests: [{ name: only the owner gives access, capability: role_bindings.create, only: [owner] }]\n";
  const owns: Act = (client) => grant(two, two.organization, ci, "owner")(client);
  const BROKEN = "ci can role_bindings.create at /, by its binding to owner";
  const found =
    (name: string): Act =>
    (client) =>
      createRecord(client, resources.group, "", { name });

  test("tests without a name are about all that the change touches: not just a new, empty one", async () => {
    const more = found("third");
    base(only);
    expect((await reviewed([owns, more])).verdict).toEqual([
      3,
      expect.stringMatching(new RegExp(`^true only the owner gives access: in [^:]+: ${BROKEN}$`)),
    ]);
    // What they name is in one of them.
    base('tests: [{ name: ci does nothing, identity: ci, cannot: "*" }]\n');
    expect((await reviewed([owns, more])).verdict[0]).toBe(3);
    expect((await reviewed(more)).verdict[0]).toBe(0);
  });

  test("a name of the base is one of an organization that exists, not of one that the change creates", async () => {
    base("tests: [{ name: only ci gives access, capability: role_bindings.create, only: [ci, owner] }]\n");
    const { verdict } = await reviewed(async (client) => {
      const third = String((await createRecord(client, resources.group, "", { name: "third" })).uid);
      const claimMatch = { issuer: "https://evil.example.com", subject: "ci" };
      const { uid } = await createRecord(client, resources.identity, third, { name: "ci", claimMatch });
      await grant(two, third, String(uid), "owner")(client);
    });
    expect(verdict).toEqual([3, `true only ci gives access: in third: ${BROKEN}`]);
  });

  test("tests with a name are about that one, whatever else the change touches or renames", async () => {
    base(`organization: dev\n${only}`);
    expect((await reviewed((client) => grant(two, second, ci, "owner")(client))).verdict[0]).toBe(0);
    const rename: Act = (client) =>
      updateRecord(client, resources.group, two.organization, { name: "other" }, ["name"]);
    const { verdict } = await reviewed([owns, rename, found("dev")]);
    expect(verdict).toEqual([3, `true only the owner gives access: ${BROKEN}`]);
  });
});

const viewed = () => run(gives("viewer"), "--base", "main");

test.each([
  [
    "of names",
    `${TESTS}  - { name: x, identity: platform/relase, cannot: tag.create }\n`,
    '"x": there is no identity platform/relase; did you mean platform/release?',
  ],
  ["of shape", "test: []\n", "access.tests.yaml:1:1: test: there is no such field here; did you mean tests?"],
])("mistakes %s in what the change adds exit with 1", async (_, tests, mistake) => {
  write(tests);
  expect(await viewed()).toMatchObject(failure(1, mistake));
});

test("mistakes at the base exit with 1; a test that names what is gone fails, and is no pass", async () => {
  base("test: []\n");
  write(TESTS);
  const mistake = "the tests of access at main have mistakes, so there is no review:";
  expect(await viewed()).toMatchObject(failure(1, mistake));
  base("tests: [{ name: x, identity: gone, cannot: tag.create }]\n");
  expect((await reviewed(gives("viewer"))).verdict).toEqual([
    3,
    "true x: it names what does not exist: there is no identity gone",
  ]);
});

test("without a base the tests of the work tree run, and --tests names another file, at the base too", async () => {
  expect((await run(gives("owner"))).code).toBe(3);
  repository.onMain({ "access.tests.yaml": "tests: []\n", "ci/team.tests.yaml": TESTS });
  const flags = ["--base", "main", "--tests", "ci/team.tests.yaml"];
  repository.git("checkout", "--quiet", "HEAD~1");
  expect((await run(gives("owner"), ...flags)).code).toBe(1);
  repository.write({ "ci/team.tests.yaml": "tests: []\n" });
  expect((await run(gives("owner"), ...flags)).code).toBe(3);
});

describe("in a policy beside the program", () => {
  const RELEASE = "release: { in: platform, github: { repository: acme/images, branch: main } }";
  const policy = (identities = RELEASE): string => `organization: { uid: "${api.organization}" }
groups: { platform: { groups: { registry: {} } } }
identities: { ${identities} }
access: { platform: { viewer: [release] } }
`;
  const SECTION = `tests:
  - { name: release never owns, identity: release, cannot: role_bindings.create }
  - { name: nobody else owns, capability: role_bindings.create, only: [release, owner] }
`;
  const verdictOn = async (text: string, act: Act) => {
    repository.write({ "access.yaml": text });
    return (await reviewed(act)).verdict;
  };
  beforeEach(() => {
    repository.git("checkout", "--quiet", "main");
    unlinkSync(repository.at("access.tests.yaml"));
    repository.onMain({ "access.yaml": `include: [tests.yaml]\n${policy()}`, "tests.yaml": SECTION });
  });

  test("the section, and what the policy includes, are those of the base", async () => {
    expect(await verdictOn(policy(), gives("owner"))).toEqual([
      3,
      "true release never owns: platform/release can role_bindings.create at platform, by its binding to owner",
    ]);
  });

  test("a key means the identity that it stood for, not another one to which the change gives the key", async () => {
    const other = "release: { in: platform, name: other, github: { repository: evil/images, branch: main } }";
    const claimMatch = { issuer: "https://evil.example.com", subject: "other" };
    const owns: Act = async (client) => {
      const { uid } = await createRecord(client, resources.identity, platform, { name: "other", claimMatch });
      await grant(api, platform, String(uid), "owner")(client);
    };
    expect(await verdictOn(policy(other), owns)).toEqual([
      3,
      "true nobody else owns: platform/other can role_bindings.create at platform, by its binding to owner",
    ]);
  });

  test("an identity that the change removes can do nothing any more", async () => {
    const removes: Act = (client) => client.call("DeleteIdentity", { uid: release });
    expect(await verdictOn(policy().replaceAll("release", "publisher"), removes)).toEqual([0]);
  });
});
