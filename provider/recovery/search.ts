// Which record a create produced: one with the same parent and fingerprint, not older than the entry by the service's clock. It did not
// exist before, and no other resource owns it. The same rule judges a record in a response, in a journal entry and in a list.

import { withSection } from "../../client/errors.ts";
import { type Listed, listChildren, placeText } from "../../client/records.ts";
import { bulleted, getOrInsert, isRoot, isUidp, type Json } from "../../schema/index.ts";
import type { Entry } from "../log/entry.ts";
import { type Desired, fingerprintOf } from "../record/desired.ts";
import { createTimeOf, placeOfRecord, recordId, recordLine } from "../record/id.ts";
import { type Kind, title, withArticle } from "../record/kind.ts";
import { perSession } from "../run/ownership.ts";
import type { Session } from "../run/session.ts";
import { graceMs, readWhenVisible, retryUntilVisible } from "./not-found.ts";

/** `Date` has whole seconds, and the clocks of one service differ by fractions of a second. */
export const CLOCK_SKEW_MS = 1_000;

// A service whose clocks differ by more is broken.
const MAX_CLOCK_SKEW_MS = 30_000;

export type Judgement =
  | { is: "own" }
  /** certainly the record of another create */
  | { is: "foreign"; why: string }
  /** `age`: it has the requested fields, but may be older than the create; `fields`: created with it, but differs from the request */
  | { is: "undecided"; by: "age" | "fields"; why: string };

/** Whether a record is the result of a create, judged by the record itself. */
export const judge = (kind: Kind, { parent, inputs, given, notBefore }: Entry, record: Json): Judgement => {
  const { uid } = record;
  if (!isUidp(uid) || placeOfRecord(kind, uid) !== parent) return { is: "foreign", why: `is not ${placeText(parent)}` };
  const olderMs = notBefore - Date.parse(createTimeOf(record));
  const isSame = fingerprintOf(kind, parent, record, given) === inputs;
  if (olderMs > MAX_CLOCK_SKEW_MS || (olderMs > CLOCK_SKEW_MS && !isSame))
    return { is: "foreign", why: "existed before the create" };
  if (!isSame) return { is: "undecided", by: "fields", why: "differs from what was requested" };
  if (olderMs <= CLOCK_SKEW_MS) return { is: "own" };
  return { is: "undecided", by: "age", why: "may have existed before the create" };
};

/** The records that a group held before this process created any there: none of our creates produced them. */
export interface Existing {
  records: Listed[];
  /** false when some or all of them could not be listed */
  isComplete: boolean;
}

const existing = perSession(() => new Map<string, Promise<Existing>>());

/**
 * Lists each parent and kind once, before the first create there. If a create changes the record of the same name, it lists each name once.
 */
export const listExisting = (session: Session, { kind, parent, args }: Desired): Promise<Existing> => {
  if (session.ownership.originOf(parent) === "created") return Promise.resolve({ records: [], isComplete: true });
  const filters = kind.upsert ? kind.filters(args) : {};
  const place = [kind.type, parent, ...Object.values(filters)].join(" ");
  return getOrInsert(existing(session), place, async () => {
    const records: Listed[] = [];
    try {
      for await (const record of listChildren(session, kind.list, parent, filters)) records.push(record);
    } catch {
      // A caller may have permission to create but not to list.
      return { records, isComplete: false };
    }
    return { records, isComplete: true };
  });
};

/** Existing records with the fields of the new one that no resource of this run owns. */
export const existingAlike = (kind: Kind, session: Session, entry: Entry, existing: Existing): Listed[] =>
  (printsOf(kind, existing, entry).get(entry.inputs) ?? []).filter(
    (record) => !session.ownership.creationRefusal(recordId(kind.field, record.uid), entry.key),
  );

const prints = new WeakMap<Existing, Map<string, Map<string, Listed[]>>>();

// Each record is hashed once, however many creates compare it.
const printsOf = (kind: Kind, existing: Existing, { parent, given }: Entry) => {
  const byChoices = getOrInsert(prints, existing, () => new Map<string, Map<string, Listed[]>>());
  const choices = given.join(" ");
  return getOrInsert(byChoices, choices, () =>
    Map.groupBy(existing.records, (record) => fingerprintOf(kind, parent, record, given)),
  );
};

