// Tests of access that say `ever`: what could be reached by paths counts.
import { expect, test } from "vitest";
import { parsePolicy } from "../../../access/policy/parse.ts";
import { TABLE } from "../../../access/roles/lock.ts";
import { type Outcome, runTests } from "../../../access/test/run-tests.ts";
import { liveScene, policyScene } from "../../../access/test/scene.ts";
import { ACME, grant, HELPER, PARTNER, partners } from "../paths/graph.ts";

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
  [
    "what the identities of a workload lead to",
    { workload, cannot: ["groups.delete"] },
    expect.stringContaining(`the workload ${HOLDS}`),
  ],
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
