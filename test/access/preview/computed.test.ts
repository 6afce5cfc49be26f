// Values that a program computes from the uids of new records: a review shows which record they are, or that it does not know.
import { describe, expect, test } from "vitest";
import { planFrom } from "../../../access/preview/plan.ts";
import { parsePreview } from "../../../access/preview/shape.ts";
import { reviewOf } from "../../../access/review/index.ts";
import type { Report, RuleName } from "../../../access/review/report.ts";
import { placeholderUid } from "../../../client/placeholder-uid.ts";
import type { Json } from "../../../schema/index.ts";
import { ROOT, uidIn } from "../graphs.ts";
import { changed, created, createdNative, NOW_MS, placeholderOf, UNKNOWN, urnOf } from "./fixture.ts";
import { bindingUid, CI, ISSUER, liveWith, MAKER, named, reportOf, rowsOf, TEAM, VIEWER } from "./team.ts";

const OWNER = "2".repeat(40);
const SECRET = "[secret]";

const live = () => {
  const own = liveWith([TEAM, CI, VIEWER]);
  const roles = own.graph.roles as Map<string, unknown>;
  roles.set(OWNER, { id: OWNER, uid: OWNER, name: "owner", group: null, capabilities: ["role_bindings.create"] });
  return own;
};

const claimMatch = { issuer: ISSUER, subject: "x" };
const identity = (name: string): Json => created("Identity", name, { parent: ROOT, name, claimMatch });
/** The engine reports a dependency on `harmless`, whatever the value is. */
const from = (property: string, ...names: string[]) => ({ [property]: names.map((name) => urnOf("Identity", name)) });

const rulesOf = ({ findings }: Report): string[] =>
  findings.flatMap(({ rule, name, unknown }) => (unknown ? [`${rule} ${name}`] : []));

const deniedBy = (steps: Json[], ...deny: RuleName[]): string[] => {
  const own = live();
  const proposal = planFrom(parsePreview(JSON.stringify({ steps }), "a test"), own);
  const { findings } = reviewOf(proposal, { notVisible: [], nowMs: NOW_MS, deny, allow: [] }).report;
  return findings.filter(({ denied }) => denied).map(({ rule, unknown }) => `${rule}${unknown ? "?" : ""}`);
};

