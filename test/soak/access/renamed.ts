// An access graph with other ids.
import { type AccessGraph, type NodeId, newGraph } from "../../../access/graph/graph.ts";

export const renameRecords = (
  { groups, identities, roles, bindings }: AccessGraph,
  idOf: (id: NodeId) => NodeId,
): AccessGraph => {
  const graph = newGraph();
  for (const { parent, ...node } of groups.values())
    graph.groups.set(idOf(node.id), { ...node, id: idOf(node.id), parent: parent && idOf(parent) });
  for (const node of identities.values())
    graph.identities.set(idOf(node.id), { ...node, id: idOf(node.id), group: idOf(node.group) });
  for (const node of roles.values())
    graph.roles.set(idOf(node.id), { ...node, id: idOf(node.id), group: node.group && idOf(node.group) });
  for (const { id, uid, group, identity, role } of bindings.values())
    graph.bindings.set(idOf(id), { id: idOf(id), uid, group: idOf(group), identity: idOf(identity), role: idOf(role) });
  return graph;
};
