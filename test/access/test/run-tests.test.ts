// Tests of access on a policy alone: what passes, what fails and why.
import { describe, expect, test } from "vitest";
import type { GraphBuilder, IdentityNode } from "../../../access/graph/graph.ts";
import type { ListedKind } from "../../../access/graph/live.ts";
import { parsePolicy } from "../../../access/policy/parse.ts";
import { TABLE } from "../../../access/roles/lock.ts";
import { namesIn } from "../../../access/test/names.ts";
import { type Outcome, runTests } from "../../../access/test/run-tests.ts";
import { liveScene, policyScene } from "../../../access/test/scene.ts";
import { valuesOf } from "../../support/rows.ts";
import { addIdentity, addRole, bind, changed, graphOf, ROOT, uid } from "../graphs.ts";

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

/** Of a graph as the API has it, in which records of some groups are hidden. */
const liveOutcome = (own: object, graph: GraphBuilder, hidden: readonly [ListedKind, string][] = []): Outcome => {
  const { policy } = parsePolicy({ organization: "acme", tests: [{ name: "it", ...own }] });
  const notVisible = hidden.map(([kind, group]) => ({ kind, group, message: "hidden" }));
  const names = namesIn([graph], ROOT);
  return runTests(policy?.tests ?? [], { graph, organization: ROOT, names, notVisible })[0] as Outcome;
};

const FAILS = expect.any(String);
const expectOutcome = (outcome: Outcome, reason: unknown): void => {
  expect(outcome).toEqual(reason === true ? { passed: true } : expect.objectContaining({ passed: false, reason }));
};

const NOBODY = uid("nobody");
const pulls = { github: { repository: "acme/*", event: "pull_request" } };
const issuer = "https://token.actions.githubusercontent.com";

/** What the policy of a row says instead. */
const CHANGES: Readonly<Record<string, object>> = {
  "no access": { access: {} },
  people: { people: { "acme-sso": { externalGroups: { SRE: ["owner"], All: ["viewer"] } } } },
  everywhere: { access: { "/": { owner: ["release"] }, "platform/registry": { publisher: ["release"] } } },
  "review edits": { access: { "/": { editor: ["review"] } } },
  "others edit": { access: { "/": { editor: ["release", "apply", "owner"] } } },
  "release edits": { access: { "/": { editor: ["release"] } } },
  dotted: {
    identities: {
      ...POLICY.identities,
      review: { claimMatch: { issuer, subjectPattern: "repo:acme/charts.pull_request" } },
    },
    access: { "/": { editor: ["review"] } },
  },
  odd: { access: { platform: { odd: ["review"] } } },
};

/** `passes`, `fails`, or why not. */
const ROWS = `
nobody else holds it | { capability: [role_bindings.create, roles.update], only: [owner, apply] } | passes
the identity, the place and the binding that break it are named | { capability: [role_bindings.create, roles.update], only: [owner] }
  | apply can role_bindings.create, roles.update at /, by its binding to owner
what is below a group does not count | { capability: tag.create, only: [owner, apply], at: platform } | passes
what holds at the group counts | { capability: tag.create, only: [owner, apply], at: platform/registry }
  | platform/release-main can tag.create at platform/registry, by its binding to publisher
what holds there through the groups above counts | { capability: tag.create, only: [owner, release], at: platform/clusters }
  | apply can tag.create at /, by its binding to owner
only may list a uid that is not declared | { capability: roles.update, only: [owner, apply, ${NOBODY}] } | passes
such a uid excuses no other | { capability: roles.update, only: [owner, ${NOBODY}] }
  | apply can roles.update at /, by its binding to owner
only may be empty: somebody holds it | { capability: registry.overlays.edit, only: [] } | fails
only may be empty: nobody does | { capability: registry.overlays.edit, only: [] } | passes | no access
people count for only | { capability: role_bindings.create, only: [owner, apply] }
  | external group SRE of acme-sso can role_bindings.create at /, by its binding to owner | people
people count for only, by their names | { capability: role_bindings.create, only: [owner, apply, external group SRE of acme-sso] }
  | passes | people
people are asked for as an identity | { identity: external group All of acme-sso, can: repo.list, cannot: "*.create" } | passes | people
can at its group, and cannot above
  | { identity: release, can: tag.create, at: platform/registry, cannot: { capability: tag.create, at: / } }
  | passes
cannot above its group is broken | { identity: release, can: tag.create, at: platform/registry, cannot: { capability: tag.create, at: / } }
  | platform/release-main can tag.create at /, by its binding to owner | everywhere
can names all that is missing, and where | { identity: release, can: [tag.create, tag.delete, repo.create], at: platform/registry }
  | release cannot repo.create, tag.delete at platform/registry
can is not held above its group | { identity: release, can: tag.create, at: platform } | fails
can is held somewhere | { identity: release, can: tag.create } | passes
can of a wildcard is all of it | { identity: release, can: "*.create" } | fails
cannot takes a list of maps and capabilities | { identity: release, cannot: [tag.delete, { capability: "*.create", at: platform }] }
  | passes
cannot without a place is anywhere | { identity: release, cannot: ["*.create"] } | fails
cannot has the place of the test | { identity: release, cannot: ["*.create"], at: platform } | passes
cannot of a map has the place of the test | { identity: release, cannot: { capability: "*.create" }, at: platform/registry } | fails
an identity by its name with its group | { identity: platform/release-main, can: tag.create } | passes
an identity by its name in the organization | { identity: /review, can: repo.list, at: / } | passes
a role that only the service knows may grant everything | { identity: review, cannot: tag.create }
  | what review can at platform is not visible, by its binding to odd, whose capabilities cannot be read | odd
it grants nothing above its group | { identity: review, cannot: tag.create, at: / } | passes | odd
it may grant what only some may hold | { capability: tag.create, only: [] } | fails | odd
`;

