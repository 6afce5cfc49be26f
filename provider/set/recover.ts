// Recovers pending creates of pairs that interrupted runs left for a set. Existing bindings are adopted anyway, so it is enough to wait
// until no request of such a run can arrive any more.
import { kindRecords } from "../kind/index.ts";
import type { Entry } from "../log/entry.ts";
import { fingerprintOf } from "../record/desired.ts";
import { noteFailure, noteSuccess } from "../recovery/create.ts";
import { hiddenMsOf, pairEvidence } from "../recovery/evidence.ts";
import { judge } from "../recovery/search.ts";
import { withRecoveryWait } from "../recovery/wait.ts";
import type { Session } from "../run/session.ts";
import { type Live, listLiveUntil, withOthers } from "./live.ts";

const kind = kindRecords.roleBinding;

export interface Recovery {
  live: readonly Live[];
  /** by uid: the entry of the interrupted create that produced the binding */
  recovered: ReadonlyMap<string, Entry>;
  /** those that the engine's state showed, on a machine without the journal: this run has named each */
  named: readonly Live[];
}

/** `live` are the bindings of the group. The result may contain more: the recovered bindings. */
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
  const left = await pairEvidence(session, set, group);
  const isOf = ({ inputs, given }: Entry, { record }: Live) => fingerprintOf(kind, group, record, given) === inputs;
  const missingIn = (now: readonly Live[]) => left.filter(({ entry }) => !now.some((one) => isOf(entry, one)));
  const waits = await Promise.all(missingIn(live).map((one) => hiddenMsOf(session, one)));
  const waitMs = Math.max(0, ...waits);
  const isComplete = (all: readonly Live[]) => missingIn(all).length === 0;
  const listed = waits.length === 0 ? [] : await listLiveUntil(session, group, waitMs, isComplete);
  const now = withOthers(listed, live);
  const recovered = new Map<string, Entry>();
  const named: Live[] = [];
  for (const { entry, operation } of left) {
    const found = now.filter((one) => isOf(entry, one));
    const created =
      found.find(({ uid }) => uid === entry.uid) ?? found.find(({ record }) => judge(kind, entry, record).is === "own");
    if (created) recovered.set(created.uid, entry);
    if (operation) {
      if (created) named.push(created);
      continue;
    }
    if (created && created.uid !== entry.uid) await noteSuccess(session, { entry, uid: created.uid });
    if (!created) await noteFailure(session, entry);
  }
  return { live: now, recovered, named };
};
