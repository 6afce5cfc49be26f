// Leftovers of open runs: records that they created and no resource has, each with its create. A leftover is deleted only if it is exactly
// the record that the create requested, at that time. The journal is a file, so it is not sufficient proof.
import { apiText } from "../../client/errors.ts";
import { forEachOf } from "../../client/in-parallel.ts";
import { NOT_VISIBLE_YET } from "../../client/preview-marks.ts";
import { isUidp, type Json } from "../../schema/index.ts";
import { kindOfField, kindRecords } from "../kind/index.ts";
import type { Entry, Write } from "../log/entry.ts";
import { attemptRemoval, listBlocking } from "../reconcile/delete.ts";
import { readInBatch } from "../reconcile/read-batch.ts";
import { fingerprintOf } from "../record/desired.ts";
import { createTimeOf, placeOfRecord, recordId } from "../record/id.ts";
import type { Kind } from "../record/kind.ts";
import { KEY } from "../record/state.ts";
import { noteFailure } from "../recovery/create.ts";
import { hiddenMsOf, type Sent, searchOf } from "../recovery/evidence.ts";
import { CREATION_GRACE_MS, readUnlessDeleted } from "../recovery/not-found.ts";
import { CLOCK_SKEW_MS, findCreated, isSince, judge } from "../recovery/search.ts";
import { withRecoveryWait } from "../recovery/wait.ts";
import { SEND_TIME_MS } from "../run/journal.ts";
import { DATE_MS, type Session } from "../run/session.ts";

export interface Leftover extends Sent {
  /** undefined: a later version wrote the entry */
  kind?: Kind;
  /** absent: it may exist, but is not visible yet */
  record?: Json & { uid: string };
  /** why it is not certain that the run created it, or that it is still as created */
  doubt?: string;
  /** how long it may still appear or arrive */
  hiddenMs?: number;
}

/** The creates. Each names its record if that is certain, even if no response named it. */
export const createsOf = (leftovers: readonly Leftover[]): Entry[] =>
  leftovers.map(({ entry, record, doubt }) =>
    record !== undefined && doubt === undefined ? { ...entry, uid: record.uid } : entry,
  );

export interface About {
  /** later changes of the open runs to records that they created, by the id of the record */
  changed: ReadonlyMap<string, Write>;
  /** whether a resource of the state has the record of this id */
  isStored(id: string): boolean;
}

export const findLeftovers = async (session: Session, sent: readonly Sent[], about: About) => {
  const found = await Promise.all(sent.map((one) => leftoversOf(session, one, sent, about)));
  return {
    leftovers: found.flat(),
    /** creates of the journal that certainly have no record */
    gone: sent.flatMap(({ entry, operation }, i) => (found[i]?.length === 0 && !operation ? [entry] : [])),
  };
};

/** The leftovers, once no more of their records can appear. */
export const awaitLeftovers = async (
  session: Session,
  leftovers: readonly Leftover[],
  about: About,
): Promise<Leftover[]> => {
  const hidden = leftovers.filter(({ hiddenMs }) => hiddenMs !== undefined);
  const [first] = hidden;
  if (!first) return [...leftovers];
  const waitMs = Math.max(...hidden.map(({ hiddenMs = 0 }) => hiddenMs));
  await withRecoveryWait(session, first.entry.key, (patient) => patient.clock.sleep(waitMs));
  const found = await findLeftovers(session, hidden, about);
  await noteFailure(session, ...found.gone);
  return [...leftovers.filter((one) => !hidden.includes(one)), ...found.leftovers];
};

/** The records of a create; none where it certainly has no record. `all`: the creates that a record may be of. */
const leftoversOf = async (session: Session, one: Sent, all: readonly Sent[], about: About): Promise<Leftover[]> => {
  const { entry, operation, desired } = one;
  const sent = { entry, ...(operation && { operation, desired }) };
  const kind = kindOfField(entry.kind);
  if (!kind) return [{ ...sent, doubt: "a later version of this package recorded it" }];
  try {
    const isNamed = entry.uid !== undefined;
    const found = await (isNamed
      ? findNamed(session, sent, kind, about)
      : findPending(session, sent, kind, all, about));
    if (found.length > 0) return found;
    const hiddenMs = await hiddenMsOf(session, sent);
    const doubt = isNamed ? NOT_VISIBLE_YET : "its request may still arrive";
    return hiddenMs > 0 ? [{ ...sent, kind, hiddenMs, doubt }] : [];
  } catch (error) {
    return [{ ...sent, kind, ...unreadable(error) }];
  }
};

const AMBIGUOUS = "others are like it, and one of them may belong to someone else";

export const unreadable = (error: unknown): Pick<Leftover, "doubt"> => ({
  doubt: `it cannot be read (${(error as Error).message})`,
});

const findNamed = async (session: Session, sent: Sent, kind: Kind, { changed }: About) => {
  const uid = sent.entry.uid as string;
  const record = await readInBatch(kind, session, uid, () => readUnlessDeleted(kind, session, uid, {}));
  return record ? [leftoverFrom(session, sent, kind, record, changed)] : [];
};

