// Whether records of a kind could be listed in a group: what cannot be listed may exist all the same.
import { type AccessGraph, lineageOf, type NodeId } from "./graph.ts";
import type { ListedKind } from "./live.ts";

export type IsVisible<Kind extends string = ListedKind> = (kind: Kind, group: NodeId) => boolean;

/** A group that the graph does not have is as visible as the nearest one above it. */
export const visibilityIn = <Kind extends string = ListedKind>(
  graph: AccessGraph,
  notVisible: readonly { kind: Kind; group: NodeId }[],
): IsVisible<Kind> => {
  const hidden = new Set(notVisible.map(({ kind, group }) => `${kind} ${group}`));
  return (kind, group) => {
    if (hidden.has(`${kind} `)) return false;
    const known = graph.groups.has(group) ? group : lineageByUid(group).find((id) => graph.groups.has(id));
    const asked = known ?? group;
    // A new group is in one that exists.
    const existing = lineageOf(graph, asked).find((id) => graph.groups.get(id)?.uid !== null) ?? asked;
    return !hidden.has(`${kind} ${existing}`);
  };
};

const lineageByUid = (uid: string): string[] =>
  uid
    .split("/")
    .map((_, i, segments) => segments.slice(0, segments.length - i).join("/"))
    .slice(1);
