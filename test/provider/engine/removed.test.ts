// What a preview says of a resource that leaves the stack.
import { describe, expect, test } from "vitest";
import { removedText } from "../../../provider/engine/review.ts";
import type { Json } from "../../../schema/index.ts";

const binding = (uid: string, identity: string) => ({
  uid,
  identity: { uid: `${uid}/i`, name: identity },
  role: { uid: `${uid}/r`, name: "viewer" },
});

const types = ["pulumi-nodejs:dynamic/irm:RoleBindingSet", "irm:index:RoleBindingSet"];

const nothing = { sets: [], identities: [], isKept: () => false, isShared: () => false };

test.each(types)(
  "a %s that leaves names what it removes, and not what a RoleBinding adopts, which says so itself",
  (type) => {
    const outputs = { bindings: [binding("a", "images"), binding("b", "audit")] };
    const urn = `urn:pulumi:dev::tooling::${type}::tooling`;
    const leaving = { type, urn, outputs, shown: outputs };
    const isB = (uid: string) => uid === "b";
    const removed = ["RoleBindingSet tooling is removed:", 'removes "images" as "viewer"'];
    expect(removedText(leaving, { ...nothing, isKept: isB })).toBe(removed.join("\n  - "));
    const left = 'leaves "audit" as "viewer" to a RoleBinding: role binding b stays';
    expect(removedText(leaving, { ...nothing, isKept: isB, isShared: isB })).toBe([...removed, left].join("\n  - "));
  },
);

describe("a role binding that leaves", () => {
  const group = "0123456789abcdef0123456789abcdef01234567";
  const own = { ...binding(`${group}/0123456789abcdef`, "images"), group: { name: "tooling" } };
  const type = "irm:index:RoleBinding";
  const leaving = (outputs: Json) => ({ type, urn: `urn:pulumi:dev::p::${type}::old`, outputs, shown: outputs });
  const pairs = [{ identity: own.identity.uid, role: own.role.uid }];
  const sets = (parent: string) => [{ name: "tooling", parent, pairs }];

  test.each([
    ["has the uid of its group", { ...own, group: { uid: group, name: "tooling" } }],
    ["leaves that to its own uid", own],
  ])("stays with a set of its group, in a state that %s", (_, outputs) => {
    const staying = { ...nothing, sets: sets(group) };
    expect(removedText(leaving(outputs), staying), "the set says that it takes it over").toBeUndefined();
    expect(removedText(leaving(outputs), { ...staying, isShared: () => true })).toBe(
      `RoleBinding old is no longer in the program: RoleBindingSet tooling has role binding ${own.uid}, which stays`,
    );
    expect(removedText(leaving(outputs), { ...nothing, sets: sets(`${group}/fedcba9876543210`) })).toBe(
      'RoleBinding old is removed: identity "images", role "viewer", group "tooling"',
    );
  });

  test("is named by the uid of its group where the name is secret", () => {
    expect(removedText(leaving({ ...own, group: {} }), nothing)).toContain(`group ${group}`);
  });
});

describe("an identity that leaves", () => {
  const group = "0123456789abcdef0123456789abcdef01234567";
  const uid = `${group}/0123456789abcdef`;
  const claimMatch = { issuer: "https://issuer.example", subject: "s" };
  const type = "irm:index:Identity";
  const leaving = (outputs: Json, shown = outputs) => ({
    type,
    urn: `urn:pulumi:dev::p::${type}::old`,
    outputs,
    shown,
  });
  const former = { uid, name: "release", claimMatch };
  const keep = "To keep the record, name the former resource in aliases, or the former key of a policy as was";
  const head = ["Identity old is removed:", `workflows that name ${uid} in IRM_IDENTITY can no longer sign in`];
  const who = 'who could assume it: a workload whose token has issuer "https://issuer.example" and subject "s"';

  test("says who could assume it", () => {
    expect(removedText(leaving(former), nothing)).toBe(
      [...head, who, `If another identity takes its place: ${keep}`].join("\n  - "),
    );
  });

  test.each([
    ["that the same workloads can assume", { name: "publish", claimMatch }],
    ["of its name in its group", { name: "release", parent: group, servicePrincipal: "INGESTER" }],
  ])("says that a new one %s takes its place with another uid", (_, record) => {
    const others = [
      { name: "elsewhere", record: { name: "release", parent: uid } },
      { name: "new", record },
    ];
    expect(removedText(leaving(former), { ...nothing, identities: others })).toBe(
      [...head, who, `Identity new takes its place with another uid. ${keep}`].join("\n  - "),
    );
  });

  test("prefers the one of the same workloads to a namesake", () => {
    const namesake = { name: "namesake", record: { name: "release", parent: group, servicePrincipal: "INGESTER" } };
    const identities = [namesake, { name: "new", record: { name: "publish", claimMatch } }];
    expect(removedText(leaving(former), { ...nothing, identities })).toContain("Identity new takes its place");
  });

  test("shows nothing of who could assume it where that is secret, not even by what it equals", () => {
    const shown = { ...former, claimMatch: { ...claimMatch, subject: "[secret]" } };
    const identities = [{ name: "new", record: { name: "publish", claimMatch } }];
    expect(removedText(leaving(former, shown), { ...nothing, identities })).toBe(
      [...head, "who could assume it: [secret]", `If another identity takes its place: ${keep}`].join("\n  - "),
    );
  });
});
