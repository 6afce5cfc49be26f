// Evidence of creates of earlier runs that this run has not settled. It comes from the journal or, on a machine without the journal of such
// a run, from the engine's state. That state is as trustworthy here as for the records that it lists, so a record that it shows may by now
// differ from the program.
import { placeText } from "../../client/records.ts";
import type { Json } from "../../schema/index.ts";
import { kindOfToken } from "../kind/index.ts";
import { bindingsIn, desiredPair, grants, isPairKeyOf, pairsIn, withRoleUids } from "../kind/pair.ts";
import type { Entry } from "../log/entry.ts";
import { type Desired, desiredFrom, fingerprintOf, withUids } from "../record/desired.ts";
import { placeOfRecord, recordId } from "../record/id.ts";
import { type Kind, SET_TYPE, typeOfToken, withArticle } from "../record/kind.ts";
import { KEY } from "../record/state.ts";
import { SEND_TIME_MS, stackOf } from "../run/journal.ts";
import { DATE_MS, type Session } from "../run/session.ts";
import { CREATION_GRACE_MS, readWhenVisible } from "./not-found.ts";
import { type Operation, settleOperations, stackOperations } from "./pending-operations.ts";
import {
  CLOCK_SKEW_MS,
  isSince,
  type Judgement,
  judge,
  pickOne,
  type Search,
  searchForEntry,
  undecidedRecord,
} from "./search.ts";

/** A create of an earlier run. */
export interface Sent {
  entry: Entry;
  /** of one that only the engine's state has */
  operation?: Operation;
  /** the record that the operation was to create: the record of the resource, or one of its records */
  desired?: Desired;
}

/** One that only the engine's state has. */
export interface Interrupted extends Sent {
  operation: Operation;
  desired: Desired;
}

/** The sources of evidence for a resource, and the treatment of uncertain evidence. */
interface RecoveryPolicy {
  read: "findUnsettled" | "peekUnsettled";
  /** It takes up to half a second. */
  asksEngine: boolean;
  hiddenMs(session: Session, sent: Sent): Promise<number>;
  disown(session: Session, entry: Entry, why: string): Promise<void>;
}

/** An update waits for hidden records and corrects the journal. */
export const UPDATE_POLICY: RecoveryPolicy = {
  read: "findUnsettled",
  asksEngine: true,
  hiddenMs: (session, sent) => hiddenMsOf(session, sent),
  disown: (session, entry, why) => session.journal.disown(entry, why),
};

/** A preview neither waits nor writes. */
export const PREVIEW_POLICY: RecoveryPolicy = {
  read: "peekUnsettled",
  asksEngine: false,
  hiddenMs: async () => 0,
  disown: async () => undefined,
};

/**
 * The evidence of a resource that is one record. The creates of each element can have produced one record for it, and the last one comes
 * first. `asked`: the desired record.
 */
export const evidenceFor = async (
  session: Session,
  key: string,
  asked: () => Promise<Desired>,
  policy: RecoveryPolicy,
): Promise<Sent[][]> => {
  const entries = await session.journal[policy.read](key);
  if (entries.length > 0) return entries.map((entry) => [{ entry }]);
  if (!mayBeInterrupted(session, key, policy)) return [];
  const desired = await asked();
  const own = (await interruptedRecords(session, key)).filter((one) => isFor(one, desired));
  const newestFirst = own.toSorted((a, b) => b.entry.at - a.entry.at);
  return own.length === 0 ? [] : [newestFirst.map((one) => ({ ...one, entry: { ...one.entry, key } }))];
};

/** The evidence of the pairs of a set, in one group. */
export const pairEvidence = async (session: Session, set: string, group: string): Promise<Sent[]> => {
  const entries = await session.journal.findUnsettled(set, isPairKeyOf(set, group));
  if (entries.length > 0) return entries.map((entry) => ({ entry }));
  if (!mayBeInterrupted(session, set, UPDATE_POLICY)) return [];
  const isOwn = ({ key, action, inputs }: Operation) => key === set && action !== "deleting" && inputs.parent === group;
  const pairs = await interruptedCreates(session, set, (one) => isOwn(one) && one.updatesSince === 0);
  await settleOperations(session, set, isOwn);
  return pairs;
};

/** Whether the engine's state may have creates of the stack. An existing journal knows more, and is read first. */
const mayBeInterrupted = ({ interrupted }: Session, key: string, { asksEngine }: RecoveryPolicy) =>
  interrupted.get(stackOf(key)) ?? asksEngine;

/** Those of resources that are one record. */
const interruptedRecords = (session: Session, key: string) =>
  interruptedCreates(session, key, ({ type }) => !isOfSet(type));

/** Of this resource, or equal to its desired record: the resource may have had another name when its create was interrupted. */
const isFor = ({ operation, desired }: Interrupted, asked: Desired) =>
  operation.updatesSince === 0 &&
  (operation.key === asked.key || (desired.kind === asked.kind && desired.fingerprint === asked.fingerprint));

/** How many resources have such an open create: each of them takes one of the equal records. */
export const countAlike = async (session: Session, sent: readonly Sent[]): Promise<number> => {
  const [{ entry, operation }] = sent as readonly [Sent];
  if (!operation) return session.journal.countPendingAlike(entry);
  const prints = new Set(sent.map(({ entry }) => entry.inputs));
  const all = await interruptedRecords(session, entry.key);
  return new Set(all.filter(({ entry }) => prints.has(entry.inputs)).map(({ entry }) => entry.key)).size;
};

