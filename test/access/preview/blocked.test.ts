// Deletions that the API refuses: they are said before, and what they would take along stays.
import { describe, expect, test } from "vitest";
import { reviewAsHtml } from "../../../access/format/html/review.ts";
import { reportAsMarkdown } from "../../../access/format/review/markdown.ts";
import { reportAsText } from "../../../access/format/review/terminal.ts";
import type { GraphBuilder } from "../../../access/graph/graph.ts";
import type { Live } from "../../../access/graph/live.ts";
import type { HeldRecords } from "../../../access/graph/live-contents.ts";
import { planFrom } from "../../../access/preview/plan.ts";
import { parsePreview } from "../../../access/preview/shape.ts";
import { reviewOf } from "../../../access/review/index.ts";
import type { Report, Review } from "../../../access/review/report.ts";
import type { Json } from "../../../schema/index.ts";
import { addGroup, addIdentity, ROOT, uidIn } from "../graphs.ts";
import { changed, created, NOW_MS, urnOf } from "./fixture.ts";
import { bindingUid, CI, liveWith, MAKER, rowsOf, TEAM, VIEWER } from "./team.ts";

const CHILD = uidIn(TEAM, 20);
const BOT = uidIn(CHILD, 21);

const live = (): Live => {
  const own = liveWith([TEAM, CI, VIEWER]);
  const graph = own.graph as GraphBuilder;
  addGroup(graph, CHILD, "child", TEAM);
  addIdentity(graph, BOT, "bot", CHILD, { issuer: "https://ci.example.com", subject: "bot" });
  return own;
};

const deleteStep = (type: string, name: string, uid: string, outputs: Json = {}): Json =>
  changed("delete", type, name, uid, { outputs });

const reviewFrom = (steps: Json[], own = live(), held?: HeldRecords): Review => {
  const proposal = planFrom(parsePreview(JSON.stringify({ steps }), "a test"), own, held);
  return reviewOf(proposal, { notVisible: own.notVisible, nowMs: NOW_MS, deny: [], allow: [] });
};
const reportOf = (...given: Parameters<typeof reviewFrom>): Report => reviewFrom(...given).report;

const namesOf = ({ blocked }: Report) =>
  blocked.map(({ subject, certain, contents }) => [
    subject,
    certain,
    contents.map(({ kind, name }) => `${kind} ${name}`),
  ]);

const ALL = [
  deleteStep("RoleBinding", "b", bindingUid(TEAM, 0)),
  deleteStep("Role", "maker", MAKER),
  deleteStep("Identity", "bot", BOT),
  deleteStep("Group", "child", CHILD),
];

