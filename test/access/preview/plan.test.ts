// Access before and after a preview: recorded previews of a real engine, and steps that are written by hand.
import { describe, expect, test } from "vitest";
import { newGraph } from "../../../access/graph/graph.ts";
import type { Live } from "../../../access/graph/live.ts";
import { PreviewError, parsePreview } from "../../../access/preview/shape.ts";
import type { Report } from "../../../access/review/report.ts";
import { addGroup, addIdentity, addRole, bind, ROOT, uidIn } from "../graphs.ts";
import { changed, created, recorded, reviewFrom, UNKNOWN, urnOf } from "./fixture.ts";

/** `release + platform/registry tag.create publisher` */
const rowsOf = ({ identities }: Report): string[] =>
  identities.flatMap(({ name, gains, losses }) =>
    Object.entries({ "+": gains, "-": losses }).flatMap(([sign, rows]) =>
      rows.map(({ group, groupName, capability, role }) =>
        [name, sign, group === null ? `(new) ${groupName}` : groupName, capability, role].join(" "),
      ),
    ),
  );

const reportOf = (preview: unknown, live: Live): Report => reviewFrom(preview, live).report;

describe("a recorded preview of a new stack", () => {
  const { preview, live } = recorded("new");
  const report = reportOf(preview, live);

  test("is gains of identities without a uid, at groups by the names of their resources", () => {
    expect(report.identities.map(({ uid, name, change }) => [uid, name, change])).toEqual([
      [null, "moved", "created"],
      [null, "release", "created"],
      [null, "review", "created"],
    ]);
    expect(rowsOf(report).filter((row) => row.startsWith("release"))).toEqual([
      "release + (new) registry repo.create publisher",
      "release + (new) registry repo.list publisher",
    ]);
  });

  test("resolves what the preview does not know by the dependencies that it reports", () => {
    expect(report.unknown).toEqual([]);
  });
});

describe("a recorded preview of an edit", () => {
  const { preview, live } = recorded("edit");
  const report = reportOf(preview, live);
  const identity = (name: string, change?: string) => {
    const found = report.identities.find((one) => one.name === name && (!change || one.change === change));
    if (!found) throw new Error(`no ${name}`);
    return found;
  };

  test("a role that changes is a gain where it is bound, at the uid of the topmost group", () => {
    const { gains, losses } = identity("release");
    expect({ gains, losses }).toEqual({
      gains: [
        {
          group: expect.stringMatching(/^[0-9a-f]{40}\/[0-9a-f]{16}\/[0-9a-f]{16}$/),
          groupName: "platform/registry",
          capability: "tag.create",
          role: "publisher",
        },
      ],
      losses: [],
    });
  });

  test("who can assume an identity is shown before and after, as the API's JSON has it", () => {
    const issuer = "https://token.actions.githubusercontent.com";
    expect(identity("release")).toMatchObject({
      assumableBefore: { claimMatch: { issuer, subject: "repo:acme/images:ref:refs/heads/main" } },
      assumableAfter: { claimMatch: { issuer, subjectPattern: "repo:acme/.*:ref:refs/heads/main" } },
    });
  });

  test("a replaced identity loses, and the new one gains the same through the binding that follows it", () => {
    const rows = (name: string, change: string) => {
      const { gains, losses } = identity(name, change);
      return [...gains, ...losses].map(({ group, capability }) => `${group} ${capability}`);
    };
    expect(identity("moved", "created").uid).toBeNull();
    expect(rows("moved", "replaced")).toEqual(rows("moved", "created"));
  });

  test("a deleted group is a loss for those who had access only there, and names what disappears", () => {
    expect(new Set(identity("partner").losses.map(({ groupName }) => groupName))).toEqual(new Set(["legacy"]));
    expect(
      report.deletedGroups.map(({ groupName, contents }) => [groupName, contents.map(({ name }) => name)]),
    ).toEqual([["legacy", ["moved", "partner as editor at legacy"]]]);
    expect(
      report.forceDestroy.map(({ name, deletes, contents }) => [name, deletes, contents.map((one) => one.name)]),
    ).toEqual([["legacy", true, ["partner as editor at legacy"]]]);
  });

  test("an adopted identity exists: it has its uid, and gains only what is new", () => {
    expect(identity("partner")).toMatchObject({ uid: expect.any(String), change: "none" });
    expect(report.adopted).toMatchObject([
      { kind: "identity", name: "partner", resource: "partner", deletedLater: false },
    ]);
  });

  test("a secret name is not shown, but that of the resource", () => {
    expect(identity("deploy").gains.map(({ capability }) => capability)).toEqual([
      "repo.create",
      "repo.list",
      "tag.create",
    ]);
    expect(JSON.stringify(report)).not.toContain("[secret]");
  });

  test("what no dependency tells is listed as unknown", () => {
    expect(report.unknown).toEqual([
      {
        subject: "deploy-unknown",
        property: "role",
        message:
          "role binding deploy-unknown: role: the program computes it, so that only the run knows it; identity deploy would get a role that is not known at group clusters",
      },
    ]);
  });

  test("live access that no resource declares is listed", () => {
    expect(report.undeclared.map(({ identityName, role, groupName }) => [identityName, role, groupName])).toEqual([
      ["owner", "owner", "/"],
    ]);
  });

  test("the rules find what a reviewer must not miss", () => {
    expect(report.findings.map(({ rule, name }) => `${rule} ${name}`)).toEqual([
      "matches-many release",
      "pull-request-writes review",
      "identity-replaced moved",
      "regrants-removed review",
    ]);
  });
});

