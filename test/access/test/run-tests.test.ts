// Tests of access on a policy alone: what passes, what fails and why, and what is a mistake.
import { describe, expect, test } from "vitest";
import { type GraphBuilder, newGraph } from "../../../access/graph/graph.ts";
import type { ListedKind } from "../../../access/graph/live.ts";
import { parsePolicy } from "../../../access/policy/parse.ts";
import { TABLE } from "../../../access/roles/lock.ts";
import { namesIn } from "../../../access/test/names.ts";
import { type Outcome, runTests } from "../../../access/test/run-tests.ts";
import { liveScene, policyScene } from "../../../access/test/scene.ts";
import { addGroup, addIdentity, addRole, bind, ROOT, uidIn } from "../graphs.ts";

const POLICY = {
  organization: "acme",
  groups: { platform: { groups: { registry: {}, clusters: {} } } },
  identities: {
    release: { in: "platform", name: "release-main", github: { repository: "acme/images", branch: "main" } },
    review: { github: { repository: "acme/*", event: "pull_request" } },
    owner: { google: { uniqueId: "107517467455664443765" } },
    apply: { github: { repository: "acme/access", environment: "production" } },
  },
  roles: {
    publisher: { in: "platform", can: ["repo.list", "tag.create"] },
  },
  access: {
    "platform/registry": { publisher: ["release"] },
    "/": { viewer: ["review"], owner: ["owner", "apply"] },
  },
};

const run = (own: object, change: object = {}): Outcome => {
  const { policy, mistakes } = parsePolicy({ ...POLICY, ...change, tests: [{ name: "it", ...own }] });
  if (!policy) throw new Error(mistakes.map(({ path, text }) => `${path}: ${text}`).join("\n"));
  return runTests(policy.tests, policyScene(policy, TABLE.roles))[0] as Outcome;
};
const passes = { passed: true };
const failsWith = (reason: string) => ({ passed: false, reason });

describe("capability and only", () => {
  test("passes while nobody else holds it", () => {
    expect(run({ capability: ["role_bindings.create", "roles.update"], only: ["apply", "owner"] })).toEqual(passes);
  });

  test("names the identity, the place and the binding that break it", () => {
    expect(run({ capability: ["role_bindings.create", "roles.update"], only: ["owner"] })).toEqual(
      failsWith("apply can role_bindings.create, roles.update at /, by its binding to owner"),
    );
  });

  test("several reasons of one identity are a sentence with a list, the worst first, which names it once", () => {
    const access = { "platform/registry": { publisher: ["review"] }, platform: { editor: ["review"] } };
    const outcome = run(
      { workload: { github: { repository: "acme/x", event: "pull_request" } }, cannot: "*.create" },
      { access },
    );
    const lead = expect.stringMatching(/^review, which repo:acme\/x.* can assume, can:$/);
    const items = [
      expect.stringMatching(/^\S+\.create, .* at platform, by its binding to editor$/),
      "tag.create at platform/registry, by its binding to publisher",
    ];
    expect(outcome).toMatchObject({ passed: false, list: { lead, items } });
    expect((outcome as { reason: string }).reason.match(/can assume/g)).toHaveLength(1);
  });

  test("at a group, what holds there through the groups above counts, and what is below does not", () => {
    const only = ["owner", "apply"];
    expect(run({ capability: "tag.create", only, at: "platform" })).toEqual(passes);
    expect(run({ capability: "tag.create", only, at: "platform/registry" })).toEqual(
      failsWith("platform/release-main can tag.create at platform/registry, by its binding to publisher"),
    );
    expect(run({ capability: "tag.create", only: ["owner", "release"], at: "platform/clusters" })).toEqual(
      failsWith("apply can tag.create at /, by its binding to owner"),
    );
  });

  test("only may list a uid that the policy does not declare: it excuses no other, and the service is not asked", () => {
    const uid = `${"0".repeat(40)}/${"1".repeat(16)}`;
    expect(run({ capability: "roles.update", only: ["apply", "owner", uid] })).toEqual(passes);
    expect(run({ capability: "roles.update", only: ["owner", uid] })).toEqual(
      failsWith("apply can roles.update at /, by its binding to owner"),
    );
    expect(run({ identity: uid, cannot: "roles.update" })).toEqual({ mistakes: [`there is no identity ${uid}`] });
  });

  test("only means the same on a service: a key before its record exists, and a uid that is gone, excuse nobody", () => {
    const tests = [{ name: "it", capability: "roles.update", only: ["apply", `${ROOT}/${"1".repeat(16)}`] }];
    const { policy } = parsePolicy({ ...POLICY, tests });
    const graph = newGraph();
    addGroup(graph, ROOT, "acme", null);
    bind(graph, ROOT, addIdentity(graph, uidIn(ROOT, 1), "boss", ROOT, {}), addRole(graph, "owner", ["roles.update"]));
    addRole(graph, "viewer", []);
    const built = liveScene({ graph, notVisible: [] }, policy ? { policy } : {}, 0);
    expect("scene" in built && runTests(policy?.tests ?? [], built.scene)).toEqual([
      { passed: false, reason: expect.stringContaining("boss can roles.update at /, by its binding to owner") },
    ]);
  });

  test("only may be empty: nobody", () => {
    expect(run({ capability: "registry.overlays.edit", only: [] })).toMatchObject({ passed: false });
    expect(run({ capability: "registry.overlays.edit", only: [] }, { access: {} })).toEqual(passes);
  });
});

