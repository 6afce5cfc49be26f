// The organizations that a change is about, by name: where a record or somebody's access changes, and where an identity that changes has
// access.

import { isUidp } from "../../schema/index.ts";
import { compare } from "../canonical.ts";
import { type AccessGraph, lineageOf, type NodeId, organizationsIn, pathOf } from "../graph/graph.ts";
import type { NotVisible } from "../graph/live.ts";
import type { PeopleInput } from "./people.ts";
import type { RuleInput } from "./rule.ts";

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

// Records that exist before the change, by uid, by path, or by a name that only one of them has. The author of a change chooses the names
// of what it creates, so a text never stands for a new record.

export type Kind = "group" | "identity" | "role";

/** One record that a text stands for, or why it stands for none. */
export type Existing = { id: NodeId } | { problem: string };

interface Candidate {
  id: NodeId;
  name: string;
  /** `platform/release`; `/release` in the organization itself; of a group, its own: `platform`, `/` */
  path: string;
  isOrganization: boolean;
}

export const existingIn = (
  graph: AccessGraph,
  notVisible: readonly Pick<NotVisible, "kind">[],
  kind: Kind,
): ((text: string) => Existing) => {
  const candidates = candidatesIn(graph, kind);
  const byPath = Map.groupBy(candidates, ({ path }) => path);
  const byName = Map.groupBy(candidates, ({ name }) => name);
  const ids = new Set(candidates.map(({ id }) => id));
  // One that cannot be seen may have the same name.
  const isComplete = !notVisible.some((one) => one.kind === kind || one.kind === "group");
  const findCandidates = (text: string): readonly Candidate[] => {
    if (text.includes("/")) return byPath.get(text) ?? [];
    const named = byName.get(text) ?? [];
    return kind === "group" ? [...(byPath.get(text) ?? []), ...named.filter((one) => one.isOrganization)] : named;
  };
  return (text) => {
    if (isUidp(text)) return ids.has(text) ? { id: text } : { problem: `no ${kind} that exists has this uid` };
    const [one, another] = findCandidates(text);
    if (one === undefined) return { problem: `no ${kind} that exists has this name` };
    if (another !== undefined) {
      const all = findCandidates(text).map(({ path, id }) => `${path} ${id}`);
      return { problem: `${all.length} have this name: ${all.sort().join(", ")}; give the uid of one` };
    }
    if (!isComplete) return { problem: `you cannot list every ${kind}, so another may have this name; give the uid` };
    return { id: one.id };
  };
};

const candidatesIn = (graph: AccessGraph, kind: Kind): Candidate[] => {
  if (kind === "group")
    return [...graph.groups.values()]
      .filter(({ uid }) => uid !== null)
      .map(({ id, name, parent }) => ({ id, name, path: pathOf(graph, id), isOrganization: parent === null }));
  const nodes = kind === "identity" ? graph.identities : graph.roles;
  return [...nodes.values()]
    .filter(({ uid }) => uid !== null)
    .map(({ id, name, group }) => ({ id, name, path: recordPath(graph, group, name), isOrganization: false }));
};

/** `platform/release`; of a record of the organization itself `/release`. */
export const recordPath = (graph: AccessGraph, group: NodeId | null, name: string): string => {
  const path = group === null ? "" : pathOf(graph, group);
  return path === "/" ? `/${name}` : path === "" ? name : `${path}/${name}`;
};
