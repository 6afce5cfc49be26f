// The rows of access that a seal shows, and whether a row that a run would bring is among them.
import { type AccessGraph, lineageOf, type NodeId } from "../graph/graph.ts";
import { type AccessRow, accessChange } from "../review/change.ts";

export interface Rows {
  gains: readonly AccessRow[];
  losses: readonly AccessRow[];
}

const NONE: Rows = { gains: [], losses: [] };

export const rowsBetween = (before: AccessGraph, after: AccessGraph): ((identity: NodeId) => Rows) => {
  const rows = new Map(accessChange(before, after).map((one) => [one.identity, one]));
  return (identity) => rows.get(identity) ?? NONE;
};

/** The rows that none of `shown` covers. What is shown at a group is shown for everything below it. */
export const notShown = (
  rows: readonly AccessRow[],
  shown: readonly AccessRow[],
  graph: AccessGraph,
): readonly AccessRow[] => {
  const places = Map.groupBy(shown, ({ capability }) => capability);
  return rows.filter(({ group, capability }) => {
    const covered = new Set(places.get(capability)?.map((one) => one.group));
    return !lineageOf(graph, group).some((id) => covered.has(id));
  });
};