describe("the deletion of a group", () => {
  test("is blocked by all that the run does not delete, each by its name, and takes nothing along", () => {
    const report = reportOf([deleteStep("Group", "team", TEAM)]);
    expect(namesOf(report)).toEqual([
      ["team", true, ["group team/child", "identity bot", "role binding ci as viewer at team", "role maker"]],
    ]);
    expect(report.blocked[0]?.message).toContain("this up will be blocked: group team cannot be deleted");
    expect(rowsOf(report)).toEqual([]);
    expect(report.deletedGroups).toEqual([]);
    expect(report.identities).toEqual([]);
  });

  test("is not blocked by what goes with the same run, nor with forceDestroy", () => {
    expect(reportOf([...ALL, deleteStep("Group", "team", TEAM)]).blocked).toEqual([]);
    const forced = reportOf([deleteStep("Group", "team", TEAM, { forceDestroy: true })]);
    // The program may hide it.
    expect(reportOf([deleteStep("Group", "team", TEAM, { forceDestroy: "[secret]" })])).toEqual(forced);
    expect(forced.blocked).toEqual([]);
    expect(forced.deletedGroups.map(({ groupName }) => groupName)).toEqual(["team"]);
    expect(reportAsMarkdown(forced)).toContain("It does not list event subscriptions");
    expect(rowsOf(forced)).toEqual(["ci - team groups.list viewer"]);
  });

  test("is blocked by a group below that is blocked itself", () => {
    const steps = ALL.filter(({ urn }) => !String(urn).endsWith("::bot"));
    expect(namesOf(reportOf([...steps, deleteStep("Group", "team", TEAM)]))).toEqual([
      ["team", true, ["group team/child", "identity bot"]],
      ["child", true, ["identity bot"]],
    ]);
  });

  test("is blocked by repos and account associations, unless the run deletes them", () => {
    const repo = uidIn(TEAM, 30);
    const held = {
      records: [{ kind: "repo", uid: repo, name: "images", group: TEAM }],
      unseen: new Map(),
    };
    const steps = [...ALL, deleteStep("Group", "team", TEAM)];
    expect(namesOf(reportOf(steps, live(), held))).toEqual([["team", true, ["repo images"]]]);
    expect(reportOf([...steps, deleteStep("Repo", "images", repo)], live(), held).blocked).toEqual([]);
  });

  test("with forceDestroy names the repos and account associations that go with it", () => {
    const repo = uidIn(CHILD, 30);
    const held = {
      records: [{ kind: "repo", uid: repo, name: "images", group: CHILD }],
      unseen: new Map([[TEAM, ["account associations"]]]),
    };
    const step = deleteStep("Group", "team", TEAM, { forceDestroy: true });
    const report = reportOf([step], live(), held);
    expect(report.forceDestroy[0]?.contents).toContainEqual({ kind: "repo", uid: repo, name: "images" });
    expect(report.unknown).toContainEqual({
      subject: "team",
      property: "forceDestroy",
      message: "group team: forceDestroy may delete account associations that you cannot list there",
    });
    const [own] = reportOf([step, deleteStep("Repo", "images", repo)], live(), held).forceDestroy;
    expect(own?.contents.map(({ kind }) => kind)).not.toContain("repo");
  });

  test("may be blocked by what the caller cannot list", () => {
    const held = { records: [], unseen: new Map([[TEAM, ["repos"]]]) };
    const report = reportOf([...ALL, deleteStep("Group", "team", TEAM)], live(), held);
    expect(namesOf(report)).toEqual([["team", false, []]]);
    expect(report.blocked[0]?.message).toBe(
      "this up may be blocked: group team cannot be deleted while it holds something, and you cannot list its repos",
    );
    expect(report.deletedGroups.map(({ groupName }) => groupName)).toContain("team");
    expect(reportAsMarkdown(report)).toContain("1 deletion may be blocked");
    expect(reportAsMarkdown(report)).toContain("Deletions that will or may fail");
  });

  test("is blocked by the binding of an owner, which goes along with an organization alone", () => {
    const owner = "2".repeat(40);
    const withOwnerAt = (group: string): Live => {
      const own = liveWith([group, CI, owner]);
      const { roles, groups, identities } = own.graph as GraphBuilder;
      roles.clear();
      roles.set(owner, { id: owner, uid: owner, name: "owner", group: null, capabilities: ["groups.delete"] });
      if (group === ROOT) identities.clear();
      if (group === ROOT) groups.delete(TEAM);
      return own;
    };
    expect(namesOf(reportOf([deleteStep("Group", "team", TEAM)], withOwnerAt(TEAM)))).toEqual([
      ["team", true, ["role binding ci as owner at team"]],
    ]);
    expect(reportOf([deleteStep("Group", "dev", ROOT)], withOwnerAt(ROOT)).blocked).toEqual([]);
  });

  test("shows in every format before what changes", () => {
    const review = reviewFrom([deleteStep("Group", "team", TEAM)]);
    const { report } = review;
    for (const text of [
      reportAsMarkdown(report).replaceAll("`", ""),
      reportAsText(report, { color: false, width: 1000 }),
      reviewAsHtml(review).replaceAll(/<[^>]*>/g, ""),
    ]) {
      expect(text).toContain("this up will be blocked: group team cannot be deleted");
      expect(text).toContain("identity bot");
      expect(text).toContain("1 deletion will be blocked");
    }
  });
});

