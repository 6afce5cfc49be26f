// Which findings an allowance excuses: those about one record that exists before the change, and no other.
import { describe, expect, test } from "vitest";
import type { GraphBuilder } from "../../../access/graph/graph.ts";
import type { ListedKind } from "../../../access/graph/live.ts";
import type { Finding } from "../../../access/review/report.ts";
import { addIdentity, addProvider, bind, changed, graphOf, ROOT, roleUid, uid } from "../graphs.ts";
import { type Change, findingsOf, review } from "./rules.ts";

const [PLATFORM, PRODUCT, GIVER] = [uid("platform"), uid("product"), roleUid("giver")];
const [RELEASE, APPLY, TWIN] = [uid("platform/release"), uid("apply"), uid("product/release")];
const CLAIMS = { issuer: "https://a.example.com", subject: "x" };

const start = (): GraphBuilder =>
  graphOf({
    groups: ["platform", "product"],
    roles: { giver: ["role_bindings.create"] },
    identities: { "platform/release": CLAIMS, apply: CLAIMS },
  });

const hiddenIn = (kinds: ListedKind[]) => kinds.map((kind) => [kind, PRODUCT] as [ListedKind, string]);

/** The finding of gains-owner after `change`, with allowances. */
const judged = (change: Change, allow: string[], hidden: ListedKind[] = [], before = start()): Finding | undefined => {
  const { report } = review(before, change, { deny: ["gains-owner"], allow, hidden: hiddenIn(hidden) });
  return findingsOf(report, "gains-owner")[0];
};

const grantTo =
  (identity: string): Change =>
  (graph) =>
    bind(graph, PLATFORM, identity, GIVER);
/** It may have an id of a record that exists: then that gets another name. */
const create =
  (id: string, name: string, group: string): Change =>
  (graph) =>
    bind(graph, PLATFORM, addIdentity(graph, id, name, group, CLAIMS), GIVER);
const twin: Change = (graph) => addIdentity(graph, TWIN, "release", PRODUCT, CLAIMS);

test.each<[what: string, identity: string, subject: string, hidden?: ListedKind[]]>([
  ["its uid", RELEASE, RELEASE, ["identity"]],
  ["its path", RELEASE, "platform/release"],
  ["a name that it alone has", RELEASE, "release", ["role"]],
  ["its path in the organization itself, which begins with a slash", APPLY, "/apply"],
])("excuses an identity that exists by %s", (_, identity, subject, hidden) => {
  expect(judged(grantTo(identity), [`gains-owner@${subject}`], hidden)).toMatchObject({ allowed: true });
});

test("an allowance names a record before or after the change, a test, or people; the review says of any other that it does not", () => {
  const before = changed(start(), (graph) => addProvider(graph, uid("sso"), "acme-sso", GIVER));
  const unknown = (hidden: ListedKind[], ...subjects: string[]): readonly string[] =>
    review(before, create("urn:new", "fresh", PRODUCT), {
      ...{ hidden: hiddenIn(hidden), tests: [{ name: "nobody gives access", passed: true }] },
      allow: subjects.map((one) => `gains-owner@${one}`),
    }).unknownSubjects;
  const known = [RELEASE, "release", "platform/release", "/apply", "/", "platform", "acme", GIVER, "giver"];
  expect(unknown([], ...known, "fresh", "product/fresh", "nobody gives access", "people of acme-sso")).toEqual([]);
  expect(unknown([], "platfrom/release", TWIN)).toEqual([
    'gains-owner@platfrom/release excuses nothing: there is no identity, group or role "platfrom/release"; did you mean platform/release?',
    `gains-owner@${TWIN} excuses nothing: there is no identity, group or role "${TWIN}"`,
  ]);
  expect(unknown(["identity"], "zzz")).toEqual([
    'gains-owner@zzz excuses nothing: there is no identity, group or role "zzz"; you cannot list all of them, so it may be among the others',
  ]);
});

describe("does not excuse", () => {
  const NEW = "this identity is new, and an allowance is for one that exists";
  const HIDDEN = "you cannot list every identity, so another may have this name; give the uid";

  test.each<[what: string, change: Change, subject: string, why: string, hidden?: ListedKind[]]>([
    ...[PLATFORM, PRODUCT, ROOT].map((group): [string, Change, string, string] => [
      `a new identity with the name of an allowed one, in ${group}`,
      ...([create("urn:evil", "release", group), "release", NEW] as const),
    ]),
    ["one with its path", create("urn:evil", "release", PLATFORM), "platform/release", NEW],
    ["one whose name is its uid", create("urn:evil", RELEASE, ROOT), RELEASE, NEW],
    ["one whose name is its path", create("urn:evil", "platform/release", ROOT), "platform/release", NEW],
    ["one that gets its name", create(APPLY, "release", ROOT), "release", "another identity has this name"],
    ["by a name where not every identity can be listed", grantTo(RELEASE), "platform/release", HIDDEN, ["identity"]],
    [
      "by a name where not every group can be listed, which may hold another one",
      grantTo(RELEASE),
      "release",
      HIDDEN,
      ["group"],
    ],
  ])("%s", (_, change, subject, why, hidden) => {
    const finding = judged(change, [`gains-owner@${subject}`], hidden);
    expect(finding).toMatchObject({ denied: true });
    expect(finding?.message).toContain(`; gains-owner@${subject} does not excuse it: ${why}`);
  });

  test("by a name that two identities have, and names both", () => {
    const before = changed(start(), twin);
    expect(judged(grantTo(RELEASE), ["gains-owner@release"], [], before)).toMatchObject({
      denied: true,
      message: expect.stringContaining("gains-owner@release does not excuse it: 2 have this name: "),
    });
    for (const one of [`platform/release ${RELEASE}`, `product/release ${TWIN}`, "give the uid of one"])
      expect(judged(grantTo(RELEASE), ["gains-owner@release"], [], before)?.message).toContain(one);
    expect(judged(grantTo(RELEASE), ["gains-owner@platform/release"], [], before)).toMatchObject({ allowed: true });
  });

  test("another identity or another rule, without a word about it", () => {
    const finding = judged(grantTo(RELEASE), ["gains-owner@apply", "root-binding@release"]);
    expect(finding).toMatchObject({ denied: true });
    expect(finding?.message).not.toContain("excuse");
  });
});
