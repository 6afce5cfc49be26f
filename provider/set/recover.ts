// Recovers what interrupted runs left for a set: pending creates of its pairs. A pair whose binding exists is taken over like any other, so
// it is enough to wait until no request of such a run can arrive any more.
import type { Json } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import type { Entry } from "../log/entry.ts";
import { fingerprintOf } from "../record/desired.ts";
import { SET_TYPE, typeOfToken } from "../record/kind.ts";
import { noteFailure, noteSuccess } from "../recovery/create.ts";
import {
  entryOf,
  hiddenMs,
  type Interrupted,
  type Operation,
  settleOperations,
  stackOperations,
} from "../recovery/interrupted.ts";
import { hiddenMsOf } from "../recovery/recover.ts";
import { judge } from "../recovery/search.ts";
import { withRecoveryWait } from "../recovery/wait.ts";
import { stackOf } from "../run/journal.ts";
import type { Session } from "../run/session.ts";
import { type Live, listGroupUntil, liveFrom, withOthers } from "./live.ts";
import { bindingsIn, desiredPair, grants, isPairKeyOf, pairsIn, withRoleUids } from "./pair.ts";

const kind = kindRecords.roleBinding;

export interface Recovery {
  live: readonly Live[];
  /** by uid: the entry of the interrupted create that produced the binding */
  recovered: ReadonlyMap<string, Entry>;
  /** those of them that the engine's state told of, on a machine without the journal: this run has named each */
  named: readonly Live[];
}

/** `live` are the bindings of the group. The result may have more: the recovered ones. */
export const recoverInterrupted = (
  session: Session,
  set: string,
  group: string,
  live: readonly Live[],
): Promise<Recovery> => withRecoveryWait(session, set, (patient) => recoverEntries(patient, set, group, live));

const recoverEntries = async (
  session: Session,
  set: string,
  group: string,
  live: readonly Live[],
): Promise<Recovery> => {
  const left = await leftFor(session, set, group);
  const isOf = ({ inputs, given }: Entry, { record }: Live) => fingerprintOf(kind, group, record, given) === inputs;
  const missingIn = (now: readonly Live[]) => left.filter(({ entry }) => !now.some((one) => isOf(entry, one)));
  const waits = await Promise.all(missingIn(live).map((one) => one.hiddenMs()));
  const waitMs = Math.max(0, ...waits);
  const isComplete = (all: readonly Json[]) => missingIn(all.map(liveFrom)).length === 0;
  const listed = waits.length === 0 ? [] : await listGroupUntil(kind, session, group, waitMs, isComplete);
  const now = withOthers(listed.map(liveFrom), live);
  const recovered = new Map<string, Entry>();
  const named: Live[] = [];
  for (const { entry, isInJournal } of left) {
    const found = now.filter((one) => isOf(entry, one));
    const created =
      found.find(({ uid }) => uid === entry.uid) ?? found.find(({ record }) => judge(kind, entry, record).is === "own");
    if (created) recovered.set(created.uid, entry);
    if (created && !isInJournal) named.push(created);
    if (!isInJournal) continue;
    if (created && created.uid !== entry.uid) await noteSuccess(session, { entry, uid: created.uid });
    if (!created) await noteFailure(session, entry);
  }
  return { live: now, recovered, named };
};

/** A create that an interrupted run left for a pair. */
interface Left {
  entry: Entry;
  isInJournal: boolean;
  hiddenMs(): Promise<number>;
}

/** Those of the journal; on a machine without it, those of the engine's state. */
const leftFor = async (session: Session, set: string, group: string): Promise<Left[]> => {
  const entries = await session.journal.findUnsettled(set, isPairKeyOf(set, group));
  if (entries.length > 0)
    return entries.map((entry) => ({ entry, isInJournal: true, hiddenMs: () => hiddenMsOf(session, entry) }));
  if (session.interrupted.get(stackOf(set)) === false) return [];
  const pairs = await interruptedPairsOf(session, set, group);
  await settlePairs(session, set, group);
  return pairs.map((one) => ({ entry: one.entry, isInJournal: false, hiddenMs: () => hiddenMs(session, one) }));
};

// The pairs of a set that a killed run was creating, as the engine's state has them: those of the interrupted create or update that the
// stored set does not have.

const isOfSet = ({ type, action }: Operation): boolean => typeOfToken(type) === SET_TYPE && action !== "deleting";

/** Of all sets of the stack of a resource. */
export const interruptedPairs = async (session: Session, key: string): Promise<Interrupted[]> => {
  const { open } = await stackOperations(session, key);
  return (await Promise.all(open.filter(isOfSet).map((one) => pairsOf(session, one)))).flat();
};

/** Of this set, in this group. */
const interruptedPairsOf = async (session: Session, set: string, group: string): Promise<Interrupted[]> => {
  const { open } = await stackOperations(session, set);
  const own = open.filter(
    (one) => isOfSet(one) && one.key === set && one.inputs.parent === group && one.updatesSince === 0,
  );
  return (await Promise.all(own.map((one) => pairsOf(session, one)))).flat();
};

/** This run knows what there is of them in this group. */
const settlePairs = (session: Session, set: string, group: string): Promise<void> =>
  settleOperations(session, set, (one) => isOfSet(one) && one.key === set && one.inputs.parent === group);

const pairsOf = async (
  session: Session,
  { key, urn, inputs, stored = {}, stamp, sentBefore, updatesSince, isKept }: Operation,
): Promise<Interrupted[]> => {
  // Of a set that moves, the state has the pairs of the group that it leaves.
  const managed = stored.parent === inputs.parent ? bindingsIn(stored, "bindings") : [];
  const added = pairsIn(inputs).filter((pair) => !managed.some((one) => grants(one, pair)));
  const resolved = await withRoleUids(session, added);
  return resolved.map(({ identity, role }) => {
    const desired = desiredPair(key, inputs.parent as string, identity, role);
    return {
      key,
      urn,
      desired,
      entry: entryOf(desired, `${urn} ${desired.key}`, stamp.at),
      sentBefore,
      updatesSince,
      isKept,
    };
  });
};
