// Mistakes of a test of access are those of its policy.
import { expect, test } from "vitest";
import { parsePolicy } from "../../../access/policy/parse.ts";
import { policyStackIn } from "../../../access/policy/stack.ts";
import { TABLE } from "../../../access/roles/lock.ts";
import { runChangeTests } from "../../../access/test/change.ts";
import { type Outcome, runTests } from "../../../access/test/run-tests.ts";
import { liveScene, policyScene } from "../../../access/test/scene.ts";
import { addGroup, bind, changed, graphOf, proposalBetween, ROOT, roleUid, uid } from "../graphs.ts";
import { ACME, grant, HELPER, PARTNER, partners } from "../paths/graph.ts";
import { objectOf, policyResources } from "../policy/files.ts";

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
])("%j", (own, mistake) => {
  expect(mistakesOf(own).join("\n")).toContain(`tests[0]${mistake}`);
});

test("and two tests of one name", () => {
  const one = { ...a, can: "*" };
  expect(mistakesOf(one, one)).toEqual(["tests[1].name: tests[0] has this name already; give another"]);
});

const POLICY = {
  organization: "acme",
  groups: { platform: {} },
  identities: {
    onboarding: { in: "platform", github: { repository: "acme/onboarding", branch: "main" } },
    release: { in: "platform", github: { repository: "acme/images", branch: "main" } },
  },
  access: { platform: { limited_owner: ["onboarding"], "registry.push": ["release"] } },
};

const run = (own: object): Outcome => {
  const { policy, mistakes } = parsePolicy({ ...POLICY, tests: [{ name: "it", ...own }] });
  if (!policy) throw new Error(JSON.stringify(mistakes));
  return runTests(policy.tests, policyScene(policy, TABLE.roles))[0] as Outcome;
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
  expect([run(own), run({ ...own, ever: false })]).toEqual([{ passed: true }, { passed: true }]);
  expect(run({ ...own, ever: true })).toEqual(
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

const issuer = "https://issuer.example";
const tests = [{ name: "release never owns", identity: "release", cannot: "role_bindings.create" }];
const policy = objectOf({
  ...{ organization: { uid: ROOT }, groups: { platform: {} }, tests },
  identities: { release: { in: "platform", claimMatch: { issuer, subject: "s" } } },
});

const [GROUP, RELEASE] = [uid("platform"), uid("platform/release")];
const before = graphOf({
  groups: ["platform"],
  roles: { owner: ["role_bindings.create"] },
  identities: { "platform/release": { issuer, subject: "s" }, "platform/evil": { issuer, subject: "t" } },
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
