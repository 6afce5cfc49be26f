// What a killed run left whose machine is lost with its journal: the engine's state has the operations that it had begun (docs/faults.md#f26).
// The records that it was changing are compared as those of an open stack. What it created, and no resource takes over, is named, and deleted
// before the run deletes anything else: it may be in the way.
import { type Listed, listChildren } from "../../client/paginate.ts";
import { openStackText } from "../../client/preview-marks.ts";
import { kindOfToken } from "../kind/index.ts";
import type { Write } from "../log/entry.ts";
import { createTimeOf, isMatch, recordId, recordLine } from "../record/id.ts";
import { withArticle } from "../record/kind.ts";
import { observe } from "../record/normal-form.ts";
import {
  createdBefore,
  hiddenMs,
  type Interrupted,
  interruptedCreates,
  type Operation,
  searchOf,
  stackOperations,
} from "../recovery/interrupted.ts";
import { findCreated } from "../recovery/search.ts";
import { withRecoveryWait } from "../recovery/wait.ts";
import { stackOf } from "../run/journal.ts";
import type { Session } from "../run/session.ts";
import { AMBIGUOUS, type Leftover, removeLeftovers, unreadable } from "./leftover.ts";
import { liveRecords } from "./live.ts";
import type { Look, OpenStack } from "./stack.ts";

/**
 * On a machine whose journal does not have all runs of the stack. Otherwise that has what they left, and to ask the engine takes up to half a
 * second.
 */
export const findLostMachine = async (session: Session, { key, isPreview = false }: Look) => {
  const { open } = await stackOperations(session, key);
  if (open.length === 0) return { stack: undefined, messages: [] };
  const changes = open.filter(({ action }) => action !== "creating");
  const found = await Promise.all((await leftIn(session, key)).map((one) => lookFor(session, one)));
  const messages = found.flatMap(({ text }) => text ?? []);
  // It was creating records alone.
  if (changes.length === 0) return { stack: undefined, messages };
  if (!isPreview) await waitForChanges(session, changes);
  const name = stackOf(key);
  const resources = changes.length === 1 ? "a resource" : `${changes.length} resources`;
  const head = `a run was killed while it was changing ${resources}, and there is no journal of it here. Each resource is compared with its live record.`;
  const stack: OpenStack = {
    ...{ name, runs: [], isOfState: true },
    leftovers: found.flatMap(({ leftover }) => leftover ?? []),
    touched: new Map(changes.flatMap(touchedBy)),
    live: liveRecords(session, await session.engineState(name)),
    about: { changed: new Map(), isStored: () => false },
  };
  return { stack, messages: [openStackText(name, head), ...messages] };
};

/** Deletes what no resource has taken over, as the engine would. By the first deletion of a run, all its creates have ended. Returns what a person should know. */
export const removeLost = async (session: Session, key: string): Promise<string[]> => {
  const left = (await leftIn(session, key)).filter(({ updatesSince, isKept }) => updatesSince === 0 && !isKept);
  const found = await Promise.all(
    left.map((one) =>
      withRecoveryWait(session, one.key, async (patient) => lookFor(patient, one, await hiddenMs(patient, one))),
    ),
  );
  // Two killed runs may have begun the same create.
  const byUid = new Map(found.flatMap(({ leftover }) => (leftover ? [[leftover.record?.uid, leftover] as const] : [])));
  const { removed, failed } = await removeLeftovers(session, [...byUid.values()]);
  const lineOf = ({ entry, kind, record }: Leftover): string =>
    `${entry.key}: a killed run created ${kind && record ? recordLine(kind, record) : "it"}`;
  return [
    ...found.flatMap(({ leftover, text }) => (leftover ? [] : (text ?? []))),
    ...removed.map((one) => `${lineOf(one)}, and no resource of the stack has it: it is deleted`),
    ...failed.map(({ leftover, reason }) => `${lineOf(leftover)}, and it cannot be deleted: ${reason}`),
  ];
};

/**
 * What killed runs created on lost machines, and the state lacks, for a person who decides. It is certain of a record until a second update
 * has succeeded: the first one did not declare its resource. Waits until no request of these runs can arrive any more.
 */
export const findLost = async (session: Session, key: string): Promise<Leftover[]> => {
  const left = await leftIn(session, key);
  const found = await Promise.all(
    left.map((one) => withRecoveryWait(session, one.key, (patient) => leftoversOf(patient, one))),
  );
  return [...new Map(found.flat().map((one) => [one.record?.uid ?? one, one])).values()];
};