describe("forceDestroy of a group", () => {
  const own = (): Live => {
    const made = liveWith([TEAM, CI, VIEWER]);
    const graph = made.graph as GraphBuilder;
    addIdentity(graph, BOT, "bot", TEAM, { issuer: "https://ci.example.com", subject: "bot" });
    addGroup(graph, CHILD, "child", TEAM);
    return made;
  };
  const bound = (uid: string, group: string, identity: string): Live => {
    const made = own();
    (made.graph as GraphBuilder).bindings.set(uid, { id: uid, uid, group, identity, role: VIEWER });
    return made;
  };
  const deleteTeam = (outputs: Json = {}): Json =>
    deleteStep("Group", "team", TEAM, { forceDestroy: true, ...outputs });
  const reasons = ({ blocked }: Report) =>
    blocked.map(({ message, contents }) => [message, contents.map(({ name }) => name)]);

  test("takes along what is in it", () => {
    expect(reportOf([deleteTeam()], own())).toMatchObject({ blocked: [], deletedGroups: [{ group: TEAM }] });
  });

  test("deletes nothing while an identity in it has a role binding elsewhere, unless the run deletes that", () => {
    const elsewhere = uidIn(ROOT, 60);
    const made = bound(elsewhere, ROOT, BOT);
    const report = reportOf([deleteTeam()], made);
    expect(reasons(report)).toEqual([
      [
        "this up will be blocked: group team cannot be deleted: forceDestroy does not delete role bindings elsewhere of the identities below it",
        ["bot as viewer at /"],
      ],
    ]);
    expect(rowsOf(report)).toEqual([]);
    expect(reportOf([deleteTeam(), deleteStep("RoleBinding", "b", elsewhere)], made).blocked).toEqual([]);
  });

  test("deletes no more than forceDestroyMax, and no organization", () => {
    expect(reasons(reportOf([deleteTeam({ forceDestroyMax: 2 })], own()))[0]?.[0]).toContain(
      "group team cannot be deleted: 4 records are below it, and forceDestroyMax is 2",
    );
    expect(reportOf([deleteTeam({ forceDestroyMax: 4 })], own()).blocked).toEqual([]);
    expect(reasons(reportOf([deleteStep("Group", "dev", ROOT, { forceDestroy: true })], own()))[0]?.[0]).toContain(
      "forceDestroy does not empty an organization",
    );
  });

  test("waits for what the run deletes there, and fails with it", () => {
    const inside = uidIn(CHILD, 61);
    const report = reportOf([deleteStep("Identity", "bot", BOT), deleteTeam()], bound(inside, CHILD, BOT));
    expect(namesOf(report)).toEqual([
      ["team", true, ["identity bot"]],
      ["bot", true, ["role binding bot as viewer at team/child"]],
    ]);
    expect(report.deletedGroups).toEqual([]);
  });

  test("deletes nothing that the program declares", () => {
    const inputs = { parent: TEAM, name: "bot" };
    const kept = changed("same", "Identity", "bot", BOT, { old: inputs, new: inputs });
    expect(namesOf(reportOf([kept, deleteTeam()], own()))).toEqual([["team", true, ["identity bot"]]]);
  });
});

test.each([
  ["an adopted record that the run leaves in place", {}, {}, true],
  ["one that is deleted with its resource", { deleteAdopted: true }, {}, false],
  ["one of which the engine does not tell the provider", {}, { retainOnDelete: true }, false],
  ["one that the engine counts as deleted with the group", {}, { deletedWith: urnOf("Group", "team") }, false],
])("forceDestroy of a group and %s", (_, outputs, option, isBlocked) => {
  const step = deleteStep("Identity", "bot", BOT, { adopted: true, ...outputs });
  const bot = { ...step, oldState: { ...(step.oldState as Json), ...option } };
  const report = reportOf([bot, deleteStep("Group", "team", TEAM, { forceDestroy: true })]);
  expect(namesOf(report)).toEqual(isBlocked ? [["team", true, ["identity bot"]]] : []);
  expect(report.deletedGroups.length).toBe(isBlocked ? 0 : 1);
  if (isBlocked) expect(report.blocked[0]?.message).toContain("holds what this run keeps, leaves in place, or fails");
});