describe("a value that is computed from the uid of a new record", () => {
  const both = [identity("harmless"), identity("evil")];

  test("is the record that it names, whatever it depends on", () => {
    const of = (uid: string): string[] => {
      const inputs = { parent: TEAM, identity: uid, role: MAKER, names: { identity: "harmless" } };
      const binding = created("RoleBinding", "b", inputs, from("identity", "harmless"));
      const report = reportOf({ steps: [...both, binding] }, live());
      expect(report.unknown).toEqual([]);
      return rowsOf(report);
    };
    expect(of(placeholderOf("Identity", "harmless"))).toEqual(["harmless + team repo.create maker"]);
    expect(of(placeholderOf("Identity", "evil"))).toEqual(["evil + team repo.create maker"]);
    expect(of(CI)).toEqual(["ci + team repo.create maker"]);
  });

  test("is not known when it is unknown, secret, no uid, or the uid of no record of this preview", () => {
    const values = [UNKNOWN, SECRET, "ci", null, placeholderUid(ROOT)];
    for (const value of values) {
      const inputs = { parent: TEAM, identity: value, role: OWNER, names: { identity: "harmless" } };
      const steps = [...both, created("RoleBinding", "b", inputs, from("identity", "harmless"))];
      const report = reportOf({ steps }, live());
      expect(rowsOf(report)).toEqual([]);
      expect(report.unknown).toMatchObject([{ subject: "b", property: "identity" }]);
      expect(report.unknown[0]).not.toHaveProperty("hides");
      expect(deniedBy(steps, "gains-owner")).toEqual(["gains-owner?"]);
    }
  });

  test("is not known for a role, which may be owner", () => {
    const custom = created("Role", "custom", { parent: TEAM, name: "custom", capabilities: ["CAP_REPO_LIST"] });
    const bind = (role: unknown) =>
      created("RoleBinding", "b", { parent: ROOT, identity: CI, role }, { role: [urnOf("Role", "custom")] });
    expect(rulesOf(reportOf({ steps: [custom, bind(UNKNOWN)] }, live()))).toEqual([
      "gains-owner ci",
      "opens-path ci",
      "root-binding ci",
    ]);
    const steps = [custom, bind(OWNER)];
    expect(deniedBy(steps, "gains-owner", "root-binding")).toEqual(["gains-owner", "root-binding"]);
    expect(deniedBy([custom, bind(placeholderOf("Role", "custom"))], "gains-owner", "root-binding")).toEqual([
      "root-binding",
    ]);
  });

  test("is not known for a group, which may be the organization", () => {
    const group = created("Group", "new", { parent: TEAM, name: "new" });
    const bind = (parent: unknown) =>
      created("RoleBinding", "b", { parent, identity: CI, role: MAKER }, { parent: [urnOf("Group", "new")] });
    expect(deniedBy([group, bind(UNKNOWN)], "root-binding", "gains-owner")).toEqual(["root-binding?"]);
    expect(deniedBy([group, bind(ROOT)], "root-binding")).toEqual(["root-binding"]);
    const report = reportOf({ steps: [group, bind(placeholderOf("Group", "new"))] }, live());
    expect(rowsOf(report)).toEqual(["ci + (new) team/new repo.create maker"]);
  });

  test("is not known in a set, for the pairs that have it", () => {
    const set = created("RoleBindingSet", "s", {
      parent: TEAM,
      bindings: [
        { identity: placeholderOf("Identity", "evil"), role: MAKER },
        { identity: UNKNOWN, role: OWNER },
        UNKNOWN,
        { identity: CI, role: SECRET },
      ],
      names: [{ identity: "harmless", role: "viewer" }, {}, {}, {}],
    });
    const report = reportOf({ steps: [...both, set] }, live());
    expect(rowsOf(report)).toEqual(["evil + team repo.create maker"]);
    expect(report.unknown.map(({ property }) => property)).toEqual([
      "bindings[1].identity",
      "bindings[2].identity",
      "bindings[2].role",
      "bindings[3].role",
    ]);
    expect(rulesOf(report).filter((rule) => rule.startsWith("gains-owner"))).toEqual([
      "gains-owner s",
      "gains-owner s",
      "gains-owner ci",
    ]);
    const list = created("RoleBindingSet", "s", { parent: ROOT, bindings: SECRET });
    expect(deniedBy([list], "gains-owner", "root-binding", "last-owner-goes")).toEqual([
      "gains-owner?",
      "root-binding?",
      "last-owner-goes?",
    ]);
  });

  test("is not known for the record that a resource takes over, which is no create", () => {
    for (const adopt of [UNKNOWN, SECRET, placeholderUid(ROOT)]) {
      const boss = created("Identity", "mine", { parent: ROOT, name: "mine", claimMatch, adopt });
      const report = reportOf({ steps: [boss] }, live());
      expect(report.identities).toEqual([]);
      expect(report.adopted).toEqual([]);
      expect(report.unknown).toMatchObject([{ subject: "mine", property: "adopt" }]);
      expect(deniedBy([boss], "gains-owner", "new-issuer", "matches-many", "root-binding")).toEqual([
        "gains-owner?",
        "matches-many?",
        "new-issuer?",
      ]);
    }
  });

  test("is not known in a text: a claim, a capability", () => {
    const subject = `group:${placeholderOf("Identity", "harmless")}`;
    const mine = created("Identity", "mine", { parent: ROOT, name: "mine", claimMatch: { issuer: ISSUER, subject } });
    const report = reportOf({ steps: [identity("harmless"), mine] }, live());
    expect(report.unknown.map(({ message }) => message)).toEqual([
      "identity mine: who can assume it is known only to the run",
    ]);
    expect(rulesOf(report)).toEqual(["matches-everyone mine", "matches-many mine", "new-issuer mine"]);
  });
});

