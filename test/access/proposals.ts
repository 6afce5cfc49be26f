// Proposals that tests write by hand.
import type { GraphBuilder } from "../../access/graph/graph.ts";
import type { Proposal } from "../../access/review/proposal.ts";

/** The change from one graph to another, with what two graphs cannot say in `further`. */
export const proposalBetween = (
  before: GraphBuilder,
  after: GraphBuilder,
  further: Partial<Proposal> = {},
): Proposal => ({
  before,
  after,
  replaced: new Map(),
  restored: [],
  adopted: [],
  forced: [],
  deleted: new Set(),
  undeclared: [],
  unknown: [],
  ...further,
});
