// An answer as JSON: uids, and the names of roles.

import type { Json } from "../../../schema/index.ts";
import type { AccessGraph, BindingNode, NodeId } from "../../graph/graph.ts";
import type { NotVisible } from "../../graph/live.ts";
import type { Answer } from "../../query/answer.ts";
import { assumptionOf } from "../../review/assume.ts";

export interface AnswerJson {
  /** those that hold something of it; `assumable` is who can assume it, as the API's JSON has it and in words */
  identities: { identity: string; name: string; group: string; assumable: Json | null; assumedBy: string | null }[];
  /** one for each binding and capability */
  grants: { identity: string; group: string; capability: string; role: string; binding: string }[];
  /** bindings whose role cannot be read */
  unknown: { identity: string; group: string; role: string; binding: string; message: string }[];
  /** who has access without an identity; `uid` belongs to the identity provider, the external group's mapping or the invite */
  people: {
    subject: string;
    uid: string | null;
    who: string;
    grants: { group: string; capability: string; role: string }[];
    unknown: { group: string; role: string; message: string }[];
  }[];
  notVisible: NotVisible[];
}

export const answerJson = ({ graph, grants, unknown, people, notVisible }: Answer): AnswerJson => ({
  identities: [...new Set([...unknown, ...grants].map(({ identity }) => identity))].flatMap((identity) => {
    const node = graph.identities.get(identity);
    if (!node) return [];
    const { name, group, relationship } = node;
    const assumedBy = assumptionOf(relationship)?.text ?? null;
    return [{ identity, name, group, assumable: relationship, assumedBy }];
  }),
  grants: grants.map(({ identity, group, capability, role, binding }) => ({
    identity,
    group,
    capability,
    role: roleName(graph, role),
    binding,
  })),
  unknown: unknown.map(({ id, identity, group, role }: BindingNode) => ({
    identity,
    group,
    role: roleName(graph, role),
    binding: id,
    message: notReadable(graph, role),
  })),
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

export const answerAsJson = (answer: Answer): string => `${JSON.stringify(answerJson(answer), undefined, 2)}\n`;