/**
 * Why the response to a create does not name the created record; undefined if it does. A proxy or a cache may return another record, and a
 * later destroy would delete that one. `isUndecided`: it was created at the same time in the same place. If no other record is found, a
 * person decides.
 */
export const answerProblem = async (
  kind: Kind,
  session: Session,
  entry: Entry,
  answer: Json,
  before: Existing,
): Promise<{ why: string; isUndecided: boolean } | undefined> => {
  const uid = answer.uid as string;
  const foreign = (why: string) => ({ why, isUndecided: false });
  const judgement = judge(kind, entry, answer);
  if (judgement.is === "foreign") return foreign(judgement.why);
  if (before.records.some((one) => one.uid === uid)) return foreign("existed before the create");
  const id = recordId(kind.field, uid);
  const refusal = session.ownership.creationRefusal(id, entry.key);
  if (refusal) return foreign(refusal);
  if (await session.journal.isOfOther(id, entry.key)) return foreign("was created for another resource of this stack");
  // A record of another kind, or of a newer service, may have the same fields. Reading it decides.
  const hasForeignMembers = Object.keys(answer).some((name) => !Object.hasOwn(kind.schema.shape, name));
  if ((judgement.is === "own" && !hasForeignMembers) || (await isConfirmed(kind, session, entry, answer, before)))
    return undefined;
  return { why: judgement.is === "undecided" ? judgement.why : `is not ${withArticle(kind.word)}`, isUndecided: true };
};

const isConfirmed = async (kind: Kind, session: Session, entry: Entry, answer: Json, { isComplete }: Existing) => {
  const answered = judge(kind, entry, answer);
  if (answered.is === "undecided" && (answered.by === "fields" || !isComplete)) return false;
  const uid = answer.uid as string;
  const options = { permissionIsNew: isRoot(uid) && !session.isOnTwin };
  // If it cannot be read, the search for the created record decides.
  const record = await readWhenVisible(kind, session, uid, graceMs(session), options).catch(() => undefined);
  if (!record) return false;
  const judgement = judge(kind, entry, record);
  return judgement.is === "own" || (judgement.is === "undecided" && judgement.by === "age" && isComplete);
};

/** The parts of a session that a search needs. */
export type SearchSession = Pick<Session, "call" | "clock"> & {
  ownership: Pick<Session["ownership"], "creationRefusal">;
  journal: Pick<Session["journal"], "isOfOther" | "countPendingAlike">;
};

export interface Search {
  /** filters that the record passes, to narrow the list */
  filters?: Json | undefined;
  /** how long it may stay hidden; default: one look */
  waitMs?: number;
  /** uids of other records */
  except?: ReadonlySet<string>;
  /** by the service's clock: a later record belongs to another create */
  notAfter?: number | undefined;
}

/**
 * For each entry, the records that its create may have produced. All entries are of one parent. Looks until there is one for each, or none
 * can be hidden any more.
 */
export const findCreated = async (
  kind: Kind,
  session: SearchSession,
  entries: readonly Entry[],
  { filters, waitMs = 0, except, notAfter = Infinity }: Search,
): Promise<Json[][]> => {
  const until = session.clock.now() + waitMs;
  let found: Json[][] = [];
  const look = async () => {
    found = (await listCandidates(kind, session, entries, filters)).map((records) =>
      records.filter((record) => !except?.has(record.uid) && Date.parse(createTimeOf(record)) <= notAfter),
    );
    return found.every(({ length }) => length > 0) ? true : undefined;
  };
  await retryUntilVisible(session.clock, look, () => until);
  return found;
};

/** The search for one entry of an interrupted run. */
export const searchForEntry = async (kind: Kind, session: Session, entry: Entry, search: Search): Promise<Json[]> => {
  try {
    const [found = []] = await findCreated(kind, session, [entry], search);
    return found;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(`${entry.key}: an interrupted run may have created it, and the search for it failed: ${text}`, {
      cause: error,
    });
  }
};

