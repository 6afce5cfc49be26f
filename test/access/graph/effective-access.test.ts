// The change in access between two graphs.
import { expect, test } from "vitest";
import { accessChange } from "../../../access/graph/effective-access.ts";
import { type AccessGraph, newGraph } from "../../../access/graph/graph.ts";

/** Groups `org`, `org/a` and `org/a/b`, two roles, one identity, and bindings `identity group role`. */
const graphWith = (...bindings: string[]): AccessGraph => {
  const graph = newGraph();
  for (const [id, parent] of [
    ["org", null],
    ["org/a", "org"],
    ["org/a/b", "org/a"],
  ] as const)
    graph.groups.set(id, { id, uid: id, name: id, parent });
  const capabilities = { list: ["groups.list"], all: ["groups.list", "repo.list"] };
  for (const [id, own] of Object.entries(capabilities))
    graph.roles.set(id, { id, uid: id, name: id, group: null, capabilities: own });
  graph.identities.set("i", { id: "i", uid: "i", name: "i", group: "org", relationship: null });
  for (const id of bindings) {
    const [identity, group, role] = id.split(" ") as [string, string, string];
    graph.bindings.set(id, { id, uid: id, group, identity, role });
  }
  return graph;
};

const changed = (before: AccessGraph, after: AccessGraph) =>
  accessChange(before, after).flatMap(({ identity, gains, losses }) => [
    ...gains.map(({ group, capability, role }) => `${identity} + ${group} ${capability} by ${role}`),
    ...losses.map(({ group, capability, role }) => `${identity} - ${group} ${capability} by ${role}`),
  ]);

test.each<[what: string, before: string[], after: string[], rows: string[]]>([
  ["a new binding is a gain at its group", [], ["i org/a list"], ["i + org/a groups.list by list"]],
  [
    "a capability that is held at the group or above is no gain",
    ["i org list"],
    ["i org list", "i org/a/b all"],
    ["i + org/a/b repo.list by all"],
  ],
  ["a binding that moves up is a gain above", ["i org/a/b list"], ["i org list"], ["i + org groups.list by list"]],
  ["one that moves down is a loss above", ["i org list"], ["i org/a/b list"], ["i - org groups.list by list"]],
  ["one of two bindings that grant the same can go without a loss", ["i org list", "i org all"], ["i org all"], []],
  [
    "of several roles that grant a capability the first by name is named",
    [],
    ["i org list", "i org all"],
    ["i + org groups.list by all", "i + org repo.list by all"],
  ],
])("%s", (_, before, after, rows) => {
  expect(changed(graphWith(...before), graphWith(...after))).toEqual(rows);
});

test("a deleted group is a loss for those who had access only there", () => {
  const after = newGraph(graphWith("i org list"));
  after.groups.delete("org/a");
  expect(changed(graphWith("i org list", "i org/a all"), after)).toEqual(["i - org/a repo.list by all"]);
});
