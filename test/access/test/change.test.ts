// Tests of access on a change of a stack: a key of the policy means the record that the stack has for it.
import { expect, test } from "vitest";
import { policyStackIn } from "../../../access/policy/stack.ts";
import { runChangeTests } from "../../../access/test/change.ts";
import { addGroup, bind, changed, graphOf, proposalBetween, ROOT, roleUid, uid } from "../graphs.ts";
import { objectOf, policyResources } from "../policy/files.ts";

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

const run = (resources: typeof stack | undefined) => {
  const suite = { policy, tests: policy.tests };
  const at = { proposal: proposalBetween(before, after), live: { graph: before, notVisible: [] } };
  return runChangeTests({ base: suite, change: suite }, [at], 0, (own) => resources && policyStackIn(resources, own));
};

test("also where two groups have its name", () => {
  const { results, mistakes } = run(stack);
  expect(mistakes).toEqual([]);
  const reason = expect.stringContaining("release can role_bindings.create at platform, by its binding to owner");
  expect(results).toMatchObject([{ name: "release never owns", passed: false, reason }]);
  // Names alone do not decide it.
  expect(run(undefined).mistakes.map(({ text }) => text)).toContainEqual(
    expect.stringContaining("the API has 2 groups of this name"),
  );
});
