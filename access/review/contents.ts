// What is in a group or below, in words: it disappears with the group.
import { compare } from "../canonical.ts";
import { type AccessGraph, groupNameOf, isInside, type NodeId, nameOf } from "../graph/graph.ts";

export interface Content {
  kind: string;
  uid: string | null;
  name: string;
}

/** Groups, identities, roles, identity providers, invites and bindings below `group`, without itself; in stable order. */
export const contentsOf = (graph: AccessGraph, group: NodeId): Content[] => {
  const isBelow = (id: NodeId): boolean => isInside(graph, id, group);
  const groups = [...graph.groups.values()]
    .filter(({ id }) => id !== group && isBelow(id))
    .map(({ id, uid }) => ({ kind: "group", uid, name: groupNameOf(graph, id) }));
  const held = [
    ...[...graph.identities.values()].map((one) => ({ ...one, kind: "identity" })),
    ...[...graph.roles.values()].map((one) => ({ ...one, kind: "role" })),
    ...[...graph.providers.values()].map((one) => ({ ...one, kind: "identity provider" })),
    ...[...graph.invites.values()].map((one) => ({ ...one, kind: "group invite" })),
  ].filter((one) => one.group !== null && isBelow(one.group));
  const bindings = [...graph.bindings.values()]
    .filter((one) => isBelow(one.group))
    .map((one) => bindingIn(graph, one.id));
  const contents = [...groups, ...held.map(({ kind, uid, name }) => ({ kind, uid, name })), ...bindings];
  return contents.sort((a, b) => compare(textOf(a), textOf(b)));
};

/** The external groups of an identity provider, which go with it. */
export const externalGroupsOf = (graph: AccessGraph, provider: NodeId): Content[] =>
  [...graph.externalGroups.values()]
    .filter((one) => one.provider === provider)
    .map(({ uid, externalGroupId: name }) => ({ kind: "external group", uid, name }));

/** The bindings of an identity, which go with it. */
export const bindingsOf = (graph: AccessGraph, identity: NodeId): Content[] =>
  [...graph.bindings.values()].filter((one) => one.identity === identity).map(({ id }) => bindingIn(graph, id));

const bindingIn = (graph: AccessGraph, id: NodeId): Content => {
  const binding = graph.bindings.get(id);
  const { identity = id, role = "", group = "" } = binding ?? {};
  const name = `${nameOf(graph.identities, identity)} as ${nameOf(graph.roles, role)} at ${groupNameOf(graph, group)}`;
  return { kind: "role binding", uid: binding?.uid ?? null, name };
};

const textOf = ({ kind, uid, name }: Content): string => `${kind} ${name} ${uid}`;
