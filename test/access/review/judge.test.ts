// Which findings an allowance excuses: those about one record that exists before the change, and no other.
import { expect, test } from "vitest";
import type { GraphBuilder } from "../../../access/graph/graph.ts";
import type { ListedKind } from "../../../access/graph/live.ts";
import type { Finding } from "../../../access/review/report.ts";
import type { Required } from "../../../access/review/rules-file.ts";
import { addGroup, addIdentity, addProvider, addRole, bind, changed, graphOf, ROOT, roleUid, uid } from "../graphs.ts";
import { type Change, findingsOf, give, review } from "./rules.ts";

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
  ["by a name where not every group can be listed", grantTo(RELEASE), "release", HIDDEN, ["group"]],
])("does not excuse %s", (_, change, subject, why, hidden) => {
  const finding = judged(change, [`gains-owner@${subject}`], hidden);
  expect(finding).toMatchObject({ denied: true });
  expect(finding?.message).toContain(`; gains-owner@${subject} does not excuse it: ${why}`);
});

test("does not excuse by a name of two identities, nor another identity, nor another rule", () => {
  const before = changed(start(), twin);
  expect(judged(grantTo(RELEASE), ["gains-owner@release"], [], before)).toMatchObject({
    denied: true,
    message: expect.stringContaining("gains-owner@release does not excuse it: 2 have this name: "),
  });
  for (const one of [`platform/release ${RELEASE}`, `product/release ${TWIN}`, "give the uid of one"])
    expect(judged(grantTo(RELEASE), ["gains-owner@release"], [], before)?.message).toContain(one);
  expect(judged(grantTo(RELEASE), ["gains-owner@platform/release"], [], before)).toMatchObject({ allowed: true });
  const finding = judged(grantTo(RELEASE), ["gains-owner@apply", "root-binding@release"]);
  expect(finding).toMatchObject({ denied: true });
  expect(finding?.message).not.toContain("excuse");
});

const [TEAM, BOSS, TEAM_APPLY, OWNER] = [uid("team"), uid("boss"), uid("team/apply"), roleUid("owner")];
const twoOwners = (): GraphBuilder =>
  graphOf({
    groups: ["team"],
    roles: { owner: ["role_bindings.create"] },
    identities: { boss: CLAIMS, "team/apply": CLAIMS },
    access: { "/": { owner: ["boss", "team/apply"] } },
  });
const unbind: Change = (graph) => graph.bindings.delete(`${ROOT}/b ${TEAM_APPLY} ${OWNER}`);
const own = (id: string, identity: string) => ({ id, uid: null, group: ROOT, identity, role: OWNER });

const found = (required: Required, change: Change = () => {}, before = twoOwners(), isHidden = false): string[] => {
  const { report } = review(before, change, { required, hidden: isHidden ? [["roleBinding", ROOT]] : [] });
  return findingsOf(report, "required-owners", "may-own").map(
    ({ rule, subject, message, denied }) => `${denied ? "denied " : ""}${rule} ${subject}: ${message}`,
  );
};

const few = `denied required-owners ${ROOT}: 1 identity has the role owner on acme itself after this change; 2 must`;

test.each<[what: string, change: Change, before: GraphBuilder, expected: string[]]>([
  ["is kept, whatever else changes", () => {}, twoOwners(), []],
  ["is broken where fewer are left, and fails the review although no rule is denied", unbind, twoOwners(), [few]],
  [
    "counts an owner of the organization itself alone, and each identity once",
    (graph) => {
      unbind(graph);
      give("owner", TEAM, TEAM_APPLY)(graph);
      graph.bindings.set("twice", own("twice", BOSS));
    },
    twoOwners(),
    [few],
  ],
  [
    "does not count a custom role that is called owner, nor an identity that is gone",
    (graph) => {
      unbind(graph);
      bind(graph, ROOT, TEAM_APPLY, addRole(graph, "owner", ["role_bindings.create"], ROOT));
      graph.bindings.set("gone", own("gone", uid("gone")));
    },
    twoOwners(),
    [few],
  ],
  ["holds for a state that the change did not make", () => {}, changed(twoOwners(), unbind), [few]],
])("owners: %s", (_, change, before, expected) => expect(found({ owners: 2 }, change, before)).toEqual(expected));

test("owners: is not taken for kept where the bindings cannot be listed", () => {
  expect(found({ owners: 2 }, unbind, twoOwners(), true)).toEqual([
    `${few}; you cannot list its role bindings, so there may be others`,
  ]);
});

const createIn =
  (group: string, id: string, name: string, organization: string): Change =>
  (graph) => {
    addIdentity(graph, id, name, group, CLAIMS);
    bind(graph, organization, id, OWNER);
  };
const replaceApply: Change = (graph) => {
  unbind(graph);
  createIn(TEAM, "urn:next", "next", ROOT)(graph);
};
const organization: Change = (graph) => {
  addGroup(graph, "urn:org", "new", null);
  createIn("urn:org", "urn:first", "first", "urn:org")(graph);
};

test.each<[what: string, required: Required, change: Change, expected: string[]]>([
  ["is kept by identities by uid and by path", { mayOwn: [BOSS, "team/apply"] }, () => {}, []],
  ["is kept by a path in the organization itself", { mayOwn: ["/boss", "team/apply"] }, () => {}, []],
  [
    "names each owner that it does not list, also one that was there",
    { mayOwn: ["/boss"] },
    () => {},
    [`denied may-own ${TEAM_APPLY}: has the role owner on acme itself, and may-own does not list it`],
  ],
  [
    "names a new identity, also at a path that it lists",
    { mayOwn: ["/boss", "team/next"] },
    replaceApply,
    [
      "denied may-own next: gets the role owner on acme itself, and may-own does not list it; this identity is new, so no path of may-own names it yet",
    ],
  ],
  ["takes paths of a new organization, in which nothing exists", { owners: 1, mayOwn: ["/first"] }, organization, []],
  [
    "takes no other paths there",
    { mayOwn: ["/boss"] },
    organization,
    [
      "denied may-own first: gets the role owner on new itself, and may-own does not list it; this identity is new, so no path of may-own names it yet",
    ],
  ],
])("may-own: %s", (_, required, change, expected) => expect(found(required, change)).toEqual(expected));

test("may-own: is not taken for kept where the bindings cannot be listed", () => {
  expect(found({ mayOwn: [BOSS, TEAM_APPLY] }, undefined, twoOwners(), true)).toEqual([
    `denied may-own ${ROOT}: who has the role owner on acme is not visible: you cannot list its role bindings`,
  ]);
});
