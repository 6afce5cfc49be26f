// The organizations of a change, by name: where a record or someone's access changes, and where an identity that changes has access.

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
// of its new records, so a text never means a new record.

type Kind = "group" | "identity" | "role";

/** A record that an allowance may name. */
export interface NamedRecord {
  kind: Kind;
  id: NodeId;
  uid: string | null;
  name: string;
  /** `platform/release`; `/release` in the organization itself; for a group, its own: `platform`, `/` */
  path: string;
}

export const namedRecordsIn = (graph: AccessGraph): NamedRecord[] => {
  const placed = (kind: Kind, nodes: AccessGraph["identities" | "roles"]) =>
    [...nodes.values()].map(({ id, uid, name, group }) => {
      const place = group === null ? "" : pathOf(graph, group);
      return { kind, id, uid, name, path: place === "/" ? `/${name}` : place === "" ? name : `${place}/${name}` };
    });
  return [
    ...[...graph.groups.values()].map(({ id, uid, name }): NamedRecord => {
      return { kind: "group", id, uid, name, path: pathOf(graph, id) };
    }),
    ...placed("identity", graph.identities),
    ...placed("role", graph.roles),
  ];
};

/** The one record that a text means, or why it means none. `records`: of the graph before the change. */
export const existingIn =
  (records: Iterable<NamedRecord>, notVisible: readonly Pick<NotVisible, "kind">[], kind: Kind) =>
  (text: string): { id: NodeId } | { problem: string } => {
    const isUid: boolean = isUidp(text);
    const isName = !text.includes("/");
    const isNamed = ({ id, name, path }: NamedRecord) =>
      isUid ? id === text : path === text || (isName && name === text && (kind !== "group" || path === "/"));
    const found = [...records].filter((one) => one.kind === kind && one.uid !== null && isNamed(one));
    const [one, ...others] = found;
    if (!one) return { problem: `no ${kind} that exists has this ${isUid ? "uid" : "name"}` };
    if (others.length > 0) {
      const all = found.map(({ path, id }) => `${path} ${id}`).sort();
      return { problem: `${all.length} have this name: ${all.join(", ")}; give the uid of one` };
    }
    // A record that is not visible may have the name.
    if (!isUid && notVisible.some((hidden) => hidden.kind === kind || hidden.kind === "group"))
      return { problem: `you cannot list every ${kind}, so another may have this name; give the uid` };
    return { id: one.id };
  };
