// Creates that a killed run left open, as the engine's state has them: on a machine without the journal of that run, only the state says
// what was sent. A resource takes over the record that has all of that, and is as old as the run. The engine's state is as trustworthy as
// what it says of records that it has, so the record may differ from the program by now.
import type { Json } from "../../schema/index.ts";
import { kindOfToken } from "../kind/index.ts";
import type { Entry } from "../log/entry.ts";
import { changeOf } from "../record/changes.ts";
import { type Desired, desiredFrom, withUids } from "../record/desired.ts";
import { createTimeOf, placeOf } from "../record/id.ts";
import { withoutSecrets } from "../record/normal-form.ts";
import { KEY, outputsFrom } from "../record/state.ts";
import type { Session } from "../run/session.ts";
import { createdBefore, hiddenMs, type Operation, settleOperations, stackOperations } from "./operations.ts";
import { ambiguousCreate, findCreated, type Search } from "./search.ts";
import { withRecoveryWait } from "./wait.ts";

/** A create of an earlier run. */
export interface Interrupted extends Pick<Operation, "sentBefore" | "updatesSince" | "isKept" | "urn"> {
  key: string;
  /** what was sent */
  desired: Desired;
  /** as the journal of that run had it */
  entry: Entry;
}

/** Those of records in the stack of a resource that this run has not settled. */
export const interruptedCreates = async (session: Session, key: string): Promise<Interrupted[]> => {
  const { open } = await stackOperations(session, key);
  // An adoption creates nothing.
  const creates = open.filter(
    ({ action, type, inputs }) => action === "creating" && kindOfToken(type) && !inputs.adopt,
  );
  const byKey = Map.groupBy(creates, (one) => one.key);
  return Promise.all(creates.map((one) => interruptedFrom(session, one, byKey.get(one.key) ?? [])));
};

/** `own`: those of the same resource. A later run may have taken over what an earlier one created. */
const interruptedFrom = async (
  session: Session,
  { key, urn, type, inputs, stamp, sentBefore, updatesSince, isKept }: Operation,
  own: readonly Operation[],
): Promise<Interrupted> => {
  const kind = kindOfToken(type) as NonNullable<ReturnType<typeof kindOfToken>>;
  const desired = await withUids(session, desiredFrom(kind, { ...inputs, [KEY]: key }));
  const notBefore = Math.min(...own.map((one) => one.stamp.at));
  return {
    key,
    urn,
    desired,
    entry: entryOf(desired, `${urn} ${stamp.at}`, stamp.at, notBefore),
    sentBefore,
    updatesSince,
    isKept,
  };
};

export const entryOf = (desired: Desired, id: string, at: number, notBefore = at): Entry => {
  const { kind, key, parent, fingerprint, choices } = desired;
  return {
    ...{ intent: id, key, kind: kind.field, parent, inputs: fingerprint, given: [...choices] },
    ...{ at, notBefore },
  };
};

/** The record that a killed run created for the resource, and that the state lacks. */
export const recoverInterrupted = async (session: Session, desired: Desired): Promise<Json | undefined> => {
  const { key } = desired;
  const own = await findInterrupted(session, desired);
  if (own.length === 0) return undefined;
  // Equal creates are searched for in turn. No record is taken twice.
  return session.turns.take(`interrupted ${own[0]?.entry.inputs}`, async () => {
    const record = await withRecoveryWait(session, key, (patient) =>
      searchInterrupted(patient, desired, own, (one) => hiddenMs(patient, one)),
    );
    await settleOperations(session, key, (one) => one.action === "creating" && one.key === key);
    return record;
  });
};

/** The creates that may have been of this resource. */
export const findInterrupted = async (session: Session, desired: Desired): Promise<Interrupted[]> => {
  const own = (await interruptedCreates(session, desired.key)).filter((one) => isFor(one, desired));
  // A journal that is there knows more.
  return own.length > 0 && (await session.journal.peekUnsettled(desired.key)).length > 0 ? [] : own;
};

/** Whether no update makes the record what the program asks for. */
export const isReplaced = (desired: Desired, record: Json): boolean => {
  const { kind, args } = desired;
  const outs = outputsFrom(kind, record, withoutSecrets(kind, args));
  return changeOf(desired, placeOf(kind, record.uid as string), outs).replaces.length > 0;
};

/** Of this resource, or equal to what it asks for: the resource may have had another name when its create was interrupted. */
const isFor = ({ key, desired, updatesSince }: Interrupted, asked: Desired): boolean =>
  updatesSince === 0 &&
  (key === asked.key || (desired.kind === asked.kind && desired.fingerprint === asked.fingerprint));

/** `waitMs`: how long a record may still be hidden. Throws where a person has to decide. */
export const searchInterrupted = async (
  session: Session,
  { key, kind }: Desired,
  own: readonly Interrupted[],
  waitMs: (one: Interrupted) => Promise<number>,
): Promise<Json | undefined> => {
  const all = await interruptedCreates(session, key);
  const found = new Map<unknown, Json>();
  let isSure = true;
  // What the last run has created, or has changed of what one before it created, is there first.
  for (const one of own.toSorted((a, b) => b.entry.at - a.entry.at)) {
    const asOwn = { ...one, entry: { ...one.entry, key } };
    for (const record of await recordsOf(session, asOwn, await waitMs(one))) {
      found.set(record.uid, record);
      isSure &&= Date.parse(createTimeOf(record)) >= one.entry.notBefore;
    }
  }
  const [first] = found.values();
  // As many equal creates were interrupted: each resource takes one of their records.
  const prints = new Set(own.map(({ entry }) => entry.inputs));
  const alike = new Set(all.filter(({ entry }) => prints.has(entry.inputs)).map((one) => one.key));
  if (isSure && (found.size <= 1 || found.size <= alike.size)) return first;
  throw ambiguousCreate(kind, key, [...found.values()]);
};

/** How its record is searched for. `waitMs`: how long it may still be hidden. */
export const searchOf = (session: Session, { desired, ...one }: Interrupted, waitMs: number): Search => ({
  filters: desired.kind.filters(desired.args),
  waitMs,
  notAfter: createdBefore(session, one),
});

const recordsOf = async (session: Session, one: Interrupted, waitMs: number): Promise<Json[]> => {
  try {
    const [found = []] = await findCreated(one.desired.kind, session, [one.entry], searchOf(session, one, waitMs));
    return found;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(`${one.entry.key}: an interrupted run may have created it, and the search for it failed: ${text}`, {
      cause: error,
    });
  }
};
