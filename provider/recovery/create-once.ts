// Creates one record without an idempotency key (the API does not offer AIP-155). Its entry is on disk before the POST. After a lost
// response it searches for the record, and never sends a second POST while the first may still be processed.
import { advised, apiErrorOf, hasCode, LostAnswer, RecordError } from "../../client/errors.ts";
import { createRecord, subjectText } from "../../client/records.ts";
import { delayMs, isExhausted, isResendable, newAttemptBudget } from "../../client/retry.ts";
import { type Json, operations, rootOf } from "../../schema/index.ts";
import type { Entry } from "../journal/entry.ts";
import { type Kind, title, withArticle } from "../kind/kind.ts";
import { isMatch, recordId, recordLine } from "../kind/record.ts";
import { CREATION_GRACE_MS } from "../reconcile/not-found.ts";
import { perSession, type Session, serviceNow } from "../session/session.ts";
import type { Desired } from "../state/desired.ts";
import {
  answerProblem,
  type Existing,
  existingAlike,
  findCreated,
  listExisting,
  pickCreated,
  undecidedRecord,
} from "./search.ts";

/** The new record; undefined when another process has meanwhile left an entry for this resource. */
export const createOnce = async (session: Session, desired: Desired): Promise<Json | undefined> => {
  const { journal, ownership } = session;
  const { kind, key, parent, choices, fingerprint } = desired;
  const intent = { key, kind: kind.field, parent, inputs: fingerprint, given: [...choices] };
  const entry = await journal.begin(intent, () => serviceNow(session));
  if (!entry) return undefined;
  try {
    const before = await listExisting(session, desired);
    const problem = upsertProblem(session, desired, before);
    if (problem !== undefined) {
      await noteFailure(session, entry);
      throw new Error(problem);
    }
    if (await journal.isNew(key)) warnOfAlike(kind, session, entry, before);
    const record = await post(session, desired, entry, before);
    const uid = record.uid as string;
    // From here on the record exists.
    ownership.take(recordId(kind.field, uid), key, "created");
    await noteSuccess(session, entry, uid);
    return record;
  } finally {
    await journal.end(entry);
  }
};

/** The response to the POST, or the record that it created. Where the outcome is unknown, the entry stays pending for the next run. */
const post = async (session: Session, desired: Desired, entry: Entry, before: Existing): Promise<Json> => {
  const { journal, clock } = session;
  const { kind, parent, fields } = desired;
  const attempts = newAttemptBudget(clock);
  let wasLost = false;
  let undecided: Error | undefined;
  const search = (error: Error) => searchAfter(error, session, desired, entry, before);
  for (;;) {
    let isSent = false;
    const beforeSend = async () => {
      await journal.recordSend(entry, session.serverNow() ?? entry.at);
      isSent = true;
    };
    try {
      const permissionIsNew = session.ownership.isNewRoot(rootOf(parent));
      const answer = await createRecord(session, kind, parent, fields, { permissionIsNew, attempts, beforeSend });
      const problem = await answerProblem(kind, session, entry, answer, before);
      if (problem === undefined) return answer;
      if (problem.isUndecided) {
        await noteAnswer(session, entry, answer.uid as string);
        undecided = undecidedRecord(kind, entry, answer, problem.why);
      }
      session.log(otherRecordText(kind, entry, answer, problem.why));
      throw otherRecord(desired, answer, problem.why);
    } catch (error) {
      const cause = apiErrorOf(error);
      if (!(error instanceof RecordError && cause instanceof LostAnswer)) {
        if (wasLost) {
          // An earlier request may still be processed; the existing record may be its result.
          const own = hasCode(error, "ALREADY_EXISTS") ? await search(error as Error) : undefined;
          if (own) return own;
          throw unknownOutcome(kind, error as Error);
        }
        // Once the request was sent, only an error of the service proves that there is no record.
        if (cause || !isSent) await noteFailure(session, entry);
        throw advised(error, "ALREADY_EXISTS", ADOPT_ADVICE);
      }
      wasLost = true;
      const failedAt = clock.now();
      // A search costs as much as a retry: in an outage the requests must not double.
      if (!session.acquireRetry(cause.failure)) throw unknownOutcome(kind, error);
      const found = await search(error);
      if (found) return found;
      if (undecided && entry.answered !== undefined) throw undecided;
      // The search was part of the delay.
      const next = Math.max(clock.now(), failedAt + delayMs(cause.failure, attempts.count, clock.random()));
      if (!isResendable(cause.failure) || isExhausted(attempts, next)) throw unknownOutcome(kind, error);
      if (next > clock.now()) await clock.sleep(next - clock.now());
    }
  }
};

