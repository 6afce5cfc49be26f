// What an identity holds and who can act as it; the same of a record that gives people access, who are no identities.
import type { Held } from "../change/after.ts";
import type { AccessGraph, NodeId } from "./graph.ts";
import { accessIn } from "./holds.ts";

export const heldIn = (graph: AccessGraph): ((id: NodeId) => Held | undefined) => {
  const access = accessIn(graph);
  const unlisted = (group: NodeId, role: NodeId | null): Held["grants"] =>
    role === null || graph.roles.get(role)?.isUnlisted ? [[group, `role ${role}`]] : [];
  const grantsOf = (group: NodeId, role: NodeId | null): Held["grants"] => [
    ...(graph.roles.get(role ?? "")?.capabilities ?? []).map((capability) => [group, capability] as const),
    ...unlisted(group, role),
  ];
  return (id) => {
    const [identity, provider] = [graph.identities.get(id), graph.providers.get(id)];
    if (identity) {
      const topmost = access.topmostOf(id).map(({ group, capability }) => [group, capability] as const);
      const hidden = access.bindingsOf(id).flatMap(({ group, role }) => unlisted(group, role));
      return { grants: [...topmost, ...hidden], signIn: identity.relationship };
    }
    if (provider)
      return {
        grants: grantsOf(provider.group, provider.defaultRole),
        signIn: provider.signIn && { ...provider.signIn },
      };
    const [mapping, invite] = [graph.externalGroups.get(id), graph.invites.get(id)];
    if (mapping) {
      const { externalGroupId, group, role } = mapping;
      const signIn = { ...graph.providers.get(mapping.provider)?.signIn, externalGroupId };
      return { grants: grantsOf(group, role), signIn };
    }
    if (!invite) return undefined;
    const { group, role, email, singleUse } = invite;
    return { grants: grantsOf(group, role), signIn: { email, singleUse } };
  };
};
