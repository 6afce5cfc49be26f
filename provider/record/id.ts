// Facts about a record of any kind: where it is, when it was created, its identity, and whether a program describes it.
import { createHash } from "node:crypto";
import { AT, type PlannedAdoption, SERVICE } from "../../client/preview-marks.ts";
import { isUidp, type Json, parentOf, resources } from "../../schema/index.ts";
import { type Kind, title } from "./kind.ts";

/** uid of the record's holder; "" at the root. An account association is held by the group whose uid it has. */
export const placeOfRecord = (kind: Pick<Kind, "list">, uid: string): string =>
  kind.list.sharesUid ? uid : parentOf(uid);

/** A tag has no creation time: each create moves it. */
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

/** Whether it has the identifying fields of the desired record, as far as they are given. */
export const isMatch = (kind: Kind, record: Json, desired: Json): boolean =>
  kind.matchedBy.every((field) => desired[field] === undefined || record[field] === desired[field]);

/**
 * The identity of a record in its place, for `isSameIdentity`: a hash for each field, since a name may be secret. `fields` are those of the
 * record, or the desired ones; `salt` makes equal names of two records differ.
 */
export const identityOf = (kind: Kind, place: string, fields: Json, salt: string): Record<string, string> => {
  const own = Object.entries({ ...fields, place }).filter(
    ([field, value]) => value !== undefined && (field === "place" || kind.matchedBy.includes(field)),
  );
  return Object.fromEntries(
    own.map((one) => [
      one[0],
      createHash("sha256")
        .update(JSON.stringify([salt, one]))
        .digest("hex"),
    ]),
  );
};

/** `isMatch` for a record and a desired one, of which only the identities are known. */
export const isSameIdentity = (kind: Kind, record: Json, desired: Json): boolean =>
  record.place === desired.place && isMatch(kind, record, desired);

/** Undefined if the update creates the record, or if it is unknown which record it adopts. `taken`: from an interrupted run. */
export const knownUid = (
  kind: Kind,
  { parent, adopt }: Json,
  taken: PlannedAdoption | undefined,
): string | undefined => {
  if (taken) return taken.doubt === undefined ? taken.uid : undefined;
  const uid = adopt ?? (kind.list.sharesUid ? parent : undefined);
  return isUidp(uid) ? uid : undefined;
};

// When a check made a resource new, as its inputs carry it: in few characters, since every state repeats them. The engine keeps the inputs
// of a create that it has begun with its pending operation, and nothing else there records that time.

export interface Stamp {
  /** milliseconds by the service's clock, at most about a second early */
  at: number;
  /** the same by the clock of the machine, which the engine notes its runs by */
  startedAt: number;
}

const SECOND_MS = 1_000;
const UNIT_MS = 100;

/** `tkqz5n1`; of a machine whose clock is a minute ahead of the service's: `tkqz5n1.1o`. */
export const stampText = ({ at, startedAt }: Stamp): string => {
  const aheadS = Math.round((startedAt - at) / SECOND_MS);
  const text = Math.floor(at / UNIT_MS).toString(36);
  // The clocks of two machines may differ by this much without being wrong.
  return Math.abs(aheadS) <= 1 ? text : `${text}.${aheadS.toString(36)}`;
};

/** The stamp in the inputs of a resource; undefined if another version has written them. */
export const stampIn = ({ [AT]: text }: Json): Stamp | undefined => {
  const stamp = stampTextIn({ [AT]: text });
  const [, time, ahead = "0"] = /^([0-9a-z]{1,9})(?:\.(-?[0-9a-z]{1,8}))?$/.exec(stamp ?? "") ?? [];
  if (time === undefined) return undefined;
  const at = Number.parseInt(time, 36) * UNIT_MS;
  return { at, startedAt: at + Number.parseInt(ahead, 36) * SECOND_MS };
};

export const stampTextIn = ({ [AT]: text }: Json): string | undefined =>
  typeof text === "string" ? text.split(" ")[1] : undefined;

/** The member of the inputs that records the service, and the time when the resource was new. */
export const placeAndTime = (service: string, stamp: string | undefined): Json =>
  stamp === undefined ? { [SERVICE]: service } : { [AT]: `${service} ${stamp}` };
