// Tests of access on a policy alone: what passes, what fails and why, and which mistakes they have.
import { expect, test } from "vitest";
import type { GraphBuilder, IdentityNode } from "../../../access/graph/graph.ts";
import type { ListedKind } from "../../../access/graph/live.ts";
import { parsePolicy } from "../../../access/policy/parse.ts";
import { policyStackIn } from "../../../access/policy/stack.ts";
import { TABLE } from "../../../access/roles/lock.ts";
import { runChangeTests } from "../../../access/test/change.ts";
import { namesIn } from "../../../access/test/names.ts";
import { type Outcome, runTests } from "../../../access/test/run-tests.ts";
import { liveScene, policyScene } from "../../../access/test/scene.ts";
import { valuesOf } from "../../support/rows.ts";
import {
  addGroup,
  addIdentity,
  addRole,
  bind,
  changed,
  graphOf,
  proposalBetween,
  ROOT,
  roleUid,
  uid,
} from "../graphs.ts";
import { ACME, grant, HELPER, PARTNER, partners } from "../paths/graph.ts";
import { objectOf, policyResources } from "../policy/files.ts";

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

test.each(valuesOf<[string, object, object, string, string?]>("-yy", WORKLOADS))(
  "a workload: %s",
  (_, github, own, expected, change) => expectRow({ workload: { github }, ...own }, expected, change),
);

test("a workload: it is named with the identity that it can assume", () => {
  expectOutcome(
    run({ workload: pulls, cannot: "*.create" }, CHANGES["review edits"]),
    expect.stringMatching(
      /^review, which repo:acme\/[^:]*:pull_request can assume, can libraries.request_groups.create, repo.create, subscriptions.create at \/, by its binding to editor$/,
    ),
  );
});

