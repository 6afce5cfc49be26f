// What a preview says of a resource that leaves the stack.
import { expect, test } from "vitest";
import { removedText } from "../../../provider/engine/review.ts";
import { SET_TOKEN } from "../../../provider/kind/kind.ts";

const URN = "urn:pulumi:dev::tooling::pulumi-nodejs:dynamic/irm:RoleBindingSet::tooling";
const binding = (uid: string, identity: string) => ({
  uid,
  identity: { uid: `${uid}/i`, name: identity },
  role: { uid: `${uid}/r`, name: "viewer" },
});

test("a set that leaves names what it removes, and what a RoleBinding of the program adopts", () => {
  const outputs = { bindings: [binding("a", "images"), binding("b", "audit")] };
  expect(removedText(SET_TOKEN, URN, outputs, [], (uid) => uid === "b")).toBe(
    [
      "RoleBindingSet tooling is removed:",
      'removes "images" as "viewer"',
      'leaves "audit" as "viewer" to a RoleBinding: role binding b stays',
    ].join("\n  - "),
  );
});
