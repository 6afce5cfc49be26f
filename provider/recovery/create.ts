// Creates records without an idempotency key (the API does not offer AIP-155): one, or several of a group in one atomic request
// (AIP-233). Their entries are on disk before the POST. After a lost response the requests never overlap a search: it settles which of
// the records exist, and only the others are sent again.
import { addAdvice, apiErrorOf, hasCode, LostAnswer, RecordError, sessionErrorOf } from "../../client/errors.ts";
import {
  type AttemptBudget,
  delayMs,
  type Failure,
  isExhausted,
  isResendable,
  newAttemptBudget,
} from "../../client/retry.ts";
import { type Json, type RequestOf, rootOf } from "../../schema/index.ts";
import type { Entry } from "../log/entry.ts";
import type { Desired } from "../record/desired.ts";
import { recordId } from "../record/id.ts";
import type { Created, NewIntent } from "../run/journal.ts";
import type { Session } from "../run/session.ts";
import {
  ADOPT_ADVICE,
  batchSubject,
  duplicateProblem,
  otherRecord,
  otherRecords,
  otherRecordText,
  UnknownOutcome,
  unknownOutcome,
  upsertProblem,
} from "./create-problem.ts";
import { graceMs } from "./not-found.ts";
import { answerProblem, type Existing, findCreated, listExisting, pickCreated, undecidedRecord } from "./search.ts";
import { withRecoveryWait } from "./wait.ts";

/** The new record, or why there is none; undefined if another process has meanwhile left an entry for the resource. */
export type Outcome = { record: Json } | { error: Error } | undefined;

/** One of the records of a POST. */
interface Pending {
  desired: Desired;
  entry: Entry;
  record?: Json;
  error?: Error;
  /** the response named a record that may be this one: a person decides, if no other is found */
  undecided?: Error;
}

type Batch = readonly [Pending, ...Pending[]];

/**
 * Creates records of one kind and parent, and returns the outcome of each. All of them differ: a search could not tell equal ones apart.
 * `existing`: the records that the parent held before.
 */
export const createAll = async (
  session: Session,
  asked: readonly Desired[],
  existing?: Existing,
): Promise<Outcome[]> => {
  const { journal } = session;
  const intents = asked.map(
    ({ kind, key, parent, choices, fingerprint }): NewIntent => ({
      key,
      kind: kind.field,
      parent,
      inputs: fingerprint,
      given: [...choices],
    }),
  );
  const entries = await journal.begin(intents, session.serviceNow);
  if (!entries) return asked.map(() => undefined);
  const batch = entries.map((entry, i) => ({ entry, desired: asked[i] })) as unknown as Batch;
  try {
    const before = existing ?? (await listExisting(session, batch[0].desired));
    await requireNew(session, batch, before);
    await send(session, batch, before);
  } catch (error) {
    const shown = addAdvice(error, "ALREADY_EXISTS", ADOPT_ADVICE) as Error;
    for (const one of stillOpen(batch) ?? []) one.error = shown;
  } finally {
    await journal.end(entries);
  }
  // All or nothing: no record of a refused batch exists. The error stays with its own resource.
  if (batch.length > 1 && batch.every(({ error }) => error && isRefusal(error)))
    return (await Promise.all(asked.map((one) => createAll(session, [one], existing)))).flat();
  return batch.map(({ record, error }) => (record ? { record } : { error: error as Error }));
};

/** A refusal that concerns a record, and not the whole run. */
export const isRefusal = (error: Error): boolean =>
  !(error instanceof UnknownOutcome) && !sessionErrorOf(error) && apiErrorOf(error) !== undefined;

const stillOpen = (batch: Batch): Batch | undefined => {
  const [first, ...others] = batch.filter(({ record, error }) => !record && !error);
  return first && [first, ...others];
};

/** Sends until each has its record or its own error. Throws the error that the others share. */
const send = async (session: Session, batch: Batch, before: Existing): Promise<void> => {
  const { clock } = session;
  const attempts = newAttemptBudget(clock);
  let open: Batch | undefined = batch;
  for (let wasLost = false; open; wasLost = true) {
    try {
      return await post(session, open, before, attempts, wasLost);
    } catch (thrown) {
      const error = thrown as Error;
      const lost = error instanceof RecordError && error.cause instanceof LostAnswer ? error.cause : undefined;
      if (!lost && !wasLost) throw error;
      const failedAt = clock.now();
      // A search costs as much as a retry: in an outage the requests must not double.
      if (lost && !session.acquireRetry(lost.failure)) throw unknownOutcome(stillOpen(open) ?? open, error);
      // An earlier request may still be processed, and a record that exists may be its result.
      if (lost || hasCode(error, "ALREADY_EXISTS")) {
        const searched = stillOpen(open);
        if (searched) await findLost(session, searched, before, error);
      }
      open = stillOpen(open);
      if (!open) return;
      if (!lost || !(await mayResend(session, lost.failure, attempts, failedAt))) throw unknownOutcome(open, error);
    }
  }
};

/** Waits for the next attempt, which the search was part of. False if there is none. */
const mayResend = async (
  { clock, cancelled }: Session,
  failure: Failure,
  attempts: AttemptBudget,
  failedAt: number,
): Promise<boolean> => {
  const next = Math.max(clock.now(), failedAt + delayMs(failure, attempts.count, clock.random()));
  if (!isResendable(failure) || cancelled?.aborted || isExhausted(attempts, next)) return false;
  if (next > clock.now()) await clock.sleep(next - clock.now());
  return true;
};