describe("a preview without --refresh and --show-sames", () => {
  const { preview, live } = recorded("edit-without-refresh");
  const report = reportOf(preview, live);

  test("shows the same changes, except what was removed by hand, and says what it cannot tell", () => {
    const { preview: full, live: same } = recorded("edit");
    const without = rowsOf(reportOf(full, same)).filter((row) => !row.startsWith("review "));
    expect(rowsOf(report)).toEqual(without);
    expect(report.unknown.map(({ message }) => message)).toEqual([
      expect.stringContaining("role binding deploy-unknown"),
      expect.stringContaining("without --refresh"),
      expect.stringContaining("without --show-sames"),
    ]);
    expect(report.undeclared).toEqual([]);
  });
});

describe("what is no preview", () => {
  test.each([
    ["a preview with errors", JSON.stringify(recorded("broken").preview), /the preview has errors.*Not A Name/s],
    ["no JSON", "Previewing update (dev)", /^FILE is not JSON .*--show-sames --refresh prints$/],
    ["another document", "{}", /^FILE is not a preview; it must be what pulumi preview --json/],
    ["steps of another shape", '{"steps":3}', /^FILE is not a preview: /],
  ])("%s yields no review, and says so", (_, text, message) => {
    expect(() => parsePreview(text, "FILE")).toThrow(PreviewError);
    expect(() => parsePreview(text, "FILE")).toThrow(message);
  });
});

// Groups dev, dev/team; roles viewer (built in), maker in team; identity ci.
const TEAM = uidIn(ROOT, 1);
const CI = uidIn(ROOT, 2);
const VIEWER = "1".repeat(40);
const MAKER = uidIn(TEAM, 3);
const ISSUER = "https://ci.example.com";

const liveWith = (...bindings: [group: string, identity: string, role: string][]): Live => {
  const graph = newGraph();
  addGroup(graph, ROOT, "dev", null);
  addGroup(graph, TEAM, "team", ROOT);
  addIdentity(graph, CI, "ci", ROOT, { issuer: ISSUER, subject: "ci" });
  graph.roles.set(VIEWER, { id: VIEWER, uid: VIEWER, name: "viewer", group: null, capabilities: ["groups.list"] });
  graph.roles.set(MAKER, { id: MAKER, uid: MAKER, name: "maker", group: TEAM, capabilities: ["repo.create"] });
  for (const [i, [group, identity, role]] of bindings.entries()) {
    const uid = uidIn(group, 100 + i);
    graph.bindings.set(uid, { id: uid, uid, group, identity, role });
  }
  return { graph, notVisible: [] };
};
const bindingUid = (group: string, i: number) => uidIn(group, 100 + i);
const named = (uid: string, name: string) => ({ uid, name });