describe("people without an identity", () => {
  const people = { "acme-sso": { externalGroups: { SRE: ["owner"], All: ["viewer"] } } };

  test("count for only, by their names", () => {
    const capability = "role_bindings.create";
    expect(run({ capability, only: ["owner", "apply"] }, { people })).toEqual(
      failsWith("external group SRE of acme-sso can role_bindings.create at /, by its binding to owner"),
    );
    expect(run({ capability, only: ["owner", "apply", "external group SRE of acme-sso"] }, { people })).toEqual(passes);
    expect(
      run({ identity: "external group All of acme-sso", can: "repo.list", cannot: "*.create" }, { people }),
    ).toEqual(passes);
  });

  test("are no workload", () => {
    const workload = { claimMatch: { issuerPattern: ".*", subjectPattern: ".*" } };
    expect(run({ workload, cannot: "role_bindings.create" }, { people, access: {} })).toEqual(passes);
  });
});

describe("identity", () => {
  test("can at its group, and cannot above it", () => {
    const cannot = { capability: ["tag.create"], at: "/" };
    expect(run({ identity: "release", can: ["tag.create"], at: "platform/registry", cannot })).toEqual(passes);
    const access = { "/": { owner: ["release"] }, "platform/registry": { publisher: ["release"] } };
    expect(run({ identity: "release", can: ["tag.create"], at: "platform/registry", cannot }, { access })).toEqual(
      failsWith("platform/release-main can tag.create at /, by its binding to owner"),
    );
  });

  test("can names all that is missing, and where", () => {
    expect(
      run({ identity: "release", can: ["tag.create", "tag.delete", "repo.create"], at: "platform/registry" }),
    ).toEqual(failsWith("release cannot repo.create, tag.delete at platform/registry"));
    expect(run({ identity: "release", can: "tag.create", at: "platform" })).toMatchObject({ passed: false });
    expect(run({ identity: "release", can: "tag.create" })).toEqual(passes);
    expect(run({ identity: "release", can: "*.create" })).toMatchObject({ passed: false });
  });

  test("cannot takes one map, or a list of maps and capabilities; without a place of its own it is that of the test", () => {
    const cannot = ["tag.delete", { capability: "*.create", at: "platform" }];
    expect(run({ identity: "release", cannot })).toEqual(passes);
    expect(run({ identity: "release", cannot: ["*.create"] })).toMatchObject({ passed: false });
    expect(run({ identity: "release", cannot: ["*.create"], at: "platform" })).toEqual(passes);
    expect(run({ identity: "release", cannot: { capability: "*.create" }, at: "platform/registry" })).toMatchObject({
      passed: false,
    });
  });

  test("is also found by its name with its group, and in the organization itself by its name", () => {
    expect(run({ identity: "platform/release-main", can: "tag.create" })).toEqual(passes);
    expect(run({ identity: "/review", can: "repo.list", at: "/" })).toEqual(passes);
  });

  test("a wildcard means also what only a newer service knows", () => {
    const graph = newGraph();
    addGroup(graph, ROOT, "acme", null);
    const ci = addIdentity(graph, uidIn(ROOT, 1), "ci", ROOT, {});
    bind(graph, ROOT, ci, addRole(graph, "newer", ["CAP_NEW_THINGS_CREATE"]));
    expect(liveOutcome({ identity: "ci", cannot: "*.create" }, graph)).toMatchObject({ passed: false });
    expect(liveOutcome({ identity: "ci", cannot: ["*.update", "*.delete"] }, graph)).toEqual(passes);
  });
});

