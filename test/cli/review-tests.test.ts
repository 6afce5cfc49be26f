// `irm review` runs tests of access on what a change leads to: those of the base, whatever the change does to them, and its own.
import { unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Report } from "../../access/review/report.ts";
import { changed, created, placeholderOf } from "../access/preview/fixture.ts";
import type { TestServer } from "../harness/api-server.ts";
import { createUid } from "../harness/records.ts";
import { startTeam } from "../harness/team.ts";
import { runIrm } from "../support/irm.ts";
import { createRepository, type TestRepository } from "../support/repository.ts";

let api: TestServer;
let platform: string;
let release: string;
let repository: TestRepository;
beforeAll(async () => {
  const team = await startTeam();
  ({ api, platform } = team);
  release = (await api.actor("release", { role: team.publisher, at: team.registry, in: platform })).uid;
});
afterAll(() => api.close());

const TESTS = `tests:
  - { name: release publishes nowhere else, identity: platform/release, cannot: { capability: tag.create, at: platform } }
  - { name: only the owner gives access, capability: role_bindings.create, only: [owner] }
`;

beforeEach(() => {
  vi.stubEnv("IRM_BASE_URL", api.baseUrl);
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  repository = createRepository();
  repository.commit({ "Pulumi.yaml": "name: acme\n", "access.tests.yaml": TESTS });
  repository.git("checkout", "--quiet", "-b", "change");
  vi.spyOn(process, "cwd").mockReturnValue(repository.root);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  repository.remove();
});

const previewOf = (...steps: object[]): string => {
  const file = join(repository.root, ".git", "preview.json");
  writeFileSync(file, JSON.stringify({ steps, changeSummary: { create: steps.length } }));
  return file;
};
const grant = (role: string) => created("RoleBinding", "b", { parent: platform, identity: release, role });

const run = async (preview: string, ...flags: string[]) => {
  const finished = await runIrm("review", "--preview", preview, "--format", "json", ...flags);
  return { ...finished, report: finished.stdout === "" ? undefined : Report.parse(JSON.parse(finished.stdout)) };
};

const failures = (report: Report | undefined): string[] | undefined =>
  report?.findings
    .filter(({ rule }) => rule === "test-fails")
    .map(({ name, denied, message }) => `${denied} ${name}: ${message}`);

test("a change that breaks a test has its finding, names the binding, and exits with 3 although no rule is denied", async () => {
  const { code, report } = await run(previewOf(grant("owner")), "--base", "main");
  expect(code).toBe(3);
  expect(failures(report)).toEqual([
    "true release publishes nowhere else: platform/release can tag.create at platform, by its binding to owner",
    "true only the owner gives access: platform/release can role_bindings.create at platform, by its binding to owner",
  ]);
  expect(report?.tests?.map(({ passed }) => passed)).toEqual([false, false]);
});

test("a change that breaks none exits with 0, and says that they passed", async () => {
  const { code, report } = await run(previewOf(grant("viewer")), "--base", "main");
  expect({ code, findings: failures(report) }).toEqual({ code: 0, findings: [] });
  expect(report?.tests).toEqual([
    { name: "release publishes nowhere else", passed: true },
    { name: "only the owner gives access", passed: true },
  ]);
  expect((await runIrm("review", "--preview", previewOf(grant("viewer")), "--base", "main")).stdout).toContain(
    "2 tests of access: all passed",
  );
});

describe("the author of a change cannot excuse it", () => {
  const rulesChanged = (report: Report | undefined) =>
    report?.findings.find(({ rule, message }) => rule === "rules-changed" && message.includes("tests of access"))
      ?.message;

  test("by removing a test, or the file: it still counts, and its removal is a finding", async () => {
    repository.write({ "access.tests.yaml": "tests: []\n" });
    const { code, report } = await run(previewOf(grant("owner")), "--base", "main");
    expect(code).toBe(3);
    expect(rulesChanged(report)).toBe(
      'this change edits the tests of access: - test "release publishes nowhere else", - test "only the owner gives access"; what it removes counts until the merge, and what it adds counts already',
    );
    unlinkSync(join(repository.root, "access.tests.yaml"));
    expect(failures((await run(previewOf(grant("owner")), "--base", "main")).report)).toHaveLength(2);
  });

  test("by editing a test: both forms run", async () => {
    repository.write({ "access.tests.yaml": TESTS.replace("only: [owner]", "only: [owner, platform/release]") });
    const { code, report } = await run(previewOf(grant("owner")), "--base", "main");
    expect(code).toBe(3);
    expect(report?.tests?.map(({ name, passed }) => [name, passed])).toEqual([
      ["release publishes nowhere else", false],
      ["only the owner gives access", false],
      ["only the owner gives access", true],
    ]);
    expect(rulesChanged(report)).toContain(
      '- test "only the owner gives access", + test "only the owner gives access"',
    );
  });

  test("a test that it adds runs as well", async () => {
    const own =
      "  - { name: release reads nothing above, identity: platform/release, cannot: { capability: repo.list, at: platform } }\n";
    repository.write({ "access.tests.yaml": TESTS + own });
    const { code, report } = await run(previewOf(grant("viewer")), "--base", "main");
    expect(code).toBe(3);
    expect(failures(report)).toEqual([
      expect.stringContaining("release reads nothing above: platform/release can repo.list at platform"),
    ]);
  });
});