describe("the deletion of an identity", () => {
  test("is blocked by its role bindings that the run does not delete, and takes none along", () => {
    const report = reportOf([deleteStep("Identity", "ci", CI)]);
    expect(namesOf(report)).toEqual([["ci", true, ["role binding ci as viewer at team"]]]);
    expect(report.blocked[0]?.message).toBe(
      "this up will be blocked: identity ci cannot be deleted while it has role bindings that this run does not delete; forceDestroy: true deletes them too",
    );
    expect(report.identities).toEqual([]);
  });

  test("is not blocked by what goes with the same run, nor with forceDestroy", () => {
    const both = [deleteStep("Identity", "ci", CI), deleteStep("RoleBinding", "b", bindingUid(TEAM, 0))];
    for (const steps of [both, [deleteStep("Identity", "ci", CI, { forceDestroy: true })]]) {
      const report = reportOf(steps);
      expect(report.blocked).toEqual([]);
      expect(rowsOf(report)).toEqual(["ci - team groups.list viewer"]);
    }
  });

  test("with forceDestroy is blocked by a role binding that the program keeps, and then keeps all of them", () => {
    const own = liveWith([TEAM, CI, VIEWER], [TEAM, CI, MAKER]);
    const forced = deleteStep("Identity", "ci", CI, { forceDestroy: true });
    const inputs = { parent: TEAM, identity: CI, role: VIEWER };
    const binding = changed("same", "RoleBinding", "b", bindingUid(TEAM, 0), { old: inputs, new: inputs });
    const pairs = { parent: TEAM, bindings: [{ identity: CI, role: VIEWER }] };
    const outputs = { bindings: [{ uid: bindingUid(TEAM, 0), identity: { uid: CI }, role: { uid: VIEWER } }] };
    const set = changed("same", "RoleBindingSet", "s", TEAM, { old: pairs, new: pairs, outputs });
    for (const keeps of [binding, set]) {
      const report = reportOf([keeps, forced], own);
      expect(namesOf(report)).toEqual([["ci", true, ["role binding ci as viewer at team"]]]);
      expect(report.blocked[0]?.message).toBe(
        "this up will be blocked: identity ci cannot be deleted: forceDestroy takes nothing along while this run keeps some of it",
      );
      expect(report.identities).toEqual([]);
    }
    // One that the program creates for it.
    const fresh = created("RoleBinding", "b", inputs);
    expect(namesOf(reportOf([fresh, forced], liveWith()))).toEqual([
      ["ci", true, ["role binding ci as viewer at team"]],
    ]);
  });

  test("may be blocked where the caller cannot list role bindings", () => {
    const own = { ...liveWith(), notVisible: [{ kind: "roleBinding" as const, group: ROOT, message: "refused" }] };
    const report = reportOf([deleteStep("Identity", "ci", CI)], own);
    expect(namesOf(report)).toEqual([["ci", false, []]]);
    expect(report.identities.map(({ change }) => change)).toEqual(["deleted"]);
  });

  test("keeps the role that it holds, and its group", () => {
    const own = live();
    const uid = uidIn(CHILD, 62);
    (own.graph as GraphBuilder).bindings.set(uid, { id: uid, uid, group: CHILD, identity: BOT, role: MAKER });
    expect(namesOf(reportOf(ALL, own)).toSorted()).toEqual([
      ["bot", true, ["role binding bot as maker at team/child"]],
      ["child", true, ["identity bot", "role binding bot as maker at team/child"]],
      ["maker", true, ["role binding bot at child"]],
    ]);
  });
});

