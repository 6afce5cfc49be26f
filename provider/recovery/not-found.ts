// What a NOT_FOUND means. Reads are eventually consistent: for 5 s after createTime, by the service's clock, NOT_FOUND is not evidence
// (docs/internals/faults.md#f18). After that it is evidence if the service knows the group that held the record. At a wrong address, or after the
// organization was deleted, everything is NOT_FOUND.
import type { CallOptions } from "../../client/client.ts";
import { addAdvice, apiErrorOf, hasCode, sessionErrorOf, withSection } from "../../client/errors.ts";
import { deleteRecord, getRecord, listPage, type RecordOperations } from "../../client/records.ts";
import type { Clock } from "../../client/retry.ts";
import {
  getOrInsert,
  isLoopbackUrl,
  isRoot,
  isUidp,
  type Json,
  parentOf,
  printable,
  resources,
  rootOf,
} from "../../schema/index.ts";
import type { Entry } from "../log/entry.ts";
import { createTimeOf, placeOfRecord } from "../record/id.ts";
import type { Kind } from "../record/kind.ts";
import { perSession } from "../run/ownership.ts";
import type { Session } from "../run/session.ts";

/** How long a new record may stay hidden from reads and lists. */
export const CREATION_GRACE_MS = 5_000;

/** The grace period in this session. */
export const graceMs = ({ isOnTwin }: Pick<Session, "isOnTwin">): number => (isOnTwin ? 0 : CREATION_GRACE_MS);

const POLL_MS = [250, 500, 1_000, 1_500, 2_000];

const isNotFound = (error: unknown) => hasCode(error, "NOT_FOUND");

/**
 * The result of `look`; undefined if it finds nothing once nothing can be hidden any more. `hiddenUntil` is that time by the monotonic
 * clock. It is read after each look, whose response may carry a newer service time.
 */
export const retryUntilVisible = async <T>(
  clock: Clock,
  look: () => Promise<T | undefined>,
  hiddenUntil: () => number,
): Promise<T | undefined> => {
  for (let count = 0; ; count += 1) {
    const beganMs = clock.now();
    const found = await look();
    if (found !== undefined) return found;
    const until = hiddenUntil();
    // The last look must begin after that time: an earlier one may have missed a hidden record.
    if (!(beganMs < until)) return undefined;
    await clock.sleep(pauseMs(clock, count, until));
  }
};

const pauseMs = (clock: Clock, count: number, until: number) =>
  Math.min(Math.max(0, until - clock.now()), POLL_MS[Math.min(count, POLL_MS.length - 1)] as number);

/** Repeats an attempt that fails with NOT_FOUND while the record, whose outputs are `stored`, is in its grace period. */
export const retryWhileNew = async <T>(session: Session, stored: Json, attempt: () => Promise<T>): Promise<T> => {
  const { clock } = session;
  for (let count = 0; ; count += 1) {
    const beganMs = clock.now();
    try {
      return await attempt();
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const ageMs = Math.max(0, (session.serverNow() ?? Infinity) - Date.parse(createTimeOf(stored)));
      const until = clock.now() + graceMs(session) - ageMs;
      if (!(beganMs < until)) throw error;
      await clock.sleep(pauseMs(clock, count, until));
    }
  }
};

/** Reads the record until it is visible, for at most `waitMs`; undefined when there is none. */
export const readWhenVisible = (
  kind: Kind,
  session: Session,
  uid: string,
  waitMs: number,
  options: CallOptions = {},
): Promise<Json | undefined> => {
  const until = session.clock.now() + waitMs;
  return retryUntilVisible(
    session.clock,
    () => unlessNotFound(getRecord(session, kind, uid, options)),
    () => until,
  );
};