const listCandidates = async (
  kind: Kind,
  session: SearchSession,
  entries: readonly Entry[],
  filters?: Json,
): Promise<Listed[][]> => {
  const [{ parent }] = entries as [Entry];
  const found = entries.map((): Listed[] => []);
  for await (const record of listChildren(session, kind.list, parent, filters)) {
    const id = recordId(kind.field, record.uid);
    // Equal for all entries of a batch.
    const prints = new Map<string, string>();
    for (const [i, { key, inputs, given, notBefore }] of entries.entries()) {
      if (Date.parse(createTimeOf(record)) < notBefore - CLOCK_SKEW_MS) continue;
      const choices = given.join(" ");
      const print = getOrInsert(prints, choices, () => fingerprintOf(kind, parent, record, given));
      if (print !== inputs || session.ownership.creationRefusal(id, key)) continue;
      if (await session.journal.isOfOther(id, key)) continue;
      found[i]?.push(record);
    }
  }
  return found;
};

/**
 * The record that the resource adopts; undefined when none was found. Equal resources may adopt any of their equal records. Throws if one
 * may belong to someone else: it is older than the entry, by less than the service's clocks may differ.
 */
export const pickCreated = (
  kind: Kind,
  session: SearchSession,
  found: readonly Json[],
  entry: Entry,
): Promise<Json | undefined> => {
  const isSure = found.every((record) => isSince(entry, record));
  return pickOne(kind, entry.key, found, isSure, () => session.journal.countPendingAlike(entry));
};

/** Picks one of records that are certainly not older, or not. `countAlike`: how many resources adopt one of them. */
export const pickOne = async (
  kind: Kind,
  key: string,
  found: readonly Json[],
  isSure: boolean,
  countAlike: () => Promise<number>,
): Promise<Json | undefined> => {
  if (isSure && (found.length <= 1 || found.length <= (await countAlike()))) return found[0];
  throw ambiguousCreate(kind, key, found);
};

/** Whether the record is not older than the create. */
export const isSince = ({ notBefore }: Entry, record: Json): boolean => Date.parse(createTimeOf(record)) >= notBefore;

const ambiguousCreate = (kind: Kind, key: string, found: readonly Json[]): Error => {
  const many = found.length === 1 ? "a record matches" : `${found.length} records match`;
  const head = `${key}: the response to a create was lost, and ${many} it:`;
  const lines = found.map((record) => recordLine(kind, record));
  const advice =
    found.length === 1
      ? 'It appeared at the same time and may belong to someone else: adopt it with adopt: "<uid>", or change it and run again.'
      : 'Keep one with adopt: "<uid>" and delete the others.';
  return new Error(withSection(`${bulleted(head, ...lines)}\n${advice}`, "several"));
};

const BY_JOURNAL = "the intent journal of an earlier run names";

/** A person decides: the record may be from this create but changed since, or belong to someone else. */
export const undecidedRecord = (
  kind: Kind,
  session: Session,
  { key, uid }: Entry,
  record: Json,
  why: string,
): Error => {
  const how = uid === undefined ? "the response to its create names" : BY_JOURNAL;
  return questionAbout(kind, session, key, record, `${how} {}, which ${why}, and no other record matches`);
};

/** A person decides: the record may be from an interrupted run of a different program, or belong to someone else. */
export const differentRecord = (
  kind: Kind,
  session: Session,
  key: string,
  record: Json,
  differing: readonly string[],
): Error =>
  questionAbout(
    kind,
    session,
    key,
    record,
    `${BY_JOURNAL} {}, which differs from what the program asks for: ${differing.join(", ")}`,
  );

const questionAbout = (kind: Kind, { journal }: Session, key: string, record: Json, text: string) =>
  new Error(
    withSection(
      `${key}: ${text.replace("{}", () => `${kind.word} ${record.uid} ${title(record)}`)}.\n` +
        `If it belongs to this resource, adopt it with adopt: "${record.uid}", and deleteAdopted: true to delete it with the ` +
        `resource; if not: ${journal.cleanCommand(key)}. Until then nothing is created.`,
      "decide",
    ),
  );