/** The interrupted creates in the engine's state, in the stack of a resource. */
export const interruptedCreates = async (
  session: Session,
  key: string,
  isAsked: (one: Operation) => boolean = () => true,
): Promise<Interrupted[]> => {
  const { open } = await stackOperations(session, key);
  const sent = await Promise.all(
    open
      .filter(isAsked)
      .map(async (operation) => (await desiredIn(session, operation)).map((desired) => ({ operation, desired }))),
  );
  const byKey = Map.groupBy(sent.flat(), ({ desired }) => desired.key);
  return sent.flat().map(({ operation, desired }) => {
    // A later run may have adopted a record that an earlier run created.
    const notBefore = Math.min(...(byKey.get(desired.key) ?? []).map((one) => one.operation.stamp.at));
    const { kind, key, parent, fingerprint, choices } = desired;
    const { at } = operation.stamp;
    const intent = { intent: `${key} ${at}`, key, kind: kind.field, parent, inputs: fingerprint, given: [...choices] };
    return { operation, desired, entry: { ...intent, at, notBefore } };
  });
};

/** The records that the operation was to create. */
const desiredIn = async (
  session: Session,
  { key, type, action, inputs, stored = {} }: Operation,
): Promise<Desired[]> => {
  if (isOfSet(type)) {
    if (action === "deleting") return [];
    // For a set that moves, the state lists the pairs of the old group.
    const managed = stored.parent === inputs.parent ? bindingsIn(stored, "bindings") : [];
    const added = pairsIn(inputs).filter((pair) => !managed.some((one) => grants(one, pair)));
    const resolved = await withRoleUids(session, added);
    return resolved.map(({ identity, role }) => desiredPair(key, inputs.parent as string, identity, role));
  }
  const kind = kindOfToken(type);
  // An adoption creates nothing.
  if (!kind || action !== "creating" || inputs.adopt) return [];
  return [await withUids(session, desiredFrom(kind, { ...inputs, [KEY]: key }))];
};

const isOfSet = (type: string) => typeOfToken(type) === SET_TYPE;

/**
 * How long the record of a create may still be hidden, by the service's clock, which has whole seconds. The process may have died a second
 * ago, with its request still under way.
 */
export const hiddenMsOf = async (
  session: Session,
  { entry: { uid, at }, operation }: Pick<Sent, "entry" | "operation">,
): Promise<number> => {
  if (session.isOnTwin) return 0;
  if (operation) return hiddenMsOfOperation(session, operation);
  const underWayMs = uid === undefined ? session.requestTimeoutMs : 0;
  const ageMs = Math.max(0, (await session.serviceNow()) - at - SEND_TIME_MS - DATE_MS);
  return Math.max(0, underWayMs + CREATION_GRACE_MS - ageMs);
};

/** The time for any operation in the engine's state. */
export const hiddenMsOfOperation = async (session: Session, { sentBefore }: Operation): Promise<number> => {
  if (session.isOnTwin) return 0;
  const now = await session.serviceNow();
  const ownStart = now - (session.clock.now() - session.begunAt);
  return Math.max(0, Math.min(sentBefore, ownStart) + session.requestTimeoutMs + CREATION_GRACE_MS - now);
};

/** How a list finds the record. `asked`: the desired record of the resource, for a create in the journal. */
export const searchOf = (
  { requestTimeoutMs }: Pick<Session, "requestTimeoutMs">,
  { entry, operation, desired }: Sent,
  asked?: Desired,
): Search => {
  // By the service's clock.
  if (operation)
    return {
      filters: desired?.kind.filters(desired.args),
      notAfter: operation.sentBefore + requestTimeoutMs + CREATION_GRACE_MS,
    };
  const isSame = asked && entry.inputs === fingerprintOf(asked.kind, asked.parent, asked.args, entry.given);
  return {
    filters: isSame ? asked.kind.filters(asked.args) : undefined,
    // The record of the response existed by then, so a later record belongs to another create.
    notAfter: entry.uid === undefined ? undefined : entry.at + DATE_MS + CLOCK_SKEW_MS,
  };
};

// What did a killed run create? The record that the response named, if it matches the request; otherwise the record that a search finds.

/**
 * The record that the creates of one element of the evidence produced, if any. A record that an entry names counts only if it matches the
 * request. Throws if a person has to decide.
 */
export const attribute = async (
  session: Session,
  sent: readonly Sent[],
  desired: Desired,
  policy: RecoveryPolicy,
): Promise<Json | undefined> => {
  const { kind } = desired;
  const [{ entry }] = sent as readonly [Sent];
  const named = await judgeNamed(kind, session, entry, policy);
  if (named?.is === "own") return named.record;
  if (named?.is === "foreign") await policy.disown(session, entry, named.why);
  const records = new Map<unknown, Json>();
  let isSure = true;
  for (const one of sent) {
    const about = { ...searchOf(session, one, desired), waitMs: await policy.hiddenMs(session, one) };
    for (const record of await searchForEntry(kind, session, one.entry, about)) {
      records.set(record.uid, record);
      isSure &&= isSince(one.entry, record);
    }
  }
  const found = await pickOne(kind, desired.key, [...records.values()], isSure, () => countAlike(session, sent));
  if (found || named?.is !== "undecided") return found;
  throw undecidedRecord(kind, session, entry, named.record, named.why);
};

type Named = (Judgement & { record: Json }) | { is: "foreign"; why: string };

/** Whether an entry's create produced the record that it names; undefined if it names none, or a deleted one. */
export const judgeNamed = async (
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
  const waitMs = await policy.hiddenMs(session, { entry: { ...entry, uid } });
  const record = await readWhenVisible(kind, session, uid, waitMs);
  return record && { ...judge(kind, entry, record), record };
};
