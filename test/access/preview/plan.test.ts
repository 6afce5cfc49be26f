// Access before and after a preview whose steps are written by hand.
import { describe, expect, test } from "vitest";
import { reportAsMarkdown } from "../../../access/format/review/markdown.ts";
import { reportAsText } from "../../../access/format/review/terminal.ts";
import { type GraphBuilder, newGraph } from "../../../access/graph/graph.ts";
import type { Live } from "../../../access/graph/live.ts";
import { NOT_VISIBLE_YET, takeoverText } from "../../../client/preview-marks.ts";
import type { Json } from "../../../schema/index.ts";
import { addGroup, addRole, bind, ROOT, uidIn } from "../graphs.ts";
import { changed, created, createdNative, placeholderOf, UNKNOWN, urnOf } from "./fixture.ts";
import { bindingUid, CI, ISSUER, liveWith, MAKER, named, reportOf, rowsOf, TEAM, VIEWER } from "./team.ts";

describe("steps", () => {
  test("those of a native plugin mean the same, and members of newer engines are ignored", () => {
    const step = created("RoleBinding", "b", { parent: TEAM, identity: CI, role: "viewer" });
    const native = { ...step, urn: "urn:pulumi:dev::access::my:Component$irm:index:RoleBinding::b", future: { of: 1 } };
    const report = reportOf({ steps: [native], changeSummary: { create: 1 }, further: true }, liveWith());
    expect(rowsOf(report)).toEqual(["ci + team groups.list viewer"]);
    expect(report.unknown).toEqual([]);
  });

  test("those below a component whose type hides theirs in the URN are unknown, and could be anything", () => {
    const { newState } = created("RoleBinding", "b", { parent: ROOT, identity: CI, role: "owner" });
    const type = "pulumi-nodejs:dynamic/irm:RoleBinding";
    const report = reportOf(
      {
        steps: ["a:b:c::x", "q$irm:index:Tag::x"].map((component) => ({
          op: "create",
          urn: `urn:pulumi:dev::access::${component}$${type}::b`,
          newState: { ...(newState as object), type },
        })),
      },
      liveWith(),
    );
    expect(report.unknown.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^a step of the preview cannot be read: step 1 .*: its type is "pulumi-nodejs:dynamic\/irm:RoleBinding", and its URN shows "a:b:c"$/,
      ),
      expect.stringMatching(/and its URN shows "irm:index:Tag"$/),
    ]);
  });

  test("of dynamic resources that are not ours are said to run code that no review sees", () => {
    const step = (op: string, type: string) => ({ op, urn: `urn:pulumi:dev::access::${type}::own` });
    const steps = [
      step("create", "pulumi-nodejs:dynamic:Resource"),
      step("update", "a:b:c$pulumi-python:dynamic/x:Y"),
      step("same", "pulumi-nodejs:dynamic:Other"),
      step("create", "aws:s3:Bucket"),
    ];
    const { unknown } = reportOf({ steps }, liveWith());
    expect(unknown.map(({ message }) => message)).toEqual([
      "dynamic resources that are not of this package (2) run code of this change in the update, and what it does is not in this review",
    ]);
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

  test("a group that cannot be known does not hide the access in it", () => {
    const steps = [
      created("Group", "inner", { parent: UNKNOWN, name: "inner" }),
      created("RoleBinding", "b", { parent: placeholderOf("Group", "inner"), identity: CI, role: "viewer" }),
    ];
    const report = reportOf({ steps }, liveWith());
    expect(rowsOf(report)).toEqual(["ci + (new) inner groups.list viewer"]);
    expect(report.unknown).toMatchObject([{ subject: "inner", property: "parent" }]);
  });

  test("a new group in a new one is known, whichever name comes first", () => {
    for (const [outer, inner] of [
      ["a", "b"],
      ["b", "a"],
    ] as const) {
      const steps = [
        created("Group", outer, { parent: TEAM, name: outer }),
        created("Group", inner, { parent: placeholderOf("Group", outer), name: inner }),
        created("RoleBinding", "r", { parent: placeholderOf("Group", inner), identity: CI, role: "viewer" }),
      ];
      const report = reportOf({ steps }, liveWith());
      expect(rowsOf(report)).toEqual([`ci + (new) team/${outer}/${inner} groups.list viewer`]);
      expect(report.unknown).toEqual([]);
    }
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

  describe("with an option of the engine that changes what a step does", () => {
    const uid = bindingUid(TEAM, 0);
    const binding = (state: object): Json => {
      const step = changed("delete", "RoleBinding", "b", uid, {});
      return { ...step, oldState: { ...(step.oldState as object), ...state } };
    };
    const group = (op: string, state: object = {}): Json => {
      const step = changed(op, "Group", "team", uidIn(ROOT, 5), { old: {}, new: { parent: ROOT, name: "other" } });
      return { ...step, oldState: { ...(step.oldState as object), ...state } };
    };
    const withTeam = { deletedWith: urnOf("Group", "team") };
    const lost = ["ci - team groups.list viewer"];
    const viewer = () => liveWith([TEAM, CI, VIEWER]);

    test.each([
      ["retainOnDelete", [binding({ retainOnDelete: true })], []],
      ["of a record that is only read", [binding({ external: true })], []],
      ["deletedWith a group that stays in the program", [binding(withTeam)], lost],
      ["deletedWith a group that is retained", [binding(withTeam), group("delete", { retainOnDelete: true })], []],
      ["deletedWith a group that is deleted, and that it is not in", [binding(withTeam), group("delete")], []],
      [
        "deletedWith the group that it is in, and that empties itself",
        [
          binding(withTeam),
          {
            ...changed("delete", "Group", "team", TEAM, { outputs: { forceDestroy: true } }),
            urn: urnOf("Group", "team"),
          },
        ],
        lost,
      ],
      [
        "of an adopted record, which a secret may delete",
        [
          changed("delete", "RoleBinding", "b", bindingUid(TEAM, 0), {
            outputs: { adopted: true, deleteAdopted: "[secret]" },
          }),
        ],
        lost,
      ],
      [
        "deletedWith a resource of another provider",
        [
          binding({ deletedWith: "urn:pulumi:dev::access::a:b:C::c" }),
          { op: "delete", urn: "urn:pulumi:dev::access::a:b:C::c" },
        ],
        [],
      ],
    ] as const)("%s", (_option, steps, rows) => {
      const report = reportOf({ steps }, viewer());
      expect(rowsOf(report)).toEqual(rows);
      expect(report.unknown.filter(({ subject }) => subject === "b")).toEqual([]);
    });

    test("deletedWith a group that is replaced is not known", () => {
      const report = reportOf({ steps: [binding(withTeam), group("replace")] }, viewer());
      expect(report.unknown).toContainEqual({
        subject: "b",
        message: "it is to be deleted with team, which is replaced: whether its record stays is not known",
      });
    });

    test("--target leaves a new resource out: it gets nothing, and the review says so", () => {
      const urn = urnOf("Identity", "later");
      const skipped = { op: "same", urn, oldState: { urn }, newState: { urn } };
      const report = reportOf({ steps: [skipped], changeSummary: { same: 1 } }, viewer());
      expect(report.identities).toEqual([]);
      expect(report.findings).toEqual([]);
      expect(report.unknown.map(({ message }) => message)).toContain(
        "the preview was made with --target or --exclude: it leaves out 1 new resource, which a run without that option creates",
      );
    });

    test("a policy has no id of its own, and is not taken for a resource that --target leaves out", () => {
      const [urn, type] = ["urn:pulumi:dev::access::irm:index:AccessPolicy::acme", "irm:index:AccessPolicy"];
      const state = { urn, type, custom: false, outputs: { organization: ROOT } };
      const same = { op: "same", urn, oldState: state, newState: { urn, type, custom: false } };
      expect(reportOf({ steps: [same], changeSummary: { same: 1 } }, viewer()).unknown).toEqual([]);
    });

    test("aliases: the record keeps what it has, under the new name of its resource", () => {
      const inputs = { parent: TEAM, identity: CI, role: "viewer" };
      const refreshed = changed("refresh", "RoleBinding", "before", uid, { old: inputs, new: inputs });
      const same = changed("same", "RoleBinding", "after", uid, { old: inputs, new: inputs });
      const report = reportOf({ steps: [refreshed, same], changeSummary: { same: 1 } }, viewer());
      expect(report).toMatchObject({ identities: [], findings: [], unknown: [], undeclared: [] });
    });

    test("adopt of a record whose resource leaves the program: it keeps what it has, and what is in it", () => {
      const child = uidIn(TEAM, 7);
      const live = viewer();
      addGroup(live.graph as GraphBuilder, child, "child", TEAM);
      const group = [
        changed("refresh", "Group", "before", TEAM, { old: { parent: ROOT, name: "team" } }),
        changed("delete", "Group", "before", TEAM, { old: { parent: ROOT, name: "team" } }),
        created("Group", "after", { parent: ROOT, name: "team", adopt: TEAM }),
      ];
      const claimMatch = { issuer: ISSUER, subject: "ci" };
      const identity = [
        changed("delete", "Identity", "before", CI, { old: { parent: ROOT, name: "ci", claimMatch } }),
        created("Identity", "after", { parent: ROOT, name: "ci", claimMatch, adopt: CI }),
      ];
      const report = reportOf({ steps: [...group, ...identity] }, live);
      expect(report).toMatchObject({ identities: [], findings: [], deletedGroups: [], blocked: [] });
      expect(report.adopted.map(({ uid }) => uid).sort()).toEqual([TEAM, CI].sort());
    });

    test("ignoreChanges and a transform are in the inputs of the step", () => {
      const claimMatch = { issuer: ISSUER, subject: "ci" };
      const old = { parent: ROOT, name: "ci", claimMatch };
      const ignored = changed("same", "Identity", "ci", CI, { old, new: old });
      expect(reportOf({ steps: [ignored], changeSummary: { same: 1 } }, viewer()).identities).toEqual([]);
    });

    test("replaceOnChanges replaces the record: the new one has another uid, and nothing of the old one", () => {
      const claimMatch = { issuer: ISSUER, subject: "other" };
      const reportWith = (inputs: Json) => {
        const step = changed("replace", "Identity", "ci", CI, {
          old: { parent: ROOT, name: "ci", ...inputs },
          new: { parent: ROOT, name: "ci", ...inputs, claimMatch },
        });
        return reportOf({ steps: [step] }, viewer());
      };
      const forced = reportWith({ forceDestroy: true });
      expect(forced.identities.map(({ change }) => change).sort()).toEqual(["created", "replaced"]);
      expect(rowsOf(forced)).toEqual(lost);
      // A role binding that the run does not delete keeps the old one.
      const blocked = reportWith({});
      expect(blocked.identities.map(({ change }) => change)).toEqual(["created"]);
      expect(blocked.blocked.map(({ kind, uid }) => [kind, uid])).toEqual([["identity", CI]]);
    });

    test("an explicit provider: a record of it is one as any other, also while the provider itself is new", () => {
      const provider = "urn:pulumi:dev::access::pulumi:providers:irm::acme";
      const of = (id: string) => {
        const { step } = createdNative("RoleBinding", "r", { parent: TEAM, identity: CI, role: MAKER });
        const newState = { ...(step.newState as Json), provider: `${provider}::${id}` };
        const own = {
          op: "create",
          urn: provider,
          newState: { type: "pulumi:providers:irm", custom: true, inputs: {} },
        };
        return reportOf({ steps: [own, { ...step, newState }] }, viewer());
      };
      for (const report of [of("4f1f6a3e-7f4e-4a43-9a43-1f1c0d0f6f11"), of(UNKNOWN)]) {
        expect(rowsOf(report)).toEqual(["ci + team repo.create maker"]);
        expect(report.unknown).toEqual([]);
      }
    });

    test("the value of a stack reference is a uid, or not known", () => {
      const bind = (identity: string) =>
        reportOf({ steps: [created("RoleBinding", "r", { parent: TEAM, identity, role: MAKER })] }, viewer());
      expect(rowsOf(bind(CI))).toEqual(["ci + team repo.create maker"]);
      expect(bind(UNKNOWN).unknown[0]).toMatchObject({ subject: "r", property: "identity" });
    });
  });

  test("a record that an interrupted run created is taken over: it is the one that exists, with the access that it has", () => {
    const at = "2026-01-28T12:54:21.189Z";
    const claimMatch = { issuer: ISSUER, subject: "repo:acme/ci:ref:refs/heads/main" };
    const inputs = { parent: ROOT, name: "ci", claimMatch };
    const dynamic = created("Identity", "mine", { ...inputs, __takenOver: { uid: CI, at } });
    const report = reportOf({ steps: [dynamic] }, liveWith([TEAM, CI, VIEWER]));
    const { adopted, unknown, identities } = report;
    for (const text of [reportAsMarkdown(report), reportAsText(report, { color: false, width: 500 })])
      expect(text.replaceAll("`", "")).toContain(`created by an earlier run at ${at}`);
    expect(adopted).toEqual([
      { kind: "identity", uid: CI, name: "ci", resource: "mine", deletedLater: true, interruptedAt: at },
    ]);
    expect(identities).toMatchObject([{ uid: CI, change: "updated" }]);
    expect(unknown.filter(({ subject }) => subject === "mine")).toEqual([]);
  });

  test("what a native resource takes over from an interrupted run is in a line of the plugin, which makes it not known", () => {
    const claimMatch = { issuer: ISSUER, subject: "repo:acme/ci:ref:refs/heads/main" };
    const { step, uid } = createdNative("Identity", "mine", { parent: ROOT, name: "ci", claimMatch });
    const binding = created("RoleBinding", "b", { parent: TEAM, identity: uid, role: MAKER });
    const text = takeoverText("Identity mine", `identity ${CI} "ci"`, { at: "2026-01-28T12:54:21.189Z" });
    const of = (urn: unknown) => {
      const diagnostics = [{ urn, prefix: "", message: `${text}\n`, severity: "info" }];
      return reportOf({ steps: [step, binding], diagnostics }, liveWith([TEAM, CI, VIEWER]));
    };
    const report = of(step.urn);
    expect(report.unknown).toEqual(
      expect.arrayContaining([
        { subject: "mine", message: `the preview says: ${text}` },
        expect.objectContaining({ subject: "b", property: "identity" }),
      ]),
    );
    expect(report.identities.filter(({ change }) => change === "created")).toEqual([]);
    expect(report.findings).toContainEqual(expect.objectContaining({ rule: "gains-owner", unknown: true }));
    // Of another resource, which creates nothing.
    expect(of("urn:pulumi:dev::access::pulumi:pulumi:Stack::access-dev").unknown).toEqual([]);
  });

  test("what a run may take over and nobody can see yet gives the same as a new record, and is not known", () => {
    const taken = { at: "2026-01-28T12:54:21.189Z", doubt: NOT_VISIBLE_YET };
    const inputs = {
      parent: ROOT,
      name: "ci",
      claimMatch: { issuer: ISSUER, subject: "repo:acme/ci:ref:refs/heads/main" },
    };
    const native = createdNative("Identity", "mine", inputs);
    const line = takeoverText("Identity mine", "an identity", taken);
    const diagnostics = [{ urn: native.step.urn, prefix: "", message: `${line}\n`, severity: "info" }];
    const dynamicUid = placeholderOf("Identity", "mine");
    const dynamic = created("Identity", "mine", { ...inputs, uid: dynamicUid, __takenOver: taken });
    for (const [step, uid, message] of [
      [native.step, native.uid, `the preview says: ${line}`],
      [
        dynamic,
        dynamicUid,
        `the run may take over a record, which an earlier run created at ${taken.at}: ${taken.doubt}`,
      ],
    ]) {
      const binding = created("RoleBinding", "b", { parent: TEAM, identity: uid, role: MAKER });
      const report = reportOf({ steps: [step, binding], diagnostics }, liveWith([TEAM, CI, VIEWER]));
      expect(report.unknown).toEqual([{ subject: "mine", message }]);
      expect(report.identities).toMatchObject([{ name: "ci", uid: null, change: "created" }]);
      expect(report.identities[0]?.gains).not.toEqual([]);
      expect(report.findings).toContainEqual(expect.objectContaining({ rule: "gains-owner", unknown: true }));
    }
  });

  test("what a run may take over is not known", () => {
    const at = "2026-01-28T12:54:21.189Z";
    const inputs = (taken: object) => ({
      parent: ROOT,
      name: "ci",
      __takenOver: { at, doubt: "it cannot be read", ...taken },
    });
    const unknownOf = (taken: object) =>
      reportOf({ steps: [created("Identity", "mine", inputs(taken))] }, liveWith()).unknown.filter(
        ({ subject }) => subject === "mine",
      );
    expect(unknownOf({ uid: CI })).toEqual([
      {
        subject: "mine",
        message: `the run may take over ${CI}, which an earlier run created at ${at}: it cannot be read`,
      },
    ]);
    expect(unknownOf({})[0]?.message).toContain("the run may take over a record, which an earlier run created at");
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