/** The workload is of GitHub, with these arguments. */
const WORKLOADS = `
it asks for each of its identities | { repository: acme/*, event: pull_request } | { can: repo.list, cannot: ["*.create", "*.delete"] }
  | passes
another branch is no pull request | { repository: acme/*, event: pull_request } | { cannot: "*.create" } | passes | others edit
the branch counts | { repository: acme/images, branch: main } | { cannot: "*.create" } | fails | release edits
another owner does not | { repository: evil/images, branch: main } | { cannot: "*.create" } | passes | release edits
a dot of a pattern stands for a colon | { repository: acme/*, event: pull_request } | { cannot: "*.create" } | fails | dotted
can is not passed by an identity that it cannot assume | { repository: acme/*, event: pull_request } | { can: tag.create }
  | a workload of github { repository: acme/*, event: pull_request } cannot tag.create anywhere
`;

const expectRow = (own: object, expected: string, change?: string): void =>
  expectOutcome(run(own, CHANGES[change ?? ""]), { passes: true, fails: FAILS }[expected] ?? expected);

test.each(valuesOf<[string, object, string, string?]>("-y", ROWS))("%s", (_, own, expected, change) =>
  expectRow(own, expected, change),
);

describe("a workload:", () => {
  test.each(valuesOf<[string, object, object, string, string?]>("-yy", WORKLOADS))(
    "%s",
    (_, github, own, expected, change) => expectRow({ workload: { github }, ...own }, expected, change),
  );

  test("it is named with the identity that it can assume", () => {
    expectOutcome(
      run({ workload: pulls, cannot: "*.create" }, CHANGES["review edits"]),
      expect.stringMatching(
        /^review, which repo:acme\/[^:]*:pull_request can assume, can libraries.request_groups.create, repo.create, subscriptions.create at \/, by its binding to editor$/,
      ),
    );
  });

  test("a claim match is as wide as it likes, and people are none", () => {
    const anyone = { claimMatch: { issuerPattern: ".*", subjectPattern: ".*" } };
    const own = { workload: anyone, cannot: "role_bindings.create" };
    expectRow(own, "fails");
    expectOutcome(run(own, { ...CHANGES.people, access: {} }), true);
  });
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

test("only means the same on a service: a key before its record exists, and a uid that is gone, excuse nobody", () => {
  const tests = [{ name: "it", capability: "roles.update", only: ["apply", NOBODY] }];
  const { policy } = parsePolicy({ ...POLICY, tests });
  const roles = { owner: ["roles.update"], viewer: [] };
  const graph = graphOf({ roles, identities: { boss: {} }, access: { "/": { owner: ["boss"] } } });
  const built = liveScene({ graph, notVisible: [] }, policy ? { policy } : {}, 0);
  const [outcome] = "scene" in built ? runTests(policy?.tests ?? [], built.scene) : [];
  expectOutcome(outcome as Outcome, expect.stringContaining("boss can roles.update at /, by its binding to owner"));
});

test("a wildcard means also what only a newer service knows", () => {
  const roles = { newer: ["CAP_NEW_THINGS_CREATE"] };
  const graph = graphOf({ roles, identities: { ci: {} }, access: { "/": { newer: ["ci"] } } });
  expectOutcome(liveOutcome({ identity: "ci", cannot: "*.create" }, graph), FAILS);
  expectOutcome(liveOutcome({ identity: "ci", cannot: ["*.update", "*.delete"] }, graph), true);
});

describe("what is not known never passes a test of what must not be", () => {
  const [TEAM, OTHER] = [uid("team"), uid("other")];
  const graph = graphOf({ groups: ["team", "other"], identities: { ci: {} } });

  test.each<[ListedKind, string, isPassedAtTeam: boolean]>([
    ["roleBinding", ROOT, false],
    ["roleBinding", TEAM, false],
    ["roleBinding", OTHER, true],
    ["group", TEAM, true],
  ])("hidden %s of %s; at another group: %s", (kind, group, isPassedAtTeam) => {
    const outcome = (own: object) => liveOutcome(own, graph, [[kind, group]]);
    expectOutcome(outcome({ identity: "ci", cannot: "tag.create" }), expect.stringMatching(/^not visible at /));
    expectOutcome(outcome({ capability: "tag.create", only: ["ci"] }), FAILS);
    expectOutcome(outcome({ identity: "ci", cannot: "tag.create", at: "team" }), isPassedAtTeam || FAILS);
  });

  test("an identity of which it is not known who can assume it counts for every workload, and passes no can", () => {
    const hidden = uid("team/hidden");
    const own = changed(graph, (after) => {
      addIdentity(after, hidden, "hidden", TEAM, {});
      after.identities.set(hidden, { ...(after.identities.get(hidden) as IdentityNode), relationship: null });
      bind(after, TEAM, hidden, addRole(after, "publisher", ["tag.create"]));
    });
    const reason = "team/hidden, which it can perhaps assume, can tag.create at team";
    expectOutcome(liveOutcome({ workload: pulls, cannot: "tag.create" }, own), expect.stringContaining(reason));
    expectOutcome(liveOutcome({ workload: pulls, can: "tag.create" }, own), FAILS);
  });

  test.each(["roleBinding", "groupInvite", "externalGroupRoleMapping"] as const)("a refused list of %s", (kind) => {
    for (const at of [{}, { at: "/" }]) {
      const outcome = liveOutcome({ capability: "tag.create", only: [], ...at }, graphOf({}), [[kind, ""]]);
      expectOutcome(outcome, "not visible at /: hidden");
    }
  });
});

describe("a name that does not exist is a mistake, never a pass", () => {
  const cannot = "tag.create";
  test.each(
    valuesOf<[object, string]>(
      "y",
      `
      { identity: relase, cannot: tag.create } | there is no identity relase; did you mean release?
      { capability: tag.create, only: [ownr] } | there is no identity ownr; did you mean owner?
      { identity: release, cannot: tag.create, at: platfrm } | there is no group platfrm; did you mean platform?
      { identity: release, cannot: tag.create, at: "" } | "" names no group; the organization itself is /
      { identity: release, cannot: { capability: tag.create, at: platform/registri } }
        | there is no group platform/registri; did you mean platform/registry?
      { identity: ${NOBODY}, cannot: tag.create } | there is no identity ${NOBODY}
      `,
    ),
  )("%j", (own, mistake) => {
    expect(run(own)).toEqual({ mistakes: [mistake] });
  });

  test("nor is a name that two have", () => {
    const own = changed(graphOf({ identities: { ci: {} } }), (after) => addIdentity(after, NOBODY, "ci", ROOT, {}));
    expect(liveOutcome({ identity: "ci", cannot }, own)).toEqual({
      mistakes: ["2 have the name ci; give the uid of one"],
    });
    expectOutcome(liveOutcome({ identity: NOBODY, cannot }, own), true);
  });
});
