// Which role bindings are covered: all of them can go together, and nobody loses anything.
import fc from "fast-check";
import { expect, test } from "vitest";
import { accessIn } from "../../../access/graph/effective-access.ts";
import { lineageOf, newGraph } from "../../../access/graph/graph.ts";
import { coveredIn } from "../../../access/query/unused.ts";
import { addGroup, addIdentity, addRole, ROOT, uidIn } from "../graphs.ts";

const CAPABILITIES = ["groups.list", "repo.list", "tag.create"];
const CAPABILITY_SETS = [[0], [1], [0, 1], [0, 1], [1, 2], [0, 1, 2], []];

/** Some roles have the same capabilities, and a triple may be bound several times. */
const graphOf = (bindings: readonly (readonly [group: number, identity: number, role: number])[]) => {
  const graph = newGraph();
  const platform = uidIn(ROOT, 1);
  const groups = [ROOT, platform, uidIn(platform, 2), uidIn(ROOT, 3)] as const;
  groups.forEach((group, i) => {
    addGroup(graph, group, `group-${i}`, i === 0 ? null : i === 2 ? platform : ROOT);
  });
  const identities = [uidIn(ROOT, 16), uidIn(ROOT, 17)];
  for (const identity of identities) addIdentity(graph, identity, identity, ROOT, {});
  const roles = CAPABILITY_SETS.map((held, i) =>
    addRole(
      graph,
      `role-${i}`,
      held.map((one) => CAPABILITIES[one] as string),
      ROOT,
    ),
  );
  bindings.forEach(([group, identity, role], i) => {
    const id = uidIn(groups[group] as string, 256 + ((i * 7) % 31));
    graph.bindings.set(id, {
      id,
      uid: id,
      group: groups[group] as string,
      identity: identities[identity] as string,
      role: roles[role] as string,
    });
  });
  return { graph, groups, identities };
};

const binding = fc.tuple(fc.nat(3), fc.nat(1), fc.nat(CAPABILITY_SETS.length - 1));

test("without the covered bindings each identity holds the same everywhere, and no other binding can go", () => {
  fc.assert(
    fc.property(fc.array(binding, { maxLength: 20 }), (bindings) => {
      const { graph, groups, identities } = graphOf(bindings);
      const covered = coveredIn(graph, () => true);
      const left = newGraph(graph);
      for (const id of covered.keys()) left.bindings.delete(id);
      const heldIn = (one: typeof graph) => {
        const access = accessIn(one);
        return identities.flatMap((identity) =>
          groups.map((group) => CAPABILITIES.filter((name) => access.holds(identity, name, lineageOf(one, group)))),
        );
      };
      expect(heldIn(left)).toEqual(heldIn(graph));
      expect(coveredIn(left, () => true).size).toBe(0);
      for (const { by } of covered.values()) expect(left.bindings.has(by.id)).toBe(true);
    }),
  );
});

test("a role that cannot be read covers nothing, and nothing covers it", () => {
  const { graph } = graphOf([
    [0, 0, 5],
    [1, 0, 0],
  ]);
  expect(coveredIn(graph, () => true).size).toBe(1);
  for (const role of ["role-0", "role-5"])
    expect(coveredIn(graph, (id) => graph.roles.get(id)?.name !== role).size).toBe(0);
});

test("of equal bindings one stays", () => {
  const { graph } = graphOf([
    [1, 0, 0],
    [1, 0, 0],
    [1, 0, 0],
  ]);
  expect(coveredIn(graph, () => true).size).toBe(2);
});
