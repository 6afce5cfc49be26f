// The part of a policy's graph that is about people. Identity providers and invites are not the policy's own, so they stay, with the
// roles that they give.
import type { AccessGraph, GraphBuilder, NodeId } from "../graph/graph.ts";

/** Those of `live` in the groups where people stay. */
export const keepPeople = (graph: GraphBuilder, live: AccessGraph, stay: (group: NodeId) => boolean): void => {
  const keepRole = (id: NodeId | null): void => {
    const role = id === null ? undefined : live.roles.get(id);
    if (role && !graph.roles.has(role.id)) graph.roles.set(role.id, role);
  };
  const kept = new Set<NodeId>();
  for (const [id, node] of live.providers) {
    if (!stay(node.group)) continue;
    kept.add(id);
    graph.providers.set(id, node);
    keepRole(node.defaultRole);
  }
  for (const [id, node] of live.externalGroups) {
    if (!kept.has(node.provider)) continue;
    graph.externalGroups.set(id, node);
    keepRole(node.role);
  }
  for (const [id, node] of live.invites) {
    if (!stay(node.group)) continue;
    graph.invites.set(id, node);
    keepRole(node.role);
  }
};
