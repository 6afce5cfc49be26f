// The rules about what an identity may do and who owns: each fires on what the change brings, and not on what was there.
import { expect, test } from "vitest";
import type { GraphBuilder } from "../../../access/graph/graph.ts";
import type { RuleName } from "../../../access/review/report.ts";
import type { Json } from "../../../schema/index.ts";
import { addIdentity, addProvider, addRole, bind, changed, graphOf, mapGroup, ROOT, roleUid, uid } from "../graphs.ts";
import { type Change, CI, exactly, findingsOf, foundSubjects, give, NEW, OWNER, review, start, TEAM } from "./rules.ts";

const giveNew: Change = (graph) => bind(graph, ROOT, addIdentity(graph, NEW, "next", ROOT, exactly), roleUid("viewer"));
const clear: Change = (graph) => graph.bindings.clear();
const dropOwner: Change = (graph) => graph.bindings.delete(`${ROOT}/b ${OWNER} ${roleUid("owner")}`);
const replaceBy =
  (name: string, match: Json = exactly, group = ROOT): Change =>
  (graph) => {
    graph.identities.delete(CI);
    addIdentity(graph, NEW, name, group, match);
  };
const otherMatch = { ...exactly, subject: "repo:acme/charts:ref:refs/heads/main" };
const regranted: Change = (graph) =>
  graph.bindings.set(NEW, { id: NEW, uid: null, group: TEAM, identity: CI, role: roleUid("viewer") });
const owningCi = changed(start(), give("owner", ROOT));

test.each<[what: string, before: GraphBuilder, change: Change, found: string[]]>([
  ["no capability that gives access", start(), give("publisher"), []],
  ["what gives access, and the identity has it already", owningCi, give("owner"), []],
  ["a role on the organization", start(), give("viewer", ROOT), [`root-binding ${CI}`]],
  ["the same, of a new identity", start(), giveNew, ["root-binding next"]],
  ["a role on a group below", start(), give("viewer"), []],
  [
    "a new binding of the same pair",
    start(),
    (graph) => {
      graph.bindings.clear();
      graph.bindings.set(NEW, { id: NEW, uid: null, group: ROOT, identity: OWNER, role: roleUid("owner") });
    },
    [],
  ],
  ["the last owner goes", start(), clear, [`last-owner-goes ${ROOT}`]],
  ["another owner is left", owningCi, dropOwner, []],
  ["there was no owner", changed(start(), clear), () => {}, []],
  [
    "the organization goes itself",
    start(),
    (graph) => {
      graph.groups.delete(ROOT);
      graph.bindings.clear();
    },
    [],
  ],
  ["another one with other workloads", start(), replaceBy("other", otherMatch), []],
  ["another one with the same workloads", start(), replaceBy("other"), [`identity-replaced ${CI}`]],
  ["an identity goes", start(), (graph) => graph.identities.delete(CI), []],
  ["what was not removed by hand", start(), regranted, []],
])("of a change, what matters is found and nothing else: %s", (_, before, change, found) => {
  expect(foundSubjects(before, change)).toEqual(found);
});

test("the last owner goes with its identity, and an identity that the engine replaces counts as replaced, whatever its name and its workloads", () => {
  expect(foundSubjects(start(), (graph) => graph.identities.delete(OWNER))).toContain(`last-owner-goes ${ROOT}`);
  const replaced = new Map([[CI, NEW]]);
  expect(foundSubjects(start(), replaceBy("other", otherMatch), { replaced })).toEqual([`identity-replaced ${CI}`]);
});

test.each<[RuleName, Change, restored: string[], message: string]>([
  ["gains-owner", give("owner"), [], "can give access to itself and others at team: it gains role_bindings.create"],
  [
    "identity-replaced",
    replaceBy("ci", exactly, TEAM),
    [],
    'is replaced by one with another uid, in team instead of /; workflows that name its uid stop working: a workload whose token has issuer "https://token.actions.githubusercontent.com" and subject "repo:acme/images:ref:refs/heads/main"',
  ],
  ["regrants-removed", regranted, [NEW], "gets viewer at team again, which was removed by hand"],
])("%s says what it means", (rule, change, restored, message) => {
  const { report } = review(start(), change, { proposal: { restored } });
  expect(findingsOf(report, rule)).toEqual([{ rule, subject: CI, name: "ci", message }]);
});

test("gains-owner fires on just what lets an identity give access", () => {
  const giving = ["role_bindings.create", "role_bindings.update", "roles.update", "identity.update"];
  giving.push("identity_providers.create", "identity_providers.update", "group_invites.create");
  const others = ["role_bindings.delete", "roles.create", "identity.create", "groups.update"];
  const fires = (capability: string): boolean => {
    const grant: Change = (graph) => bind(graph, TEAM, CI, addRole(graph, "own", [capability], TEAM));
    return foundSubjects(start(), grant).includes(`gains-owner ${CI}`);
  };
  expect([...giving, ...others].filter(fires)).toEqual(giving);
});

const own = uid("team/own");
const withOwn = (held: string[], isGiven: boolean, match?: Json): GraphBuilder => {
  const graph = start(match);
  graph.roles.set(own, { id: own, uid: own, name: "own", group: TEAM, capabilities: held });
  if (isGiven) bind(graph, TEAM, CI, own);
  return graph;
};
const regrants =
  (...capabilities: string[]): Change =>
  (graph) =>
    graph.roles.set(own, { ...(graph.roles.get(own) as never as { id: string }), capabilities } as never);
const both =
  (...changes: Change[]): Change =>
  (graph) => {
    for (const change of changes) change(graph);
  };