describe("the placeholder of a new record", () => {
  test("is found in the step of a dynamic resource, and by the mark of a native one", () => {
    const { step, uid } = createdNative("Identity", "native", { parent: ROOT, name: "native", claimMatch });
    const other = createdNative("Identity", "other", { parent: ROOT, name: "other", claimMatch });
    const binding = created("RoleBinding", "b", { parent: TEAM, identity: uid, role: MAKER });
    expect(rowsOf(reportOf({ steps: [other.step, step, binding] }, live()))).toEqual([
      "native + team repo.create maker",
    ]);
    // Its resource is not in this preview.
    const report = reportOf({ steps: [other.step, binding] }, live());
    expect(rowsOf(report)).toEqual([]);
    expect(report.unknown).toMatchObject([{ subject: "b", property: "identity" }]);
  });

  test("is of no use where it is the uid of a record that exists, or of two", () => {
    const claims = { ...claimMatch };
    const lying = created("Identity", "lying", { parent: ROOT, name: "lying", claimMatch: claims, uid: CI });
    const binding = created("RoleBinding", "b", { parent: TEAM, identity: CI, role: MAKER });
    const report = reportOf({ steps: [lying, binding] }, live());
    expect(rowsOf(report)).toEqual(["ci + team repo.create maker"]);
    expect(report.unknown).toMatchObject([{ subject: "lying", property: "uid" }]);
    const uid = placeholderOf("Identity", "one");
    const two = ["one", "two"].map((name) => created("Identity", name, { parent: ROOT, name, claimMatch, uid }));
    const shared = created("RoleBinding", "b", { parent: TEAM, identity: uid, role: MAKER });
    expect(rowsOf(reportOf({ steps: [...two, shared] }, live()))).toEqual([]);
  });

  test("of another kind of record is not what is asked for", () => {
    const group = created("Group", "new", { parent: TEAM, name: "new" });
    const identity = placeholderOf("Group", "new");
    const report = reportOf(
      { steps: [group, created("RoleBinding", "b", { parent: TEAM, identity, role: MAKER })] },
      live(),
    );
    expect(report.unknown[0]?.message).toContain("identity: it is the uid of new, which is no identity");
  });
});

describe("a secret that may differ", () => {
  test("is not taken for unchanged, since both sides have one text", () => {
    const old = { parent: ROOT, name: "ci", claimMatch: SECRET };
    const step = changed("update", "Identity", "ci", CI, { old, new: { ...old, description: "new" } });
    const report = reportOf({ steps: [step] }, live());
    expect(report.unknown[0]?.message).toBe("identity ci: who can assume it is secret");
    expect(rulesOf(report)).toEqual([
      "assumed-by-others ci",
      "matches-everyone ci",
      "matches-many ci",
      "new-issuer ci",
    ]);
  });

  test("is no change where the resource stays", () => {
    const inputs = { parent: TEAM, bindings: SECRET };
    const outputs = {
      bindings: [{ uid: bindingUid(TEAM, 0), identity: named(CI, "ci"), role: named(VIEWER, "viewer") }],
    };
    const step = changed("same", "RoleBindingSet", "s", TEAM, { old: inputs, outputs, new: inputs });
    expect(reportOf({ steps: [step] }, live()).findings).toEqual([]);
  });
});

test("an allowance does not excuse what is not known, though its resource has the name", () => {
  const steps = [created("RoleBinding", "release", { parent: uidIn(ROOT, 1), identity: UNKNOWN, role: OWNER })];
  const own = live();
  const proposal = planFrom(parsePreview(JSON.stringify({ steps }), "a test"), own);
  const allow = [{ rule: "gains-owner" as const, subject: "release" }];
  const { findings } = reviewOf(proposal, { notVisible: [], nowMs: NOW_MS, deny: ["gains-owner"], allow }).report;
  expect(findings.filter(({ rule }) => rule === "gains-owner")).toMatchObject([{ unknown: true, denied: true }]);
});
