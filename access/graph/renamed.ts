// The same graph with other ids: of a record that stands beside those of another service, or that does not exist yet.
import type { AccessGraph, NodeId } from "./graph.ts";

/** Members of nodes that are ids. */
const IDS = ["id", "parent", "group", "identity", "role", "provider", "defaultRole", "record", "people"];

/** `more` is set on each node, given the id that it had. The uids stay. */
export const renamed = <G extends AccessGraph>(
  graph: G,
  idOf: (id: NodeId) => NodeId,
  more: (id: NodeId) => object = () => ({}),
): G => {
  const nodeAt = (node: { id: NodeId }): [NodeId, object] => {
    const own = Object.entries(node).map(([name, value]) => [
      name,
      IDS.includes(name) && typeof value === "string" ? idOf(value) : value,
    ]);
    return [idOf(node.id), { ...Object.fromEntries(own), ...more(node.id) }];
  };
  const kinds = Object.entries(graph).map(([kind, nodes]) => [kind, new Map([...nodes.values()].map(nodeAt))]);
  return Object.fromEntries(kinds) as G;
};