const take: Change = (graph) => graph.bindings.delete(`${TEAM}/b ${CI} ${own}`);
const giveOwn: Change = (graph) => bind(graph, TEAM, CI, own);
const reassume =
  (match: Json): Change =>
  (graph) =>
    addIdentity(graph, CI, "ci", ROOT, match);
const another = { issuer: "https://ci.example.com", subject: "another" };
const during = "while the update runs, or after one that ends early";

test.each<[what: string, before: GraphBuilder, change: Change, message: string]>([
  [
    "a role is widened and its holder loses it",
    withOwn(["repo.list"], true),
    both(regrants("repo.list", "role_bindings.create"), take),
    `may hold role_bindings.create at team ${during}`,
  ],
  [
    "a role is narrowed and gets a new holder",
    withOwn(["repo.list", "repo.create"], false),
    both(regrants("repo.list"), giveOwn),
    `may hold repo.create at team ${during}`,
  ],
  [
    "another workload is to assume an identity that loses something",
    withOwn(["repo.create"], true),
    both(reassume(another), take),
    `may hold repo.create at team ${during}`,
  ],
  [
    "another workload is to assume an identity that gains something: the former one may get there first",
    withOwn(["role_bindings.create"], false),
    both(reassume(another), giveOwn),
    `who can assume it before the change may hold role_bindings.create at team ${during}`,
  ],
])("transient-access fires where %s", (_, before, change, message) => {
  const found = findingsOf(review(before, change).report, "transient-access");
  expect(found.map((one) => [one.subject, one.message])).toEqual([[CI, message]]);
});

test("transient-access is a gain of an owner too", () => {
  const change = both(regrants("role_bindings.create"), take);
  expect(findingsOf(review(withOwn(["repo.list"], true), change).report, "gains-owner")).toMatchObject([
    { message: `can give access to itself and others at team ${during}: it may hold role_bindings.create` },
  ]);
});

test("transient-access is silent about the former workload where it is one of the new ones", () => {
  const [issuer, wide] = ["https://ci.example.com", "repo:acme/.*"];
  const before = withOwn(["repo.create"], false, { issuer, subject: "repo:acme/a" });
  const found = (match: Json) => findingsOf(review(before, both(reassume(match), giveOwn)).report, "transient-access");
  expect(found({ issuer, subjectPattern: wide })).toEqual([]);
  for (const narrow of [
    { issuer, subjectPattern: "repo:acme/b.*" },
    { issuer, subjectPattern: wide, claims: { ref: "main" } },
    { issuer, subjectPattern: wide, audience: "another" },
    { issuer: "https://other.example", subjectPattern: wide },
  ])
    expect(found(narrow), JSON.stringify(narrow)).toHaveLength(1);
});

test.each([
  ["loses its role", true, expect.any(String)],
  ["gains a role", false, "external group admins of sso"],
])("transient-access fires for people who sign in elsewhere, where an external group %s", (_, hadRole, subject) => {
  const sso = uid("sso");
  const signIn = (graph: GraphBuilder, issuer: string, isMapped: boolean): void => {
    addProvider(graph, sso, "sso", roleUid("viewer"), { issuer, clientId: "people", groupsClaim: "" });
    graph.externalGroups.clear();
    if (isMapped) mapGroup(graph, uid("sso/admins"), sso, "admins", roleUid("owner"));
  };
  const before = changed(start(), (graph) => signIn(graph, "https://people.example", hadRole));
  const { report } = review(before, (graph) => signIn(graph, "https://others.example", !hadRole));
  expect(findingsOf(report, "transient-access")).toMatchObject([
    { subject, message: expect.stringContaining("role_bindings.create") },
  ]);
});

test("transient-access is silent where pairs come, go and move", () => {
  const move = both(clear, give("publisher"), give("viewer", ROOT));
  expect(findingsOf(review(changed(start(), give("viewer")), move).report, "transient-access")).toEqual([]);
});

const addAdmin: Change = (graph) => {
  const admin = addRole(graph, "admin", ["identity.update"], ROOT);
  bind(graph, ROOT, addIdentity(graph, NEW, "next", ROOT, exactly), admin);
};
const trusting = (): GraphBuilder => {
  const [graph, partner] = [start(), "d".repeat(40)];
  graphOf({ name: "partner", root: partner, roles: { pusher: ["tag.create"] } }, graph);
  give("pusher", partner)(graph);
  return graph;
};
const found = (before: GraphBuilder, change: Change) => findingsOf(review(before, change).report, "opens-path");

test("opens-path fires on an identity that may change a trusted one, not on a path that was there", () => {
  const lead = "could come to hold tag.create at / (strict):";
  const steps = ["next may change identity ci, and lets the workload assume it", "the workload assumes identity ci"];
  expect(found(trusting(), addAdmin)).toEqual([
    {
      ...{ rule: "opens-path", subject: "next", name: "next" },
      message: expect.stringContaining(`${lead} ${steps.join("; ")}`),
      list: { lead, items: [...steps, "2 more of its paths open"] },
    },
  ]);
  expect(found(changed(trusting(), addAdmin), give("viewer"))).toEqual([]);
  expect(found(start(), give("publisher"))).toEqual([]);
});

test("opens-path an excused finding stays, and the review has the paths that open and close", () => {
  const { report } = review(start(), give("owner"), { deny: ["opens-path"], allow: [`opens-path@${CI}`] });
  expect(findingsOf(report, "opens-path")).toMatchObject([{ subject: CI, allowed: true }]);
  const from = { identity: CI, name: "ci" };
  expect(report).toMatchObject({ opens: [{ from, assumes: "cautious" }], closes: [] });
  const { closes } = review(changed(start(), give("owner")), clear).report;
  expect(closes).toContainEqual(expect.objectContaining({ from }));
});
