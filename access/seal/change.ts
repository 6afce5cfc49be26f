// The change that a seal shows, as two graphs, and what each subject may gain, lose and hold by it at any moment of a run. A subject is an
// identity, or what gives a role to people: an identity provider, a mapping of an external group, an invite.
import { type AccessGraph, type BindingNode, lineageOf, type NodeId } from "../graph/graph.ts";
import { accessIn, type Grant } from "../graph/holds.ts";
import type { AccessRow } from "../review/change.ts";
import { leastBetween, mostBetween } from "../review/transient.ts";
import { rowsBetween } from "./rows.ts";
import { graphFrom, type SealContent } from "./seal.ts";

/** The URN of the resource that created this record, as the seal has it; otherwise the uid. The kind may be left out where no other record has the uid. */
export type IdOf = (kind: string | undefined, uid: string) => NodeId;

export interface Change {
  before: AccessGraph;
  after: AccessGraph;
  gainsOf(subject: NodeId): readonly AccessRow[];
  /** Also what it loses for a moment only. */
  lossesOf(subject: NodeId): readonly AccessRow[];
  /** What it holds for a moment only, and loses again. */
  endedOf(subject: NodeId): readonly AccessRow[];
  /** What gives the subject this capability after the change, in one of these groups. */
  givenAfter(subject: NodeId, capability: string, groups: readonly NodeId[]): readonly BindingNode[];
  /** Of what `live` says that the subject holds: what the seal does not have. */
  heldBeyond(live: AccessGraph, subject: NodeId): Grant[];
}

export const changeIn = (seal: Pick<SealContent, "before" | "after">): Change => {
  const [before, after] = [graphFrom(seal.before), graphFrom(seal.after)];
  const [was, is] = [withPeople(before), withPeople(after)];
  const most = mostBetween(was, is);
  const [gained, lost] = [rowsBetween(was, most), rowsBetween(was, leastBetween(was, is))];
  // What is held in between only: an earlier run under this seal may have given it before it was killed.
  const ended = rowsBetween(most, is);
  const access = accessIn(most);
  const bindings = Map.groupBy(is.bindings.values(), ({ identity }) => identity);
  return {
    before,
    after,
    gainsOf: (subject) => gained(subject).gains,
    lossesOf: (subject) => lost(subject).losses,
    endedOf: (subject) => ended(subject).losses,
    givenAfter: (subject, capability, groups) =>
      (bindings.get(subject) ?? []).filter(
        ({ group, role }) => groups.includes(group) && is.roles.get(role)?.capabilities.includes(capability),
      ),
    heldBeyond: (live, subject) =>
      accessIn(live)
        .topmostOf(subject)
        .filter(({ group, capability }) => !access.holds(subject, capability, lineageOf(live, group))),
  };
};

/** What people get is a role binding of the record that gives it. */
const withPeople = (graph: AccessGraph): AccessGraph => {
  const bindings = new Map<NodeId, BindingNode>(graph.bindings);
  const add = (id: NodeId, group: NodeId, role: NodeId | null): void => {
    if (role !== null) bindings.set(id, { id, uid: null, group, identity: id, role });
  };
  for (const { id, group, defaultRole } of graph.providers.values()) add(id, group, defaultRole);
  for (const nodes of [graph.externalGroups, graph.invites])
    for (const { id, group, role } of nodes.values()) add(id, group, role);
  return { ...graph, bindings };
};
