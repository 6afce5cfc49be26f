// Facts about a record of any kind: where it is, when it was created, its identity, and whether a program describes it.
import { createHash } from "node:crypto";
import type { TakenOver } from "../../client/preview-marks.ts";
import { isUidp, type Json, parentOf, resources } from "../../schema/index.ts";
import { type Kind, title } from "./kind.ts";

/** uid of what holds the record; "" at the root. An account association is held by the group whose uid it has. */
export const placeOf = (kind: Pick<Kind, "list">, uid: string): string => (kind.list.sharesUid ? uid : parentOf(uid));

/** A tag has no time of creation: each create moves it. */
export const createTimeOf = ({ createTime, updateTime }: Json): string => String(createTime ?? updateTime);

/** For people: `group 7209…/a033… "team", created 2026-01-28T12:54:21.189Z` */
export const recordLine = ({ word }: Kind, record: Json): string =>
  `${word} ${record.uid} ${title(record)}, created ${createTimeOf(record)}`;

const wordsBesideUid = new Map(
  Object.values(resources).flatMap(({ field, word, list }) => (list.sharesUid ? [[field, word]] : [])),
);

/** Identifies a record among records of all kinds: two kinds may share a uid. `field` is the field of its kind. */
export const recordId = (field: string, uid: string): string => {
  const word = wordsBesideUid.get(field);
  return word === undefined ? uid : `${uid} (${word})`;
};

/** Whether it has what identifies the desired one, as far as that is given. */
export const isMatch = (kind: Kind, record: Json, desired: Json): boolean =>
  kind.matchedBy.every((field) => desired[field] === undefined || record[field] === desired[field]);

/**
 * What identifies a record in its place, for `isSameIdentity`: a hash for each field, since a name may be secret. `fields` are the record's,
 * or those that a program asks for; `salt` makes equal names of two records differ.
 */
export const identityOf = (kind: Kind, place: string, fields: Json, salt: string): Record<string, string> => {
  const own = Object.entries({ ...fields, place }).filter(
    ([field, value]) => value !== undefined && (field === "place" || kind.matchedBy.includes(field)),
  );
  const hashOf = (one: unknown) =>
    createHash("sha256")
      .update(JSON.stringify([salt, one]))
      .digest("hex");
  return Object.fromEntries(own.map((one) => [one[0], hashOf(one)]));
};

/** `isMatch` for a record and what a program asks for, of which only the identities are known. */
export const isSameIdentity = (kind: Kind, record: Json, desired: Json): boolean =>
  record.place === desired.place && isMatch(kind, record, desired);

/** Undefined where the update makes the record, or which one it takes over is not known. `taken`: from an interrupted run. */
export const knownUid = (kind: Kind, { parent, adopt }: Json, taken: TakenOver | undefined): string | undefined => {
  if (taken) return taken.doubt === undefined ? taken.uid : undefined;
  const uid = adopt ?? (kind.list.sharesUid ? parent : undefined);
  return isUidp(uid) ? uid : undefined;
};