describe("workload", () => {
  const pullRequests = { github: { repository: "acme/*", event: "pull_request" } };

  test("asks for every identity that it can assume", () => {
    expect(run({ workload: pullRequests, can: "repo.list", cannot: ["*.create", "*.update", "*.delete"] })).toEqual(
      passes,
    );
    const access = { "/": { editor: ["review"] } };
    expect(run({ workload: pullRequests, cannot: "*.create" }, { access })).toMatchObject({
      passed: false,
      reason: expect.stringMatching(
        /^review, which repo:acme\/[^:]*:pull_request can assume, can libraries.request_groups.create, repo.create, subscriptions.create at \/, by its binding to editor$/,
      ),
    });
  });

  test("does not ask for those that it cannot assume: another branch, owner, issuer or claim", () => {
    const access = { "/": { editor: ["release", "apply", "owner"] } };
    expect(run({ workload: pullRequests, cannot: "*.create" }, { access })).toEqual(passes);
    const main = { github: { repository: "acme/images", branch: "main" } };
    expect(run({ workload: main, cannot: "*.create" }, { access })).toMatchObject({ passed: false });
    expect(
      run({ workload: { github: { repository: "evil/images", branch: "main" } }, cannot: "*.create" }, { access }),
    ).toEqual(passes);
  });

  test("is decided by the pattern: a dot stands for a colon", () => {
    const issuer = "https://token.actions.githubusercontent.com";
    const identities = {
      ...POLICY.identities,
      review: { claimMatch: { issuer, subjectPattern: "repo:acme/charts.pull_request" } },
    };
    const access = { "/": { editor: ["review"] } };
    expect(run({ workload: pullRequests, cannot: "*.create" }, { identities, access })).toMatchObject({
      passed: false,
    });
  });

  test("takes a claim match as wide as it likes", () => {
    const workload = { claimMatch: { issuerPattern: ".*", subjectPattern: ".*" } };
    expect(run({ workload, cannot: "role_bindings.create" })).toMatchObject({ passed: false });
    expect(run({ workload, cannot: "vuln.create" }, { access: {} })).toEqual(passes);
  });

  test("can is not passed by an identity that it cannot assume", () => {
    expect(run({ workload: pullRequests, can: "tag.create" })).toEqual(
      failsWith("a workload of github { repository: acme/*, event: pull_request } cannot tag.create anywhere"),
    );
  });
});

