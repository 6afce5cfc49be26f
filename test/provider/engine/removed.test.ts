// What a preview says of a resource that leaves the stack.
import { expect, test } from "vitest";
import { removedText } from "../../../provider/engine/review.ts";

const binding = (uid: string, identity: string) => ({
  uid,
  identity: { uid: `${uid}/i`, name: identity },
  role: { uid: `${uid}/r`, name: "viewer" },
});

const types = ["pulumi-nodejs:dynamic/irm:RoleBindingSet", "irm:index:RoleBindingSet"];

test.each(types)("a %s that leaves names what it removes, and what a RoleBinding of the program adopts", (type) => {
  const outputs = { bindings: [binding("a", "images"), binding("b", "audit")] };
  const urn = `urn:pulumi:dev::tooling::${type}::tooling`;
  expect(removedText(type, urn, outputs, [], (uid) => uid === "b")).toBe(
    [
      "RoleBindingSet tooling is removed:",
      'removes "images" as "viewer"',
      'leaves "audit" as "viewer" to a RoleBinding: role binding b stays',
    ].join("\n  - "),
  );
});