const searchAfter = async (
  error: Error,
  session: Session,
  { kind, args }: Desired,
  entry: Entry,
  before: Existing,
): Promise<Json | undefined> => {
  let found: Json[];
  try {
    const except = new Set(before.records.map(({ uid }) => uid));
    const filters = kind.filters(args);
    found = await findCreated(kind, session, entry, { filters, waitMs: CREATION_GRACE_MS, except });
  } catch (reason) {
    const { message } = unknownOutcome(kind, error);
    throw new Error(`${message}\nThe search for it failed as well: ${(reason as Error).message}`, { cause: reason });
  }
  return pickCreated(kind, session, found, entry);
};

const ADOPT_ADVICE =
  'If that record is meant, take it over with adopt: "match" (or its uid); ' +
  "if this resource had another name before, declare that name in aliases.";

// The resource that creates the record of a name. The list of what exists was read before, so it does not show that record.
const upsertClaims = perSession(() => new Map<string, string>());

// Of a kind whose create changes the record of the same name (docs/contract.md#d19): why it must not be sent.
const upsertProblem = (
  session: Session,
  { kind, key, parent, args }: Desired,
  { records, isComplete }: Existing,
): string | undefined => {
  if (!kind.upsert) return undefined;
  const claims = upsertClaims(session);
  const place = [kind.field, parent, args.name].join(" ");
  const owner = claims.get(place) ?? key;
  claims.set(place, owner);
  if (owner !== key)
    return (
      `${key}: ${owner} declares ${kind.word} "${args.name}" in ${parent} too, and a second create would change it; nothing was sent. ` +
      "Remove one of the two."
    );
  const taken = records.find((record) => isMatch(kind, record, args));
  if (taken)
    return `${key}: ${kind.word} ${taken.uid} ${title(taken)} exists, and a create would change it; nothing was sent.\n${ADOPT_ADVICE}`;
  if (isComplete) return undefined;
  return (
    `${key}: cannot check whether ${kind.word} "${args.name}" exists, and a create would change it; nothing was sent. ` +
    `Grant the caller ${operations[kind.list.operation].capabilities.join(", ")}.`
  );
};

const otherRecordText = (kind: Kind, { key }: Entry, answer: Json, why: string): string =>
  `${key}: the response to ${kind.operations.create} names ${kind.word} ${[answer.uid, title(answer)].filter(Boolean).join(" ")}, which ${why}: ` +
  "it is not adopted, and the search for the created record continues";

// The record exists, but the response does not name it: as good as no response.
const otherRecord = ({ kind, parent, args: { name } }: Desired, { uid }: Json, why: string): RecordError => {
  const operation = kind.operations.create;
  const text = `the response names ${kind.word} ${uid}, which ${why}`;
  const cause = new LostAnswer({ status: 200, sent: true }, "UNKNOWN", text, { operation });
  return new RecordError(subjectText(kind, operation, { name, parent }), cause);
};

const unknownOutcome = (kind: Kind, error: Error): Error =>
  new Error(
    `${error.message}\n` +
      `It is unknown whether the ${kind.word} was created. The intent journal keeps the create as pending, and the next run searches for the record first.`,
  );

// Without a journal (a fresh CI machine) a run cannot know what a killed run was about to create. It may have created this record.
const warnOfAlike = (kind: Kind, session: Session, entry: Entry, before: Existing): void => {
  const alike = existingAlike(kind, session, entry, before);
  if (alike.length === 0) return;
  const head =
    `${entry.key}: creates ${withArticle(kind.word)}, and one with the same parent and fields exists; no intent journal here ` +
    "shows which create produced it:";
  const lines = alike.map((record) => recordLine(kind, record));
  session.log(
    `${[head, ...lines].join("\n  - ")}\n` +
      "If a run was killed while it created this resource, it may have created that record. To check: pulumi stack export | irm journal pending",
  );
};

// The engine must receive the result that the service returned, so a full disk is now a warning, not an error.
const orWarn = (session: Session, { key }: Entry, written: Promise<void>): Promise<void> =>
  written.catch((error: Error) => session.log(`${key}: ${error.message}`));

export const noteSuccess = (session: Session, entry: Entry, uid: string): Promise<void> =>
  orWarn(session, entry, session.journal.recordSuccess(entry, uid, session.serverNow() ?? entry.at));

const noteFailure = (session: Session, entry: Entry): Promise<void> =>
  orWarn(session, entry, session.journal.recordFailure(entry));

const noteAnswer = (session: Session, entry: Entry, uid: string): Promise<void> =>
  orWarn(session, entry, session.journal.recordAnswer(entry, uid));
