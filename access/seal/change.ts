// The change that a seal shows, as two graphs.
import { type AccessGraph, lineageOf, type NodeId } from "../graph/graph.ts";
import { accessIn, type Grant } from "../graph/holds.ts";
import { type Rows, rowsBetween } from "./rows.ts";
import { graphFrom, type SealContent } from "./seal.ts";

/** The URN of the resource that created this record, as the seal has it; otherwise the uid. The kind may be left out where no other record has the uid. */
export type IdOf = (kind: string | undefined, uid: string) => NodeId;

export interface Change {
  before: AccessGraph;
  after: AccessGraph;
  rowsOf(identity: NodeId): Rows;
}

export const changeIn = (seal: Pick<SealContent, "before" | "after">): Change => {
  const [before, after] = [graphFrom(seal.before), graphFrom(seal.after)];
  return { before, after, rowsOf: rowsBetween(before, after) };
};

/** What an identity holds in `live` that it holds neither before nor after the change. */
export const heldBeyond = ({ before, after }: Change, live: AccessGraph): ((identity: NodeId) => Grant[]) => {
  const [was, is, now] = [accessIn(before), accessIn(after), accessIn(live)];
  return (identity) =>
    now.topmostOf(identity).filter(({ group, capability }) => {
      const lineage = lineageOf(live, group);
      return !was.holds(identity, capability, lineage) && !is.holds(identity, capability, lineage);
    });
};
