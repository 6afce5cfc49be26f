// Which role bindings are covered: all of them can go together, and nobody loses anything.
import fc from "fast-check";
import { expect, test } from "vitest";
import { accessIn } from "../../../access/graph/effective-access.ts";
import { lineageOf, newGraph } from "../../../access/graph/graph.ts";
import { coveredIn } from "../../../access/query/unused.ts";
import { graphOf, uid, uidIn } from "../graphs.ts";

const CAPABILITIES = ["groups.list", "repo.list", "tag.create"];
const CAPABILITY_SETS = [[0], [1], [0, 1], [0, 1], [1, 2], [0, 1, 2], []];

const GROUPS = ["/", "platform", "platform/registry", "tools"];
const [groups, identities] = [GROUPS.map((path) => uid(path)), ["a", "b"].map((path) => uid(path))];

/** Some roles have the same capabilities, and a triple may be bound several times. */
const graphOfBindings = (bindings: readonly (readonly [group: number, identity: number, role: number])[]) => {
  const held = CAPABILITY_SETS.map((set, i) => [`/role-${i}`, set.map((one) => CAPABILITIES[one] as string)]);
  const graph = graphOf({ groups: GROUPS.slice(1), roles: Object.fromEntries(held), identities: { a: {}, b: {} } });
  bindings.forEach((numbers, i) => {
    const [group, identity, role] = [groups[numbers[0]], identities[numbers[1]], uid(`role-${numbers[2]}`)] as const;
    const id = uidIn(group as string, 256 + ((i * 7) % 31));
    graph.bindings.set(id, { id, uid: id, group: group as string, identity: identity as string, role });
  });
  return graph;
};

const binding = fc.tuple(fc.nat(3), fc.nat(1), fc.nat(CAPABILITY_SETS.length - 1));

test("without the covered bindings each identity holds the same everywhere, and no other binding can go", () => {
  fc.assert(
    fc.property(fc.array(binding, { maxLength: 20 }), (bindings) => {
      const graph = graphOfBindings(bindings);
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
  const graph = graphOfBindings([
    [0, 0, 5],
    [1, 0, 0],
  ]);
  expect(coveredIn(graph, () => true).size).toBe(1);
  for (const role of ["role-0", "role-5"]) expect(coveredIn(graph, (id) => id !== uid(role)).size).toBe(0);
});
