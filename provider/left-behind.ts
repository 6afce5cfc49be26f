// What a run that did not end has left of a resource: the record that its create made, if it did, and if the engine never heard
// of it. Whoever sent the request may have died a second ago, so the search lasts until nothing can show any more.
import { isApiError, type Json } from "../schema/index.ts";
import { failure } from "./failure.ts";
import { findCreated, onlyOne } from "./find.ts";
import { fingerprint } from "./fingerprint.ts";
import type { Entry } from "./journal/entry.ts";
import { SENT_MS } from "./journal/journal.ts";
import { type Kind, title } from "./kind/kind.ts";
import { LAG_MS, lookUntilShown } from "./lag.ts";
import { noteMade } from "./note.ts";
import { parentIn } from "./record.ts";
import { DATE_MS, serviceNow } from "./service-time.ts";
import type { Session } from "./session.ts";

/** The record that an earlier run made for this resource and that the engine never heard of. */
export const leftBehind = async (
  kind: Kind,
  session: Session,
  key: string,
  desired: Json,
): Promise<Json | undefined> => {
  for (const entry of await session.journal.left(key)) {
    const record =
      entry.uid === undefined ? await sought(kind, session, entry, desired) : await still(kind, session, entry);
    if (record === undefined || session.claims.refusal(record.uid as string, key)) {
      await session.journal.closed(entry);
      continue;
    }
    const uid = record.uid as string;
    if (entry.uid === undefined) await noteMade(session, entry, uid);
    const when = new Date(entry.at).toISOString();
    session.say(
      `${key}: takes ${kind.word} ${uid} ${title(record)}, which a run that did not end made for it (${when})`,
    );
    return record;
  }
  return undefined;
};

/**
 * For how long what the entry made may still show. Whoever sent it may have died a second ago, with the request still on its
 * way, and what it made may be hidden for a while. By the service's clock (faults.md, F24), which is told in whole seconds.
 */
export const mayShowFor = async (session: Session, { uid, at }: Entry): Promise<number> => {
  const onItsWayMs = uid === undefined ? session.requestTimeoutMs : 0;
  const ageMs = Math.max(0, (await serviceNow(session)) - at - SENT_MS - DATE_MS);
  return Math.max(0, onItsWayMs + LAG_MS - ageMs);
};

const still = async (kind: Kind, session: Session, entry: Entry): Promise<Json | undefined> => {
  const { uid } = entry;
  const look = async () => {
    try {
      return (await session.call(kind.operations.get, { uid } as never)) as Json;
    } catch (error) {
      if (isApiError(error, "NOT_FOUND")) return undefined;
      throw failure(error, kind, "get", { uid });
    }
  };
  const until = session.clock.now() + (await mayShowFor(session, entry));
  return lookUntilShown(session.clock, look, () => until);
};

const sought = async (kind: Kind, session: Session, entry: Entry, desired: Json): Promise<Json | undefined> => {
  const same = entry.inputs === fingerprint(kind, parentIn(desired), desired, entry.given);
  const found = await searched(kind, session, entry, same ? desired : undefined, await mayShowFor(session, entry));
  return onlyOne(kind, session, found, entry);
};

const searched = async (kind: Kind, session: Session, entry: Entry, desired: Json | undefined, waitMs: number) => {
  try {
    return await findCreated(kind, session, entry, { sought: desired, waitMs });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(`${entry.key}: a run that did not end may have made it, and it cannot be looked for: ${text}`, {
      cause: error,
    });
  }
};
