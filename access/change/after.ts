// What an identity holds after a change, and who can act as it, as a digest: a file with each capability of each identity would be too large.
// A record that the change makes is the number of its write, so the digest stays the same when the record exists.
import { isObject, type Json } from "../../schema/index.ts";
import { canonical, digestOf } from "../canonical.ts";
import type { ChangeAfter } from "./change.ts";
import { madeUids, type Text } from "./text.ts";
import { keysOf, type Write } from "./write.ts";

export interface Held {
  /** uid of the group where it holds and below, and the capability */
  grants: readonly (readonly [group: string, capability: string])[];
  /** who can act as it; null: it is not visible */
  signIn: Json | null;
}

/** Of a uid that is an identity, or a record that gives people access; undefined: there is none. */
export type HeldOf = (uid: string) => Held | undefined;

/** The first write, by number, that asks for the same as each write: which of two equal ones has made a record is not known. */
export const equalsOf = (keys: readonly string[]): ((n: number) => number) => {
  const first = new Map<string, number>();
  keys.forEach((key, i) => {
    if (!first.has(key)) first.set(key, i + 1);
  });
  return (n) => first.get(keys[n - 1] as string) ?? n;
};

/** `identity` is that of the entry, and `textOf` has numbers of `equalsOf`. */
export const digestsOf = (
  held: Held | undefined,
  { identity, writes, textOf }: { identity: Text; writes: readonly Write[]; textOf(text: string): Text },
): Pick<ChangeAfter, "access" | "signIn"> => {
  if (held === undefined) return { access: null };
  const grants = held.grants.map(([group, capability]) => canonical([textOf(group), capability]));
  const signIn = isEndChosen(identity, writes) ? withoutEnd(held.signIn) : held.signIn;
  return {
    access: digestOf([...new Set(grants)].sort()),
    ...(signIn !== null && { signIn: digestOf(encoded(signIn, textOf)) }),
  };
};

/** The service lets static keys end where their create does not say when: on the copy at another time. */
const isEndChosen = (identity: Text, writes: readonly Write[]): boolean => {
  if (typeof identity === "string" || !("$uid" in identity)) return false;
  const { staticKeys } = writes[identity.$uid - 1]?.fields ?? {};
  return isObject(staticKeys) && staticKeys.expirationTime === undefined;
};

const withoutEnd = (signIn: Json | null): Json | null => {
  if (!isObject(signIn?.staticKeys)) return signIn;
  const { expirationTime: _, ...staticKeys } = signIn.staticKeys;
  return { ...signIn, staticKeys };
};

/** Zero fields mean the same as none. An author may choose the keys of a map. */
const encoded = (value: unknown, textOf: (text: string) => Text): unknown => {
  if (typeof value === "string") return textOf(value);
  if (Array.isArray(value)) return value.map((item) => encoded(item, textOf));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== "" && item !== null && item !== undefined);
  return entries.map(([key, item]) => canonical([textOf(key), encoded(item, textOf)])).sort();
};

/** What the identities and records of the change hold after it. */
export const afterOf = (
  subjects: readonly { service?: string; uid: string; held: Held | undefined }[],
  { writes, uids, textOf }: { writes: readonly Write[]; uids: ReadonlyMap<number, string>; textOf(text: string): Text },
): ChangeAfter[] => {
  const equal = equalsOf(keysOf(writes));
  const made = madeUids();
  for (const [n, uid] of uids) made.add(uid, equal(n));
  const inEqual = (text: string): Text => {
    const own = textOf(text);
    return isObject(own) && "$secret" in own ? own : made.textOf(text);
  };
  const entries = subjects.map(({ service, uid, held }): ChangeAfter => {
    const identity = textOf(uid);
    const digests = digestsOf(held, { identity: inEqual(uid), writes, textOf: inEqual });
    return { ...(service !== undefined && { service }), identity, ...digests };
  });
  return entries.toSorted((a, b) => (canonical(a) < canonical(b) ? -1 : 1));
};