describe("what is not known never passes a test of what must not be", () => {
  test("a role that only the service knows may grant everything", () => {
    const access = { platform: { odd: ["review"] } };
    expect(run({ identity: "review", cannot: "tag.create" }, { access })).toEqual(
      failsWith("what review can at platform is not visible, by its binding to odd, whose capabilities cannot be read"),
    );
    expect(run({ identity: "review", cannot: "tag.create", at: "/" }, { access })).toEqual(passes);
    expect(run({ capability: "tag.create", only: [] }, { access })).toMatchObject({ passed: false });
  });

  const graph = (): GraphBuilder => {
    const own = newGraph();
    addGroup(own, ROOT, "acme", null);
    addGroup(own, TEAM, "team", ROOT);
    addGroup(own, uidIn(ROOT, 2), "other", ROOT);
    addIdentity(own, uidIn(ROOT, 3), "ci", ROOT, {});
    return own;
  };
  const TEAM = uidIn(ROOT, 1);

  test.each<[ListedKind, string, boolean]>([
    ["roleBinding", ROOT, false],
    ["roleBinding", TEAM, false],
    ["roleBinding", uidIn(ROOT, 2), true],
    ["group", TEAM, true],
  ])("hidden %s of %s; at another group: %s", (kind, group, isPassedAtTeam) => {
    const anywhere = liveOutcome({ identity: "ci", cannot: "tag.create" }, graph(), [[kind, group]]);
    expect(anywhere).toMatchObject({ passed: false, reason: expect.stringMatching(/^not visible at /) });
    expect(liveOutcome({ capability: "tag.create", only: ["ci"] }, graph(), [[kind, group]])).toMatchObject({
      passed: false,
    });
    const atTeam = liveOutcome({ identity: "ci", cannot: "tag.create", at: "team" }, graph(), [[kind, group]]);
    expect(atTeam).toMatchObject({ passed: isPassedAtTeam });
  });

  test("an identity of which it is not known who can assume it counts for every workload, and passes no can", () => {
    const own = graph();
    const hidden = addIdentity(own, uidIn(TEAM, 9), "hidden", TEAM, {});
    own.identities.set(hidden, {
      ...(own.identities.get(hidden) as never as { id: string; uid: string; name: string; group: string }),
      relationship: null,
    });
    bind(own, TEAM, hidden, addRole(own, "publisher", ["tag.create"]));
    const workload = { github: { repository: "acme/*", event: "pull_request" } };
    expect(liveOutcome({ workload, cannot: "tag.create" }, own)).toMatchObject({
      passed: false,
      reason: expect.stringContaining("team/hidden, which it can perhaps assume, can tag.create at team"),
    });
    expect(liveOutcome({ workload, can: "tag.create" }, own)).toMatchObject({ passed: false });
  });
});

describe("a name that does not exist is a mistake, never a pass", () => {
  test.each<[object, string]>([
    [{ identity: "relase", cannot: "tag.create" }, "there is no identity relase; did you mean release?"],
    [{ capability: "tag.create", only: ["ownr"] }, "there is no identity ownr; did you mean owner?"],
    [{ identity: "release", cannot: "tag.create", at: "platfrm" }, "there is no group platfrm; did you mean platform?"],
    [{ identity: "release", cannot: "tag.create", at: "" }, '"" names no group; the organization itself is /'],
    [
      { identity: "release", cannot: { capability: "tag.create", at: "platform/registri" } },
      "there is no group platform/registri; did you mean platform/registry?",
    ],
    [{ identity: uidIn(ROOT, 77), cannot: "tag.create" }, `there is no identity ${uidIn(ROOT, 77)}`],
  ])("%j", (own, mistake) => {
    expect(run(own)).toEqual({ mistakes: [mistake] });
  });

  test("nor is a name that two have", () => {
    const own = newGraph();
    addGroup(own, ROOT, "acme", null);
    for (const number of [1, 2]) addIdentity(own, uidIn(ROOT, number), "ci", ROOT, {});
    expect(liveOutcome({ identity: "ci", cannot: "tag.create" }, own)).toEqual({
      mistakes: ["2 have the name ci; give the uid of one"],
    });
    expect(liveOutcome({ identity: uidIn(ROOT, 2), cannot: "tag.create" }, own)).toEqual(passes);
  });
});

