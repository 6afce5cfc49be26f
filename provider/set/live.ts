// The role bindings of a group as the API has them, and those that interrupted runs created.

import { listChildren } from "../../client/records.ts";
import { isRoot, type Json } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { partOf } from "../kind/names.ts";
import { type Binding, bindingsIn, settingsOf } from "../kind/pair.ts";
import type { Entry } from "../log/entry.ts";
import { childrenInBatch } from "../reconcile/read-batch.ts";
import { fingerprintOf } from "../record/desired.ts";
import { observe } from "../record/normal-form.ts";
import { noteFailure, noteSuccess } from "../recovery/create.ts";
import { hiddenMsOf, pairEvidence } from "../recovery/evidence.ts";
import { readUnlessDeleted, retryUntilVisible } from "../recovery/not-found.ts";
import { judge } from "../recovery/search.ts";
import { withRecoveryWait } from "../recovery/wait.ts";
import type { Session } from "../run/session.ts";

const kind = kindRecords.roleBinding;

/** A role binding, and the record that the API returned for it. */
export interface Live extends Binding {
  record: Json & { uid: string };
}

export const liveFrom = (record: Json): Live => {
  const { uid, identityUid, roleUid } = observe(kind, record) as { uid: string; identityUid: string; roleUid: string };
  const withName = (part: "identity" | "role", partUid: string) => {
    const { name } = partOf(record, part);
    return name ? { uid: partUid, name } : { uid: partUid };
  };
  const [identity, role] = [withName("identity", identityUid), withName("role", roleUid)];
  return { uid, identity, role, record: { ...record, uid } };
};

// One list shows the bindings of a group. A missing binding may be new and hidden, or not visible to the caller, so it counts as deleted
// only if that is certain (provider/recovery/not-found.ts).

/** The bindings of a group. `isRefresh`: an earlier list may answer, along with other reads. */
export const listLive = async (session: Session, group: string, { isRefresh = false } = {}): Promise<Live[]> => {
  const list = () => Array.fromAsync(listChildren(session, kind.list, group));
  const records = isRefresh ? await childrenInBatch(kind, session, group, list) : await list();
  return records.map(liveFrom);
};

/** Adds the bindings in the outputs `stored` that exist although the list lacks them. */
export const withStored = async (session: Session, stored: Json, listed: readonly Live[]): Promise<Live[]> => {
  const live = [...listed];
  for (const { uid } of without(bindingsIn(stored, "bindings"), listed)) {
    // None of them is newer than the set.
    const record = await readUnlessDeleted(kind, session, uid, { createTime: stored.updateTime });
    if (record) live.push(liveFrom(record));
  }
  return live;
};

/** Adds the bindings of `others` that a list lacks: an earlier list showed them, and they may be too new for this one. */
export const withOthers = (listed: readonly Live[], others: readonly Live[]): Live[] => [
  ...listed,
  ...without(others, listed),
];

const without = <T extends { uid: string }>(records: readonly T[], others: readonly { uid: string }[]) => {
  const uids = new Set(others.map(({ uid }) => uid));
  return records.filter(({ uid }) => !uids.has(uid));
};

// Bindings that an exclusive set keeps on purpose: those that the run itself acts through, and the last owner of the organization.

/** uid of the identity that this run acts as. If it is unknown, an exclusive set must not remove anything. */
export const requireIdentity = async (session: Session): Promise<string> => {
  const identity = await session.identity();
  if (identity !== undefined) return identity;
  throw new Error(
    "an exclusive set must not remove a binding that the run itself acts through, and the API token does not show its identity; " +
      "use a token that the service issued (IRM_IDENTITY_TOKEN), give --as with the uid of the identity where a review runs this, or leave out exclusive",
  );
};

/**
 * Why an exclusive set with these inputs or outputs keeps some of `removals`, by uid. `live` are all bindings of the group. A binding above this group is never in this set, so
 * only bindings of the group itself count.
 */
export const keptBy = (
  bag: Json,
  group: string,
  live: readonly Live[],
  removals: readonly Binding[],
  identity: string | undefined,
): ReadonlyMap<string, string> => {
  const kept = new Map<string, string>();
  // Any other set removes no binding that it does not manage.
  if (!settingsOf(bag).exclusive) return kept;
  for (const one of removals) if (one.identity.uid === identity) kept.set(one.uid, "this run acts as this identity");
  if (!isRoot(group)) return kept;
  const removed = new Set(removals.map(({ uid }) => uid));
  const owners = live.filter(({ role }) => isRoot(role.uid) && role.name === "owner");
  const isLeft = owners.some(({ uid }) => !removed.has(uid) || kept.has(uid));
  const last = owners.at(-1);
  if (!isLeft && last) kept.set(last.uid, "it is the last owner of the organization");
  return kept;
};

// Recovers pending creates of pairs that interrupted runs left for a set. Existing bindings are adopted anyway, so it is enough to wait
// until no request of such a run can arrive any more.

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
): Promise<Recovery> =>
  withRecoveryWait(session, set, async (patient) => {
    const left = await pairEvidence(patient, set, group);
    const isOf = ({ inputs, given }: Entry, { record }: Live) => fingerprintOf(kind, group, record, given) === inputs;
    const missingIn = (now: readonly Live[]) => left.filter(({ entry }) => !now.some((one) => isOf(entry, one)));
    const waits = await Promise.all(missingIn(live).map((one) => hiddenMsOf(patient, one)));
    const until = patient.clock.now() + Math.max(0, ...waits);
    let listed: readonly Live[] = [];
    const look = async () => {
      listed = await listLive(patient, group);
      return missingIn(listed).length === 0 || undefined;
    };
    if (waits.length > 0) await retryUntilVisible(patient.clock, look, () => until);
    const now = withOthers(listed, live);
    const recovered = new Map<string, Entry>();
    const named: Live[] = [];
    for (const { entry, operation } of left) {
      const found = now.filter((one) => isOf(entry, one));
      const created =
        found.find(({ uid }) => uid === entry.uid) ??
        found.find(({ record }) => judge(kind, entry, record).is === "own");
      if (created) recovered.set(created.uid, entry);
      if (operation) {
        if (created) named.push(created);
        continue;
      }
      if (created && created.uid !== entry.uid) await noteSuccess(patient, { entry, uid: created.uid });
      if (!created) await noteFailure(patient, entry);
    }
    return { live: now, recovered, named };
  });