describe("a test that failed before the change too", () => {
  const NOBODY = "tests: [{ name: nobody gives access, capability: [role_bindings.create, roles.update], only: [] }]\n";
  beforeEach(() => {
    repository.git("checkout", "--quiet", "main");
    repository.commit({ "access.tests.yaml": NOBODY });
    repository.git("checkout", "--quiet", "-B", "change");
  });

  test("is listed as such, and fails nothing", async () => {
    const { code, report } = await run(previewOf(grant("viewer")), "--base", "main");
    expect({ code, findings: failures(report) }).toEqual({ code: 0, findings: [] });
    const reason = expect.stringContaining("owner can role_bindings.create, roles.update at /");
    expect(report?.tests).toEqual([{ name: "nobody gives access", passed: false, reason, failedBefore: true }]);
    for (const format of ["terminal", "markdown", "html"]) {
      const { stdout } = await runIrm("review", "--preview", previewOf(grant("viewer")), "--format", format);
      expect(stdout.replaceAll(/\s+/g, " "), format).toContain("1 test of access: 1 failed before this change too");
      expect(stdout.replaceAll(/<[^>]+>|[\s`"]+/g, " "), format).toContain("nobody gives access");
    }
  });

  test("fails by what the change adds to it, which the finding names", async () => {
    const { code, report } = await run(previewOf(grant("owner")), "--base", "main");
    expect({ code, findings: failures(report) }).toEqual({
      code: 3,
      findings: [
        "true nobody gives access: platform/release can role_bindings.create, roles.update at platform, by its binding to owner",
      ],
    });
  });
});

describe("of several organizations", () => {
  let two: TestServer;
  let ids: { first: string; second: string; ci: string };
  beforeAll(async () => {
    ({ api: two } = await startTeam());
    const second = await createUid(two, "groups", "", { name: "second" });
    ids = { first: two.organization, second, ci: (await two.actor("ci")).uid };
  });
  afterAll(() => two.close());
  beforeEach(() => {
    vi.stubEnv("IRM_BASE_URL", two.baseUrl);
    vi.stubEnv("IRM_TOKEN", two.owner.token);
  });
  const base = (text: string): void => {
    repository.git("checkout", "--quiet", "main");
    repository.commit({ "access.tests.yaml": text });
    repository.git("checkout", "--quiet", "-B", "change");
  };
  const only = "tests: [{ name: only the owner gives access, capability: role_bindings.create, only: [owner] }]\n";
  const owns = () => created("RoleBinding", "b", { parent: ids.first, identity: ids.ci, role: "owner" });
  const BROKEN = "ci can role_bindings.create at /, by its binding to owner";
  const EMPTY: [string, () => object][] = [
    ["a new", () => created("Group", "third", { name: "third", root: true })],
    ["an existing", () => created("Group", "empty", { parent: ids.second, name: "empty" })],
  ];

  test.each(EMPTY)(
    "tests without a name are about all that the change touches: not just %s, empty one",
    async (_, more) => {
      base(only);
      const { code, report } = await run(previewOf(owns(), more()), "--base", "main");
      expect({ code, findings: failures(report) }).toEqual({
        code: 3,
        findings: [expect.stringMatching(new RegExp(`^true only the owner gives access: in [^:]+: ${BROKEN}$`))],
      });
      // What they name is in one of them.
      base('tests: [{ name: ci does nothing, identity: ci, cannot: "*" }]\n');
      expect((await run(previewOf(owns(), more()), "--base", "main")).code).toBe(3);
      expect(await run(previewOf(more()), "--base", "main")).toMatchObject({ code: 0 });
    },
  );

  test("a name of the base is one of an organization that exists, not of one that the change creates", async () => {
    base("tests: [{ name: only ci gives access, capability: role_bindings.create, only: [ci, owner] }]\n");
    const org = created("Group", "third", { name: "third", root: true });
    const third = placeholderOf("Group", "third");
    const claimMatch = { issuer: "https://evil.example.com", subject: "ci" };
    const twin = created("Identity", "twin", { parent: third, name: "ci", claimMatch });
    const identity = placeholderOf("Identity", "twin");
    const steps = [org, twin, created("RoleBinding", "b", { parent: third, identity, role: "owner" })];
    const { code, report } = await run(previewOf(...steps), "--base", "main");
    expect({ code, findings: failures(report) }).toEqual({
      code: 3,
      findings: ["true only ci gives access: in third: ci can role_bindings.create at /, by its binding to owner"],
    });
  });

  test("tests with a name are about that one, whatever else the change touches or renames", async () => {
    base(`organization: dev\n${only}`);
    const elsewhere = () => created("RoleBinding", "b", { parent: ids.second, identity: ids.ci, role: "owner" });
    expect(await run(previewOf(elsewhere()), "--base", "main")).toMatchObject({ code: 0 });
    const renamed = changed("update", "Group", "acme", ids.first, {
      old: { name: "dev" },
      new: { name: "other", root: true },
    });
    const decoy = created("Group", "decoy", { name: "dev", root: true });
    const { code, report } = await run(previewOf(owns(), renamed, decoy), "--base", "main");
    expect({ code, findings: failures(report) }).toEqual({
      code: 3,
      findings: [`true only the owner gives access: ${BROKEN}`],
    });
  });
});

describe("mistakes", () => {
  test("in a test that the change adds exit with 1", async () => {
    repository.write({
      "access.tests.yaml": `${TESTS}  - { name: x, identity: platform/relase, cannot: tag.create }\n`,
    });
    const { code, stdout, stderr } = await run(previewOf(grant("viewer")), "--base", "main");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain('"x": there is no identity platform/relase; did you mean platform/release?');
  });

  test("of shape exit with 1, at the base too", async () => {
    repository.write({ "access.tests.yaml": "test: []\n" });
    expect(await run(previewOf(grant("viewer")), "--base", "main")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("access.tests.yaml:1:1: test: there is no such field here; did you mean tests?"),
    });
    repository.git("checkout", "--quiet", "main", "--force");
    repository.commit({ "access.tests.yaml": "test: []\n" });
    repository.write({ "access.tests.yaml": TESTS });
    expect(await run(previewOf(grant("viewer")), "--base", "main")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("the tests of access at main have mistakes, so there is no review:"),
    });
  });

  test("a test of the base that names what does not exist any more fails, and is no pass", async () => {
    repository.git("checkout", "--quiet", "main");
    repository.commit({ "access.tests.yaml": "tests: [{ name: x, identity: gone, cannot: tag.create }]\n" });
    const { code, report } = await run(previewOf(grant("viewer")), "--base", "main");
    expect(code).toBe(3);
    expect(failures(report)).toEqual(["true x: it names what does not exist: there is no identity gone"]);
  });
});

test("without a base, the tests of the work tree run", async () => {
  expect((await run(previewOf(grant("owner")))).code).toBe(3);
});

test("--tests names another file, at the base too", async () => {
  repository.git("checkout", "--quiet", "main");
  repository.commit({ "access.tests.yaml": "tests: []\n", "ci/team.tests.yaml": TESTS });
  repository.git("checkout", "--quiet", "change");
  const { code } = await run(previewOf(grant("owner")), "--base", "main", "--tests", "ci/team.tests.yaml");
  expect(code).toBe(1);
  repository.write({ "ci/team.tests.yaml": "tests: []\n" });
  expect((await run(previewOf(grant("owner")), "--base", "main", "--tests", "ci/team.tests.yaml")).code).toBe(3);
});

describe("of a policy", () => {
  const RELEASE = "release: { in: platform, github: { repository: acme/images, branch: main } }";
  const policy = (access: string, identities = RELEASE): string => `organization: { uid: "${api.organization}" }
groups: { platform: { groups: { registry: {} } } }
identities: { ${identities} }
access: ${access}
`;
  const review = async (text: string) => {
    repository.write({ "acme/access.yaml": text });
    const file = join(repository.root, "acme/access.yaml");
    const { code, stdout } = await runIrm(
      "review",
      "--policy",
      file,
      "--exclusive",
      "--base",
      "main",
      "--format",
      "json",
    );
    return { code, failures: failures(Report.parse(JSON.parse(stdout))) };
  };
  const SECTION = `tests:
  - { name: release never owns, identity: release, cannot: role_bindings.create }
  - { name: nobody else owns, capability: role_bindings.create, only: [release] }
`;
  beforeEach(() => {
    repository.git("checkout", "--quiet", "main");
    const first = `include: [tests.yaml]\n${policy("{ platform: { viewer: [release] } }")}`;
    repository.commit({ "acme/access.yaml": first, "acme/tests.yaml": SECTION });
    repository.git("checkout", "--quiet", "-B", "change");
  });

  test("the section, and what the policy includes, are those of the base", async () => {
    expect(await review(policy("{ platform: { owner: [release] } }"))).toEqual({
      code: 3,
      failures: [
        "true release never owns: platform/release can role_bindings.create at platform, by its binding to owner",
      ],
    });
  });

  test("a key means the identity that it stood for, not another one to which the change gives the key", async () => {
    const other = "release: { in: platform, name: other, github: { repository: evil/images, branch: main } }";
    expect(await review(policy("{ platform: { owner: [release] } }", other))).toEqual({
      code: 3,
      failures: ["true nobody else owns: platform/other can role_bindings.create at platform, by its binding to owner"],
    });
  });

  test("an identity that the change removes can do nothing any more", async () => {
    expect(await review(policy("{}", RELEASE.replace("release", "publisher")))).toEqual({ code: 0, failures: [] });
  });
});

describe("a key of the policy means the record that the stack has for it", () => {
  const POLICY = `organization: { uid: ORGANIZATION }
groups: { platform: {} }
identities: { release: { in: platform, github: { repository: acme/images, branch: main } } }
tests: [{ name: release never owns, identity: release, cannot: role_bindings.create }]
`;
  const urn = (type: string, name: string) =>
    type === "AccessPolicy"
      ? `urn:pulumi:dev::access::irm:index:AccessPolicy::${name}`
      : `urn:pulumi:dev::access::irm:index:AccessPolicy$irm:index:${type}::${name}`;
  const parent = urn("AccessPolicy", "acme");
  const keepStep = (type: string, name: string, id: string, was = name) => {
    const state = { urn: urn(type, name), type: `irm:index:${type}`, id, parent, inputs: { name: "x" }, outputs: {} };
    return { op: "same", urn: urn(type, name), newState: state, oldState: { ...state, urn: urn(type, was) } };
  };
  const component = () => {
    const state = { urn: parent, type: "irm:index:AccessPolicy", outputs: { organization: api.organization } };
    return { op: "same", urn: parent, oldState: state, newState: state };
  };
  let evil: string;
  beforeAll(async () => {
    await createUid(api, "groups", api.organization, { name: "platform" });
    evil = (await api.actor("evil", { role: "viewer", at: platform, in: platform })).uid;
  });
  beforeEach(() => {
    repository.git("checkout", "--quiet", "main");
    unlinkSync(join(repository.root, "access.tests.yaml"));
    repository.commit({ "access.yaml": POLICY.replace("ORGANIZATION", JSON.stringify(api.organization)) });
    repository.git("checkout", "--quiet", "-B", "change");
  });
  const BROKEN =
    "true release never owns: platform/release can role_bindings.create at platform, by its binding to owner";

  test("where two groups have its name", async () => {
    const refresh = { ...component(), op: "refresh" };
    const steps = [
      refresh,
      component(),
      keepStep("Group", "acme/platform", platform),
      keepStep("Identity", "acme:identity/release", release),
    ];
    const { code, report } = await run(previewOf(...steps, grant("owner")), "--base", "main");
    expect({ code, found: failures(report) }).toEqual({ code: 3, found: [BROKEN] });
    const unknown = await run(previewOf(grant("owner")), "--base", "main");
    expect(unknown.stderr).toContain("groups.platform: the API has 2 groups of this name");
  });

  test("also where an alias of the change gives its name to another record", async () => {
    const steps = [
      component(),
      keepStep("Group", "acme/platform", platform),
      keepStep("Identity", "acme:identity/release", evil, "acme:identity/evil"),
      keepStep("Identity", "acme:identity/old", release, "acme:identity/release"),
    ];
    const { report } = await run(previewOf(...steps, grant("owner")), "--base", "main");
    expect(failures(report)).toEqual([BROKEN]);
  });
});

describe("an identity that a policy begins to declare under the name of one that exists", () => {
  const policyOf = (identities: string, access: string): string =>
    `organization: { uid: "${api.organization}" }\nidentities:\n${identities}access:\n${access}`;
  const identity = (key: string, name: string): string =>
    `  ${key}: { name: ${name}, claimMatch: { issuer: "${api.issuer}", subject: ${name} } }\n`;
  const review = async (...flags: string[]) => {
    const finished = await runIrm("review", "--policy", "access.yaml", "--format", "json", ...flags);
    return { ...finished, report: Report.parse(JSON.parse(finished.stdout)) };
  };

  test("may be another one, which is not known: a new owner is no owner that exists", async () => {
    const old = policyOf(identity("ci", "ci"), "  /: { viewer: [ci] }\n");
    repository.git("checkout", "--quiet", "main");
    repository.commit({ "access.yaml": old, "review.yaml": "required: { may-own: [/owner] }\n" });
    repository.git("checkout", "--quiet", "-B", "change");
    // The API has that identity, and it is owner.
    const twin = policyOf(identity("ci", "ci") + identity("boss", "owner"), "  /: { viewer: [ci], owner: [boss] }\n");
    repository.commit({ "access.yaml": twin });
    vi.spyOn(process, "cwd").mockReturnValue(repository.root);
    const { code, report } = await review("--base", "main", "--deny", "gains-owner");
    expect(code).toBe(3);
    const of = (rule: string) => report.findings.filter((one) => one.rule === rule && one.denied);
    for (const rule of ["gains-owner", "may-own"]) expect(of(rule)).toMatchObject([{ name: "boss", unknown: true }]);
    expect(report.unknown.map(({ message }) => message)).toContain(
      `identity boss: the policy of the base does not have it, and the API has one of its name, ${api.identity}: without adopt: "match" the update creates another one, which would get role owner at /`,
    );
    // One that the base declares is that one.
    repository.git("branch", "--force", "main");
    const { report: later } = await review("--base", "main");
    expect(later.unknown.filter(({ subject }) => subject === "boss")).toEqual([]);
  });

  test("a test of the base is about the identity of the base, whatever uid the change gives its key", async () => {
    const team = await createUid(api, "groups", api.organization, { name: "decoys" });
    const [deploy, decoy] = [await api.actor("deploy", { in: team }), await api.actor("decoy", { in: team })];
    const of = (key: string, name: string): string =>
      `  ${key}: { in: decoys, name: ${name}, claimMatch: { issuer: "${api.issuer}", subject: ${name} } }\n`;
    const policy = (identities: string, access: string): string =>
      `organization: { uid: "${api.organization}" }\ngroups: { decoys: {} }\nidentities:\n${identities}access: ${access}\n` +
      "tests: [{ name: deploy gives nothing, identity: deploy, cannot: [role_bindings.create] }]\n";
    repository.git("checkout", "--quiet", "main");
    unlinkSync(join(repository.root, "access.tests.yaml"));
    repository.commit({ "access.yaml": policy(of("deploy", "deploy"), "{}") });
    repository.git("checkout", "--quiet", "-B", "change");
    repository.commit({
      "access.yaml": policy(of("deploy", "decoy") + of("other", "deploy"), "{ decoys: { owner: [other] } }"),
      "adopt.json": JSON.stringify({ identities: { deploy: decoy.uid, other: deploy.uid } }),
    });
    vi.spyOn(process, "cwd").mockReturnValue(repository.root);
    const { code, report } = await review("--policy", join(repository.root, "access.yaml"), "--base", "main");
    expect({ code, tests: report.tests?.map(({ passed }) => passed) }).toEqual({ code: 3, tests: [false] });
    expect(failures(report)?.[0]).toContain("deploy can role_bindings.create at decoys, by its binding to owner");
  });

  const TESTS_ELSEWHERE = "tests: [{ name: owner reads, identity: owner, can: [groups.list] }]\n";

  test.each<[string, Record<string, string>, string, string[]]>([
    [
      "--tests names tests that have no policy",
      { "access.yaml": "organization: acme\n", "tests/who.tests.yaml": TESTS_ELSEWHERE },
      "the policy of the base",
      ["--tests", "tests/who.tests.yaml"],
    ],
    ["the base has no such policy", {}, "the base", []],
  ])("the same where %s", async (_, base, source, flags) => {
    repository.git("checkout", "--quiet", "main");
    unlinkSync(join(repository.root, "access.tests.yaml"));
    repository.commit(base);
    repository.git("checkout", "--quiet", "-B", "change");
    repository.commit({ "access.yaml": policyOf(identity("boss", "owner"), "  /: { owner: [boss] }\n") });
    const { code, report } = await review("--base", "main", "--deny", "gains-owner", ...flags);
    expect(code).toBe(3);
    const found = report.findings.filter(({ rule }) => rule === "gains-owner");
    expect(found).toMatchObject([{ name: "boss", unknown: true, denied: true }]);
    expect(report.unknown).toContainEqual({
      subject: "boss",
      message: expect.stringContaining(`identity boss: ${source} does not have it, and the API has one of its name`),
    });
  });
});
