// The access that identities gain and lose by a change, by uid or by the write that creates the record: names decide nothing.

import { isObject, type Json, normalForm, valueAt } from "../../schema/index.ts";
import { canonical, digestOf, inOrderOf } from "../canonical.ts";
import type { ChangeAfter, ChangeContent, ChangeRow } from "./change.ts";
import { methodOf } from "./methods.ts";
import { madeUids, type Text } from "./text.ts";
import { decidesNothing } from "./unknown.ts";
import { encodeFields } from "./value.ts";
import { keysOf, type Write } from "./write.ts";

interface HeldRow {
  /** uid */
  identity: string;
  /** uid */
  group: string;
  capability: string;
}

/** The rows in canonical order. */
export const changeRows = (
  { gains, losses }: Record<"gains" | "losses", readonly HeldRow[]>,
  encodeText: (uid: string) => Text,
): ChangeRow[] => {
  const rowsOf = (change: ChangeRow["change"], rows: readonly HeldRow[]) =>
    rows.map(({ identity, group, capability }) => ({
      ...{ change, capability },
      ...{ identity: encodeText(identity), group: encodeText(group) },
    }));
  return inOrderOf([...rowsOf("gain", gains), ...rowsOf("loss", losses)], canonical);
};

/** The items that the others lack. */
const without = <T>(items: readonly T[], others: readonly T[]) => {
  const known = new Set(others.map(canonical));
  return items.filter((one) => !known.has(canonical(one)));
};

/** The rows that only one of the two contains. `texts` describe each side. */
export const rowsApart = (
  recorded: readonly ChangeRow[],
  now: readonly ChangeRow[],
  texts = { now: "the file does not have it", recorded: "only the file has it" },
): { row: ChangeRow; message: string }[] => [
  ...without(now, recorded).map((row) => ({ row, message: texts.now })),
  ...without(recorded, now).map((row) => ({ row, message: texts.recorded })),
];

/** Identities whose entries differ. The sign-in of an identity may not be visible now: the review reports each of these. */
export const afterApart = (recorded: readonly ChangeAfter[], now: readonly ChangeAfter[]) => {
  const byKey = (all: readonly ChangeAfter[]) =>
    new Map(all.map((one) => [canonical([one.service ?? "", one.identity]), one]));
  const [before, after] = [byKey(recorded), byKey(now)];
  const apart = [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [old, own] = [before.get(key), after.get(key)];
    const isSame = old && own && old.access === own.access && [old.signIn, undefined].includes(own.signIn);
    return isSame ? [] : [(own ?? old) as ChangeAfter];
  });
  return apart.map(({ identity }) => ({ identity, message: "after the change it is not as in the file" }));
};

/** Records whose replaced values differ between the two. */
export const beforeApart = (
  { writes, before }: Pick<ChangeContent, "writes" | "before">,
  now: ChangeContent["before"],
) => {
  const apart = [...without(before, now), ...without(now, before)];
  const uids = new Set(apart.map(({ n }) => writes[n - 1]?.uid as string));
  return [...uids].map((identity) => ({ identity, message: "what the change replaces is not as in the file" }));
};

// The values that the updates of a change replace, as digests: they reveal a manual edit that the change would silently undo.

/** A record by the plural of its kind, its uid, and the service; undefined: it is unknown. */
export type RecordOf = (plural: string, uid: string, service: string | undefined) => Json | undefined;

interface Reading {
  recordOf: RecordOf;
  encodeText(text: string): Text;
}

/** The replaced values of records that existed before the change. */
export const beforeOf = (writes: readonly Write[], { recordOf, encodeText }: Reading): ChangeContent["before"] =>
  writes.flatMap((write) => {
    const fields = recordFields(write, { recordOf, encodeText });
    const paths =
      fields === undefined ? [] : (write.mask ?? []).filter((path) => !decidesNothing(methodOf(write.method), path));
    return paths.map((path) => ({ n: write.n, path, value: valueDigest(fields as Json, path) }));
  });

