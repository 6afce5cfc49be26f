// Delete. A record that is already deleted needs no request. One that others block waits for the deletes of this run. An adopted record is
// kept. If a program gives plain uids, the engine does not know the order of deletion. So a group waits here for its children, and a role
// for its bindings, as long as their number falls.
import { apiErrorOf, apiText, hasCode, withSection } from "../../client/errors.ts";
import { type List, listAll, listPage } from "../../client/records.ts";
import { type ApiError, ancestorsOf, apiError, bulleted, getOrInsert, type Json } from "../../schema/index.ts";
import { recordId } from "../record/id.ts";
import { type Blockers, type Kind, recordText } from "../record/kind.ts";
import { KEY } from "../record/state.ts";
import { deleteOrConfirm } from "../recovery/not-found.ts";
import { perSession } from "../run/ownership.ts";
import type { Session } from "../run/session.ts";
import { forceDestroy, stillDeclared } from "./force-destroy.ts";
import { type Listing, listingOf } from "./listing.ts";

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;

/** Whether the record was adopted, and is kept when its resource is deleted. */
export const staysOnDelete = (outputs: Json): boolean => outputs.adopted === true && outputs.deleteAdopted !== true;

/** `stored` are the outputs in the state. Returns false if the record is kept. */
export const remove = async (kind: Kind, session: Session, id: string, stored: Json): Promise<boolean> => {
  const { clock, ownership } = session;
  const subject = () => recordText(kind, { ...stored, uid: id });
  if (staysOnDelete(stored)) {
    ownership.leave(recordId(kind.field, id));
    session.log(`${subject()} was adopted and is left in place; deleteAdopted: true deletes it with the resource`);
    return false;
  }
  if (!ownership.release(recordId(kind.field, id), stored[KEY], stored.adopted === true)) {
    session.log(`${subject()} stays: another resource of this stack manages it`);
    return false;
  }
  if (kind.deleteGuard && isForced(kind, stored)) await reportBlockers(kind, session, id, subject());
  const { [KEY]: key } = stored;
  const isRecorded = session.journal.recordsWrites && typeof key === "string";
  const write = isRecorded ? { kind: kind.field, uid: id, key } : undefined;
  if (write) await session.journal.beginWrite(write, session.serviceNow);
  const deletes = deletesOf(session);
  let mayForce = kind.supportsForceDestroy === "below" && stored.forceDestroy === true;
  let fewest = Infinity;
  let finished = deletes.counts.get(id) ?? 0;
  let lastProgress = clock.now();
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    // Before the attempt, so that it also catches a delete that finishes during the attempt.
    const next = deletes.next.promise;
    const blocked = await attemptRemoval(kind, session, id, stored);
    if (blocked === undefined) break;
    const blocking = await listBlocking(kind, session, id);
    const count = deletes.counts.get(id) ?? 0;
    if ((blocking.isComplete && blocking.count < fewest) || count > finished) lastProgress = clock.now();
    if (blocking.isComplete) fewest = Math.min(fewest, blocking.count);
    finished = count;
    const stalledMs = session.isOnTwin ? STALL_ON_TWIN_MS : STALL_TIMEOUT_MS;
    const remaining = lastProgress + stalledMs - clock.now();
    if (remaining > 0) await Promise.race([next, clock.sleep(Math.min(wait, remaining))]);
    else if (mayForce) {
      // Only once, when this run has nothing more to delete there.
      mayForce = false;
      await forceDestroy(session, id, stored);
    } else throw stillBlocked(kind, id, blocked, blocking, { mayForce: stored.forceDestroy !== true, stalledMs });
  }
  if (write) await session.journal.endWrite(write);
  if (kind.list.sharesUid) ownership.forget(recordId(kind.field, id));
  noteDeleted(session, id, kind.references?.(stored));
  return true;
};

/** Whether the service may delete other records along with this one. */
const isForced = (kind: Kind, stored: Json) => kind.supportsForceDestroy === "guarded" && stored.forceDestroy === true;

/** Deletes the record, or returns the error of one that is still blocked. */
export const attemptRemoval = async (
  kind: Kind,
  session: Session,
  id: string,
  stored: Json,
): Promise<ApiError | undefined> => {
  const guard = isForced(kind, stored) ? undefined : kind.deleteGuard;
  const refusal = guard && (await guardRefusal(kind, session, id, stored, guard));
  if (refusal) return refusal;
  try {
    await deleteOrConfirm(kind, session, id, stored);
    return undefined;
  } catch (error) {
    if (hasCode(error, "FAILED_PRECONDITION") && kind.blockers) return apiErrorOf(error);
    throw error;
  }
};

/** Why the record is not deleted: the service would delete others with it. Undefined if there are none. */
const guardRefusal = async (kind: Kind, session: Session, id: string, stored: Json, guard: string) => {
  if (await isCleared(kind, session, id)) return undefined;
  const { count, isComplete } = await listBlocking(kind, session, id);
  if (isComplete && count === 0) return undefined;
  const why = isComplete ? guard : "the records that would be deleted with it could not be listed";
  const text = stored.forceDestroy === true ? why : `${why}; forceDestroy: true deletes them too`;
  return apiError("FAILED_PRECONDITION", text, { operation: kind.operations.delete });
};

