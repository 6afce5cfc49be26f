// Access of people who are not identities: the people of an identity provider, the members of its external groups, and people who accept an
// invite. In a graph, they are identities with bindings, so that the rules and formats for identities also cover them.
import { printable } from "../../schema/index.ts";
import { quote } from "../text.ts";
import {
  type AccessGraph,
  type BindingNode,
  type IdentityNode,
  type InviteNode,
  type NodeId,
  newGraph,
  type ProviderNode,
} from "./graph.ts";

/** People, as an identity. Its id changes when they become other people. */
export interface Subject extends IdentityNode {
  /** does not change while its record is the same */
  record: NodeId;
  /** of the record that gives the access; null while it does not exist */
  recordUid: string | null;
  /** for a part of the people of an identity provider: the id of all of them; for others, their own id */
  people: NodeId;
  /** who may be one of them, in words */
  who: string;
}

export interface PeopleGraph extends AccessGraph {
  readonly identities: ReadonlyMap<NodeId, Subject>;
}

/** `nowMs`: invites that have ended by then are left out. */
export const peopleGraph = (graph: AccessGraph, nowMs: number): PeopleGraph => {
  const subjects = new Map<NodeId, Subject>();
  const bindings = new Map<NodeId, BindingNode>();
  const add = (subject: Subject, id: NodeId, group: NodeId, role: NodeId | null) => {
    subjects.set(subject.id, subject);
    if (role !== null) bindings.set(id, { id, uid: subject.uid, group, identity: subject.id, role });
  };
  for (const provider of graph.providers.values())
    add(peopleOf(graph, provider), provider.id, provider.group, provider.defaultRole);
  for (const { id, uid, provider, externalGroupId, role, group } of graph.externalGroups.values()) {
    const node = graph.providers.get(provider);
    if (node) add(membersOf(graph, node, externalGroupId, uid), id, group, role);
  }
  for (const invite of graph.invites.values())
    if (isOpen(invite, nowMs)) add(subjectFromInvite(invite), invite.id, invite.group, invite.role);
  return { ...newGraph(graph), identities: subjects, bindings };
};

/** The name of a node, with its uid if another of `nodes` has the name, in its group or in another one. */
export const distinctName = (nodes: ReadonlyMap<NodeId, Named>, { id, uid, name }: Named): string => {
  const isShared = [...nodes.values()].some((one) => one.name === name && one.id !== id);
  return isShared ? `${name} (${uid ?? "new"})` : name;
};

type Named = Pick<ProviderNode, "id" | "uid" | "name">;

const signInText = ({ signIn }: ProviderNode) =>
  signIn === null
    ? "people who sign in where this review cannot tell"
    : `people who sign in at issuer ${quote(signIn.issuer)} as client ${quote(signIn.clientId)}`;

/** People of another issuer are other people. A hidden issuer may be another one. */
const peopleId = ({ id, signIn }: ProviderNode) => (signIn === null ? id : `${id} ${signIn.issuer}`);

/** `id` is the default of absent ids. */
export const subjectOf = ({
  id,
  people = id,
  record = id,
  relationship = null,
  ...own
}: Pick<Subject, "id" | "recordUid" | "name" | "group" | "who"> & Partial<Subject>): Subject => ({
  ...{ id, people, record, relationship, uid: null },
  ...own,
});

const peopleOf = (graph: AccessGraph, provider: ProviderNode) =>
  subjectOf({
    id: peopleId(provider),
    record: provider.id,
    recordUid: provider.uid,
    name: `people of ${distinctName(graph.providers, provider)}`,
    group: provider.group,
    relationship: provider.signIn && { signIn: provider.signIn },
    who: signInText(provider),
  });

const membersOf = (
  graph: AccessGraph,
  provider: ProviderNode,
  externalGroupId: string,
  recordUid: string | null,
): Subject => {
  const { groupsClaim } = provider.signIn ?? {};
  const claim = groupsClaim ? `in claim ${quote(groupsClaim)}` : "in the claim of their groups";
  return subjectOf({
    id: `${peopleId(provider)} ${JSON.stringify(externalGroupId)}`,
    people: peopleId(provider),
    record: `${provider.id} ${JSON.stringify(externalGroupId)}`,
    recordUid,
    name: `external group ${externalGroupId} of ${distinctName(graph.providers, provider)}`,
    group: provider.group,
    who: `${signInText(provider)}, with ${quote(externalGroupId)} ${claim}`,
  });
};

export const isOpen = ({ expirationTime }: InviteNode, nowMs: number): boolean =>
  expirationTime === null || !(Date.parse(expirationTime) <= nowMs);

const subjectFromInvite = ({ id, uid, name, group, email, singleUse, expirationTime }: InviteNode) => {
  const who = [
    email === "" ? "anyone who has the code" : `the person with the address ${quote(email)}`,
    singleUse ? "once" : "",
    expirationTime === null ? "" : `until ${printable(expirationTime)}`,
  ];
  return subjectOf({ id, recordUid: uid, name: `invite ${name}`, group, who: who.filter(Boolean).join(", ") });
};

// Everyone who has access, as one graph: identities, and people without one. A test of who may do something covers all of them.

/** `nowMs`: invites that have ended by then are left out. */
export const everyoneIn = (graph: AccessGraph, nowMs: number): AccessGraph => {
  const people = peopleGraph(graph, nowMs);
  const all = newGraph(graph);
  for (const [id, one] of people.identities) all.identities.set(id, one);
  for (const [id, one] of people.bindings) all.bindings.set(id, one);
  return all;
};

/** People have their own names, which contain no group: `people of acme-sso`. */
export const isPeople = (identity: object): identity is Subject => "who" in identity;