/** The fields of the record that an update changes, in the encoding of a write. */
export const recordFields = (
  { service, method: name, uid, mask }: Write,
  { recordOf, encodeText }: Reading,
): Json | undefined => {
  const { resource, schema } = methodOf(name);
  const record =
    mask && typeof uid === "string" && schema === resource.schema ? recordOf(resource.plural, uid, service) : undefined;
  return record && encodeFields(schema, normalForm(schema, record), { encodeText, orderOf: canonical });
};

/** A field that is not set also has a digest. */
export const valueDigest = (fields: Json, path: string): string => digestOf(valueAt(fields, path) ?? null);

// A digest of the access that an identity holds after a change, and of who can act as it. A file with each capability of each identity
// would be too large. A record that the change creates is the number of its write, so the digest does not change when the record exists.

export interface Held {
  /** uid of the group where it holds, including all below, and the capability */
  grants: readonly (readonly [group: string, capability: string])[];
  /** who can act as it; null: it is not visible */
  signIn: Json | null;
}

/** For the uid of an identity, or of a record that gives people access; undefined: it does not exist. */
export type HeldOf = (uid: string) => Held | undefined;

/** The number of the first write that is equal to a write: it is unknown which of two equal ones has created a record. */
export const equalsOf = (keys: readonly string[]): ((n: number) => number) => {
  const first = new Map<string, number>();
  keys.forEach((key, i) => {
    if (!first.has(key)) first.set(key, i + 1);
  });
  return (n) => first.get(keys[n - 1] as string) ?? n;
};

/** `identity` comes from the entry, and `encodeText` uses the numbers of `equalsOf`. */
export const digestsOf = (
  held: Held | undefined,
  { identity, writes, encodeText }: { identity: Text; writes: readonly Write[]; encodeText(text: string): Text },
): Pick<ChangeAfter, "access" | "signIn"> => {
  if (held === undefined) return { access: null };
  const grants = held.grants.map(([group, capability]) => canonical([encodeText(group), capability]));
  const signIn = isEndChosen(identity, writes) ? withoutEnd(held.signIn) : held.signIn;
  return {
    access: digestOf([...new Set(grants)].sort()),
    ...(signIn !== null && { signIn: digestOf(encoded(signIn, encodeText)) }),
  };
};

/** The service chooses when static keys end if their create does not set it: on the copy, at another time. */
const isEndChosen = (identity: Text, writes: readonly Write[]) => {
  if (typeof identity === "string" || !("$uid" in identity)) return false;
  const { staticKeys } = writes[identity.$uid - 1]?.fields ?? {};
  return isObject(staticKeys) && staticKeys.expirationTime === undefined;
};

const withoutEnd = (signIn: Json | null): Json | null => {
  if (!isObject(signIn?.staticKeys)) return signIn;
  const { expirationTime: _, ...staticKeys } = signIn.staticKeys;
  return { ...signIn, staticKeys };
};

/** Zero fields equal absent ones. An author may choose the keys of a map. */
const encoded = (value: unknown, encodeText: (text: string) => Text): unknown => {
  if (typeof value === "string") return encodeText(value);
  if (Array.isArray(value)) return value.map((item) => encoded(item, encodeText));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== "" && item !== null && item !== undefined);
  return entries.map(([key, item]) => canonical([encodeText(key), encoded(item, encodeText)])).sort();
};

/** The access of the identities and records of the change after it. */
export const afterOf = (
  subjects: readonly { service?: string; uid: string; held: Held | undefined }[],
  {
    writes,
    uids,
    encodeText,
  }: { writes: readonly Write[]; uids: ReadonlyMap<number, string>; encodeText(text: string): Text },
): ChangeAfter[] => {
  const equal = equalsOf(keysOf(writes));
  const made = madeUids();
  for (const [n, uid] of uids) made.add(uid, equal(n));
  const inEqual = (text: string): Text => {
    const own = encodeText(text);
    return isObject(own) && "$secret" in own ? own : made.encodeText(text);
  };
  const entries = subjects.map(({ service, uid, held }): ChangeAfter => {
    const digests = digestsOf(held, { identity: inEqual(uid), writes, encodeText: inEqual });
    return { ...(service !== undefined && { service }), identity: encodeText(uid), ...digests };
  });
  return inOrderOf(entries, canonical);
};
