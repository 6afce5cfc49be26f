// What the judgement of a request rests on.
import type { NodeId } from "../graph/graph.ts";
import type { AccessRow } from "../review/change.ts";
import type { Change, IdOf } from "./change.ts";
import type { Facts } from "./facts.ts";

export interface Rests {
  change: Change;
  facts: Facts;
  idOf: IdOf;
  /** An earlier run has created this role binding for a resource of the seal, and the engine has stored that. */
  isStored(uid: string): Promise<boolean>;
  /** what this run has given and taken, by subject: it may take the one back, and give the other again */
  moved: Map<NodeId, { gains: readonly AccessRow[]; losses: readonly AccessRow[] }>;
}

/** A role that a subject holds in a group, by their uids. */
export interface Holding {
  group: string;
  role: string;
  /** of its role binding; absent: another record gives the role, or the request creates it */
  uid?: string;
}
