// Takes over what a killed run created, on a machine without the journal of that run: the record has all that was sent, and is as old as the
// run. The engine's state is as trustworthy as what it says of records that it has, so the record may differ from the program by now.
import type { Json } from "../../schema/index.ts";
import { changeOf } from "../record/changes.ts";
import type { Desired } from "../record/desired.ts";
import { createTimeOf, placeOf } from "../record/id.ts";
import { withoutSecrets } from "../record/normal-form.ts";
import { outputsFrom } from "../record/state.ts";
import type { Session } from "../run/session.ts";
import { type Interrupted, interruptedCreates } from "./interrupted.ts";
import { createdBefore, hiddenMs, settleOperations } from "./operations.ts";
import { ambiguousCreate, findCreated } from "./search.ts";
import { recoverPatiently } from "./wait.ts";

/** The record that a killed run created for the resource, and that the state lacks. */
export const recoverInterrupted = async (session: Session, desired: Desired): Promise<Json | undefined> => {
  const { key } = desired;
  const own = await findInterrupted(session, desired);
  if (own.length === 0) return undefined;
  // Equal creates are searched for in turn. No record is taken twice.
  return session.turns.take(`interrupted ${own[0]?.entry.inputs}`, async () => {
    const record = await recoverPatiently(session, key, (patient) =>
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
    const [records = []] = await recordsOf(session, asOwn, await waitMs(one));
    for (const record of records) {
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

const recordsOf = async (session: Session, one: Interrupted, waitMs: number): Promise<Json[][]> => {
  const { kind, args } = one.desired;
  const look = { filters: kind.filters(args), waitMs, notAfter: createdBefore(session, one) };
  try {
    return await findCreated(kind, session, [one.entry], look);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(`${one.entry.key}: an interrupted run may have created it, and the search for it failed: ${text}`, {
      cause: error,
    });
  }
};
