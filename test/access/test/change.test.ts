// Tests of access on a change of a stack: a key of the policy means the record that the stack has for it.
import { expect, test } from "vitest";
import { newGraph } from "../../../access/graph/graph.ts";
import { parsePolicy } from "../../../access/policy/parse.ts";
import { policyStackIn } from "../../../access/policy/stack.ts";
import { runChangeTests } from "../../../access/test/change.ts";
import { addGroup, addIdentity, addRole, bind, ROOT, uidIn } from "../graphs.ts";
import { proposalBetween } from "../proposals.ts";

const [ONE, TWO] = [uidIn(ROOT, 1), uidIn(ROOT, 2)];
const issuer = "https://issuer.example";
const tests = [{ name: "release never owns", identity: "release", cannot: "role_bindings.create" }];
const { policy } = parsePolicy({
  ...{ organization: { uid: ROOT }, groups: { platform: {} }, tests },
  identities: { release: { in: "platform", claimMatch: { issuer, subject: "s" } } },
});

const before = newGraph();
addGroup(before, ROOT, "acme", null);
const owner = addRole(before, "owner", ["role_bindings.create"]);
const [RELEASE, EVIL] = [uidIn(ONE, 16), uidIn(ONE, 17)];
for (const group of [ONE, TWO]) addGroup(before, group, "platform", ROOT);
addIdentity(before, RELEASE, "release", ONE, { issuer, subject: "s" });
addIdentity(before, EVIL, "evil", ONE, { issuer, subject: "t" });
const after = newGraph(before);
bind(after, ONE, RELEASE, owner);

const urnOf = (type: string, name: string) => `urn:pulumi:dev::access::${type}::${name}`;
const parent = urnOf("irm:index:AccessPolicy", "acme");
const child = (type: string, name: string, id: string) => ({
  ...{ urn: urnOf(`irm:index:AccessPolicy$irm:index:${type}`, name), type: `irm:index:${type}`, id, parent },
  ...{ inputs: {}, outputs: {} },
});
const stack = [
  { urn: parent, type: "irm:index:AccessPolicy", inputs: {}, outputs: { organization: ROOT } },
  ...[child("Group", "acme", ROOT), child("Group", "acme/platform", ONE)],
  child("Identity", "acme:identity/release", RELEASE),
];

const run = (resources: typeof stack | undefined) => {
  const suite = { policy: policy as never, tests: policy?.tests ?? [] };
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