const reportBlockers = async (kind: Kind, session: Session, id: string, subject: string): Promise<void> => {
  const lines: string[] = [];
  const held: string[] = [];
  for (const { request, word, ...list } of kind.blockers?.(id) ?? [])
    for await (const record of listAll(session, list, request)) {
      (session.ownership.isHeld(record.uid) ? held : lines).push(recordText({ word }, record));
    }
  if (held.length > 0) throw stillDeclared(`${subject}: forceDestroy`, held);
  if (lines.length > 0)
    session.log(
      bulleted(
        `${subject}: forceDestroy deletes ${lines.length} ${lines.length === 1 ? "record" : "records"} with it:`,
        ...lines,
      ),
    );
};

/** The deletes of this process. They wake the deletes that wait for them: polling only would be slow. */
interface Deletes {
  /** how many have finished below a uid, or of records that referred to it */
  counts: Map<string, number>;
  /** the next one has finished */
  next: PromiseWithResolvers<void>;
}

export const deletesOf = perSession((): Deletes => ({ counts: new Map(), next: Promise.withResolvers() }));

/** A record is deleted; `references` are the uids that it referred to. */
export const noteDeleted = (session: Session, uid: string, references: readonly string[] = []): void => {
  const deletes = deletesOf(session);
  for (const one of new Set([...ancestorsOf(uid), ...references]))
    deletes.counts.set(one, (deletes.counts.get(one) ?? 0) + 1);
  deletes.next.resolve();
  deletes.next = Promise.withResolvers();
};

// A delete that would delete other records first checks whether there are any. One list without filters may clear many deletes: if it shows
// nothing about a record, it proves as much as a list for that record. It never refuses a delete.

// About as long as a retried delete takes after its own list.
const FRESH_MS = 2_000;

/** The deletes that share one list. */
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

/** Whether a recent list shows that nothing would be deleted with the record; false if unknown. */
const isCleared = async (kind: Kind, session: Session, uid: string) => {
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
  // For a single delete, its own list is the smaller response.
  if (sweep.deletes === 1) return false;
  sweep.waiting += 1;
  const turn = sweep.turn.then(() => readAffordable(sweep));
  sweep.turn = turn.catch(() => undefined);
  try {
    await turn;
  } catch {
    // The record's own list shows why.
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
  // A record that this run creates meanwhile may be one of them. Deletes do not matter.
  const writes = () => String(session.writes().others);
  return getOrInsert(sweepsOf(session), key, () => ({
    listing: listingOf(session, { list }, everyone, { freshMs: FRESH_MS, writes }),
    deletes: 0,
    waiting: 0,
    saved: 0,
    turn: Promise.resolve(),
  }));
};

/** Reads at most as many pages as the waiting deletes would need lists. */
const readAffordable = async (sweep: Sweep) => {
  const { listing } = sweep;
  listing.refresh();
  while (!listing.isComplete() && listing.pagesLeft() <= sweep.saved + sweep.waiting) {
    sweep.saved -= 1;
    await listing.next();
  }
};

// The records that block a deletion: those inside the record, and those that refer to it.

/** How long a delete waits without progress of other deletes of this run. */
const STALL_TIMEOUT_MS = 10_000;
/** A twin answers each of them within milliseconds. */
const STALL_ON_TWIN_MS = 2_000;

const SHOWN = 20;

interface Blocking {
  count: number;
  lines: string[];
  /** false when a list failed, so that the count means nothing */
  isComplete: boolean;
}

export const listBlocking = async (kind: Kind, session: Session, uid: string): Promise<Blocking> => {
  const parts = await Promise.all(
    (kind.blockers?.(uid) ?? []).map(async ({ request, word, ...list }): Promise<Blocking> => {
      try {
        const { records, totalCount } = await listPage(session, list, { ...request, pageSize: SHOWN });
        const lines = records.map((record) => recordText({ word }, record));
        return { count: totalCount ?? records.length, lines, isComplete: true };
      } catch (error) {
        // A failed list must not hide the reason of the failed delete.
        const cause = apiErrorOf(error);
        if (!cause) throw error;
        return { count: 0, lines: [`${list.plural}: could not be listed: ${apiText(cause)}`], isComplete: false };
      }
    }),
  );
  return {
    count: parts.reduce((sum, part) => sum + part.count, 0),
    lines: parts.flatMap(({ lines }) => lines),
    isComplete: parts.every(({ isComplete }) => isComplete),
  };
};

const stillBlocked = (
  kind: Kind,
  uid: string,
  error: ApiError,
  blocking: Blocking,
  { mayForce, stalledMs }: { mayForce: boolean; stalledMs: number },
): Error => {
  const head = `${error.operation} ${kind.word} ${uid}: ${apiText(error)}`;
  const text = [head, ...blockingText(blocking, stalledMs, mayForce && kind.supportsForceDestroy === "below")].join(
    "\n",
  );
  return new Error(withSection(text, "blocked"));
};

const blockingText = ({ count, lines }: Blocking, stalledMs: number, mayForce: boolean): string[] => {
  const stalled = `No progress for ${stalledMs / 1000} s`;
  if (lines.length === 0) return [`${stalled}, and the caller sees no record that blocks the deletion`];
  if (count === 0) return [bulleted(`${stalled}, and what blocks the deletion could not be listed:`, ...lines)];
  const shown = lines.slice(0, SHOWN);
  const more = count > shown.length ? [`and ${count - shown.length} more`] : [];
  const blocks = count === 1 ? "1 record blocks" : `${count} records block`;
  const force = mayForce ? " forceDestroy: true, once pulumi up has stored it, deletes it too." : "";
  return [
    bulleted(`${stalled}; ${blocks} the deletion:`, ...shown, ...more),
    `Delete what is listed, or declare it in this program, and run again.${force}`,
  ];
};
