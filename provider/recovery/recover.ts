// Recovers creates of interrupted runs: adopts the record that a create produced, and reports records that no resource manages.
import { sessionErrorOf, withoutSection, withSection } from "../../client/errors.ts";
import { placeText } from "../../client/records.ts";
import { bulleted, type Json } from "../../schema/index.ts";
import { kindOfField } from "../kind/index.ts";
import type { Entry } from "../log/entry.ts";
import { changeOf, type Desired, fingerprintOf } from "../record/desired.ts";
import { createTimeOf, placeOfRecord, recordId, recordLine } from "../record/id.ts";
import { type Kind, title, withArticle } from "../record/kind.ts";
import { shownOncePaths, withoutSecrets } from "../record/normal-form.ts";
import { argumentOf, KEY, outputsFrom } from "../record/state.ts";
import type { Session } from "../run/session.ts";
import { noteSuccess } from "./create.ts";
import { attribute, evidenceFor, hiddenMsOf, judgeNamed, type Sent, UPDATE_POLICY } from "./evidence.ts";
import { absentOrganization, deleteOrConfirm, unreadableEntry } from "./not-found.ts";
import { settleOperations } from "./pending-operations.ts";
import { differentRecord, findCreated } from "./search.ts";
import { withRecoveryWait } from "./wait.ts";

/** The outcome for a record that a killed run created for a resource. */
type Fate =
  /** The resource adopts it. */
  | "adopted"
  /** The program has changed so that no update leads there: another one is created, and then this one is deleted. */
  | "replaced"
  /** The run created it for another program, and the engine has lost it: it is deleted (provider/attribution), and another one is created. */
  | "left"
  /** The lost response was the only one to show a field: it is deleted, and resources that need the field get it from another record. */
  | "unshown"
  /** A resource manages it. */
  | "foreign";

/**
 * Throws if the program asks for a record other than the one that the journal names. `isKnown`: false if a preview does not know the whole
 * desired record.
 */
export const fateOf = (
  session: Session,
  desired: Desired,
  { entry, operation }: Sent,
  record: Json,
  isKnown = true,
): Fate => {
  const { kind, key } = desired;
  if (session.ownership.creationRefusal(recordId(kind.field, record.uid as string), key)) return "foreign";
  // The journal is a file that others may be able to write, so it is not sufficient proof. The record must match the program, as a preview
  // shows it.
  if (isKnown && !operation && !isAsked(desired, record)) {
    if (entry.run !== undefined && !kind.unique) return "left";
    const { paths, replaces } = changeTo(desired, record);
    const names = new Set([...replaces, ...paths].map((path) => argumentOf(kind, path)));
    throw differentRecord(kind, session, key, record, [...names]);
  }
  if (shownOncePaths(kind).length > 0) return "unshown";
  return isKnown && operation && changeTo(desired, record).replaces.length > 0 ? "replaced" : "adopted";
};

interface Recovered {
  record: Json;
  isReplaced: boolean;
}

/** The record that an interrupted run created for this resource, and that the state lacks. */
export const recoverCreate = async (session: Session, desired: Desired): Promise<Recovered | undefined> => {
  const { kind, key } = desired;
  for (const sent of await evidenceFor(session, key, async () => desired, UPDATE_POLICY)) {
    const [{ entry, operation }] = sent as [Sent];
    // Read before the adoption rewrites the entry with its own time.
    const sentAt = new Date(entry.at).toISOString();
    const recover = () => withRecoveryWait(session, key, (patient) => recoverOne(patient, desired, sent));
    // Equal creates are searched for in turn. No record is taken twice.
    const recovered = await (operation ? session.turns.take(`interrupted ${entry.inputs}`, recover) : recover());
    if (!recovered) continue;
    const { record, isReplaced } = recovered;
    const at = operation ? createTimeOf(record) : sentAt;
    const text = `adopting ${kind.word} ${record.uid} ${title(record)}, created by an earlier run at ${at}`;
    if (!isReplaced) session.log(`${key}: ${text}`);
    return recovered;
  }
  return undefined;
};

const recoverOne = async (
  session: Session,
  desired: Desired,
  sent: readonly Sent[],
): Promise<Recovered | undefined> => {
  const { key, parent } = desired;
  const [first] = sent as readonly [Sent];
  const { entry, operation } = first;
  let record: Json | undefined;
  try {
    record = await attribute(session, sent, desired, UPDATE_POLICY);
  } catch (error) {
    if (operation) throw error;
    const why = await absentOrganization(session, parent, entry, error);
    if (why === undefined) throw unreadableEntry(session, entry, error);
    await session.journal.setAside(entry, why);
    return undefined;
  }
  const fate = record && fateOf(session, desired, first, record);
  if (record && fate === "unshown") await deleteUnshown(session, desired, record);
  if (operation) await settleOperations(session, key, (one) => one.action === "creating" && one.key === key);
  else await settleEntry(session, entry, fate, record);
  return record && (fate === "adopted" || fate === "replaced")
    ? { record, isReplaced: fate === "replaced" }
    : undefined;
};

const settleEntry = async (
  session: Session,
  entry: Entry,
  fate: Fate | undefined,
  record: Json = {},
): Promise<void> => {
  if (fate !== "adopted" && fate !== "left") return session.journal.recordFailure(entry);
  const uid = record.uid as string;
  if (entry.uid !== uid) await noteSuccess(session, { entry, uid });
  if (fate === "left") await session.journal.leave(entry);
};

const deleteUnshown = async (session: Session, { kind, key }: Desired, record: Json) => {
  const uid = record.uid as string;
  await deleteOrConfirm(kind, session, uid, { ...record, [KEY]: key });
  session.log(
    `${key}: an earlier run created ${kind.word} ${uid}, but the response that shows its ${shownOncePaths(kind).join(", ")} was lost: ` +
      "it is deleted, and another one is created",
  );
};

/** The necessary changes to the record. Its secrets cannot be read, so they count as changed. */
const changeTo = (desired: Desired, record: Json) => {
  const { kind, args } = desired;
  return changeOf(
    desired,
    placeOfRecord(kind, record.uid as string),
    outputsFrom(kind, record, withoutSecrets(kind, args)),
  );
};

/** Whether the record exactly matches the program. */
const isAsked = ({ kind, parent, choices, fingerprint }: Desired, record: Json) =>
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
      if (entry.answered !== uid) {
        // The resource adopts another record, so this searches until no new one can be hidden any more.
        const waitMs = await hiddenMsOf(session, { entry });
        const { text, count } = await describeCandidates(session, entry, waitMs, uid);
        session.log(count === 0 ? text : `${text}\nNo resource manages it now.`);
      }
    } else if (entry.uid !== uid) {
      let named: Awaited<ReturnType<typeof judgeNamed>>;
      try {
        named = await judgeNamed(kind, session, entry);
      } catch (error) {
        // The resource has its record, so it does not need this one.
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

/**
 * Reports creates whose outcome is unknown, with the records each may have produced (docs/internals/faults.md#l1). It does so on the first read
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
  return { text: bulleted(`${head}; it may be:`, ...lines), count: found.length };
};
