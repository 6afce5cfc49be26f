// Tests of access that say `ever`: what could be reached by paths counts.
import { describe, expect, test } from "vitest";
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

const parse = (own: object) => {
  const { policy, mistakes } = parsePolicy({ ...POLICY, tests: [{ name: "it", ...own }] });
  return { policy, texts: mistakes.map(({ path, text }) => `${path}: ${text}`) };
};

const run = (own: object): Outcome => {
  const { policy, texts } = parse(own);
  if (!policy) throw new Error(texts.join("\n"));
  return runTests(policy.tests, policyScene(policy, TABLE.roles))[0] as Outcome;
};

const REASON =
  "platform/onboarding could come to hold groups.delete at platform (cautious): onboarding may create role bindings at platform, and gives itself owner there";

describe("ever", () => {
  test.each<[string, object]>([
    ["identity", { identity: "onboarding", cannot: { capability: "groups.delete" } }],
    ["capability and only", { capability: "groups.delete", only: [] }],
  ])("a test of %s fails on what a path leads to, and passes without ever", (_, own) => {
    expect(run(own)).toEqual({ passed: true });
    expect(run({ ...own, ever: false })).toEqual({ passed: true });
    expect(run({ ...own, ever: true })).toEqual({ passed: false, reason: REASON });
  });

  test("a test of a workload fails on what its identities lead to", () => {
    const own = { workload: { github: { repository: "acme/*", branch: "main" } }, cannot: ["groups.delete"] };
    expect(run(own)).toEqual({ passed: true });
    expect(run({ ...own, ever: true })).toMatchObject({
      passed: false,
      reason: expect.stringContaining("the workload could come to hold groups.delete at platform (cautious)"),
    });
  });

  test("what leads nowhere passes, and a group that a path does not lead to", () => {
    expect(run({ identity: "release", cannot: ["groups.delete"], ever: true })).toEqual({ passed: true });
    const above = { identity: "onboarding", cannot: { capability: "groups.delete", at: "/" } };
    expect(run({ ...above, ever: true })).toEqual({ passed: true });
  });

  test("an identity of another organization counts, live", () => {
    const graph = partners();
    grant(graph, HELPER, PARTNER, "identity.update");
    const built = liveScene({ graph, notVisible: [] }, { organization: ACME }, 0);
    if (!("scene" in built)) throw new Error(JSON.stringify(built));
    const subject = { kind: "holders" as const, capabilities: ["tag.create"], only: [] };
    const own = {
      name: "it",
      subject,
      can: [],
      cannot: [],
      at: "registry",
      ever: true as const,
    };
    expect(runTests([own], built.scene)[0]).toMatchObject({
      passed: false,
      reason: expect.stringContaining(
        "could come to hold tag.create at registry (strict): helper may change identity mirror",
      ),
    });
  });

  test("without cannot it says nothing, which is a mistake; and so is anything but true and false", () => {
    expect(parse({ identity: "release", can: ["tag.create"], ever: true }).texts).toEqual([
      "tests[0].ever: is about what must never be possible: give cannot, or capability with only",
    ]);
    expect(parse({ identity: "release", cannot: ["tag.create"], ever: "yes" }).texts).toEqual([
      expect.stringContaining("tests[0].ever: must be"),
    ]);
  });
});
