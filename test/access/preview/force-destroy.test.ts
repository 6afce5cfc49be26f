// What forceDestroy takes along, and what the provider refuses to delete with it.
import { describe, expect, test } from "vitest";
import { reportAsText } from "../../../access/format/review/terminal.ts";
import type { GraphBuilder } from "../../../access/graph/graph.ts";
import type { Live } from "../../../access/graph/live.ts";
import type { Report } from "../../../access/review/report.ts";
import type { Json } from "../../../schema/index.ts";
import { addGroup, addIdentity, ROOT, uidIn } from "../graphs.ts";
import { BOT, CHILD, deleteStep, live, namesOf, reportOf } from "./deletions.ts";
import { changed, created, urnOf } from "./fixture.ts";
import { bindingUid, CI, liveWith, MAKER, rowsOf, TEAM, VIEWER } from "./team.ts";

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
        "this run will be blocked: group team cannot be deleted: forceDestroy does not delete role bindings elsewhere of the identities below it",
        ["bot as viewer at /"],
      ],
    ]);
    expect(rowsOf(report)).toEqual([]);
    const text = (one: Report): string => reportAsText(one, { color: false, width: 200 });
    expect(text(report)).toContain("- group team is not deleted, and nothing in it: the deletion will fail\n");
    const whole = reportOf([deleteTeam(), deleteStep("RoleBinding", "b", elsewhere)], made);
    expect(whole.blocked).toEqual([]);
    expect(text(whole)).toContain("- group team is deleted, and with it ");
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

test("the deletion of an identity with forceDestroy is blocked by a role binding that the program keeps, and then keeps all of them", () => {
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
      "this run will be blocked: identity ci cannot be deleted: forceDestroy takes nothing along while this run keeps some of it",
    );
    expect(report.identities).toEqual([]);
  }
  // One that the program creates for it.
  const fresh = created("RoleBinding", "b", inputs);
  expect(namesOf(reportOf([fresh, forced], liveWith()))).toEqual([["ci", true, ["role binding ci as viewer at team"]]]);
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
  const inputs = { parent: sso, externalGroupId: "admins", role: MAKER, scope: ROOT };
  const keeps = changed("same", "ExternalGroupRoleMapping", "m", mapping, { old: inputs, new: inputs });
  const report = reportOf([keeps, forced], own);
  expect(namesOf(report)).toEqual([["sso", true, ["external group admins"]]]);
  expect(report.people).toEqual([]);
  const gone = reportOf([forced, deleteStep("Role", "maker", MAKER)], own);
  expect(gone.blocked).toEqual([]);
  expect(gone.people.map(({ subject }) => subject)).toEqual(["external group admins of sso", "people of sso"]);
});

describe("what is only used in a forced group that it is not in", () => {
  const OUTER = uidIn(ROOT, 41);
  const inside = uidIn(CHILD, 63);
  const own = (identity = CI, role = OUTER): Live => {
    const made = liveWith();
    const graph = made.graph as GraphBuilder;
    addGroup(graph, CHILD, "child", TEAM);
    graph.roles.set(OUTER, { id: OUTER, uid: OUTER, name: "outer", group: ROOT, capabilities: ["repo.list"] });
    graph.bindings.set(inside, { id: inside, uid: inside, group: CHILD, identity, role });
    return made;
  };
  const team = (outputs: Json = {}) => deleteStep("Group", "team", TEAM, { forceDestroy: true, ...outputs });
  const outer = deleteStep("Role", "outer", OUTER);
  const ci = deleteStep("Identity", "ci", CI);

  test("may be blocked, and counts as deleted", () => {
    const report = reportOf([outer, ci, team()], own());
    expect(namesOf(report)).toEqual([
      ["ci", false, ["role binding ci as outer at team/child"]],
      ["outer", false, ["role binding ci at child"]],
    ]);
    expect(report.blocked.map(({ message }) => message)).toEqual([
      "this run may be blocked: identity ci cannot be deleted before forceDestroy of a group has taken along what is in the way",
      "this run may be blocked: role outer cannot be deleted before forceDestroy of a group has taken along what is in the way",
    ]);
    expect(report.deletedGroups.map(({ groupName }) => groupName)).toEqual(["team"]);
    expect(report.identities).toMatchObject([{ uid: CI, change: "deleted", losses: [{ capability: "repo.list" }] }]);
    const taken = report.forceDestroy.flatMap(({ contents }) => contents.map(({ kind }) => kind));
    expect(taken).toEqual(["group", "role binding", "role"]);
  });

  test("is blocked where that group is blocked, whatever blocks it", () => {
    const kept = { parent: TEAM, name: "maker", capabilities: ["repo.create"] };
    const steps = {
      "too many": [outer, ci, team({ forceDestroyMax: 2 })],
      "the program keeps a record": [
        outer,
        ci,
        team(),
        changed("same", "Role", "maker", MAKER, { old: kept, new: kept }),
      ],
      "it is not forced": [outer, ci, deleteStep("Group", "team", TEAM)],
    };
    for (const [why, given] of Object.entries(steps)) {
      const report = reportOf(given, own());
      expect(
        report.blocked.map(({ subject, certain }) => [subject, certain]),
        why,
      ).toEqual([
        ["ci", true],
        ["outer", true],
        ["team", true],
      ]);
      expect(report.identities, why).toEqual([]);
    }
    // A record with a use that stays keeps the group that holds it, which then keeps what is used there.
    const chained = own(CI, OUTER);
    const graph = chained.graph as GraphBuilder;
    const stays = uidIn(ROOT, 64);
    addIdentity(graph, BOT, "bot", CHILD, { issuer: "https://ci.example.com", subject: "bot" });
    graph.bindings.set(stays, { id: stays, uid: stays, group: ROOT, identity: BOT, role: VIEWER });
    const report = reportOf([outer, deleteStep("Identity", "bot", BOT), team()], chained);
    expect(report.blocked.map(({ subject, certain }) => [subject, certain])).toEqual([
      ["outer", true],
      ["team", true],
      ["bot", true],
    ]);
  });

  test("is blocked by a use elsewhere, and where it is in that group itself", () => {
    const elsewhere = own();
    const use = uidIn(ROOT, 65);
    (elsewhere.graph as GraphBuilder).bindings.set(use, { id: use, uid: use, group: ROOT, identity: CI, role: OUTER });
    expect(namesOf(reportOf([outer, team()], elsewhere))).toEqual([
      ["outer", true, ["role binding ci at child", "role binding ci at dev"]],
    ]);
    const maker = deleteStep("Role", "maker", MAKER);
    expect(reportOf([maker, team()], own(CI, MAKER)).blocked.map(({ subject, certain }) => [subject, certain])).toEqual(
      [
        ["team", true],
        ["maker", true],
      ],
    );
  });
});
