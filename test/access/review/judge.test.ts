// Which findings an allowance excuses: those about one record that exists before the change, and no other.
import { describe, expect, test } from "vitest";
import { type GraphBuilder, newGraph } from "../../../access/graph/graph.ts";
import type { ListedKind } from "../../../access/graph/live.ts";
import { reviewOf } from "../../../access/review/index.ts";
import type { Finding } from "../../../access/review/report.ts";
import { allowanceFrom } from "../../../access/review/rules-file.ts";
import { addGroup, addIdentity, addProvider, addRole, bind, ROOT, uidIn } from "../graphs.ts";
import { proposalBetween } from "../proposals.ts";

const PLATFORM = uidIn(ROOT, 1);
const PRODUCT = uidIn(ROOT, 2);
const RELEASE = uidIn(PLATFORM, 16);
const CLAIMS = { issuer: "https://a.example.com", subject: "x" };

const start = (): GraphBuilder => {
  const graph = newGraph();
  addGroup(graph, ROOT, "acme", null);
  addGroup(graph, PLATFORM, "platform", ROOT);
  addGroup(graph, PRODUCT, "product", ROOT);
  addIdentity(graph, RELEASE, "release", PLATFORM, CLAIMS);
  addIdentity(graph, uidIn(ROOT, 17), "apply", ROOT, CLAIMS);
  addRole(graph, "giver", ["role_bindings.create"]);
  return graph;
};

const [GIVER] = [...start().roles.keys()] as [string];

/** The finding of gains-owner after `change`, with allowances; `given` is what is there before. */
const judged = (
  change: (graph: GraphBuilder) => void,
  allow: readonly string[],
  { given, hidden = [] }: { given?: (graph: GraphBuilder) => void; hidden?: ListedKind[] } = {},
): Finding | undefined => {
  const before = start();
  given?.(before);
  const after = newGraph(before);
  change(after);
  const notVisible = hidden.map((kind) => ({ kind, group: PRODUCT, message: "hidden" }));
  const { report } = reviewOf(proposalBetween(before, after), {
    notVisible,
    nowMs: 0,
    deny: ["gains-owner"],
    allow: allow.map((one) => allowanceFrom(one) as never),
  });
  return report.findings.find(({ rule }) => rule === "gains-owner");
};

const grantTo = (identity: string) => (graph: GraphBuilder) => bind(graph, PLATFORM, identity, GIVER);
const create = (id: string, name: string, group: string) => (graph: GraphBuilder) => {
  addIdentity(graph, id, name, group, CLAIMS);
  bind(graph, PLATFORM, id, GIVER);
};

test.each([
  ["its uid", RELEASE],
  ["its path", "platform/release"],
  ["a name that it alone has", "release"],
])("excuses an identity that exists by %s", (_, subject) => {
  expect(judged(grantTo(RELEASE), [`gains-owner@${subject}`])).toMatchObject({ allowed: true });
});

test("an allowance names a record before or after the change, a test, or people; the review says of any other that it does not", () => {
  const unknown = (hidden: ListedKind[], ...allow: string[]): readonly string[] => {
    const before = start();
    addProvider(before, uidIn(ROOT, 20), "acme-sso", GIVER);
    const after = newGraph(before);
    create("urn:new", "fresh", PRODUCT)(after);
    return reviewOf(proposalBetween(before, after), {
      notVisible: hidden.map((kind) => ({ kind, group: PRODUCT, message: "hidden" })),
      nowMs: 0,
      deny: [],
      tests: [{ name: "nobody gives access", passed: true }],
      allow: allow.map((one) => allowanceFrom(`gains-owner@${one}`) as never),
    }).unknownSubjects;
  };
  const known = [RELEASE, "release", "platform/release", "/apply", "/", "platform", "acme", GIVER, "giver"];
  expect(unknown([], ...known, "fresh", "product/fresh", "nobody gives access", "people of acme-sso")).toEqual([]);
  expect(unknown([], "platfrom/release", uidIn(PRODUCT, 99))).toEqual([
    'gains-owner@platfrom/release excuses nothing: there is no identity, group or role "platfrom/release"; did you mean platform/release?',
    `gains-owner@${uidIn(PRODUCT, 99)} excuses nothing: there is no identity, group or role "${uidIn(PRODUCT, 99)}"`,
  ]);
  expect(unknown(["identity"], "zzz")).toEqual([
    'gains-owner@zzz excuses nothing: there is no identity, group or role "zzz"; you cannot list all of them, so it may be among the others',
  ]);
});

