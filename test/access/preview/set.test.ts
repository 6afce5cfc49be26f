// Access before and after a preview of a RoleBindingSet.
import { describe, expect, test } from "vitest";
import { changed, created, placeholderOf, UNKNOWN } from "./fixture.ts";
import { bindingUid, CI, ISSUER, liveWith, MAKER, named, reportOf, rowsOf, TEAM, VIEWER } from "./team.ts";

describe("a RoleBindingSet", () => {
  const pair = (i: number, identity: string, role: string, roleName: string) => ({
    uid: bindingUid(TEAM, i),
    identity: named(identity, "ci"),
    role: named(role, roleName),
  });

  test("gains the pairs that it adds, and loses those that it drops", () => {
    const live = liveWith([TEAM, CI, VIEWER]);
    const steps = [
      changed("update", "RoleBindingSet", "s", TEAM, {
        old: { parent: TEAM, bindings: [{ identity: CI, role: "viewer" }] },
        outputs: { bindings: [pair(0, CI, VIEWER, "viewer")], unmanaged: [] },
        new: { parent: TEAM, bindings: [{ identity: CI, role: MAKER }] },
      }),
    ];
    expect(rowsOf(reportOf({ steps }, live))).toEqual(["ci + team repo.create maker", "ci - team groups.list viewer"]);
  });

  test("gives new identities what its pairs say, by their placeholders", () => {
    const claimMatch = { issuer: ISSUER, subject: "x" };
    const identities = ["one", "two"].map((name) => created("Identity", name, { parent: TEAM, name, claimMatch }));
    const set = created("RoleBindingSet", "s", {
      parent: TEAM,
      bindings: [
        { identity: placeholderOf("Identity", "two"), role: "viewer" },
        { identity: placeholderOf("Identity", "one"), role: MAKER },
      ],
    });
    expect(rowsOf(reportOf({ steps: [...identities, set] }, liveWith()))).toEqual([
      "one + team repo.create maker",
      "two + team groups.list viewer",
    ]);
  });

  test("stands at the adopted group that its parent comes from, with a new role of the same preview", () => {
    const steps = [
      created("Group", "team", { parent: UNKNOWN, name: "team", adopt: TEAM }),
      created("Role", "reader", { parent: TEAM, name: "reader", capabilities: ["CAP_REPO_LIST"] }),
      created("RoleBindingSet", "s", {
        parent: TEAM,
        bindings: [{ identity: CI, role: placeholderOf("Role", "reader") }],
      }),
    ];
    const report = reportOf({ steps }, liveWith());
    expect(rowsOf(report)).toEqual(["ci + team repo.list reader"]);
    expect(report.unknown).toEqual([]);
    expect(report.adopted).toMatchObject([{ kind: "group", uid: TEAM, resource: "team" }]);
  });

  test("takes an existing pair over, without a gain", () => {
    const live = liveWith([TEAM, CI, VIEWER]);
    const set = created("RoleBindingSet", "s", { parent: TEAM, bindings: [{ identity: CI, role: "viewer" }] });
    const report = reportOf({ steps: [set] }, live);
    expect([rowsOf(report), report.undeclared]).toEqual([[], []]);
  });

  test("removes, when exclusive, what the last run has recorded, and keeps what it keeps on purpose", () => {
    const live = liveWith([TEAM, CI, VIEWER], [TEAM, CI, MAKER]);
    const unmanaged = [
      pair(0, CI, VIEWER, "viewer"),
      { ...pair(1, CI, MAKER, "maker"), kept: "the run acts through it" },
    ];
    const states = (exclusive: boolean, before: boolean) => ({
      old: { parent: TEAM, bindings: [] },
      outputs: { bindings: [], unmanaged, exclusive: before },
      new: { parent: TEAM, bindings: [], exclusive },
    });
    const rowsWith = (exclusive: boolean, before: boolean) =>
      rowsOf(reportOf({ steps: [changed("update", "RoleBindingSet", "s", TEAM, states(exclusive, before))] }, live));
    expect(rowsWith(true, true)).toEqual(["ci - team groups.list viewer"]);
    // The first run of an exclusive set removes nothing.
    expect(rowsWith(true, false)).toEqual([]);
    expect(rowsWith(false, true)).toEqual([]);
  });

  test("names the pull tokens that it removes, when exclusive, by their roles and capabilities", () => {
    const { graph } = liveWith([TEAM, CI, MAKER]);
    const issuer = "https://pulltoken.issuer.chainguard.dev";
    const staticKeys = { issuer, subject: "pull-token-1", expirationTime: "2026-12-01T00:00:00Z" };
    const identities = new Map(
      [...graph.identities].map(([id, one]) => [id, { ...one, relationship: { staticKeys } }]),
    );
    const states = (exclusive: boolean) => ({
      old: { parent: TEAM, bindings: [] },
      outputs: { bindings: [], unmanaged: [pair(0, CI, MAKER, "maker")], exclusive: true },
      new: { parent: TEAM, bindings: [], exclusive },
    });
    const tokensWith = (exclusive: boolean) =>
      reportOf(
        { steps: [changed("update", "RoleBindingSet", "s", TEAM, states(exclusive))] },
        { graph: { ...graph, identities }, notVisible: [] },
      ).pullTokens;
    expect(tokensWith(true)).toMatchObject([
      { uid: CI, name: "ci", role: "maker", groupName: "team", state: "ending", more: ["repo.create"] },
    ]);
    expect(tokensWith(false)).toEqual([]);
  });

  test("a pair that was removed by hand is granted again", () => {
    const bindings = [{ identity: CI, role: "viewer" }];
    const refresh = changed("refresh", "RoleBindingSet", "s", TEAM, {
      outputs: { bindings: [pair(0, CI, VIEWER, "viewer")] },
    });
    const update = changed("update", "RoleBindingSet", "s", TEAM, {
      old: { parent: TEAM, bindings: [] },
      outputs: { bindings: [] },
      new: { parent: TEAM, bindings },
    });
    const report = reportOf({ steps: [refresh, update] }, liveWith());
    expect(report.findings.map(({ rule, subject }) => `${rule} ${subject}`)).toEqual([`regrants-removed ${CI}`]);
  });

  test("a list that is known only to the run is unknown", () => {
    const report = reportOf(
      { steps: [created("RoleBindingSet", "s", { parent: TEAM, bindings: UNKNOWN })] },
      liveWith(),
    );
    expect(report.unknown).toMatchObject([{ subject: "s", property: "bindings" }]);
  });
});