const unlessNotFound = async <T>(answer: Promise<T>) => {
  try {
    return await answer;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

/** The record of a resource whose outputs are `stored`; undefined when it is deleted. Throws if that is not certain. */
export const readUnlessDeleted = async (
  kind: Kind,
  session: Session,
  uid: string,
  stored: Json,
): Promise<Json | undefined> => {
  try {
    return await retryWhileNew(session, stored, () => getRecord(session, kind, uid));
  } catch (error) {
    if (!isNotFound(error)) throw notDeleted(error);
    await confirmDeleted(kind, session, uid, "get");
    return undefined;
  }
};

/** Deletes the record. An already deleted record is not an error: an earlier attempt whose response was lost looks the same. */
export const deleteOrConfirm = async (kind: Kind, session: Session, uid: string, stored: Json): Promise<void> => {
  try {
    await retryWhileNew(session, stored, () => deleteRecord(session, kind, uid, stored.name));
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await confirmDeleted(kind, session, uid, "delete");
  }
};

/** Deletes a record that was just listed, so the service knows its group. */
export const deleteListed = (
  session: Session,
  kind: { word: string; operations: Pick<RecordOperations, "delete"> },
  uid: string,
): Promise<void> => unlessNotFound(deleteRecord(session, kind, uid));

/**
 * After a NOT_FOUND: throws if it does not prove the deletion. A root group is in no group that could prove it, so its read throws. Its
 * delete succeeds: a run that was killed after it must be able to continue.
 */
const confirmDeleted = async (kind: Kind, session: Session, uid: string, action: "get" | "delete"): Promise<void> => {
  const place = placeOfRecord(kind, uid);
  if (place === "") {
    if (action === "get") throw unknownOrganization(kind, uid, uid);
    return;
  }
  // For a tag, start at the group of its repo: deleting a repo deletes its tags.
  const above = kind.parent === "Group" ? place : parentOf(place);
  for (let parent = above; ; parent = parentOf(parent)) {
    try {
      await getRecord(session, resources.group, parent);
      return;
    } catch (error) {
      // The service checks permission before it looks anything up (AIP-211). So the NOT_FOUND of the delete came from a service
      // that knows the organization.
      if (action === "delete" && hasCode(error, "PERMISSION_DENIED")) return;
      if (!isNotFound(error)) throw notDeleted(error);
      if (isRoot(parent)) throw unknownOrganization(kind, uid, parent);
    }
  }
};

const notDeleted = (error: unknown) =>
  addAdvice(error, "PERMISSION_DENIED", "Permission denied is not treated as deletion.");

const unknownOrganization = (kind: Kind, uid: string, organization: string) => {
  const unknown = uid === organization ? "it is not known" : `neither it nor its organization ${organization} is known`;
  const text =
    `${kind.word} ${uid}: ${unknown} to the service; is irm:baseUrl the right ` +
    "address? If the organization was deleted, remove its resources from the state: pulumi state delete URN.";
  return new Error(withSection(text, "wrong-organization"));
};

/** Evidence that the service does not have an organization. */
export interface Absence {
  /** the end of a sentence */
  evidence: string;
  /** the organizations that the caller sees instead, for a person */
  visible: readonly string[];
}

/**
 * The evidence that the service does not have the organization; undefined if it has, or may have it. The service checks permission before
 * it looks anything up (AIP-211). So a denial is evidence only if the caller sees another organization and no group of this one.
 */
export const absenceOf = async (session: Session, organization: string): Promise<Absence | undefined> => {
  let isUnknown: boolean;
  try {
    await getRecord(session, resources.group, organization);
    return undefined;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    isUnknown = isNotFound(error);
  }
  if ((await groupsIn(session, { descendantsOf: organization })).length > 0) return undefined;
  const roots = (await groupsIn(session, { inRoot: true })).filter(({ uid }) => isUidp(uid) && isRoot(uid));
  const visible = roots.map(({ uid, name }) => `${uid} "${printable(String(name))}"`);
  if (isUnknown) return { evidence: "the service does not know it", visible };
  if (roots.length === 0 || roots.some(({ uid }) => uid === organization)) return undefined;
  const uids = roots.slice(0, 3).map(({ uid }) => uid);
  return { evidence: `these credentials see nothing of it, but ${uids.join(", ")}`, visible };
};

const isRefusal = (error: unknown) =>
  (isNotFound(error) || hasCode(error, "PERMISSION_DENIED")) && !sessionErrorOf(error);

const groupsIn = async (session: Session, uidp: Json): Promise<readonly (Json & { uid: string })[]> => {
  try {
    return (await listPage(session, resources.group.list, { uidp, pageSize: 10 })).records;
  } catch (error) {
    if (isRefusal(error)) return [];
    throw error;
  }
};

// Entries whose record cannot be read. A server without a database loses its organizations in a restart, and then answers like one that
// denies access (AIP-211). An entry of such an organization is dropped if its record cannot belong to the resource; otherwise a person
// decides, since the record may exist.

const absences = perSession(() => new Map<string, Promise<Absence | undefined>>());

/**
 * Why the entry, whose record gave this error, cannot belong to a resource in the group `parent` ("" at the root); undefined if it may.
 * Evidence that the service does not have the organization is not enough: other credentials may see it. So the resource must be in another
 * organization by now, or be an organization itself, at a server on the caller's machine.
 */
export const absentOrganization = async (
  session: Session,
  parent: string,
  entry: Entry,
  error: unknown,
): Promise<string | undefined> => {
  const organization = rootOf(entry.parent === "" ? (entry.uid ?? entry.answered ?? "") : entry.parent);
  if (!isUidp(organization) || !hasCode(apiErrorIn(error), "PERMISSION_DENIED")) return undefined;
  const isElsewhere = entry.parent !== "" && (parent === "" || rootOf(parent) !== organization);
  if (!isElsewhere && !(entry.parent === "" && isLoopbackUrl(session.service))) return undefined;
  const absence = getOrInsert(absences(session), organization, () => absenceOf(session, organization));
  const found = await absence.catch(() => undefined);
  return found === undefined
    ? undefined
    : `the organization ${organization} is not at ${session.service}: ${found.evidence}`;
};

/** The error with the journal's name and what to do, if the API refused to show the record of an entry. */
export const unreadableEntry = (session: Session, { key, uid, answered = uid }: Entry, error: unknown): unknown => {
  if (apiErrorIn(error) === undefined) return error;
  const { journal } = session;
  const what = answered === undefined ? "has a create of an interrupted run for it" : `names ${answered} for it`;
  const text =
    `${key}: the intent journal ${journal.pathFor(key)} ${what}, and the record cannot be read: ${(error as Error).message}\n` +
    "Use credentials that may read it. If it is gone, or belongs to somebody else: " +
    `${journal.cleanCommand(key)}. Until then nothing is created.`;
  return new Error(withSection(text, "unreadable-entry"), { cause: error });
};

/** The refusal of one request; undefined if every request would fail. */
const apiErrorIn = (error: unknown): Error | undefined => {
  if (!(error instanceof Error) || sessionErrorOf(error)) return undefined;
  return apiErrorOf(error) ?? apiErrorIn(error.cause);
};
