// Create, without ever making a record twice or losing one (AIP-155 is not offered: no request id, no unique names, no etag).
// What an earlier run left is looked for first; the intent is on disk before the POST; an answer that is lost is settled by
// finding the record; from the moment that a record exists, whatever fails says so with its uid.
import { type ApiError, isApiError, type Json, parentOf, rootOf } from "../schema/index.ts";
import { adoptedRecord } from "./adopt-record.ts";
import { LostAnswer } from "./client.ts";
import { changedPaths, changeOf, normal } from "./diff.ts";
import { ambiguousCreate, failure, Incomplete, incomplete } from "./failure.ts";
import { findCreated } from "./find.ts";
import { fingerprint, givenChoices } from "./fingerprint.ts";
import type { Entry } from "./journal/entry.ts";
import { type Kind, title } from "./kind/kind.ts";
import { LAG_MS, lookUntilShown } from "./lag.ts";
import { given, KEY, outputsFrom, PROVIDER } from "./record.ts";
import { ATTEMPTS, delayMs, mayFollow } from "./retry.ts";
import type { Session } from "./session.ts";
import { tellTwins } from "./twin.ts";
import { patched } from "./update.ts";

export interface Created {
  id: string;
  outs: Json;
}

export const create = async (kind: Kind, session: Session, inputs: Json): Promise<Created> => {
  const desired = given(inputs);
  const key = inputs[KEY] as string;
  if (desired.adopt !== undefined) {
    const record = await adoptedRecord(kind, session, desired, key);
    await forget(session, key, record);
    return settled(kind, session, inputs, record, { adopted: true });
  }
  return alone(session, fingerprint(kind, parentIn(desired), desired, givenChoices(kind, desired)), async () => {
    const left = await leftBehind(kind, session, key, desired);
    if (left) return settled(kind, session, inputs, left);
    if (await session.journal.isNew(key)) await tellTwins(kind, session, key, desired);
    const answer = await made(kind, session, key, desired);
    const outs = outputsFrom(kind, answer, desired);
    const paths = changedPaths(kind, outs, desired);
    if (paths.length > 0) throw incomplete(kind, "create", { ...outs, [PROVIDER]: inputs[PROVIDER] }, paths);
    return { id: answer.uid as string, outs };
  });
};

// Resources that are alike are made one after the other: what is found for one must not be what another is just making.
const alone = async <T>(session: Session, inputs: string, work: () => Promise<T>): Promise<T> => {
  const last = session.making.get(inputs) ?? Promise.resolve();
  const next = last.then(work);
  session.making.set(
    inputs,
    next.catch(() => undefined),
  );
  return next;
};

// A record that is there already is taken, and made what the program asks for.
const settled = async (
  kind: Kind,
  session: Session,
  inputs: Json,
  record: Json,
  own: { adopted?: true } = {},
): Promise<Created> => {
  const desired = { ...given(inputs), ...own };
  const id = record.uid as string;
  session.claims.take(id, inputs[KEY] as string);
  const outs = outputsFrom(kind, record, desired);
  try {
    const { paths, replaces } = changeOf(kind, parentOf(id), outs, desired);
    if (replaces.length > 0) throw new Error(`${kind.word} ${id}: ${replaces.join(", ")} cannot be changed on it`);
    return { id, outs: paths.length === 0 ? outs : await patched(kind, session, id, paths, { ...inputs, ...own }) };
  } catch (error) {
    // It is this resource's from now on: the next run goes on from here.
    if (error instanceof Incomplete) throw error;
    throw new Incomplete((error as Error).message, id, { ...outs, [PROVIDER]: inputs[PROVIDER] });
  }
};

// Who says which record is meant has settled what earlier runs left open.
const forget = async (session: Session, key: string, record: Json): Promise<void> => {
  for (const entry of await session.journal.left(key)) {
    await session.journal.closed(entry);
    if (entry.uid !== undefined && entry.uid !== record.uid)
      session.say(`${key}: a run that did not end made ${entry.uid} for it, which is nobody's now`);
  }
};

/** The record that an earlier run made for this resource and that the engine never heard of. */
const leftBehind = async (kind: Kind, session: Session, key: string, desired: Json): Promise<Json | undefined> => {
  for (const entry of await session.journal.left(key)) {
    const record =
      entry.uid === undefined ? await sought(kind, session, entry, desired) : await still(kind, session, entry);
    if (record === undefined || session.claims.refusal(record.uid as string, key)) {
      await session.journal.closed(entry);
      continue;
    }
    const uid = record.uid as string;
    if (entry.uid === undefined) await noted(session, entry, uid);
    const when = new Date(entry.at).toISOString();
    session.say(
      `${key}: takes ${kind.word} ${uid} ${title(record)}, which a run that did not end made for it (${when})`,
    );
    return record;
  }
  return undefined;
};

// Whoever sent it may have died a second ago, with the request still on its way, and what it made may be hidden for a while.
const mayShowFor = ({ clock, requestTimeoutMs }: Session, { at }: Entry): number =>
  Math.max(0, requestTimeoutMs + LAG_MS - Math.max(0, clock.today() - at));

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
  const until = session.clock.now() + mayShowFor(session, entry);
  return lookUntilShown(session.clock, look, () => until);
};

