// The role bindings of a group as the API has them.

import { listChildren } from "../../client/paginate.ts";
import { isRoot, type Json } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { partOf } from "../kind/names.ts";
import { type Binding, bindingsIn, settingsOf } from "../kind/pair.ts";
import { childrenInBatch } from "../reconcile/read-batch.ts";
import { observe } from "../record/normal-form.ts";
import { readUnlessDeleted, retryUntilVisible } from "../recovery/not-found.ts";
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

/** Lists until `isComplete` holds, or nothing can be hidden any more after `waitMs`. */
export const listLiveUntil = async (
  session: Session,
  group: string,
  waitMs: number,
  isComplete: (live: readonly Live[]) => boolean,
): Promise<Live[]> => {
  const until = session.clock.now() + waitMs;
  let live: Live[] = [];
  const look = async () => {
    live = await listLive(session, group);
    return isComplete(live) || undefined;
  };
  await retryUntilVisible(session.clock, look, () => until);
  return live;
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
 * Why each of `removals` must stay, by uid. `live` are all bindings of the group. A binding above this group is never in this set, so
 * only bindings of the group itself count.
 */
export const keptOnPurpose = (
  group: string,
  live: readonly Live[],
  removals: readonly Binding[],
  identity: string | undefined,
): Map<string, string> => {
  const kept = new Map<string, string>();
  for (const one of removals) if (one.identity.uid === identity) kept.set(one.uid, "this run acts as this identity");
  if (!isRoot(group)) return kept;
  const removed = new Set(removals.map(({ uid }) => uid));
  const owners = live.filter(isOwner);
  const isLeft = owners.some(({ uid }) => !removed.has(uid) || kept.has(uid));
  const last = owners.at(-1);
  if (!isLeft && last) kept.set(last.uid, "it is the last owner of the organization");
  return kept;
};

/** The reasons for a set with these inputs or outputs: only an exclusive one removes bindings that it does not manage. */
export const keptBy = (bag: Json, ...about: Parameters<typeof keptOnPurpose>): ReadonlyMap<string, string> =>
  settingsOf(bag).exclusive ? keptOnPurpose(...about) : new Map();

const isOwner = ({ role }: Binding) => isRoot(role.uid) && role.name === "owner";
