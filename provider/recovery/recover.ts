// What a run that did not end has left of a resource: the record that its create made, if it did, and if the engine never heard
// of it. Whoever sent the request may have died a second ago, so the search lasts until nothing can show any more.

import type { CallOptions } from "../../client/client.ts";
import { hasCode } from "../../client/errors.ts";
import { getRecord } from "../../client/records.ts";
import type { Json } from "../../schema/index.ts";
import type { Entry } from "../journal/entry.ts";
import { SENT_MS } from "../journal/journal.ts";
import { type Kind, title } from "../kind/kind.ts";
import { placeOf, recordId } from "../kind/record.ts";
import { LAG_MS, lookUntilShown } from "../reconcile/lag.ts";
import { DATE_MS, serviceNow } from "../session/service-time.ts";
import type { Session } from "../session/session.ts";
import { fingerprint } from "../state/fingerprint.ts";
import { parentIn } from "../state/state.ts";
import { noteMade } from "./note.ts";
import { findCreated, onlyOne, type Search } from "./search.ts";
import { SKEW_MS, type Verdict, verdictOn } from "./verdict.ts";

/** The record that an earlier run made for this resource and that the engine never heard of. */
export const leftBehind = async (
  kind: Kind,
  session: Session,
  key: string,
  desired: Json,
): Promise<Json | undefined> => {
  for (const entry of await session.journal.left(key)) {
    const record = await recordOf(kind, session, entry, desired);
    if (record === undefined || session.claims.refusal(recordId(kind.field, record.uid as string), key)) {
      await session.journal.closed(entry);
      continue;
    }
    const uid = record.uid as string;
    if (entry.uid !== uid) await noteMade(session, entry, uid);
    const when = new Date(entry.at).toISOString();
    session.say(
      `${key}: takes ${kind.word} ${uid} ${title(record)}, which a run that did not end made for it (${when})`,
    );
    return record;
  }
  return undefined;
};

/** The record of an entry, if its create made one. What the entry names is taken only when it is what the create asked for. */
const recordOf = async (kind: Kind, session: Session, entry: Entry, desired: Json): Promise<Json | undefined> => {
  const named = await namedBy(kind, session, entry);
  if (named?.is === "its own") return named.record;
  if (named?.is === "another") await session.journal.disown(entry, named.why);
  const found = await sought(kind, session, entry, desired);
  if (found || named?.is !== "open") return found;
  throw unsettled(kind, entry, named.record, named.why);
};

type Named = Verdict & { record: Json };

/** What is to be thought of the record that an entry names; undefined when it names none, or one that is gone. */
export const namedBy = async (
  kind: Kind,
  session: Session,
  entry: Entry,
): Promise<Named | { is: "another"; why: string } | undefined> => {
  const uid = entry.uid ?? entry.answered;
  if (uid === undefined) return undefined;
  if (entry.kind !== kind.field) return { is: "another", why: `is said to be a ${entry.kind}` };
  const refusal = session.claims.refusal(recordId(kind.field, uid), entry.key);
  if (refusal) return { is: "another", why: refusal };
  // What is elsewhere may be nothing that we may read.
  if (placeOf(kind, uid) !== entry.parent) return verdictOn(kind, entry, { uid }) as { is: "another"; why: string };
  const record = await readShown(kind, session, uid, await mayShowFor(session, { ...entry, uid }));
  return record && { ...verdictOn(kind, entry, record), record };
};

/** A person has to say whether the record is the entry's: it may be, and changed since, or be somebody else's. */
export const unsettled = (kind: Kind, { key, uid }: Entry, record: Json, why: string): Error => {
  const how =
    uid === undefined
      ? "the service answered a create of it with"
      : "for a run that did not end, the intent journal names";
  return new Error(
    `${key}: ${how} ${kind.word} ${record.uid} ${title(record)}, which ${why}, and no other record is its own.\n` +
      `If it belongs to this resource, take it by adopt: "${record.uid}", with deleteAdopted: true if it shall go with the ` +
      `resource; if not: irm journal clean --key "${key}". Nothing is made before that.`,
  );
};

/**
 * For how long the record of an entry may still appear. The process that sent the create may have died a second ago, with the
 * request still under way, and reads are eventually consistent. By the service's clock (docs/faults.md#f24), in whole seconds.
 */
export const mayShowFor = async (session: Session, { uid, at }: Entry): Promise<number> => {
  const onItsWayMs = uid === undefined ? session.requestTimeoutMs : 0;
  const ageMs = Math.max(0, (await serviceNow(session)) - at - SENT_MS - DATE_MS);
  return Math.max(0, onItsWayMs + LAG_MS - ageMs);
};

/** The record, as soon as it can be read; undefined when it is not there. */
export const readShown = async (
  kind: Kind,
  session: Session,
  uid: string,
  waitMs: number,
  options: CallOptions = {},
): Promise<Json | undefined> => {
  const look = async () => {
    try {
      return await getRecord(session, kind, uid, options);
    } catch (error) {
      if (hasCode(error, "NOT_FOUND")) return undefined;
      throw error;
    }
  };
  const until = session.clock.now() + waitMs;
  return lookUntilShown(session.clock, look, () => until);
};

const sought = async (kind: Kind, session: Session, entry: Entry, desired: Json): Promise<Json | undefined> => {
  const same = entry.inputs === fingerprint(kind, parentIn(desired), desired, entry.given);
  const waitMs = await mayShowFor(session, entry);
  // What was answered was there by then: what came later is not of this create.
  const notAfter = entry.uid === undefined ? undefined : entry.at + DATE_MS + SKEW_MS;
  const found = await searched(kind, session, entry, { sought: same ? desired : undefined, waitMs, notAfter });
  return onlyOne(kind, session, found, entry);
};

const searched = async (kind: Kind, session: Session, entry: Entry, search: Search) => {
  try {
    return await findCreated(kind, session, entry, search);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(`${entry.key}: a run that did not end may have made it, and it cannot be looked for: ${text}`, {
      cause: error,
    });
  }
};
