// The part of a policy's graph that is about people. Identity providers and invites are not the policy's own, so they stay, with the
// roles that they give. The policy says which roles the people of an identity provider of its organization have.
import type { AccessGraph, GraphBuilder, NodeId, ProviderNode } from "../graph/graph.ts";
import type { Policy, PolicyPeople } from "./policy.ts";

/** Copies what `live` has of people, in the groups where they stay. */
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

const NAMED_ONLY = "policy:provider:";

interface Context {
  organization: NodeId;
  roleIdOf(role: string, people: PolicyPeople): NodeId;
  /** several live identity providers have the name */
  ambiguous(people: PolicyPeople, found: readonly ProviderNode[]): void;
}

/** What the policy does not say of an identity provider stays. */
export const addPolicyPeople = (graph: GraphBuilder, { people }: Policy, context: Context): void => {
  const { organization, ambiguous } = context;
  for (const one of people.values()) {
    const found = [...graph.providers.values()].filter(
      ({ group, name }) => group === organization && name === one.provider,
    );
    if (found.length > 1) ambiguous(one, found);
    const id = `${NAMED_ONLY}${one.provider}`;
    const unknownFields = { group: organization, signIn: null, defaultRole: null };
    const provider = found[0] ?? { id, uid: null, name: one.provider, ...unknownFields };
    graph.providers.set(provider.id, provider);
    setExternalGroups(graph, provider.id, one, context);
  }
};

const setExternalGroups = (
  graph: GraphBuilder,
  provider: NodeId,
  people: PolicyPeople,
  { organization, roleIdOf }: Context,
): void => {
  const keyOf = (externalGroupId: string, role: NodeId): string => JSON.stringify([externalGroupId, role]);
  const known = new Map(
    [...graph.externalGroups.values()]
      .filter((one) => one.provider === provider)
      .map((one) => [keyOf(one.externalGroupId, one.role), one]),
  );
  for (const { id } of known.values()) graph.externalGroups.delete(id);
  for (const [externalGroupId, roles] of people.externalGroups)
    for (const name of roles) {
      const role = roleIdOf(name, people);
      const id = `policy:external-group:${keyOf(`${people.provider} ${externalGroupId}`, role)}`;
      const node = known.get(keyOf(externalGroupId, role)) ?? {
        id,
        uid: null,
        provider,
        externalGroupId,
        role,
        group: organization,
      };
      graph.externalGroups.set(node.id, node);
    }
};
