// A record that goes, and what goes with it.
import type { GraphBuilder, NodeId } from "../graph/graph.ts";

/** A group goes with all that is in it, and an identity with its bindings. */
export const removeRecord = (graph: GraphBuilder, uid: string): void => {
  // Nothing depends on a binding, and there may be thousands.
  if (graph.bindings.delete(uid)) return;
  const holds = graph.groups.has(uid) || graph.providers.has(uid);
  const isGone = (id: NodeId): boolean => id === uid || (holds && id.startsWith(`${uid}/`));
  for (const nodes of Object.values(graph) as ReadonlyMap<NodeId, unknown>[])
    for (const id of nodes.keys()) if (isGone(id)) (nodes as Map<NodeId, unknown>).delete(id);
  for (const { id, identity } of graph.bindings.values()) if (isGone(identity)) graph.bindings.delete(id);
};
