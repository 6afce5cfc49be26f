// Recovers creates of interrupted runs: adopts the record that a create produced, and reports records that no resource manages.
import { sessionErrorOf, withoutSection, withSection } from "../../client/errors.ts";
import { placeText } from "../../client/records.ts";
import type { Json } from "../../schema/index.ts";
import { kindOfField } from "../kind/index.ts";
import type { Entry } from "../log/entry.ts";
import { changeOf, type Desired, fingerprintOf } from "../record/desired.ts";
import { placeOfRecord, recordId, recordLine } from "../record/id.ts";
import { type Kind, title, withArticle } from "../record/kind.ts";
import { shownOncePaths, withoutSecrets } from "../record/normal-form.ts";
import { argumentOf, KEY, outputsFrom } from "../record/state.ts";
import { SEND_TIME_MS } from "../run/journal.ts";
import { DATE_MS, type Session } from "../run/session.ts";
import { noteSuccess } from "./create.ts";
import { absentOrganization, unreadableEntry } from "./missing-organization.ts";
import { CREATION_GRACE_MS, deleteOrConfirm, readWhenVisible } from "./not-found.ts";
import {
  CLOCK_SKEW_MS,
  differentRecord,
  findCreated,
  type Judgement,
  judge,
  pickCreated,
  searchForEntry,
  undecidedRecord,
} from "./search.ts";

/** The record that an interrupted run created for this resource, and that the state lacks. */
export const recoverCreate = async (session: Session, desired: Desired): Promise<Json | undefined> => {
  const { kind, key } = desired;
  for (const entry of await session.journal.findUnsettled(key)) {
    // Read before the adoption rewrites the entry with its own time.
    const when = new Date(entry.at).toISOString();
    let record: Json | undefined;
    try {
      record = await recordOf(session, entry, desired);
    } catch (error) {
      const why = await absentOrganization(session, desired.parent, entry, error);
      if (why === undefined) throw unreadableEntry(session, entry, error);
      await session.journal.setAside(entry, why);
      continue;
    }
    const uid = record?.uid as string;
    if (record === undefined || session.ownership.creationRefusal(recordId(kind.field, uid), key)) {
      await session.journal.recordFailure(entry);
      continue;
    }
    // The run created it for another program, and the engine has lost it: it is deleted (provider/attribution), and another one is created.
    if (entry.run !== undefined && !kind.unique && !isAsked(desired, record)) {
      if (entry.uid !== uid) await noteSuccess(session, { entry, uid });
      await session.journal.leave(entry);
      continue;
    }
    requireAsked(session, desired, record);
    if (await discardUnshown(session, desired, record)) {
      await session.journal.recordFailure(entry);
      continue;
    }
    if (entry.uid !== uid) await noteSuccess(session, { entry, uid });
    session.log(`${key}: adopting ${kind.word} ${uid} ${title(record)}, created by an earlier run at ${when}`);
    return record;
  }
  return undefined;
};

/** Deletes a record whose lost response was the only one to show a field: whoever needs that field gets it of another record. */
export const discardUnshown = async (session: Session, { kind, key }: Desired, record: Json): Promise<boolean> => {
  const names = shownOncePaths(kind);
  if (names.length === 0) return false;
  const uid = record.uid as string;
  await deleteOrConfirm(kind, session, uid, { ...record, [KEY]: key });
  session.log(
    `${key}: an earlier run created ${kind.word} ${uid}, but the response that shows its ${names.join(", ")} was lost: it is deleted, and another one is created`,
  );
  return true;
};

/**
 * The journal is a file that others may be able to write, so its word is not enough: the record must be what the program asks for, as a
 * preview shows it. Throws where it differs, and a person decides.
 */
export const requireAsked = (session: Session, desired: Desired, record: Json): void => {
  if (isAsked(desired, record)) return;
  const { kind, key, args } = desired;
  const place = placeOfRecord(kind, record.uid as string);
  const { paths, replaces } = changeOf(desired, place, outputsFrom(kind, record, withoutSecrets(kind, args)));
  const names = new Set([...replaces, ...paths].map((path) => argumentOf(kind, path)));
  throw differentRecord(kind, session, key, record, [...names]);
};

/** Whether the record is exactly what the program asks for. */
export const isAsked = ({ kind, parent, choices, fingerprint }: Desired, record: Json): boolean =>
  placeOfRecord(kind, record.uid as string) === parent && fingerprintOf(kind, parent, record, choices) === fingerprint;

/** The program adopts `record`, which settles the entries that earlier runs left for the resource. */
export const settleByAdoption = async (kind: Kind, session: Session, key: string, record: Json): Promise<void> => {
  const uid = record.uid as string;
  for (const entry of await session.journal.findUnsettled(key)) {
    if (entry.run !== undefined && entry.uid !== uid) {
      await session.journal.leave(entry);
      continue;
    }
    if (entry.uid === undefined) {
      if (entry.answered !== uid) await reportAbandoned(session, entry, uid);
    } else if (entry.uid !== uid) {
      let named: Named | undefined;
      try {
        named = await judgeNamed(kind, session, entry);
      } catch (error) {
        // The resource has its record, so nothing waits for this one.
        if (sessionErrorOf(error)) throw error;
        await session.journal.setAside(
          entry,
          `${entry.uid} cannot be read (${withoutSection((error as Error).message)})`,
        );
        continue;
      }
      if (named?.is === "foreign") await session.journal.disown(entry, named.why);
      else if (named)
        session.log(`${key}: an earlier run created ${entry.uid} for it, and no resource manages that record now`);
    }
    await session.journal.recordFailure(entry);
  }
};

