// The role bindings of a group as the API has them.
import type { Json } from "../../schema/index.ts";
import { kindRecords } from "../kind/index.ts";
import { partOf } from "../kind/named.ts";
import { listGroup, readUnlisted, without } from "../reconcile/children.ts";
import { observe } from "../record/normal-form.ts";
import type { Session } from "../run/session.ts";
import { type Binding, bindingsIn } from "./pair.ts";

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

/** The bindings of a group; `isRefresh` as for `listGroup`. */
export const listLive = async (session: Session, group: string, about?: { isRefresh: boolean }): Promise<Live[]> =>
  (await listGroup(kind, session, group, about)).map(liveFrom);

/** Adds the bindings in the outputs `stored` that exist although the list lacks them. */
export const withStored = async (session: Session, stored: Json, listed: readonly Live[]): Promise<Live[]> => {
  const unlisted = await readUnlisted(kind, session, bindingsIn(stored, "bindings"), stored.updateTime, listed);
  return [...listed, ...unlisted.map(liveFrom)];
};

/** Adds the bindings of `others` that a list lacks: an earlier list had them, and they may be too new for this one. */
export const withOthers = (listed: readonly Live[], others: readonly Live[]): Live[] => [
  ...listed,
  ...without(others, listed),
];
