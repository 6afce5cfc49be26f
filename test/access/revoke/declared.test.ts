// Which resources of a stack declare role bindings, in the state that the engine exports.
import { expect, test } from "vitest";
import { declarationsIn } from "../../../access/revoke/policy.ts";

const urn = (type: string, name: string) => `urn:pulumi:dev::acme::${type}::${name}`;
const POLICY = urn("irm:index:AccessPolicy", "acme");
const SET = "pulumi-nodejs:dynamic/irm:RoleBindingSet";
const own = (type: string, name: string, id: string) => ({
  ...{ urn: urn(`irm:index:${type}`, name), type: `irm:index:${type}`, id },
});
const resources = [
  { urn: POLICY, type: "irm:index:AccessPolicy" },
  {
    urn: urn(`irm:index:AccessPolicy$${SET}`, "acme:access/platform"),
    ...{ type: SET, parent: POLICY, id: "a/1", outputs: { bindings: [{ uid: "a/1/1" }, { uid: "a/1/2" }] } },
    inputs: { parent: "a/1", bindings: [{ identity: "ci", role: "viewer" }] },
  },
  { ...own("RoleBinding", "edits", "a/2"), inputs: { parent: "a", identity: "ci", role: "r" } },
  { ...own("RoleBinding", "former", "a/3"), delete: true },
  own("Group", "platform", "a/4"),
];
const text = JSON.stringify({ version: 3, deployment: { manifest: { time: "2026-01-01T00:00:00Z" }, resources } });
const held = (binding: string, group = "", role = "", roleName = "by name") => ({
  ...{ binding, group, path: "", role, roleName },
});

test.each<[held: ReturnType<typeof held>[], names: string[]]>([
  [[held("a/2")], ["RoleBinding edits"]],
  [["a/1/1", "a/1/2", "a/2"].map((uid) => held(uid)), ["AccessPolicy acme", "RoleBinding edits"]],
  [[held("a/3")], []],
  [[held("a/4"), held("a/5")], []],
  // Granted again by hand, so with another uid.
  [[held("a/6", "a", "r")], ["RoleBinding edits"]],
  [[held("a/1/7", "a/1", "r", "viewer")], ["AccessPolicy acme"]],
  [[held("a/6", "a/1", "r")], []],
  [[held("a/6", "a", "other")], []],
])("%j are declared by %j", (bindings, names) => {
  expect(declarationsIn(text, { uid: "ci", name: "ci" }, bindings)).toEqual(names);
  // Of another identity, only the uid counts.
  const byUid = bindings.some(({ group }) => group !== "") ? [] : names;
  expect(declarationsIn(text, { uid: "another", name: "another" }, bindings)).toEqual(byUid);
});

test("a state that cannot be read is an error", () => {
  const damaged = '{"deployment":{"manifest":{"time":""},"resources":3}}';
  const message = "pulumi stack export: resources Invalid input";
  expect(() => declarationsIn(damaged, { uid: "ci", name: "ci" }, [])).toThrow(message);
});