test("a workload: a claim match is as wide as it likes, and people are none", () => {
  const anyone = { claimMatch: { issuerPattern: ".*", subjectPattern: ".*" } };
  const own = { workload: anyone, cannot: "role_bindings.create" };
  expectRow(own, "fails");
  expectOutcome(run(own, { ...CHANGES.people, access: {} }), true);
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

const [TEAM, OTHER] = [uid("team"), uid("other")];
const graph = graphOf({ groups: ["team", "other"], identities: { ci: {} } });

test.each<[ListedKind, string, isPassedAtTeam: boolean]>([
  ["roleBinding", ROOT, false],
  ["roleBinding", TEAM, false],
  ["roleBinding", OTHER, true],
  ["group", TEAM, true],
])('no "must not" passes on hidden %s of %s; at another group: %s', (kind, group, isPassedAtTeam) => {
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

test.each(["roleBinding", "groupInvite", "externalGroupRoleMapping"] as const)(
  'no "must not" passes on a refused list of %s',
  (kind) => {
    for (const at of [{}, { at: "/" }]) {
      const outcome = liveOutcome({ capability: "tag.create", only: [], ...at }, graphOf({}), [[kind, ""]]);
      expectOutcome(outcome, "not visible at /: hidden");
    }
  },
);

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
)("a name that does not exist is a mistake, never a pass: %j", (own, mistake) => {
  expect(run(own)).toEqual({ mistakes: [mistake] });
});

test("a name that two have is a mistake", () => {
  const own = changed(graphOf({ identities: { ci: {} } }), (after) => addIdentity(after, NOBODY, "ci", ROOT, {}));
  expect(liveOutcome({ identity: "ci", cannot: "tag.create" }, own)).toEqual({
    mistakes: ["2 have the name ci; give the uid of one"],
  });
  expectOutcome(liveOutcome({ identity: NOBODY, cannot: "tag.create" }, own), true);
});

const mistakesOf = (...tests: object[]): string[] =>
  parsePolicy({ organization: "acme", tests: tests.map((own) => ({ name: "it", ...own })) }).mistakes.map(
    ({ path, text }) => `${path}: ${text}`,
  );
const [a, cannot] = [{ identity: "a" }, "*"];

test.each<[own: object, mistake: string]>([
  [{ ...a, can: "tag.craete" }, ".can: there is no capability tag.craete; did you mean tag.create"],
  [{ ...a, cannot: ["*.craete"] }, ".cannot[0]: no capability matches *.craete; did you mean *.create?"],
  [a, ": tests nothing: give can, cannot or both"],
  [{ can: "tag.create" }, ": does not say whom it tests: give identity, workload, or capability with only"],
  [{ capability: "tag.create" }, ": needs only: a list of the identities that may have the capability"],
  [{ capability: [], only: [] }, ".capability: must have at least one capability"],
  [{ ...a, capability: "tag.list", only: [] }, ".identity: only one of capability, identity and workload may be given"],
  [{ ...a, only: ["b"], can: "tag.create" }, ".only: needs capability: it lists the identities that may have it"],
  [{ capability: "tag.create", only: [], can: "tag.list" }, ".can: belongs to identity or workload"],
  [{ workload: { githb: {} }, cannot }, ".workload.githb: there is no such workload; did you mean github?"],
  [
    { workload: { github: { repo: "a/b" } }, cannot },
    ".workload.github.repo: unknown argument; did you mean repository?",
  ],
  [{ workload: {}, cannot }, ".workload: names no workload that can assume it"],
  [{ workload: "github", cannot }, ".workload: must be a map, such as { github:"],
  [{ ...a, cannot: { capabilty: "*" } }, ".cannot.capabilty: there is no such field here; did you mean capability?"],
  [{ ...a, cannot: [] }, ".cannot: is empty: name what must not be possible"],
  [{ ...a, cannot: { capability: "*", at: 7 } }, ".cannot.at: must be the path of a group"],
  [{ ...a, cann: "*" }, ".cann: there is no such field here; did you mean can?"],
  [{ ...a, name: " ", can: "*" }, ".name: needs a name"],
  [
    { ...a, can: ["tag.create"], ever: true },
    ".ever: is about what must never be possible: give cannot, or capability with only",
  ],
  [{ ...a, cannot: ["tag.create"], ever: "yes" }, ".ever: must be"],
])("%j", (own, mistake) => expect(mistakesOf(own).join("\n")).toContain(`tests[0]${mistake}`));

test("and two tests of one name", () => {
  const one = { ...a, can: "*" };
  expect(mistakesOf(one, one)).toEqual(["tests[1].name: tests[0] has this name already; give another"]);
});

const PLAIN = {
  organization: "acme",
  groups: { platform: {} },
  identities: {
    onboarding: { in: "platform", github: { repository: "acme/onboarding", branch: "main" } },
    release: { in: "platform", github: { repository: "acme/images", branch: "main" } },
  },
  access: { platform: { limited_owner: ["onboarding"], "registry.push": ["release"] } },
};

const HOLDS = "could come to hold groups.delete at platform (cautious)";
const WHY = `platform/onboarding ${HOLDS}: onboarding may create role bindings at platform, and gives itself owner there`;
const workload = { github: { repository: "acme/*", branch: "main" } };

test.each<[what: string, own: object, reason?: unknown]>([
  ["what an identity leads to", { identity: "onboarding", cannot: { capability: "groups.delete" } }, WHY],
  ["what leads to a capability that only some may hold", { capability: "groups.delete", only: [] }, WHY],
  ["a workload", { workload, cannot: ["groups.delete"] }, expect.stringContaining(`the workload ${HOLDS}`)],
  ["nothing where it leads nowhere", { identity: "release", cannot: ["groups.delete"] }],
  ["nothing above the group", { identity: "onboarding", cannot: { capability: "groups.delete", at: "/" } }],
])("with ever, a test fails on %s; without it, it passes", (_, own, reason) => {
  expect([run(own, PLAIN), run({ ...own, ever: false }, PLAIN)]).toEqual([{ passed: true }, { passed: true }]);
  expect(run({ ...own, ever: true }, PLAIN)).toEqual(
    reason === undefined ? { passed: true } : expect.objectContaining({ passed: false, reason }),
  );
});

test("an identity of another organization counts, live", () => {
  const graph = partners();
  grant(graph, HELPER, PARTNER, "identity.update");
  const built = liveScene({ graph, notVisible: [] }, { organization: ACME }, 0);
  if (!("scene" in built)) throw new Error(JSON.stringify(built));
  const subject = { kind: "holders" as const, capabilities: ["tag.create"], only: [] };
  const own = { name: "it", subject, can: [], cannot: [], at: "registry", ever: true as const };
  const reason = "could come to hold tag.create at registry (strict): helper may change identity mirror";
  expect(runTests([own], built.scene)).toMatchObject([{ passed: false, reason: expect.stringContaining(reason) }]);
});

const theirs = "https://issuer.example";
const tests = [{ name: "release never owns", identity: "release", cannot: "role_bindings.create" }];
const policy = objectOf({
  ...{ organization: { uid: ROOT }, groups: { platform: {} }, tests },
  identities: { release: { in: "platform", claimMatch: { issuer: theirs, subject: "s" } } },
});

const [GROUP, RELEASE] = [uid("platform"), uid("platform/release")];
const before = graphOf({
  groups: ["platform"],
  roles: { owner: ["role_bindings.create"] },
  identities: {
    "platform/release": { issuer: theirs, subject: "s" },
    "platform/evil": { issuer: theirs, subject: "t" },
  },
});
addGroup(before, uid("twin"), "platform", ROOT);
const after = changed(before, (graph) => bind(graph, GROUP, RELEASE, roleUid("owner")));

const stack = policyResources(
  "acme",
  ["Group", "acme/platform", GROUP],
  ["Identity", "acme:identity/release", RELEASE],
);

const runChange = (resources: typeof stack | undefined) => {
  const suite = { policy, tests: policy.tests };
  const at = { proposal: proposalBetween(before, after), live: { graph: before, notVisible: [] } };
  return runChangeTests({ base: suite, change: suite }, [at], 0, (own) => resources && policyStackIn(resources, own));
};

test("also where two groups have its name", () => {
  const { results, mistakes } = runChange(stack);
  expect(mistakes).toEqual([]);
  const reason = expect.stringContaining("release can role_bindings.create at platform, by its binding to owner");
  expect(results).toMatchObject([{ name: "release never owns", passed: false, reason }]);
  // Names alone do not decide it.
  expect(runChange(undefined).mistakes.map(({ text }) => text)).toContainEqual(
    expect.stringContaining("the API has 2 groups of this name"),
  );
});
