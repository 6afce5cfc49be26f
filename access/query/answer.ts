// "Where can this act", "who can act here", "who can do this": the grants that a question asks for.

import { byEffect, capabilitiesIn, worstFirst } from "../graph/danger.ts";
import { type AccessGraph, type BindingNode, lineageOf, type NodeId, pathOf } from "../graph/graph.ts";
import type { Live, NotVisible } from "../graph/live.ts";
import { peopleGraph } from "../graph/people.ts";
import { type Question, type QuestionText, resolveQuestion } from "./question.ts";

export interface HeldBinding extends BindingNode {
  /** the requested ones, the worst first; undefined: the role cannot be read, so its grants are unknown */
  capabilities: readonly string[] | undefined;
}

export type Answer = ReturnType<typeof answerOf>;

/** Throws a QuestionError with all problems of the question. `nowMs`: invites that have ended by then are left out. */
export const answerOf = ({ graph, notVisible }: Live, text: QuestionText, nowMs = 0) => {
  const question = resolveQuestion(graph, text, isComplete(notVisible));
  const isRead = roleReader(graph, notVisible);
  const people = peopleGraph(graph, nowMs);
  const heldByPeople = question.identity ? [] : heldIn(people, question, isRead);
  return {
    graph,
    question,
    /** the worst binding first */
    held: heldIn(graph, question, isRead),
    /** the access of people without an identity, if the question does not name an identity */
    people: { graph: people, held: heldByPeople },
    notVisible,
  };
};

/** Whether the caller can list all groups and identities. */
export const isComplete = (notVisible: readonly NotVisible[]): boolean =>
  !notVisible.some(({ kind }) => kind === "group" || kind === "identity");

const heldIn = (graph: AccessGraph, question: Question, isRead: (role: NodeId) => boolean): HeldBinding[] => {
  // A binding grants at its group and everywhere below: bindings at the group in question and above count.
  const lineage = question.group && new Set(lineageOf(graph, question.group.id));
  const isAsked = ({ identity, group }: BindingNode) =>
    identity === (question.identity?.id ?? identity) && (lineage?.has(group) ?? true);
  // Sorts bindings instead of grants, which are many more.
  const bindings = bindingsInOrder(graph, [...graph.bindings.values()].filter(isAsked));
  return bindings.flatMap((binding): HeldBinding[] => {
    if (!isRead(binding.role)) return [{ ...binding, capabilities: undefined }];
    const all = graph.roles.get(binding.role)?.capabilities ?? [];
    const capabilities = all.filter((one) => one === (question.capability ?? one)).sort(byEffect);
    return capabilities.length === 0 ? [] : [{ ...binding, capabilities }];
  });
};

/** The worst first. */
export const bindingsInOrder = (graph: AccessGraph, bindings: readonly BindingNode[]): BindingNode[] =>
  worstFirst(bindings, ({ id, identity, group, role }) => ({
    capabilities: capabilitiesIn(graph.roles, role),
    place: pathOf(graph, group),
    texts: [graph.identities.get(identity)?.name, identity, id],
  }));

/** Whether a role's capabilities are known. If the roles of its group cannot be listed, bindings show only the name. */
export const roleReader = ({ roles }: AccessGraph, notVisible: readonly NotVisible[]): ((role: NodeId) => boolean) => {
  const hidden = new Set(notVisible.filter(({ kind }) => kind === "role").map(({ group }) => group));
  return (id) => {
    const role = roles.get(id);
    if (role === undefined || role.isUnlisted) return false;
    if (role.capabilities.length > 0) return true;
    return !hidden.has("") && (role.group === null || !hidden.has(role.group));
  };
};