const leftoversOf = async (session: Session, one: Interrupted): Promise<Leftover[]> => {
  const { entry, desired } = one;
  const { kind } = desired;
  try {
    const records = await recordsOf(session, one, await hiddenMs(session, one));
    const doubt = doubtOf(one, records);
    const changed = records.length > 0 ? [] : await changedSince(session, one);
    return [
      ...records.map((record) => ({ entry: { ...entry, uid: record.uid }, kind, record, ...doubt })),
      ...changed.map((record) => ({ entry: { ...entry, uid: record.uid }, kind, record, ...CHANGED })),
    ];
  } catch (error) {
    return [{ entry, kind, ...unreadable(error) }];
  }
};

const doubtOf = ({ isKept, updatesSince }: Interrupted, records: readonly unknown[]): Pick<Leftover, "doubt"> => {
  if (records.length > 1) return AMBIGUOUS;
  if (isKept) return { doubt: "the program of that run had protect or retainOnDelete on it" };
  if (updatesSince <= 1) return {};
  return { doubt: `${updatesSince} updates have succeeded since, and a person may have taken it out of the stack` };
};

const CHANGED: Pick<Leftover, "doubt"> = {
  doubt: "it is not as that run sent it: it was changed since, or somebody else created it",
};

/** Creates of records, and of pairs of sets, of which the journal of this machine knows nothing. */
const leftIn = async (session: Session, key: string): Promise<Interrupted[]> => {
  const all = await interruptedCreates(session, key);
  const known = await Promise.all(all.map(({ desired }) => session.journal.peekUnsettled(desired.key)));
  return all.filter((_, i) => known[i]?.length === 0);
};

interface Looked {
  /** the one record that the create can have produced */
  leftover?: Leftover;
  /** what may be its record */
  text?: string;
}

const lookFor = async (session: Session, one: Interrupted, waitMs = 0): Promise<Looked> => {
  const { kind } = one.desired;
  const head = `${one.key}: a run was killed while it created ${withArticle(kind.word)} for it`;
  let records: Listed[];
  try {
    records = await recordsOf(session, one, waitMs);
  } catch (error) {
    return { text: `${head}, and the search for it failed: ${(error as Error).message}` };
  }
  const [record] = records;
  if (!record) return {};
  const lines = [`${head}, which may be:`, ...records.map((record) => recordLine(kind, record))];
  const text = `${lines.join("\n  - ")}\n${ADVICE}`;
  if (records.length > 1) return { text };
  return { text, leftover: { entry: { ...one.entry, uid: record.uid }, kind, record } };
};

const ADVICE =
  "An update that declares the resource takes it over. One that does not, and deletes something, deletes it too, as pulumi destroy does. " +
  "After any other update, npx pulumi-irm recover lists and deletes it.";

const recordsOf = async (session: Session, one: Interrupted, waitMs: number): Promise<Listed[]> => {
  const { entry } = one;
  const { kind } = one.desired;
  const [found = []] = await findCreated(kind, session, [entry], searchOf(session, one, waitMs));
  const isStored = await storedIn(session, one.key);
  const records = found as Listed[];
  return records.filter(
    (record) => Date.parse(createTimeOf(record)) >= entry.notBefore && !isStored(recordId(kind.field, record.uid)),
  );
};

/** Records with the parent and the name that were sent, from the time of the killed run, which have other fields now. */
const changedSince = async (session: Session, { desired, entry, ...one }: Interrupted): Promise<Listed[]> => {
  const { kind, args } = desired;
  const isStored = await storedIn(session, one.key);
  const notAfter = createdBefore(session, one) ?? Infinity;
  const found = [];
  for await (const record of listChildren(session, kind.list, entry.parent, kind.filters(args))) {
    const createdAt = Date.parse(createTimeOf(record));
    if (createdAt < entry.notBefore || createdAt > notAfter || isStored(recordId(kind.field, record.uid))) continue;
    if (isMatch(kind, observe(kind, record), args)) found.push(record);
  }
  return found;
};

const storedIn = async (session: Session, key: string): Promise<(id: string) => boolean> => {
  const { inState } = await stackOperations(session, key);
  return (id) => inState.has(id) || session.ownership.isHeld(id);
};

const touchedBy = ({ key, type, id, action, stamp }: Operation): [string, Write][] => {
  const kind = kindOfToken(type);
  if (!kind || id === undefined) return [];
  const write = { wrote: id, key, kind: kind.field, at: stamp.at, clock: stamp.startedAt };
  return [[recordId(kind.field, id), action === "deleting" ? write : { ...write, to: "" }]];
};

/** Until no request of the killed run can arrive any more. */
const waitForChanges = async (session: Session, changes: readonly Operation[]): Promise<void> => {
  const [first] = changes;
  const waitMs = Math.max(0, ...(await Promise.all(changes.map((one) => hiddenMs(session, one)))));
  if (first && waitMs > 0) await withRecoveryWait(session, first.key, (patient) => patient.clock.sleep(waitMs));
};
