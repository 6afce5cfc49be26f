// What can be said of a record of any kind: where it is, when it was made, which one it is, and whether it is the one that a
// program describes.
import { type Json, parentOf, resources } from "../../schema/index.ts";
import type { Kind } from "./kind.ts";

/** uid of what holds the record; "" at the root. An account association is held by the group whose uid it has. */
export const placeOf = (kind: Pick<Kind, "list">, uid: string): string => (kind.list.sharesUid ? uid : parentOf(uid));

/** A tag has no time of creation: each create moves it. */
export const createTimeOf = ({ createTime, updateTime }: Json): unknown => createTime ?? updateTime;

const wordsBesideUid = new Map(
  Object.values(resources).flatMap(({ field, word, list }) => (list.sharesUid ? [[field, word]] : [])),
);

/** A record among those of all kinds: `field` is that of its kind. A uid alone may be that of two. */
export const recordId = (field: string, uid: string): string => {
  const word = wordsBesideUid.get(field);
  return word === undefined ? uid : `${uid} (${word})`;
};

/** The fields that tell a record from others in the same place. */
export const matchedBy = ({ matchedBy: fields = ["name"] }: Kind): readonly string[] => fields;

/** Whether it has what identifies the desired one, as far as that is given. */
export const isMatch = (kind: Kind, record: Json, desired: Json): boolean =>
  matchedBy(kind).every((field) => desired[field] === undefined || record[field] === desired[field]);
