// What the judgement of a request rests on.
import type { Change, IdOf } from "./change.ts";
import type { Facts } from "./facts.ts";
import type { Moves } from "./moves.ts";

export interface Rests {
  change: Change;
  facts: Facts;
  idOf: IdOf;
  moves: Moves;
}

/** A role that a subject holds in a group, by their uids. */
export interface Holding {
  group: string;
  role: string;
  /** of its role binding; absent: another record gives the role, or the request creates it */
  uid?: string;
}
