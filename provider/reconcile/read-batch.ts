// Reads of a refresh, which asks for one record at a time. One list answers the reads that wait together: of their uids, or of the whole
// kind in their organization if that saves requests. All reads of a run together send at most one request each, so lists use the requests
// that earlier answers have saved. A record that a list lacks is read by its own GET; so is each record if lists fail.
import { isDeepStrictEqual } from "node:util";
import type { CallOptions } from "../../client/client.ts";
import { listPage } from "../../client/records.ts";
import { getOrInsert, isRoot, type Json, PAGE_SIZE_MAX, rootOf } from "../../schema/index.ts";
import { keepVolatile } from "../record/desired.ts";
import type { Kind } from "../record/kind.ts";
import { perSession } from "../run/ownership.ts";
import type { Session } from "../run/session.ts";
import { type Listing, listingOf } from "./listing.ts";

// A refresh reads in no particular order, so a read may return data as old as this.
const FRESH_MS = 60_000;
/** Most characters of the uids in one request: proxies take addresses of 8 KiB. */
const UIDS_MAX = 4_000;
/** A list of an organization may read at most this many pages for each read of its kind so far. */
const PAGES_PER_READ = 4;
/** After this many reads, one request may be borrowed: reads that never wait together save no requests to begin with. */
const READS_BEFORE_LOAN = 12;
// Lists of a fast service would exceed a limit of 50 requests a second.
const BURST = 20;
const LIST_INTERVAL_MS = 25;
/** A list that fails for this long is given up: its records can be read one by one. */
const LIST_ATTEMPTS_MS = 15_000;