describe("steps", () => {
  test("those of a native plugin mean the same, and members of newer engines are ignored", () => {
    const step = created("RoleBinding", "b", { parent: TEAM, identity: CI, role: "viewer" });
    const native = { ...step, urn: "urn:pulumi:dev::access::my:Component$irm:index:RoleBinding::b", future: { of: 1 } };
    const report = reportOf({ steps: [native], changeSummary: { create: 1 }, further: true }, liveWith());
    expect(rowsOf(report)).toEqual(["ci + team groups.list viewer"]);
    expect(report.unknown).toEqual([]);
  });

  test("an op of a newer engine, a missing member and a step without a URN are unknown, and the rest is reviewed", () => {
    const report = reportOf(
      {
        steps: [
          { op: "transmogrify", urn: urnOf("RoleBinding", "a") },
          { op: "update", urn: urnOf("RoleBinding", "b"), newState: { inputs: {} } },
          { op: "same" },
          { op: "future", urn: "urn:pulumi:dev::access::aws:s3:Bucket::c" },
          created("RoleBinding", "d", { parent: TEAM, identity: CI, role: "viewer" }),
        ],
        changeSummary: {},
      },
      liveWith(),
    );
    expect(rowsOf(report)).toEqual(["ci + team groups.list viewer"]);
    expect(report.unknown.map(({ subject, message }) => `${subject}: ${message}`)).toEqual([
      expect.stringMatching(/^: a step of the preview cannot be read: step 3: /),
      'a: this version does not know what the engine\'s step "transmogrify" does; update pulumi-irm',
      "b: the preview shows no id of a resource that exists (update)",
    ]);
  });

  test("an unknown value that depends on several new records is resolved by name, or listed", () => {
    const claimMatch = { issuer: ISSUER, subject: "x" };
    const identities = ["one", "two"].map((name) => created("Identity", name, { parent: TEAM, name, claimMatch }));
    const from = { identity: [urnOf("Identity", "one"), urnOf("Identity", "two")] };
    const inputs = { parent: TEAM, identity: UNKNOWN, role: "viewer" };
    const resolved = created("RoleBinding", "b", { ...inputs, names: { identity: "two" } }, from);
    expect(rowsOf(reportOf({ steps: [...identities, resolved] }, liveWith()))).toEqual([
      "two + team groups.list viewer",
    ]);
    const report = reportOf({ steps: [...identities, created("RoleBinding", "b", inputs, from)] }, liveWith());
    expect(rowsOf(report)).toEqual([]);
    expect(report.unknown.map(({ message }) => message)).toEqual([
      "role binding b: identity: it is one of one, two; an identity that is not known would get role viewer at group team",
    ]);
  });

  test("a group that cannot be known does not hide the access in it", () => {
    const steps = [
      created("Group", "inner", { parent: UNKNOWN, name: "inner" }),
      created(
        "RoleBinding",
        "b",
        { parent: UNKNOWN, identity: CI, role: "viewer" },
        { parent: [urnOf("Group", "inner")] },
      ),
    ];
    const report = reportOf({ steps }, liveWith());
    expect(rowsOf(report)).toEqual(["ci + (new) inner groups.list viewer"]);
    expect(report.unknown).toMatchObject([{ subject: "inner", property: "parent" }]);
  });

  test("a deleted binding is a loss, and one that the program retains or had adopted is none", () => {
    const live = liveWith([TEAM, CI, VIEWER]);
    const uid = bindingUid(TEAM, 0);
    const gone = changed("delete", "RoleBinding", "b", uid, {});
    const kept = { ...gone, oldState: { ...(gone.oldState as object), retainOnDelete: true } };
    const adopted = changed("delete", "RoleBinding", "b", uid, { outputs: { adopted: true } });
    expect([gone, kept, adopted].map((step) => rowsOf(reportOf({ steps: [step] }, live)))).toEqual([
      ["ci - team groups.list viewer"],
      [],
      [],
    ]);
  });

  test("a record that the state has and the API does not is reported", () => {
    const step = changed("same", "RoleBinding", "b", bindingUid(TEAM, 9), { new: {} });
    expect(reportOf({ steps: [step], changeSummary: { same: 1 } }, liveWith()).unknown[0]).toMatchObject({
      subject: "b",
      message: expect.stringContaining("the engine's state has this role binding, and the API does not"),
    });
  });

  test("static keys keep the end that the service has set", () => {
    const live = liveWith();
    const staticKeys = { issuer: ISSUER, subject: "ci", issuerKeys: "{}" };
    const graph = newGraph(live.graph);
    const relationship = { staticKeys: { ...staticKeys, expirationTime: "2026-12-01T00:00:00Z" } };
    graph.identities.set(CI, { id: CI, uid: CI, name: "ci", group: ROOT, relationship });
    const step = changed("update", "Identity", "ci", CI, {
      old: { name: "ci", parent: ROOT, staticKeys },
      new: { name: "other", parent: ROOT, staticKeys },
    });
    const report = reportOf({ steps: [step] }, { ...live, graph });
    expect(report.identities).toMatchObject([{ name: "other", change: "updated", assumableAfter: relationship }]);
    expect(report.expiringKeys).toMatchObject([{ uid: CI, expirationTime: "2026-12-01T00:00:00Z" }]);
  });
});

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

  test("resolves new identities by the names of its pairs", () => {
    const claimMatch = { issuer: ISSUER, subject: "x" };
    const identities = ["one", "two"].map((name) => created("Identity", name, { parent: TEAM, name, claimMatch }));
    const set = created(
      "RoleBindingSet",
      "s",
      {
        parent: TEAM,
        bindings: [
          { identity: UNKNOWN, role: "viewer" },
          { identity: UNKNOWN, role: MAKER },
        ],
        names: [
          { identity: "two", role: "viewer" },
          { identity: "one", role: "maker" },
        ],
      },
      { bindings: [urnOf("Identity", "one"), urnOf("Identity", "two")] },
    );
    expect(rowsOf(reportOf({ steps: [...identities, set] }, liveWith()))).toEqual([
      "one + team repo.create maker",
      "two + team groups.list viewer",
    ]);
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

describe("what the caller cannot list", () => {
  const hidden: Live["notVisible"] = [{ kind: "roleBinding", group: TEAM, message: "cannot be listed" }];

  test("yields neither gains nor losses, and is said", () => {
    const live = { ...liveWith(), notVisible: hidden };
    const outputs = { identity: named(CI, "ci"), role: named(VIEWER, "viewer") };
    const same = changed("same", "RoleBinding", "b", bindingUid(TEAM, 0), { outputs, new: {} });
    const report = reportOf({ steps: [same], changeSummary: { same: 1 } }, live);
    expect(rowsOf(report)).toEqual([]);
    expect(report.notVisible).toEqual([
      { kind: "roleBinding", group: TEAM, groupName: "team", message: "cannot be listed" },
    ]);
  });

  test("a binding that the engine would delete is a loss all the same: its state has it", () => {
    const outputs = { identity: named(CI, "ci"), role: named(VIEWER, "viewer") };
    const gone = changed("delete", "RoleBinding", "b", bindingUid(TEAM, 0), { outputs });
    expect(rowsOf(reportOf({ steps: [gone] }, { ...liveWith(), notVisible: hidden }))).toEqual([
      "ci - team groups.list viewer",
    ]);
  });

  test("a role whose capabilities cannot be read is unknown", () => {
    const live = liveWith();
    const graph = newGraph(live.graph);
    addRole(graph, "hidden", [], TEAM);
    const [role] = [...graph.roles.values()].filter(({ name }) => name === "hidden").map(({ id }) => id);
    bind(graph, ROOT, CI, VIEWER);
    const step = created("RoleBinding", "b", { parent: TEAM, identity: CI, role });
    expect(reportOf({ steps: [step] }, { ...live, graph }).unknown).toEqual([
      {
        subject: "ci",
        message:
          "the capabilities of role hidden cannot be read, so what identity ci gains with it at team is not known",
      },
    ]);
  });
});
