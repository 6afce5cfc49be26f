// Deletions that the API refuses: they are said before, and what they would take along stays.
import { describe, expect, test } from "vitest";
import { reviewAsHtml } from "../../../access/format/html/review.ts";
import { reportAsMarkdown } from "../../../access/format/review/markdown.ts";
import { reportAsText } from "../../../access/format/review/terminal.ts";
import type { GraphBuilder } from "../../../access/graph/graph.ts";
import type { Live } from "../../../access/graph/live.ts";
import { ROOT, uidIn } from "../graphs.ts";
import { BOT, CHILD, deleteStep, live, namesOf, reportOf, reviewFrom } from "./deletions.ts";
import { bindingUid, CI, liveWith, MAKER, rowsOf, TEAM } from "./team.ts";

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
    expect(report.blocked[0]?.message).toContain("this run will be blocked: group team cannot be deleted");
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
      "this run may be blocked: group team cannot be deleted while it holds something, and you cannot list its repos",
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
      expect(text).toContain("this run will be blocked: group team cannot be deleted");
      expect(text).toContain("identity bot");
      expect(text).toContain("1 deletion will be blocked");
    }
  });
});

describe("the deletion of an identity", () => {
  test("is blocked by its role bindings that the run does not delete, and takes none along", () => {
    const report = reportOf([deleteStep("Identity", "ci", CI)]);
    expect(namesOf(report)).toEqual([["ci", true, ["role binding ci as viewer at team"]]]);
    expect(report.blocked[0]?.message).toBe(
      "this run will be blocked: identity ci cannot be deleted while it has role bindings that this run does not delete; forceDestroy: true deletes them too",
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
      "this run may be blocked: role maker cannot be deleted while it is granted, and you cannot list all role bindings",
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
