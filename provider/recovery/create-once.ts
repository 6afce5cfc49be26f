// A record is made: its intent is on disk before the POST, and an answer that is lost is settled by finding the record, never
// by a second POST whose first may be done.

import { advised, apiErrorOf, hasCode, LostAnswer, RecordError } from "../../client/errors.ts";
import { createRecord, subjectText } from "../../client/records.ts";
import { delayMs, isExhausted, isResendable, newAttemptBudget } from "../../client/retry.ts";
import { type Json, rootOf } from "../../schema/index.ts";
import type { Entry } from "../journal/entry.ts";
import type { Kind } from "../kind/kind.ts";
import { recordId } from "../kind/record.ts";
import { LAG_MS } from "../reconcile/lag.ts";
import { takenText } from "../reconcile/upsert.ts";
import { serviceNow } from "../session/service-time.ts";
import type { Session } from "../session/session.ts";
import { normal } from "../state/changes.ts";
import { fingerprint, givenChoices } from "../state/fingerprint.ts";
import { parentIn } from "../state/state.ts";
import { type Before, recordsBefore, tellTwins } from "./before.ts";
import { refusalOf, refusedText } from "./created.ts";
import { noteClosed, noteMade } from "./note.ts";
import { unsettled } from "./recover.ts";
import { findCreated, onlyOne } from "./search.ts";

/** The record, made now; undefined when another process has meanwhile left something of this resource. */
export const made = async (kind: Kind, session: Session, key: string, desired: Json): Promise<Json | undefined> => {
  const { journal, claims } = session;
  const parent = parentIn(desired);
  const choices = givenChoices(kind, desired);
  const inputs = fingerprint(kind, parent, desired, choices);
  const intent = { key, kind: kind.field, parent, inputs, given: choices };
  const entry = await journal.begin(intent, () => serviceNow(session));
  if (!entry) return undefined;
  try {
    const before = await recordsBefore(kind, session, parent, desired);
    const taken = takenText(kind, key, desired, before);
    if (taken !== undefined) {
      await noteClosed(session, entry);
      throw new Error(taken);
    }
    if (await journal.isNew(key)) tellTwins(kind, session, entry, before);
    const answer = await posted(kind, session, entry, desired, before);
    const uid = answer.uid as string;
    // From here on the record exists.
    claims.take(recordId(kind.field, uid), key);
    session.made.add(recordId(kind.field, uid));
    if (parent === "") session.newRoots.add(uid);
    await noteMade(session, entry, uid);
    return answer;
  } finally {
    await journal.end(entry);
  }
};

/** The answer of the POST, or the record that it made. Where nobody knows, the entry stays open and the next run looks. */
const posted = async (kind: Kind, session: Session, entry: Entry, desired: Json, before: Before): Promise<Json> => {
  const { journal, clock } = session;
  const { parent } = entry;
  const fields = normal(kind.schema, desired);
  const attempts = newAttemptBudget(clock);
  let lostBefore = false;
  let other: { answer: Json; why: string } | undefined;
  for (;;) {
    let isOut = false;
    const beforeSend = async () => {
      await journal.sent(entry, session.serverNow() ?? entry.at);
      isOut = true;
    };
    try {
      const permissionIsNew = session.newRoots.has(rootOf(parent));
      const answer = await createRecord(session, kind, parent, fields, { permissionIsNew, attempts, beforeSend });
      const why = await refusalOf(kind, session, entry, answer, before);
      if (why === undefined) return answer;
      session.say(refusedText(kind, entry, answer, why));
      other = { answer, why };
      throw otherRecord(kind, entry, desired, answer, why);
    } catch (error) {
      const cause = apiErrorOf(error);
      if (!(error instanceof RecordError && cause instanceof LostAnswer)) {
        if (lostBefore) {
          // What was sent before may still be done; the record that is in the way may be its.
          const isInTheWay = hasCode(error, "ALREADY_EXISTS");
          const own = isInTheWay ? await lookedFor(kind, session, entry, desired, before, error as Error) : undefined;
          if (own) return own;
          throw unknownOutcome(kind, error as Error);
        }
        // Anything but the service's own word, once it was sent, says nothing of the record.
        if (cause || !isOut) await noteClosed(session, entry);
        throw advised(error, "ALREADY_EXISTS", ADOPT_ADVICE);
      }
      lostBefore = true;
      const failedAt = clock.now();
      // Looking for it costs as much as trying again: an outage must not double what it is asked.
      if (!session.acquireRetry(cause.failure)) throw unknownOutcome(kind, error);
      const found = await lookedFor(kind, session, entry, desired, before, error);
      if (found) return found;
      if (other && entry.answered !== undefined) throw unsettled(kind, entry, other.answer, other.why);
      // Looking has taken a part of the wait.
      const next = Math.max(clock.now(), failedAt + delayMs(cause.failure, attempts.count, clock.random()));
      if (!isResendable(cause.failure) || isExhausted(attempts, next)) throw unknownOutcome(kind, error);
      if (next > clock.now()) await clock.sleep(next - clock.now());
    }
  }
};

const ADOPT_ADVICE =
  'If that record is meant, take it over with adopt: "match" (or its uid); ' +
  "if this resource had another name before, say so with aliases.";

// Done, and not told of: what came is as good as no response.
const otherRecord = (kind: Kind, { parent }: Entry, { name }: Json, { uid }: Json, why: string): RecordError => {
  const operation = kind.operations.create;
  const text = `the response names ${kind.word} ${uid}, which ${why}`;
  const cause = new LostAnswer({ status: 200, sent: true }, "UNKNOWN", text, { operation });
  return new RecordError(subjectText(kind, operation, { name, parent }), cause);
};

const lookedFor = async (kind: Kind, session: Session, entry: Entry, desired: Json, before: Before, error: Error) => {
  let found: Json[];
  try {
    const uids = new Set(before.records.map(({ uid }) => uid));
    found = await findCreated(kind, session, entry, { sought: desired, waitMs: LAG_MS, before: uids });
  } catch (reason) {
    const { message } = unknownOutcome(kind, error);
    throw new Error(`${message}\nLooking for it failed as well: ${(reason as Error).message}`, { cause: reason });
  }
  return onlyOne(kind, session, found, entry);
};

const unknownOutcome = (kind: Kind, error: Error): Error =>
  new Error(
    `${error.message}\n` +
      `Whether the ${kind.word} was made is not known. The intent journal keeps that; the next run looks for it before it makes one.`,
  );
