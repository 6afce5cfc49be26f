// Whether a group is another one, or below it.
import { type AccessGraph, lineageOf, type NodeId } from "./graph.ts";

export const isInside = (graph: AccessGraph, id: NodeId, group: NodeId): boolean =>
  id === group || lineageOf(graph, id).includes(group);
