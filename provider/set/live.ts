// The role bindings of a group as the API has them: one list. A binding that the list lacks may be new and hidden, or not visible to the
// caller, so it counts as deleted only where that is certain (provider/recovery/not-found.ts).
import { listChildren } from "../../client/paginate.ts";
import { isListable } from "../../client/records.ts";
import type { Json } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { childrenInBatch } from "../reconcile/read-batch.ts";
import { observe } from "../record/normal-form.ts";
import { readUnlessDeleted, retryUntilVisible } from "../recovery/not-found.ts";
import type { Session } from "../run/session.ts";
import type { Binding } from "./pair.ts";

const kind = kindRecords.roleBinding;

/** A role binding, and the record that the API returned for it. */
export interface Live extends Binding {
  record: Json & { uid: string };
}

export const liveFrom = (record: Json): Live => {
  const { uid, identityUid, roleUid } = observe(kind, record) as { uid: string; identityUid: string; roleUid: string };
  const named = (part: "identity" | "role", own: string) => ({ uid: own, ...nameIn(record[part]) });
  return {
    uid,
    identity: named("identity", identityUid),
    role: named("role", roleUid),
    record: { ...record, uid },
  };
};

const nameIn = (part: unknown): { name?: string } => {
  const name = (part as { name?: unknown } | undefined)?.name;
  return typeof name === "string" && name !== "" ? { name } : {};
};

export const listLive = async (session: Session, group: string): Promise<Live[]> =>
  (await listRecords(session, group)).map(liveFrom);

/** The same in a refresh, whose reads one list may answer. */
export const listLiveInBatch = async (session: Session, group: string): Promise<Live[]> =>
  (await childrenInBatch(kind, session, group, () => listRecords(session, group))).map(liveFrom);

const listRecords = async (session: Session, group: string): Promise<Json[]> => {
  const found: Json[] = [];
  for await (const record of listChildren(session, kind.list, group)) found.push(record);
  return found;
};

/**
 * Throws where the list shows nothing because the caller may not see the group's bindings: the set would create pairs that exist. A group
 * of this run is as empty as it looks.
 */
export const requireListable = async (session: Session, name: string, group: string): Promise<void> => {
  if (session.ownership.isCreatedHere(group)) return;
  if (await isListable(session, kind, group)) return;
  throw new Error(
    `RoleBindingSet ${name}: nothing is changed: the role bindings of group ${group} cannot be listed, so pairs that exist would be ` +
      "created a second time; grant the identity of this run role_bindings.list there",
  );
};

/** With the bindings of the state that exist and the list lacks. `createTime` is that of the newest of these. */
export const withKnown = async (
  session: Session,
  known: readonly Binding[],
  createTime: unknown,
  listed: readonly Live[],
): Promise<Live[]> => {
  const live = [...listed];
  const uids = new Set(listed.map(({ uid }) => uid));
  for (const { uid } of known) {
    if (uids.has(uid)) continue;
    const record = await readUnlessDeleted(kind, session, uid, { createTime });
    if (record) live.push(liveFrom(record));
  }
  return live;
};

/** With those of `others` that a list lacks: they were seen before, and may be too new for it. */
export const withOthers = (listed: readonly Live[], others: readonly Live[]): Live[] => {
  const uids = new Set(listed.map(({ uid }) => uid));
  return [...listed, ...others.filter(({ uid }) => !uids.has(uid))];
};

/** Lists until `isComplete` holds, or nothing can be hidden any more after `waitMs`. */
export const listUntil = async (
  session: Session,
  group: string,
  waitMs: number,
  isComplete: (live: readonly Live[]) => boolean,
): Promise<Live[]> => {
  const until = session.clock.now() + waitMs;
  let live: Live[] = [];
  const look = async () => {
    live = await listLive(session, group);
    return isComplete(live) ? true : undefined;
  };
  await retryUntilVisible(session.clock, look, () => until);
  return live;
};
