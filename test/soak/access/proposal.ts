// What a preview of a change proposes, from the document that the engine would print.
import { type AccessGraph, type NodeId, newGraph } from "../../../access/graph/graph.ts";
import type { Live } from "../../../access/graph/live.ts";
import { planFrom } from "../../../access/preview/plan.ts";
import { parsePreview } from "../../../access/preview/shape.ts";
import { reviewOf } from "../../../access/review/index.ts";
import type { Proposal } from "../../../access/review/proposal.ts";
import { previewDocument } from "../../support/preview-document.ts";
import { renameRecords } from "./renamed.ts";

/** The records that the change creates do not exist yet. `live`: what the caller sees, if not all. */
export const previewProposal = (
  organization: string,
  before: AccessGraph,
  after: AccessGraph,
  live: Live = { graph: before, notVisible: [] },
): Proposal => {
  const proposed = newGraph(after);
  const nodes = [proposed.groups, proposed.identities, proposed.roles, proposed.bindings] as Map<NodeId, Proposed>[];
  const known = [before.groups, before.identities, before.roles, before.bindings];
  nodes.forEach((own, i) => {
    for (const [id, node] of own)
      if (id.startsWith(organization) && !known[i]?.has(id)) own.set(id, { ...node, uid: null });
  });
  const document = JSON.stringify(previewDocument(before, proposed, { organization }));
  return planFrom(parsePreview(document, "the preview"), live);
};

type Proposed = { uid: string | null };

// The document names each resource by the uid that its record gets.
const uidIn = (id: NodeId): string => id.split("::").at(-1) as string;

/** The graph with the uids that the records of the proposal get. */
export const carriedOut = (graph: AccessGraph): AccessGraph => renameRecords(graph, uidIn);

/**
 * Texts `rule subject`, each once: two new records may have one name. `restored`: uids of bindings. Without paths, which the part `paths`
 * compares with requests, and without what is there while the update runs, which the part `seal` compares with updates that end early.
 */
export const findingsOf = (proposal: Proposal, restored: readonly string[]): string[] => {
  const nodes = [...proposal.after.bindings.keys()].filter((id) => restored.includes(uidIn(id)));
  const { report } = reviewOf({ ...proposal, restored: nodes }, { deny: [], allow: [], notVisible: [], nowMs: 0 });
  return [
    ...new Set(
      report.findings.flatMap(({ rule, subject, message }) =>
        rule === "opens-path" || message.includes("while the update runs") ? [] : [`${rule} ${subject}`],
      ),
    ),
  ].sort();
};
