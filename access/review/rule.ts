// The input and the findings of a rule. A rule fires on effects of the change, never on existing facts.

import { getOrInsert } from "../../schema/index.ts";
import { byBreadth, byEffect } from "../graph/danger.ts";
import type { IdentityChange } from "../graph/effective-access.ts";
import { type AccessGraph, groupNameOf, type IdentityNode, isOrganization, type NodeId } from "../graph/graph.ts";
import type { Path } from "../paths/path.ts";
import type { Budget } from "../pattern/budget.ts";
import { shortList } from "../text.ts";
import type { Proposal } from "./proposal.ts";
import type { FindingList } from "./report.ts";
import type { Transient } from "./transient.ts";

export interface Found {
  /** an identity, or an organization */
  subject: NodeId;
  message: string;
  /** of several parts */
  list?: FindingList;
}

export interface RuleInput extends Proposal {
  changes: readonly IdentityChange[];
  /** everything that may exist at some moment of the update (transient.ts) */
  most: AccessGraph;
  /** rows of `most` that exist only in between */
  transient: readonly Transient[];
  /** identities whose relationship the change sets: new ones, and those that get another */
  reassumed: readonly IdentityNode[];
  /** pairs of a deleted identity and its replacement */
  replacements: readonly { old: IdentityNode; new: IdentityNode }[];
  /** paths to more access that the change opens */
  opened: readonly Path[];
  /** total steps of all questions about patterns */
  budget: Budget;
}

/** The access that someone gains or holds, in words: its capabilities, the worst first, and the places. */
export const heldText = (
  graph: AccessGraph,
  rows: readonly { group: NodeId; capability: string }[],
): { capabilities: string[]; places: string } => {
  const places = [...new Set(rows.map(({ group }) => group))].map((group) => groupNameOf(graph, group)).sort(byBreadth);
  return {
    capabilities: [...new Set(rows.map(({ capability }) => capability))].sort(byEffect),
    places: shortList(places, 3, " groups"),
  };
};

// The owners of an organization: identities with the role owner on the organization itself. People count only if they have identities.

/** The owners of each organization that has any. */
export const ownersIn = (graph: AccessGraph): Map<NodeId, Set<NodeId>> => {
  const owners = new Map<NodeId, Set<NodeId>>();
  for (const { group, identity, role } of graph.bindings.values()) {
    const { name, group: place } = graph.roles.get(role) ?? {};
    const isOwner = name === "owner" && place === null && graph.identities.has(identity);
    if (!isOwner || !isOrganization(graph, group)) continue;
    getOrInsert(owners, group, () => new Set()).add(identity);
  }
  return owners;
};

// A text of several parts: one for machines and for a line, and a sentence with a list.

/** `lead: one; other`; if there is one part, a sentence without a list. */
export const textOfList = (lead: string, items: readonly string[]): { message: string; list?: FindingList } => {
  const message = `${lead}${items.length > 0 && lead !== "" ? " " : ""}${items.join("; ")}`;
  return items.length > 1 ? { message, list: { lead, items: [...items] } } : { message };
};
