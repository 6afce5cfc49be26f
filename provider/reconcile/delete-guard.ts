// A delete that would take other records along asks first whether there are any. One list without filters may clear many deletes: that
// it shows nothing of a record says as much as a list of that record alone. It never refuses one.
import type { List } from "../../client/paginate.ts";
import { getOrInsert, type Json } from "../../schema/index.ts";
import type { Blockers, Kind } from "../record/kind.ts";
import { perSession } from "../run/ownership.ts";
import type { Session } from "../run/session.ts";
import { type Listing, listingOf } from "./listing.ts";

// About as long as a delete that is retried takes after a list of its own.
const FRESH_MS = 2_000;

/** The deletes that one list is about. */
interface Sweep {
  listing: Listing;
  deletes: number;
  waiting: number;
  /** deletes that it cleared, less its pages */
  saved: number;
  /** the check before */
  turn: Promise<unknown>;
}

const sweepsOf = perSession(() => new Map<string, Sweep>());

/** Whether a recent list shows that nothing would be deleted with the record; false where that is not known. */
export const isCleared = async (kind: Kind, session: Session, uid: string): Promise<boolean> => {
  for (const blockers of kind.blockers?.(uid) ?? []) if (!(await isClearedOf(session, blockers))) return false;
  return true;
};

const isClearedOf = async (
  session: Session,
  { request: _, word: _word, among, ...list }: Blockers,
): Promise<boolean> => {
  if (!among) return false;
  const sweep = sweepFor(session, list, among.everyone);
  sweep.deletes += 1;
  // A list of one record alone is the smaller answer.
  if (sweep.deletes === 1) return false;
  sweep.waiting += 1;
  const turn = sweep.turn.then(() => readAffordable(sweep));
  sweep.turn = turn.catch(() => undefined);
  try {
    await turn;
  } catch {
    // Its own list says why.
    return false;
  } finally {
    sweep.waiting -= 1;
  }
  if (!sweep.listing.isComplete() || sweep.listing.all().some(among.isOne)) return false;
  sweep.saved += 1;
  return true;
};

const sweepFor = (session: Session, list: List, everyone: Json): Sweep => {
  const key = JSON.stringify([list.operation, everyone]);
  // What this run creates meanwhile may be one of them. What it deletes is none any more.
  const writes = () => String(session.writes().others);
  return getOrInsert(sweepsOf(session), key, () => ({
    listing: listingOf(session, { list }, everyone, { freshMs: FRESH_MS, writes }),
    deletes: 0,
    waiting: 0,
    saved: 0,
    turn: Promise.resolve(),
  }));
};

/** As many pages as the deletes that wait would take lists of their own. */
const readAffordable = async (sweep: Sweep): Promise<void> => {
  const { listing } = sweep;
  listing.refresh();
  while (!listing.isComplete() && listing.pagesLeft() <= sweep.saved + sweep.waiting) {
    sweep.saved -= 1;
    await listing.next();
  }
};