const sought = async (kind: Kind, session: Session, entry: Entry, desired: Json): Promise<Json | undefined> => {
  const same = entry.inputs === fingerprint(kind, parentIn(desired), desired, entry.given);
  const found = await searched(kind, session, entry, same ? desired : undefined, mayShowFor(session, entry));
  return only(kind, session, found, entry);
};

const searched = async (kind: Kind, session: Session, entry: Entry, desired: Json | undefined, waitMs: number) => {
  try {
    return await findCreated(kind, session, entry, desired, waitMs);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(`${entry.key}: a run that did not end may have made it, and it cannot be looked for: ${text}`, {
      cause: error,
    });
  }
};

// Of records that are alike, made for resources that are alike, it does not matter which is whose.
const only = async (kind: Kind, session: Session, found: readonly Json[], entry: Entry): Promise<Json | undefined> => {
  if (found.length <= 1 || found.length <= (await session.journal.openAlike(entry))) return found[0];
  throw ambiguousCreate(kind, entry.key, found);
};

const parentIn = ({ parent }: Json): string => (parent as string | undefined) ?? "";

const made = async (kind: Kind, session: Session, key: string, desired: Json): Promise<Json> => {
  const { journal, claims } = session;
  const parent = parentIn(desired);
  const choices = givenChoices(kind, desired);
  const entry = await journal.begin({
    key,
    kind: kind.field,
    parent,
    inputs: fingerprint(kind, parent, desired, choices),
    given: choices,
    notBefore: await serverNow(session),
  });
  try {
    const answer = await posted(kind, session, entry, desired);
    const uid = answer.uid as string;
    // From here on the record exists.
    claims.take(uid, key);
    if (parent === "") session.newRoots.add(uid);
    await noted(session, entry, uid);
    return answer;
  } finally {
    await journal.end(entry);
  }
};

const noted = (session: Session, entry: Entry, uid: string): Promise<void> =>
  told(session, entry, session.journal.made(entry, uid));

// What the service has answered is for the engine to hear: a disk that is full by now must not keep it from that.
const told = (session: Session, entry: Entry, written: Promise<void>): Promise<void> =>
  written.catch((error: Error) => session.say(`${entry.key}: ${error.message}`));

/** The answer of the POST, or the record that it made. Where nobody knows, the entry stays open and the next run looks. */
const posted = async (kind: Kind, session: Session, entry: Entry, desired: Json): Promise<Json> => {
  const { journal, newRoots } = session;
  const { parent } = entry;
  const request = { parent, [kind.field]: normal(kind.schema, desired) };
  const subject = { name: desired.name, parent };
  for (let count = 1; ; count += 1) {
    try {
      return (await session.call(kind.operations.create, request as never, {
        permissionIsNew: newRoots.has(rootOf(parent)),
      })) as Json;
    } catch (error) {
      if (!(error instanceof LostAnswer)) {
        // After an earlier try whose answer was lost, the record that is in the way may be ours.
        const own =
          count > 1 && isApiError(error, "ALREADY_EXISTS")
            ? await lookedFor(kind, session, entry, desired, error)
            : undefined;
        if (own) return own;
        await told(session, entry, journal.closed(entry));
        throw failure(error, kind, "create", subject);
      }
      const failedAt = session.clock.now();
      // Looking for it costs as much as trying again: an outage must not double what it is asked.
      if (!session.pay(error.failure)) throw lost(kind, error, subject);
      const found = await lookedFor(kind, session, entry, desired, error);
      if (found) return found;
      if (!mayFollow(error.failure) || count === ATTEMPTS) throw lost(kind, error, subject);
      // Looking has taken a part of the wait.
      const wait = delayMs(error.failure, count, session.clock.random()) - (session.clock.now() - failedAt);
      if (wait > 0) await session.clock.sleep(wait);
      await journal.again(entry);
    }
  }
};

const lookedFor = async (kind: Kind, session: Session, entry: Entry, desired: Json, error: ApiError) => {
  let found: Json[];
  try {
    found = await findCreated(kind, session, entry, desired, LAG_MS);
  } catch (reason) {
    const { message } = lost(kind, error, { name: desired.name, parent: entry.parent });
    throw new Error(`${message}\nLooking for it failed as well: ${(reason as Error).message}`, { cause: reason });
  }
  return only(kind, session, found, entry);
};

const lost = (kind: Kind, error: ApiError, subject: { name: unknown; parent: string }): Error =>
  new Error(
    `${failure(error, kind, "create", subject).message}\n` +
      `Whether the ${kind.word} was made is not known. The intent journal keeps that; the next run looks for it before it makes one.`,
  );

// By the service's clock, since it is compared with createTime (faults.md, F24).
const serverNow = async (session: Session): Promise<number> => {
  if (session.serverNow() === undefined) await session.call("Ping", {}).catch(() => undefined);
  // Without any answer the POST gets none either; nothing older than this is taken.
  return session.serverNow() ?? session.clock.today();
};