/** Before the first request: throws if a create would change an existing record. */
const requireNew = async (session: Session, batch: Batch, before: Existing): Promise<void> => {
  const [{ desired, entry }] = batch;
  const problem = desired.kind.upsert && upsertProblem(session, desired, before);
  if (problem) {
    await noteFailure(session, entry);
    throw new Error(problem);
  }
  if (before.records.length === 0) return;
  for (const one of batch) {
    const duplicate = await duplicateProblem(session, one.desired, one.entry, before);
    if (duplicate === undefined) continue;
    await noteFailure(session, ...batch.map(({ entry }) => entry));
    throw session.stopped?.reason ?? new Error(duplicate);
  }
};

/**
 * One request. Takes the records that its response names, and throws the error of a lost response if it does not name all of them.
 * `wasLost`: the response to an earlier request was lost.
 */
const post = async (
  session: Session,
  batch: Batch,
  before: Existing,
  attempts: AttemptBudget,
  wasLost: boolean,
): Promise<void> => {
  const [{ desired }] = batch;
  const { kind, parent } = desired;
  const entries = batch.map(({ entry }) => entry);
  let isSent = false;
  const beforeSend = async () => {
    if (session.stopped?.reason) throw session.stopped.reason;
    await session.journal.recordSend(entries, session.serverNow() ?? 0);
    isSent = true;
  };
  const origin = session.ownership.originOf(rootOf(parent));
  // Tokens that were issued before the root group existed grant nothing in it.
  const permissionIsNew = (origin === "created" || origin === "recovered") && !session.isOnTwin;
  const options = { attempts, permissionIsNew, beforeSend };
  const isBatch = batch.length > 1;
  const operation = (isBatch && kind.batchCreate) || kind.operations.create;
  // The field's name is data, which the schema checks.
  const [record, ...others] = batch.map((one) => ({ [kind.field]: one.desired.fields }));
  const request: Json = isBatch ? { parent, requests: [record, ...others] } : { parent, ...record };
  let answer: Json;
  try {
    answer = await session.call(operation, request as RequestOf<typeof operation>, options);
  } catch (error) {
    const refusal = apiErrorOf(error);
    // Once a request was sent, only an error of the service proves that there is no record, and only of the first request.
    const isCertain = refusal ? !(refusal instanceof LostAnswer) : !isSent;
    if (!wasLost && isCertain) await noteFailure(session, ...entries);
    throw refusal ? new RecordError(batchSubject(batch), refusal, { names: kind.arguments }) : error;
  }
  const answers = isBatch ? ((answer[kind.plural] as readonly Json[] | undefined) ?? []) : [answer];
  if (answers.length !== batch.length) throw otherRecords(batch);
  await takeAnswers(session, batch, answers, before);
};

const takeAnswers = async (
  session: Session,
  batch: Batch,
  answers: readonly Json[],
  before: Existing,
): Promise<void> => {
  let lost: RecordError | undefined;
  const created: [Pending, Json][] = [];
  for (const [i, one] of batch.entries()) {
    const { desired, entry } = one;
    const answer = answers[i] ?? {};
    const problem = await answerProblem(desired.kind, session, entry, answer, before);
    if (problem === undefined) {
      created.push([one, answer]);
      continue;
    }
    if (problem.isUndecided) {
      const noted = session.journal.recordAnswer(entry, answer.uid as string);
      await noted.catch((reason: Error) => warn(session, entry, reason));
      one.undecided = undecidedRecord(desired.kind, session, entry, answer, problem.why);
    }
    session.log(otherRecordText(desired.kind, entry, answer, problem.why));
    lost ??= otherRecord(desired, answer, problem.why);
  }
  await take(session, created);
  if (lost) throw lost;
};

/** Takes ownership of the created records. */
const take = async (session: Session, created: readonly [Pending, Json][]) => {
  for (const [one, record] of created) {
    const { kind, key } = one.desired;
    session.ownership.take(recordId(kind.field, record.uid as string), key, "created");
    one.record = record;
  }
  await noteSuccess(session, ...created.map(([{ entry }, { uid }]) => ({ entry, uid: uid as string })));
};

/**
 * Searches for records that the requests so far have created. A record that only a person can decide about is the error of its own
 * resource.
 */
const findLost = async (session: Session, open: Batch, before: Existing, lost: Error): Promise<void> => {
  const { kind, args, key } = open[0].desired;
  const filters = open.length === 1 ? kind.filters(args) : undefined;
  const except = new Set(before.records.map(({ uid }) => uid));
  const entries = open.map(({ entry }) => entry);
  let found: Json[][];
  try {
    found = await withRecoveryWait(session, key, (patient) =>
      findCreated(kind, patient, entries, { filters, waitMs: graceMs(session), except }),
    );
  } catch (reason) {
    const text = `The search for it failed as well: ${(reason as Error).message}`;
    throw unknownOutcome(open, lost, text, reason);
  }
  const created: [Pending, Json][] = [];
  for (const [i, one] of open.entries()) {
    try {
      const record = await pickCreated(kind, session, found[i] ?? [], one.entry);
      if (record) created.push([one, record]);
      else if (one.undecided && one.entry.answered !== undefined) one.error = one.undecided;
    } catch (error) {
      one.error = error as Error;
    }
  }
  await take(session, created);
};

// The outcome in the journal. The engine must receive the result that the service returned, so a full disk is now a warning, not an error.

export const noteSuccess = async (session: Session, ...created: Created[]): Promise<void> => {
  const [first] = created;
  if (!first) return;
  const at = session.serverNow() ?? first.entry.at;
  await session.journal.recordSuccess(created, at).catch((error: Error) => warn(session, first.entry, error));
};

export const noteFailure = (session: Session, ...entries: readonly Entry[]): Promise<void> =>
  session.journal.recordFailure(...entries).catch((error: Error) => warn(session, entries[0] as Entry, error));

const warn = (session: Session, { key }: Entry, { message }: Error) => session.log(`${key}: ${message}`);
