// What somebody removed by hand, and a preview would create again, under whatever name.
import { describe, expect, test } from "vitest";
import type { Json } from "../../../schema/index.ts";
import { ROOT, uidIn } from "../graphs.ts";
import { changed, created, placeholderOf } from "./fixture.ts";
import { bindingUid, CI, ISSUER, liveWith, MAKER, named, reportOf, TEAM, VIEWER } from "./team.ts";

const uid = bindingUid(TEAM, 0);
const grant = { identity: named(CI, "ci"), role: named(VIEWER, "viewer") };
const inputs = { parent: TEAM, identity: CI, role: "viewer" };
const binding = changed("refresh", "RoleBinding", "before", uid, { old: inputs, outputs: grant });
const set = changed("refresh", "RoleBindingSet", "before", TEAM, { outputs: { bindings: [{ uid, ...grant }] } });

const findingsOf = (steps: Json[], live = liveWith()): string[] =>
  reportOf({ steps }, live)
    .findings.filter(({ rule }) => rule === "regrants-removed")
    .map(({ name, message }) => `${name}: ${message}`);

const AGAIN = "ci: gets viewer at team again, which was removed by hand";

describe("a binding that was removed by hand is found when the run creates it again", () => {
  test.each([
    ["under its own name", [binding, created("RoleBinding", "before", inputs)]],
    ["under another name, of an alias or without one", [binding, created("RoleBinding", "after", inputs)]],
    ["by a set", [binding, created("RoleBindingSet", "s", { parent: TEAM, bindings: [inputs] })]],
    [
      "by a single binding, where a set had it",
      [set, changed("delete", "RoleBindingSet", "before", TEAM, {}), created("RoleBinding", "b", inputs)],
    ],
    [
      "by a set of another name",
      [
        set,
        changed("update", "RoleBindingSet", "after", TEAM, {
          old: { parent: TEAM, bindings: [] },
          outputs: { bindings: [] },
          new: { parent: TEAM, bindings: [inputs] },
        }),
      ],
    ],
  ])("%s", (_, steps) => {
    expect(findingsOf(steps)).toEqual([AGAIN]);
  });

  test.each([
    ["with another role", [binding, created("RoleBinding", "after", { ...inputs, role: MAKER })], liveWith()],
    ["that is there", [binding, created("RoleBinding", "after", inputs)], liveWith([TEAM, CI, VIEWER])],
    [
      "that keeps its record under the name of an alias",
      [binding, changed("same", "RoleBinding", "after", uid, { old: inputs, new: inputs })],
      liveWith([TEAM, CI, VIEWER]),
    ],
  ])("and nothing is found of one %s", (_, steps, live) => {
    expect(findingsOf(steps, live)).toEqual([]);
  });
});

describe("a record that was removed by hand is found when the run creates it again under another name", () => {
  const claimMatch = { issuer: ISSUER, subject: "gone" };
  const deleteStep = (type: string, n: number, outputs: Json) =>
    changed("refresh", type, "before", uidIn(ROOT, n), { outputs });

  test.each([
    [
      "an identity, by its name",
      "Identity",
      { name: "gone", claimMatch },
      { name: "gone", claimMatch: { ...claimMatch, subject: "x" } },
    ],
    ["an identity, by who can assume it", "Identity", { name: "gone", claimMatch }, { name: "other", claimMatch }],
    ["a role", "Role", { name: "gone", capabilities: ["groups.list"] }, { name: "gone", capabilities: ["repo.list"] }],
    ["a group", "Group", { name: "gone" }, { name: "gone" }],
  ])("%s", (_, type, outputs, news) => {
    const steps = [deleteStep(type, 50, outputs), created(type, "after", { parent: ROOT, ...news })];
    expect(findingsOf(steps)).toEqual([expect.stringContaining("was removed by hand, and would be created again")]);
  });

  test("with what was in it, and what it had", () => {
    const [group, identity] = [uidIn(ROOT, 50), uidIn(uidIn(ROOT, 50), 51)];
    const steps = [
      deleteStep("Group", 50, { name: "gone" }),
      changed("refresh", "Identity", "before", identity, { outputs: { name: "bot", claimMatch } }),
      changed("refresh", "RoleBinding", "before", uidIn(group, 52), {
        outputs: { identity: named(identity, "bot"), role: named(VIEWER, "viewer") },
      }),
      created("Group", "after", { parent: ROOT, name: "gone" }),
      created("Identity", "after", { parent: placeholderOf("Group", "after"), name: "bot", claimMatch }),
      created("RoleBinding", "after", {
        parent: placeholderOf("Group", "after"),
        identity: placeholderOf("Identity", "after"),
        role: "viewer",
      }),
    ];
    expect(findingsOf(steps)).toEqual([
      "gone: this group was removed by hand, and would be created again",
      "bot: gets viewer at gone again, which was removed by hand; this identity was removed by hand, and would be created again",
    ]);
  });

  test("an invite, by its role and its address", () => {
    const steps = [
      deleteStep("GroupInvite", 50, { keyId: "k", roleUid: VIEWER, email: "a@b.example" }),
      created("GroupInvite", "after", { parent: ROOT, role: "viewer", email: "a@b.example", ttl: "3600s" }),
    ];
    expect(findingsOf(steps)).toEqual(["invite after: gets viewer at / again, which was removed by hand"]);
  });
});
