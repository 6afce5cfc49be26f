// A record is made: its intent is on disk before the POST, and an answer that is lost is settled by finding the record, never
// by a second POST whose first may be done.

import { LostAnswer } from "../../client/client.ts";
import { delayMs, isOver, mayFollow, newEffort } from "../../client/retry.ts";
import { type ApiError, isApiError, type Json, rootOf } from "../../schema/index.ts";
import type { Entry } from "../journal/entry.ts";
import type { Kind } from "../kind/kind.ts";
import { LAG_MS } from "../reconcile/lag.ts";
import { failure } from "../session/errors.ts";
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
    const before = await recordsBefore(kind, session, parent);
    if (await journal.isNew(key)) tellTwins(kind, session, entry, before);
    const answer = await posted(kind, session, entry, desired, before);
    const uid = answer.uid as string;
    // From here on the record exists.
    claims.take(uid, key);
    session.made.add(uid);
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
  const request = { parent, [kind.field]: normal(kind.schema, desired) };
  const subject = { name: desired.name, parent };
  const effort = newEffort(clock);
  let lostBefore = false;
  let other: { answer: Json; why: string } | undefined;
  for (;;) {
    let isOut = false;
    const beforeSend = async () => {
      await journal.sent(entry, session.serverNow() ?? entry.at);
      isOut = true;
    };
    try {
      const answer = (await session.call(kind.operations.create, request as never, {
        permissionIsNew: session.newRoots.has(rootOf(parent)),
        effort,
        beforeSend,
      })) as Json;
      const why = await refusalOf(kind, session, entry, answer, before);
      if (why === undefined) return answer;
      session.say(refusedText(kind, entry, answer, why));
      other = { answer, why };
      throw otherRecord(kind, answer, why);
    } catch (error) {
      if (!(error instanceof LostAnswer)) {
        if (lostBefore) {
          // What was sent before may still be done; the record that is in the way may be its.
          const isInTheWay = isApiError(error, "ALREADY_EXISTS");
          const own = isInTheWay ? await lookedFor(kind, session, entry, desired, before, error) : undefined;
          if (own) return own;
          throw lost(kind, error, subject);
        }
        // Anything but the service's own word, once it was sent, says nothing of the record.
        if (isApiError(error) || !isOut) await noteClosed(session, entry);
        throw failure(error, kind, "create", subject);
      }
      lostBefore = true;
      const failedAt = clock.now();
      // Looking for it costs as much as trying again: an outage must not double what it is asked.
      if (!session.pay(error.failure)) throw lost(kind, error, subject);
      const found = await lookedFor(kind, session, entry, desired, before, error);
      if (found) return found;
      if (other && entry.answered !== undefined) throw unsettled(kind, entry, other.answer, other.why);
      // Looking has taken a part of the wait.
      const next = Math.max(clock.now(), failedAt + delayMs(error.failure, effort.count, clock.random()));
      if (!mayFollow(error.failure) || isOver(effort, next)) throw lost(kind, error, subject);
      if (next > clock.now()) await clock.sleep(next - clock.now());
    }
  }
};

// Done, and not told of: what came is as good as no response.
const otherRecord = (kind: Kind, { uid }: Json, why: string): LostAnswer =>
  new LostAnswer({ status: 200, sent: true }, "UNKNOWN", `the response names ${kind.word} ${uid}, which ${why}`, {
    operation: kind.operations.create,
  });

const lookedFor = async (
  kind: Kind,
  session: Session,
  entry: Entry,
  desired: Json,
  before: Before,
  error: ApiError,
) => {
  let found: Json[];
  try {
    const uids = new Set(before.records.map(({ uid }) => uid));
    found = await findCreated(kind, session, entry, { sought: desired, waitMs: LAG_MS, before: uids });
  } catch (reason) {
    const { message } = lost(kind, error, { name: desired.name, parent: entry.parent });
    throw new Error(`${message}\nLooking for it failed as well: ${(reason as Error).message}`, { cause: reason });
  }
  return onlyOne(kind, session, found, entry);
};

const lost = (kind: Kind, error: unknown, subject: { name: unknown; parent: string }): Error =>
  new Error(
    `${failure(error, kind, "create", subject).message}\n` +
      `Whether the ${kind.word} was made is not known. The intent journal keeps that; the next run looks for it before it makes one.`,
  );