test("a list that the service refuses lets no test pass that says who must not", () => {
  const own = newGraph();
  addGroup(own, ROOT, "acme", null);
  for (const kind of ["roleBinding", "groupInvite", "externalGroupRoleMapping"] as const)
    for (const at of [{}, { at: "/" }])
      expect(liveOutcome({ capability: "tag.create", only: [], ...at }, own, [[kind, ""]])).toEqual({
        passed: false,
        reason: "not visible at /: hidden",
      });
});

const liveOutcome = (own: object, graph: GraphBuilder, hidden: readonly [ListedKind, string][] = []): Outcome => {
  const { policy } = parsePolicy({ organization: "acme", tests: [{ name: "it", ...own }] });
  const notVisible = hidden.map(([kind, group]) => ({ kind, group, message: "hidden" }));
  const names = namesIn([graph], ROOT);
  return runTests(policy?.tests ?? [], { graph, organization: ROOT, names, notVisible })[0] as Outcome;
};

describe("mistakes of a test are those of its policy", () => {
  test.each<[object, string]>([
    [
      { identity: "release", can: "tag.craete" },
      "tests[0].can: there is no capability tag.craete; did you mean tag.create",
    ],
    [
      { identity: "release", cannot: ["*.craete"] },
      "tests[0].cannot[0]: no capability matches *.craete; did you mean *.create?",
    ],
    [{ identity: "release" }, "tests[0]: tests nothing: give can, cannot or both"],
    [{ can: "tag.create" }, "tests[0]: does not say whom it tests: give identity, workload, or capability with only"],
    [{ capability: "tag.create" }, "tests[0]: needs only: a list of the identities that may have the capability"],
    [{ capability: [], only: [] }, "tests[0].capability: must have at least one capability"],
    [
      { identity: "a", capability: "tag.create", only: [] },
      "tests[0].identity: only one of capability, identity and workload may be given",
    ],
    [
      { identity: "a", only: ["b"], can: "tag.create" },
      "tests[0].only: needs capability: it lists the identities that may have it",
    ],
    [{ capability: "tag.create", only: [], can: "tag.list" }, "tests[0].can: belongs to identity or workload"],
    [
      { workload: { githb: {} }, cannot: "*" },
      "tests[0].workload.githb: there is no such workload; did you mean github?",
    ],
    [
      { workload: { github: { repo: "a/b" } }, cannot: "*" },
      "tests[0].workload.github.repo: unknown argument; did you mean repository?",
    ],
    [{ workload: {}, cannot: "*" }, "tests[0].workload: names no workload that can assume it"],
    [{ workload: "github", cannot: "*" }, "tests[0].workload: must be a map, such as { github:"],
    [
      { identity: "a", cannot: { capabilty: "*" } },
      "tests[0].cannot.capabilty: there is no such field here; did you mean capability?",
    ],
    [{ identity: "a", cannot: [] }, "tests[0].cannot: is empty: name what must not be possible"],
    [{ identity: "a", cannot: { capability: "*", at: 7 } }, "tests[0].cannot.at: must be the path of a group"],
    [{ identity: "a", cann: "*" }, "tests[0].cann: there is no such field here; did you mean can?"],
    [{ name: " ", identity: "a", can: "*" }, "tests[0].name: needs a name"],
  ])("%j", (own, mistake) => {
    const { policy, mistakes } = parsePolicy({ organization: "acme", tests: [{ name: "it", ...own }] });
    expect(policy).toBeUndefined();
    expect(mistakes.map(({ path, text }) => `${path}: ${text}`).join("\n")).toContain(mistake);
  });

  test("and two tests of one name", () => {
    const one = { name: "it", identity: "a", can: "*" };
    const { mistakes } = parsePolicy({ organization: "acme", tests: [one, one] });
    expect(mistakes).toMatchObject([{ path: "tests[1].name", text: "tests[0] has this name already; give another" }]);
  });
});