test("in the organization itself, a path begins with a slash", () => {
  expect(judged(grantTo(uidIn(ROOT, 17)), ["gains-owner@/apply"])).toMatchObject({ allowed: true });
});

describe("does not excuse", () => {
  const twin = (graph: GraphBuilder) => void addIdentity(graph, uidIn(PRODUCT, 18), "release", PRODUCT, CLAIMS);

  test("a new identity that takes the name of an allowed one, in any group", () => {
    for (const group of [PLATFORM, PRODUCT, ROOT]) {
      const finding = judged(create("urn:evil", "release", group), ["gains-owner@release"]);
      expect(finding).toMatchObject({ denied: true });
      expect(finding?.message).toMatch(
        /; gains-owner@release does not excuse it: this identity is new, and an allowance is for one that exists$/,
      );
    }
    expect(judged(create("urn:evil", "release", PLATFORM), ["gains-owner@platform/release"])).toMatchObject({
      denied: true,
      message: expect.stringContaining("gains-owner@platform/release does not excuse it: this identity is new"),
    });
  });

  test("a new identity whose name is the uid or the path of an allowed one", () => {
    for (const name of [RELEASE, "platform/release"])
      expect(judged(create("urn:evil", name, ROOT), [`gains-owner@${name}`])).toMatchObject({ denied: true });
  });

  test("an identity that gets the name of an allowed one by this change", () => {
    const rename = (graph: GraphBuilder) => {
      addIdentity(graph, uidIn(ROOT, 17), "release", ROOT, CLAIMS);
      bind(graph, PLATFORM, uidIn(ROOT, 17), GIVER);
    };
    expect(judged(rename, ["gains-owner@release"])).toMatchObject({
      denied: true,
      message: expect.stringContaining("gains-owner@release does not excuse it: another identity has this name"),
    });
  });

  test("by a name that two identities have, and names both", () => {
    const finding = judged(grantTo(RELEASE), ["gains-owner@release"], { given: twin });
    expect(finding).toMatchObject({ denied: true });
    expect(finding?.message).toContain(
      `gains-owner@release does not excuse it: 2 have this name: platform/release ${RELEASE}, product/release ${uidIn(PRODUCT, 18)}; give the uid of one`,
    );
    expect(judged(grantTo(RELEASE), ["gains-owner@platform/release"], { given: twin })).toMatchObject({
      allowed: true,
    });
  });

  test("by a name where not every identity can be listed, but by uid", () => {
    const hidden: ListedKind[] = ["identity"];
    expect(judged(grantTo(RELEASE), ["gains-owner@platform/release"], { hidden })).toMatchObject({
      denied: true,
      message: expect.stringContaining("you cannot list every identity, so another may have this name; give the uid"),
    });
    expect(judged(grantTo(RELEASE), [`gains-owner@${RELEASE}`], { hidden })).toMatchObject({ allowed: true });
  });

  test("by a name where not every group can be listed, which may hold another identity of that name", () => {
    const hidden: ListedKind[] = ["group"];
    expect(judged(grantTo(RELEASE), ["gains-owner@release"], { hidden })).toMatchObject({ denied: true });
    expect(judged(grantTo(RELEASE), ["gains-owner@release"], { hidden: ["role"] })).toMatchObject({ allowed: true });
  });

  test("another identity or another rule, without a word about it", () => {
    const finding = judged(grantTo(RELEASE), ["gains-owner@apply", "root-binding@release"]);
    expect(finding).toMatchObject({ denied: true });
    expect(finding?.message).not.toContain("excuse");
  });
});