/** The first of several equal creates takes the first record, and so on. */
const findPending = async (
  session: Session,
  sent: Sent,
  kind: Kind,
  all: readonly Sent[],
  { isStored }: About,
): Promise<Leftover[]> => {
  const { entry, operation } = sent;
  const [found = []] = await findCreated(kind, session, [entry], searchOf(session, sent));
  const records = found.filter(
    (record) =>
      !isStored(recordId(kind.field, record.uid as string)) && (operation === undefined || isSince(entry, record)),
  );
  const { kind: field, parent, inputs } = entry;
  const likeIt = all.filter(
    ({ entry: other }) =>
      other.uid === undefined && other.kind === field && other.parent === parent && other.inputs === inputs,
  );
  const alike = [...new Set(likeIt.map(identityOf))];
  const at = alike.indexOf(identityOf(sent));
  const own = records.slice(at, at === alike.length - 1 ? undefined : at + 1);
  return own.map((record) => {
    const leftover = leftoverFrom(session, sent, kind, record, new Map());
    return records.length <= alike.length ? leftover : { ...leftover, doubt: AMBIGUOUS };
  });
};

/** Two killed runs on lost machines may have begun the same create. */
const identityOf = ({ entry, operation }: Sent) => (operation ? entry.key : entry.intent);

const leftoverFrom = (
  session: Session,
  sent: Sent,
  kind: Kind,
  record: Json,
  changed: ReadonlyMap<string, Write>,
): Leftover => {
  const { entry, operation } = sent;
  const own = { ...sent, kind, record: record as Leftover["record"] & object };
  const write = changed.get(recordId(kind.field, own.record.uid));
  const isAsChanged =
    write?.to !== undefined &&
    placeOfRecord(kind, own.record.uid) === entry.parent &&
    fingerprintOf(kind, entry.parent, record, write.given ?? []) === write.to;
  const judgement = judge(kind, entry, record);
  if (judgement.is !== "own" && !(isAsChanged && judgement.is !== "foreign")) return { ...own, doubt: judgement.why };
  // The search for such a create has its own end.
  if (operation) return own;
  // A named record existed when its response arrived, and others by the end of their request.
  const latest = entry.uid === undefined ? session.requestTimeoutMs + CREATION_GRACE_MS : 0;
  const isLater = Date.parse(createTimeOf(record)) > entry.at + latest + SEND_TIME_MS + DATE_MS + CLOCK_SKEW_MS;
  return isLater ? { ...own, doubt: "it was created later" } : own;
};

/** Records that others depend on come last: the records that refer to them, or are below them, are deleted first. */
const inDeletionOrder = (leftovers: readonly Leftover[]) => {
  const kinds = Object.values(kindRecords);
  const rankOf = ({ kind }: Leftover) => (kind ? kinds.indexOf(kind) : kinds.length);
  const depthOf = ({ record }: Leftover) => (isUidp(record?.uid) ? record.uid.split("/").length : 0);
  return leftovers.toSorted((a, b) => rankOf(b) - rankOf(a) || depthOf(b) - depthOf(a));
};

// Deletes each leftover as soon as nothing blocks it, and names the leftovers that others block.

export interface Removal {
  removed: Leftover[];
  /** with the reason */
  failed: { leftover: Leftover; reason: string }[];
}

/** Deletes only `leftovers` without a doubt. */
export const removeLeftovers = async (session: Session, leftovers: readonly Leftover[]): Promise<Removal> => {
  const removed: Leftover[] = [];
  let open = inDeletionOrder(leftovers.filter(({ record, doubt }) => record !== undefined && doubt === undefined));
  let failed: Removal["failed"] = [];
  for (let isProgress = true; isProgress && open.length > 0; ) {
    failed = [];
    // Records of one kind and depth do not block each other.
    const levels = Map.groupBy(open, ({ kind, record }) => `${kind?.field} ${record?.uid.split("/").length}`);
    for (const level of levels.values())
      await forEachOf(level, async (one) => {
        const reason = await removeOne(session, one);
        if (reason === undefined) removed.push(one);
        else failed.push({ leftover: one, reason });
      });
    isProgress = failed.length < open.length;
    open = failed.map(({ leftover }) => leftover);
  }
  return { removed, failed };
};

/** Returns why it is still there. */
const removeOne = async (session: Session, { entry, kind, record }: Leftover): Promise<string | undefined> => {
  if (!kind || !record) return "it is not known";
  const { uid } = record;
  if (!session.ownership.release(recordId(kind.field, uid), entry.key)) return "a resource has adopted it";
  try {
    const blocked = await attemptRemoval(kind, session, uid, { ...(record as Json), [KEY]: entry.key });
    if (blocked) {
      const { lines } = await listBlocking(kind, session, uid);
      return [apiText(blocked), ...lines].join("; ");
    }
  } catch (error) {
    return (error as Error).message;
  }
  // The journal has no create of a lost machine.
  if (entry.run !== undefined) await noteFailure(session, entry);
  return undefined;
};