/** The record that an entry's create produced, if any. A record that the entry names counts only when it has what was requested. */
export const recordOf = async (
  session: Session,
  entry: Entry,
  desired: Desired,
  policy: RecoveryPolicy = UPDATE_POLICY,
): Promise<Json | undefined> => {
  const { kind } = desired;
  const named = await judgeNamed(kind, session, entry, policy);
  if (named?.is === "own") return named.record;
  if (named?.is === "foreign") await policy.disown(session, entry, named.why);
  const found = await search(session, entry, desired, policy);
  if (found || named?.is !== "undecided") return found;
  throw undecidedRecord(kind, session, entry, named.record, named.why);
};

/** How a search treats what is not certain: an update waits for hidden records and corrects the journal, and a preview does neither. */
export interface RecoveryPolicy {
  hiddenMs(session: Session, entry: Entry): Promise<number>;
  disown(session: Session, entry: Entry, why: string): Promise<void>;
}

type Named = (Judgement & { record: Json }) | { is: "foreign"; why: string };

/** Whether an entry's create produced the record that it names; undefined when it names none, or a deleted one. */
const judgeNamed = async (
  kind: Kind,
  session: Session,
  entry: Entry,
  policy: RecoveryPolicy = UPDATE_POLICY,
): Promise<Named | undefined> => {
  const uid = entry.uid ?? entry.answered;
  if (uid === undefined) return undefined;
  if (entry.kind !== kind.field) return { is: "foreign", why: `is recorded as ${withArticle(entry.kind)}` };
  const refusal = session.ownership.creationRefusal(recordId(kind.field, uid), entry.key);
  if (refusal) return { is: "foreign", why: refusal };
  // Checked before the read, which may be denied in another group.
  if (placeOfRecord(kind, uid) !== entry.parent) return { is: "foreign", why: `is not ${placeText(entry.parent)}` };
  const record = await readWhenVisible(kind, session, uid, await policy.hiddenMs(session, { ...entry, uid }));
  return record && { ...judge(kind, entry, record), record };
};

/**
 * How long the record of the entry's create may still be hidden, by the service's clock, which has whole seconds. The process may have
 * died a second ago, with its request still under way.
 */
export const hiddenMsOf = async (session: Session, { uid, at }: Entry): Promise<number> => {
  if (session.isOnTwin) return 0;
  const underWayMs = uid === undefined ? session.requestTimeoutMs : 0;
  const ageMs = Math.max(0, (await session.serviceNow()) - at - SEND_TIME_MS - DATE_MS);
  return Math.max(0, underWayMs + CREATION_GRACE_MS - ageMs);
};

const UPDATE_POLICY: RecoveryPolicy = {
  hiddenMs: hiddenMsOf,
  disown: (session, entry, why) => session.journal.disown(entry, why),
};

const search = async (
  session: Session,
  entry: Entry,
  { kind, parent, args }: Desired,
  policy: RecoveryPolicy,
): Promise<Json | undefined> => {
  const isSame = entry.inputs === fingerprintOf(kind, parent, args, entry.given);
  const filters = isSame ? kind.filters(args) : undefined;
  const waitMs = await policy.hiddenMs(session, entry);
  // The record of the response existed by then, so a later one is of another create.
  const notAfter = entry.uid === undefined ? undefined : entry.at + DATE_MS + CLOCK_SKEW_MS;
  const found = await searchForEntry(kind, session, entry, { filters, waitMs, notAfter });
  return pickCreated(kind, session, found, entry);
};

/**
 * Reports creates whose outcome is unknown, with the records each may have produced (docs/faults.md#l1). It does so on the first read
 * or delete of a process, for the stack of this resource. An up settles the creates that the program declares.
 */
export const reportPendingCreates = async (session: Session, pending: readonly Entry[]): Promise<void> => {
  for (const entry of pending) {
    const { text } = await describeCandidates(session, entry, 0);
    const advice =
      "The next pulumi up that declares the resource resolves it. If no program declares it, delete the records that no resource manages, then run: " +
      session.journal.cleanCommand(entry.key);
    session.log(withSection(`${text}\n${advice}`, "open"));
  }
};

// The resource adopts another record, so this searches until no new one can be hidden any more.
const reportAbandoned = async (session: Session, entry: Entry, taken: string): Promise<void> => {
  const { text, count } = await describeCandidates(session, entry, await hiddenMsOf(session, entry), taken);
  session.log(count === 0 ? text : `${text}\nNo resource manages it now.`);
};

const describeCandidates = async (session: Session, entry: Entry, waitMs: number, taken?: string) => {
  const { key, parent, at } = entry;
  const kind = kindOfField(entry.kind);
  const word = kind?.word ?? entry.kind;
  const head = `${key}: the outcome of a create at ${new Date(at).toISOString()} is unknown: it may have created ${withArticle(word)} ${placeText(parent)}`;
  // A later version wrote the entry.
  if (!kind) return { text: head, count: 1 };
  let found: Json[];
  try {
    const except = new Set(taken === undefined ? [] : [taken]);
    [found = []] = await findCreated(kind, session, [entry], { waitMs, except });
  } catch (error) {
    return { text: `${head}; the search for it failed: ${(error as Error).message}`, count: 1 };
  }
  if (found.length === 0) return { text: `${head}; no such record exists now`, count: 0 };
  const lines = found.map((record) => recordLine(kind, record));
  return { text: [`${head}; it may be:`, ...lines].join("\n  - "), count: found.length };
};
