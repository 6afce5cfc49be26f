// An answer as JSON: uids, and the names of roles.
import type { AccessGraph, BindingNode, NodeId } from "../../graph/graph.ts";
import type { Answer } from "../../query/answer.ts";
import { assumptionOf } from "../../review/assume.ts";

export const answerJson = ({ graph, grants, unknown, people, notVisible }: Answer) => ({
  // Those that hold something of it; who can assume them, as the API's JSON has it and in words.
  identities: [...new Set([...unknown, ...grants].map(({ identity }) => identity))].flatMap((identity) => {
    const node = graph.identities.get(identity);
    if (!node) return [];
    const { name, group, relationship } = node;
    const assumedBy = assumptionOf(relationship)?.text ?? null;
    return [{ identity, name, group, assumable: relationship, assumedBy }];
  }),
  // One for each binding and capability.
  grants: grants.map(({ identity, group, capability, role, binding }) => ({
    identity,
    group,
    capability,
    role: roleName(graph, role),
    binding,
  })),
  // Bindings whose role cannot be read.
  unknown: unknown.map(({ id, identity, group, role }: BindingNode) => ({
    identity,
    group,
    role: roleName(graph, role),
    binding: id,
    message: notReadable(graph, role),
  })),
  // Who has access without an identity; the uid is that of the identity provider, the external group's mapping or the invite.
  people: [...new Set([...people.unknown, ...people.grants].map(({ identity }) => identity))]
    .flatMap((id) => people.graph.identities.get(id) ?? [])
    .map(({ id, name, recordUid, who }) => ({
      subject: name,
      uid: recordUid,
      who,
      grants: people.grants
        .filter(({ identity }) => identity === id)
        .map(({ group, capability, role }) => ({ group, capability, role: roleName(graph, role) })),
      unknown: people.unknown
        .filter(({ identity }) => identity === id)
        .map(({ group, role }) => ({ group, role: roleName(graph, role), message: notReadable(graph, role) })),
    }))
    .filter((one) => one.grants.length + one.unknown.length > 0),
  notVisible,
});

const notReadable = (graph: AccessGraph, role: NodeId): string =>
  `the capabilities of role ${roleName(graph, role)} cannot be read: roles.list is needed where it is defined`;

const roleName = ({ roles }: AccessGraph, role: NodeId): string => roles.get(role)?.name ?? role;
