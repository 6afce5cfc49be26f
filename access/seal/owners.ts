// Who owns a group: the identities that may give access there, to themselves or to others.
import { parentOf } from "../../schema/index.ts";
import { type AccessGraph, lineageOf, type NodeId } from "../graph/graph.ts";
import { isGrant } from "../review/danger.ts";

export const ownersAt = (graph: AccessGraph, group: NodeId): NodeId[] => {
  const places = new Set(lineageOf(graph, group));
  const owners = new Set<NodeId>();
  for (const { group: place, identity, role } of graph.bindings.values())
    if (places.has(place) && graph.roles.get(role)?.capabilities.some(isGrant)) owners.add(identity);
  return [...owners].sort();
};

/** Where the owners of a record are: the group that holds it; of a group, itself. */
export const ownedPlace = (kind: string, uid: string): NodeId => (kind === "group" ? uid : parentOf(uid) || uid);
