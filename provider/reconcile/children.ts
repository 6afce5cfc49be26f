// The records of a kind in a group: one list. A record that the list lacks may be new and hidden, or not visible to the caller, so it
// counts as deleted only where that is certain (provider/recovery/not-found.ts).
import { type Listed, listChildren } from "../../client/paginate.ts";
import type { Json } from "../../schema/index.ts";
import type { Kind } from "../record/kind.ts";
import { readUnlessDeleted, retryUntilVisible } from "../recovery/not-found.ts";
import type { Session } from "../run/session.ts";
import { childrenInBatch } from "./read-batch.ts";

/** `isRefresh`: a list that began before may answer, with other reads. */
export const listGroup = async (
  kind: Kind,
  session: Session,
  group: string,
  { isRefresh = false } = {},
): Promise<readonly Listed[]> => {
  const list = () => Array.fromAsync(listChildren(session, kind.list, group));
  return isRefresh ? childrenInBatch(kind, session, group, list) : list();
};

/** The records of `known` that exist although a list lacks them. `createTime` is when the newest of `known` was created. */
export const readUnlisted = async (
  kind: Kind,
  session: Session,
  known: readonly { uid: string }[],
  createTime: unknown,
  listed: readonly { uid: string }[],
): Promise<Json[]> => {
  const unlisted: Json[] = [];
  for (const { uid } of without(known, listed)) {
    const record = await readUnlessDeleted(kind, session, uid, { createTime });
    if (record) unlisted.push(record);
  }
  return unlisted;
};

export const without = <T extends { uid: string }>(records: readonly T[], others: readonly { uid: string }[]): T[] => {
  const uids = new Set(others.map(({ uid }) => uid));
  return records.filter(({ uid }) => !uids.has(uid));
};

/** Lists until `isComplete` holds, or nothing can be hidden any more after `waitMs`. */
export const listGroupUntil = async (
  kind: Kind,
  session: Session,
  group: string,
  waitMs: number,
  isComplete: (records: readonly Listed[]) => boolean,
): Promise<readonly Listed[]> => {
  const until = session.clock.now() + waitMs;
  let records: readonly Listed[] = [];
  const isListed = async () => {
    records = await listGroup(kind, session, group);
    return isComplete(records) ? true : undefined;
  };
  await retryUntilVisible(session.clock, isListed, () => until);
  return records;
};
