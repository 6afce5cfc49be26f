// "Where can this act", "who can act here", "who can do this": the grants that a question asks for.

import { byEffect, capabilitiesIn, worstFirst } from "../graph/danger.ts";
import { accessIn, type Grant } from "../graph/effective-access.ts";
import { type AccessGraph, type BindingNode, lineageOf, type NodeId, pathOf } from "../graph/graph.ts";
import type { Live, NotVisible } from "../graph/live.ts";
import { type PeopleGraph, peopleGraph } from "../graph/people.ts";
import { type Question, type QuestionText, resolveQuestion } from "./question.ts";

/** What is held in a graph of what a question asks for. */
export interface Held {
  graph: AccessGraph;
  /** one for each binding and capability, the worst binding first */
  grants: Grant[];
  /** bindings in question whose role cannot be read, so that nothing is known of what they grant */
  unknown: BindingNode[];
}

export interface Answer extends Held {
  question: Question;
  /** the same of those who have no identity, where the question is not about one */
  people: Pick<Held, "grants" | "unknown"> & { graph: PeopleGraph };
  notVisible: NotVisible[];
}

/** Throws a QuestionError with all that is wrong with the question. `nowMs`: invites that have ended by then are left out. */
export const answerOf = ({ graph, notVisible }: Live, text: QuestionText, nowMs = 0): Answer => {
  const question = resolveQuestion(graph, text, isComplete(notVisible));
  const isRead = roleReader(graph, notVisible);
  const people = peopleGraph(graph, nowMs);
  const held = question.identity ? { grants: [], unknown: [] } : findHeld(people, question, isRead);
  return {
    graph,
    question,
    ...findHeld(graph, question, isRead),
    people: { graph: people, ...held },
    notVisible,
  };
};

/** Whether the caller can list all groups and identities. */
export const isComplete = (notVisible: readonly NotVisible[]): boolean =>
  !notVisible.some(({ kind }) => kind === "group" || kind === "identity");

const findHeld = (
  graph: AccessGraph,
  question: Question,
  isRead: (role: NodeId) => boolean,
): Pick<Held, "grants" | "unknown"> => {
  // A binding grants at its group and everywhere below: those at the group in question and above count.
  const lineage = question.group && new Set(lineageOf(graph, question.group.id));
  const isAsked = ({ identity, group }: { identity: NodeId; group: NodeId }): boolean =>
    (question.identity === undefined || identity === question.identity.id) &&
    (lineage === undefined || lineage.has(group));
  const access = accessIn(graph);
  const identities = question.identity ? [question.identity.id] : [...holdersIn(graph)];
  // Bindings are ordered, since their grants are many more.
  const bindings = worstFirst(
    identities.flatMap((identity) => access.bindingsOf(identity)).filter(isAsked),
    ({ id, identity, group, role }) => ({
      capabilities: capabilitiesIn(graph.roles, role),
      place: pathOf(graph, group),
      texts: [graph.identities.get(identity)?.name, identity, id],
    }),
  );
  const wanted = (capability: string): boolean => (question.capability ?? capability) === capability;
  return {
    grants: bindings.flatMap(({ id: binding, identity, group, role }) =>
      (graph.roles.get(role)?.capabilities ?? [])
        .filter(wanted)
        .toSorted(byEffect)
        .map((capability) => ({ identity, group, capability, role, binding })),
    ),
    unknown: bindings.filter(({ role }) => !isRead(role)),
  };
};

const holdersIn = ({ bindings }: AccessGraph): Set<NodeId> =>
  new Set(Array.from(bindings.values(), ({ identity }) => identity));

/** Whether a role's capabilities are known. Of one in a group whose roles cannot be listed, bindings show the name alone. */
export const roleReader = ({ roles }: AccessGraph, notVisible: readonly NotVisible[]): ((role: NodeId) => boolean) => {
  const hidden = new Set(notVisible.filter(({ kind }) => kind === "role").map(({ group }) => group));
  return (id) => {
    const role = roles.get(id);
    if (role === undefined || role.isUnlisted) return false;
    if (role.capabilities.length > 0) return true;
    return !hidden.has("") && (role.group === null || !hidden.has(role.group));
  };
};