interface Waiting {
  /** the answer, if the listing contains it; otherwise undefined */
  listed(listing: Listing): unknown;
  /** its own request; undefined: there is no such record */
  single(): Promise<unknown>;
  /** uid of the record; absent: the read is not of a single record */
  uid?: string;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** The reads of a run. */
interface Ledger {
  reads: number;
  /** answers of lists minus the lists: the number of requests saved */
  saved: number;
  /** when the next list may be sent without exceeding the rate, by the monotonic clock */
  nextListMs: number;
  places: Map<string, Place>;
}

/** The reads of one kind in one organization. */
interface Place {
  kind: Kind;
  reads: number;
  waiting: Waiting[];
  isServing: boolean;
  /** a record as its own GET shows it */
  sample: (Json & { uid: string }) | undefined;
  /** undefined until a list has shown the sample */
  listsLikeGet: boolean | undefined;
  listing: Listing;
  /** uids that were answered: a second read needs the current record */
  answered: Set<string>;
}

const ledgerOf = perSession((): Ledger => ({ reads: 0, saved: 0, nextListMs: -Infinity, places: new Map() }));

/** The record of the uid; `readSingly` reads it by its own GET, and interprets a NOT_FOUND. */
export const readInBatch = async (
  kind: Kind,
  session: Session,
  uid: string,
  readSingly: () => Promise<Json | undefined>,
): Promise<Json | undefined> => {
  // No list of an organization contains the organization.
  if (isRoot(uid)) return readSingly();
  const place = readsOf(kind, session, rootOf(uid));
  if (place.answered.has(uid)) return readSingly();
  place.answered.add(uid);
  return answerFor(session, place, {
    uid,
    listed: (listing) => (place.listsLikeGet ? listing.find(uid) : undefined),
    single: readSingly,
  });
};

/** The records of a kind in a group; `listSingly` lists them by themselves. */
export const childrenInBatch = async <T extends Json>(
  kind: Kind,
  session: Session,
  group: string,
  listSingly: () => Promise<readonly T[]>,
): Promise<readonly T[]> => {
  const place = readsOf(kind, session, rootOf(group));
  return answerFor(session, place, {
    listed: (listing) => (listing.isComplete() ? listing.childrenOf(group) : undefined),
    single: listSingly,
  });
};

const readsOf = (kind: Kind, session: Session, organization: string): Place =>
  getOrInsert(ledgerOf(session).places, `${kind.field} ${organization}`, () => ({
    kind,
    reads: 0,
    waiting: [],
    isServing: false,
    sample: undefined,
    listsLikeGet: undefined,
    listing: listingOf(
      session,
      kind,
      { uidp: { descendantsOf: organization } },
      {
        freshMs: FRESH_MS,
        writes: () => JSON.stringify(session.writes()),
      },
    ),
    answered: new Set(),
  }));

const answerFor = <T>(session: Session, place: Place, one: Pick<Waiting, "listed" | "single" | "uid">): Promise<T> =>
  new Promise((resolve, reject) => {
    ledgerOf(session).reads += 1;
    place.reads += 1;
    place.waiting.push({ ...one, resolve: resolve as Waiting["resolve"], reject });
    if (!place.isServing) void serve(session, place);
  });

// One at a time for a kind and organization: reads that arrive meanwhile are served together.
const serve = async (session: Session, place: Place): Promise<void> => {
  place.isServing = true;
  while (place.waiting.length > 0) {
    const waiting = place.waiting.splice(0);
    if (place.listsLikeGet === false) for (const one of waiting) void askSingly(one);
    else await serveTogether(session, place, waiting);
  }
  place.isServing = false;
};

const serveTogether = async (session: Session, place: Place, waiting: readonly Waiting[]): Promise<void> => {
  const first = place.sample ? undefined : waiting.find(({ uid }) => uid !== undefined);
  if (first) {
    place.sample = (await askSingly(first)) as Place["sample"];
    place.waiting.unshift(...waiting.filter((one) => one !== first));
    // If the first record cannot be read, nothing shows that lists are right.
    if (!place.sample) for (const one of place.waiting.splice(0)) void askSingly(one);
    return;
  }
  const left = new Set(waiting);
  try {
    await readPages(session, place, left);
    if (!place.listing.isComplete()) await readUids(session, place, left);
  } catch {
    // A list is refused, or fails: each record is read by its own GET, and reports its own error.
    place.listsLikeGet = false;
  }
  for (const one of left) void askSingly(one);
};

const askSingly = async ({ single, resolve, reject }: Waiting): Promise<unknown> => {
  try {
    const answer = await single();
    resolve(answer);
    return answer;
  } catch (error) {
    reject(error);
    return undefined;
  }
};

const readPages = async (session: Session, place: Place, left: Set<Waiting>): Promise<void> => {
  const ledger = ledgerOf(session);
  const { listing } = place;
  listing.refresh();
  answerListed(ledger, place, left);
  while (left.size > 0 && !listing.isComplete() && listing.pagesLeft() <= affordable(ledger, place, left)) {
    await beforeList(session);
    compareWithGet(place, await listing.next(attemptsOf(session)));
    if (place.listsLikeGet === false) return;
  }
  answerListed(ledger, place, left);
};

/** How many pages need no more requests than one GET for each read so far. */
const affordable = ({ saved, reads }: Ledger, place: Place, left: Set<Waiting>) => {
  const loan = reads > READS_BEFORE_LOAN ? 1 : 0;
  // One list of their uids would answer them.
  const together = [...left].filter(({ uid }) => uid !== undefined).length;
  return Math.min(PAGES_PER_READ * place.reads, saved + Math.max(0, together - 1) + loan);
};

const answerListed = (ledger: Ledger, { listing }: Place, left: Set<Waiting>) => {
  for (const one of left) {
    const answer = one.listed(listing);
    if (answer !== undefined) answerOne(ledger, left, one, answer);
  }
};

const answerOne = (ledger: Ledger, left: Set<Waiting>, one: Waiting, answer: unknown) => {
  left.delete(one);
  ledger.saved += 1;
  one.resolve(answer);
};

const readUids = async (session: Session, place: Place, left: Set<Waiting>): Promise<void> => {
  const { kind, sample } = place;
  for (const chunk of chunksOf([...left].filter(({ uid }) => uid !== undefined))) {
    if (chunk.length < 2 || !sample || place.listsLikeGet === false) return;
    const writes = JSON.stringify(session.writes());
    await beforeList(session);
    // Until a list has shown the sample, the list includes it.
    const ids = [...chunk.map(({ uid }) => uid), ...(place.listsLikeGet ? [] : [sample.uid])];
    const request = { ...kind.list.always, uidp: { ids }, pageSize: PAGE_SIZE_MAX };
    const { records } = await listPage(session, kind.list, request, attemptsOf(session));
    compareWithGet(place, records);
    const byUid = new Map(records.map((record) => [record.uid, record]));
    const shown = chunk.filter(({ uid }) => byUid.has(uid as string));
    const isUseful = place.listsLikeGet === true && JSON.stringify(session.writes()) === writes;
    if (isUseful) for (const one of shown) answerOne(ledgerOf(session), left, one, byUid.get(one.uid as string));
    // The caller may not list these, or the records are deleted: a list would only add a request.
    if (!place.listsLikeGet || shown.length * 2 < chunk.length) place.listsLikeGet = false;
  }
};

const chunksOf = (waiting: readonly Waiting[]): Waiting[][] => {
  const chunks: Waiting[][] = [];
  let size = Infinity;
  for (const one of waiting) {
    const length = (one.uid as string).length;
    if (size + length > UIDS_MAX) {
      chunks.push([]);
      size = 0;
    }
    chunks.at(-1)?.push(one);
    size += length;
  }
  return chunks;
};

/** A list that shows less than a GET, or something else, answers no read. */
const compareWithGet = (place: Place, records: readonly Json[]) => {
  const { kind, sample } = place;
  const listed = sample && records.find(({ uid }) => uid === sample.uid);
  if (listed) place.listsLikeGet = isDeepStrictEqual(keepVolatile(kind, listed, sample), sample);
};

const attemptsOf = ({ clock }: Session): CallOptions => ({
  attempts: { count: 0, until: clock.now() + LIST_ATTEMPTS_MS },
});

const beforeList = async (session: Session): Promise<void> => {
  const ledger = ledgerOf(session);
  const { clock, isOnTwin } = session;
  const now = clock.now();
  const atMs = Math.max(ledger.nextListMs, now - BURST * LIST_INTERVAL_MS);
  ledger.saved -= 1;
  ledger.nextListMs = atMs + LIST_INTERVAL_MS;
  if (atMs > now && !isOnTwin) await clock.sleep(atMs - now);
};