describe("the deletion of a role", () => {
  test("is blocked while a binding that stays grants it", () => {
    const own = liveWith([TEAM, CI, MAKER]);
    const report = reportOf([deleteStep("Role", "maker", MAKER)], own);
    expect(namesOf(report)).toEqual([["maker", true, ["role binding ci at team"]]]);
    expect(rowsOf(report)).toEqual([]);
    const both = reportOf(
      [deleteStep("Role", "maker", MAKER), deleteStep("RoleBinding", "b", bindingUid(TEAM, 0))],
      own,
    );
    expect(both.blocked).toEqual([]);
    expect(rowsOf(both)).toEqual(["ci - team repo.create maker"]);
  });

  test("may be blocked by what the caller cannot list", () => {
    const message = "cannot be listed";
    const own = { ...liveWith(), notVisible: [{ kind: "roleBinding" as const, group: TEAM, message }] };
    const report = reportOf([deleteStep("Role", "maker", MAKER)], own);
    expect(namesOf(report)).toEqual([["maker", false, []]]);
    expect(report.blocked[0]?.message).toBe(
      "this up may be blocked: role maker cannot be deleted while it is granted, and you cannot list all role bindings",
    );
    const ofProviders = { ...liveWith(), notVisible: [{ kind: "identityProvider" as const, group: "", message }] };
    expect(reportOf([deleteStep("Role", "maker", MAKER)], ofProviders).blocked[0]?.message).toContain(
      "all identity providers",
    );
  });

  test("is blocked at the organization's own group, too", () => {
    const role = uidIn(ROOT, 40);
    const own = liveWith([TEAM, CI, role]);
    (own.graph as GraphBuilder).roles.set(role, {
      id: role,
      uid: role,
      name: "r",
      group: ROOT,
      capabilities: ["repo.list"],
    });
    expect(reportOf([deleteStep("Role", "r", role)], own).blocked).toMatchObject([
      { kind: "role", group: ROOT, groupName: "/" },
    ]);
  });
});

test("an identity provider in the way is listed once", () => {
  const own = live();
  const id = uidIn(TEAM, 77);
  const provider = { id, uid: id, name: "sso", group: TEAM, signIn: null, defaultRole: null };
  (own.graph as GraphBuilder).providers.set(id, provider);
  const [blocked] = reportOf([deleteStep("Group", "team", TEAM)], own).blocked;
  expect(blocked?.contents.filter(({ uid }) => uid === id)).toEqual([
    { kind: "identity provider", uid: id, name: "sso" },
  ]);
});

test("an identity provider with forceDestroy is blocked by a mapping that the program keeps, and not by its role", () => {
  const own = live();
  const graph = own.graph as GraphBuilder;
  const sso = uidIn(ROOT, 77);
  graph.providers.set(sso, { id: sso, uid: sso, name: "sso", group: ROOT, signIn: null, defaultRole: MAKER });
  const mapping = uidIn(sso, 78);
  const mapped = { id: mapping, uid: mapping, provider: sso, externalGroupId: "admins", role: MAKER, group: ROOT };
  graph.externalGroups.set(mapping, mapped);
  const forced = deleteStep("IdentityProvider", "sso", sso, { forceDestroy: true });
  const inputs = { parent: sso, externalGroupId: "admins", roleUid: MAKER, scope: ROOT };
  const keeps = changed("same", "ExternalGroupRoleMapping", "m", mapping, { old: inputs, new: inputs });
  const report = reportOf([keeps, forced], own);
  expect(namesOf(report)).toEqual([["sso", true, ["external group admins"]]]);
  expect(report.people).toEqual([]);
  const gone = reportOf([forced, deleteStep("Role", "maker", MAKER)], own);
  expect(gone.blocked).toEqual([]);
  expect(gone.people.map(({ subject }) => subject)).toEqual(["external group admins of sso", "people of sso"]);
});
