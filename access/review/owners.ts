// Who owns an organization: identities with the role owner on the organization itself. People count only where they have identities.
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import { isOrganization } from "./rule/rule.ts";

/** The owners of each organization that has any. */
export const ownersIn = (graph: AccessGraph): Map<NodeId, Set<NodeId>> => {
  const owners = new Map<NodeId, Set<NodeId>>();
  for (const { group, identity, role } of graph.bindings.values()) {
    const { name, group: place } = graph.roles.get(role) ?? {};
    const isOwner = name === "owner" && place === null && graph.identities.has(identity);
    if (!isOwner || !isOrganization(graph, group)) continue;
    const known = owners.get(group);
    if (known) known.add(identity);
    else owners.set(group, new Set([identity]));
  }
  return owners;
};
