// Which resources of a stack declare role bindings, in the state that the engine exports.
import { expect, test } from "vitest";
import { declarationsIn } from "../../../access/revoke/declared.ts";

const urn = (type: string, name: string) => `urn:pulumi:dev::acme::${type}::${name}`;
const POLICY = urn("irm:index:AccessPolicy", "acme");
const resources = [
  { urn: POLICY, type: "irm:index:AccessPolicy" },
  {
    urn: urn("irm:index:AccessPolicy$pulumi-nodejs:dynamic/irm:RoleBindingSet", "acme:access/platform"),
    type: "pulumi-nodejs:dynamic/irm:RoleBindingSet",
    parent: POLICY,
    id: "a/1",
    outputs: { bindings: [{ uid: "a/1/1" }, { uid: "a/1/2" }] },
  },
  { urn: urn("irm:index:RoleBinding", "edits"), type: "irm:index:RoleBinding", id: "a/2" },
  { urn: urn("irm:index:RoleBinding", "former"), type: "irm:index:RoleBinding", id: "a/3", delete: true },
  { urn: urn("irm:index:Group", "platform"), type: "irm:index:Group", id: "a/4" },
];
const text = JSON.stringify({ version: 3, deployment: { resources } });

test.each<[uids: string[], names: string[]]>([
  [["a/2"], ["RoleBinding edits"]],
  [
    ["a/1/1", "a/1/2", "a/2"],
    ["AccessPolicy acme", "RoleBinding edits"],
  ],
  [["a/3"], []],
  [["a/4", "a/5"], []],
])("%j are declared by %j", (uids, names) => {
  expect(declarationsIn(text, new Set(uids))).toEqual(names);
});

test("a state that cannot be read is an error", () => {
  expect(() => declarationsIn('{"deployment":{"resources":3}}', new Set())).toThrow(
    "the exported stack cannot be read",
  );
});
