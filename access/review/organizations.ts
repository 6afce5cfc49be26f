// The organizations that a change is about, by name: where a record or somebody's access changes, and where an identity that changes has
// access.
import { compare } from "../graph/compare.ts";
import { type AccessGraph, lineageOf, type NodeId, organizationsIn } from "../graph/graph.ts";
import type { PeopleInput } from "./people.ts";
import type { RuleInput } from "./rule/rule.ts";

/** `isKnown`: false: it could be any of them. */
export const organizationsOf = (input: RuleInput, people: PeopleInput, isKnown: boolean): string[] => {
  const { before, after, changes, reassumed } = input;
  const found = new Set<NodeId>();
  const add = (graph: AccessGraph, group: NodeId): void => void found.add(lineageOf(graph, group).at(-1) ?? group);
  const changed = new Set([...changes.map(({ identity }) => identity), ...reassumed.map(({ id }) => id)]);
  for (const [graph, other] of [
    [before, after],
    [after, before],
  ] as const) {
    for (const { id, name } of graph.groups.values()) if (other.groups.get(id)?.name !== name) add(graph, id);
    for (const { id, identity, group } of graph.bindings.values())
      if (!other.bindings.has(id) || changed.has(identity)) add(graph, group);
    for (const { id, group } of graph.identities.values()) if (!other.identities.has(id)) add(graph, group);
  }
  for (const { gains, losses } of people.changes) {
    for (const { group } of gains) add(people.after, group);
    for (const { group } of losses) add(people.before, group);
  }
  const all = new Map([...organizationsIn(before), ...organizationsIn(after)].map(({ id, name }) => [id, name]));
  const ids = isKnown && found.size > 0 ? [...found].filter((id) => all.has(id)) : [...all.keys()];
  return ids.map((id) => all.get(id) ?? id).sort(compare);
};
