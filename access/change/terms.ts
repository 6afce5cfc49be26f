// A change that was computed again, in the terms of the approved one. A record that a write of the approved change creates is the number of
// that write. This holds whether the run creates it again or an earlier run has already created it.
import { randomUUID } from "node:crypto";
import {
  fieldPaths,
  getOrInsert,
  isObject,
  isShownOnce,
  type Json,
  normalForm,
  oneofsOf,
  parentOf,
} from "../../schema/index.ts";
import { canonical } from "../canonical.ts";
import type { Change, ChangeContent } from "./change.ts";
import { methodOf, type WriteMethod } from "./methods.ts";
import { equalsOf, type HeldOf } from "./rows.ts";
import { type Made, madeUids, secretIn, type Text } from "./text.ts";
import { decidesNothing } from "./unknown.ts";
import { encodeFields, mapMade, referencesIn, resolveValue } from "./value.ts";
import { keysOf, type Normal, neutral, type Write } from "./write.ts";

/** By the plural of their kind, as the API lists them. */
type Records = { readonly [plural: string]: readonly Json[] | undefined };

/** A change that was computed again on a fresh copy. */
export interface CurrentChange {
  content: ChangeContent;
  /** of the run that computed it */
  normal: Pick<Normal, "uids" | "encodeText">;
  /** records of the copies before the run, by address */
  records: ReadonlyMap<string, Records>;
  /** access in the copies after it, by address */
  held: ReadonlyMap<string, HeldOf>;
  /** uids of the stack after it */
  owned: ReadonlySet<string>;
}

export type Terms = ReturnType<typeof termsOf>;

/** Two equal writes have one form, whatever their numbers. */
export const formOf = (write: Write): string => canonical({ ...write, n: 0 });

/** The headers of a service give times in whole seconds. */
const inSeconds = (time: string) => Math.floor(Date.parse(time) / 1000);

export const termsOf = (approved: Change, current: CurrentChange) => {
  const left = new Set<string>();
  for (;;) {
    const { terms, surplus } = assign(approved, current, left);
    if (surplus.length === 0) return terms;
    for (const uid of surplus) left.add(uid);
  }
};

/** `without`: records that do not belong to the change. `surplus`: further records of one write, which someone else has created. */
const assign = (approved: Change, { content, normal, records, owned }: CurrentChange, without: ReadonlySet<string>) => {
  const keys = keysOf(approved.writes);
  const equal = equalsOf(keys);
  const equalMade = (made: Made) => ("$uid" in made ? { $uid: equal(made.$uid) } : { $segment: equal(made.$segment) });
  const inEquals = <T>(value: T) => mapMade(value, equalMade) as T;
  const writes = approved.writes.map(inEquals);
  const hidden = `hidden-${randomUUID()}`;
  const made = madeUids(secretIn([hidden]));
  const places = new Map<number, string[]>();
  const add = (n: number, uid: string) => {
    made.add(uid, n);
    getOrInsert(places, n, () => []).push(uid);
  };
  const { encodeText } = made;
  const encoding = { encodeText, orderOf: (encoded: unknown) => canonical(neutral(encoded, keys)) };
  const resolving = { uidOf: (n: number) => normal.uids.get(n) ?? `write ${n}`, hidden };
  const inTerms = (write: Write): Write => {
    const { parent, uid, fields } = resolveValue(write, resolving) as { parent?: string; uid?: string; fields: Json };
    return {
      ...write,
      ...(parent !== undefined && { parent: encodeText(parent) }),
      ...(uid !== undefined && { uid: encodeText(uid) }),
      fields: encodeFields(methodOf(write.method).schema, fields, encoding),
    };
  };

  const find = finderOf(records, approved);
  const updated = updatedIn(writes);
  const madeBy = (write: Write) => {
    const above = write.parent === undefined ? [""] : uidsOf(write.parent, places);
    const fieldsOf = (record: Json) => {
      const { schema } = methodOf(write.method);
      return encodeFields(schema, normalForm(schema, record), encoding);
    };
    return find(write, { above, fieldsOf, updated: updated.get(write.n) ?? [] });
  };
  const { rows, between, after } = approved;
  // The parent of a record is created before it.
  for (const n of referencesIn(inEquals([writes, rows, between, after])).sort((a, b) => a - b))
    for (const uid of madeBy(writes[n - 1] as Write)) if (!without.has(uid)) add(n, uid);
  const forms = new Map(writes.toReversed().map((write) => [formOf(write), write.n]));
  const existing = new Map([...places].map(([n, uids]) => [n, [...uids]]));
  for (const write of content.writes) {
    const uid = normal.uids.get(write.n);
    const n = uid === undefined ? undefined : forms.get(formOf(inTerms(write)));
    if (uid !== undefined && n !== undefined) add(n, uid);
  }
  const terms = {
    /** a value of the approved change, with the number of the first of equal writes */
    approved: inEquals,
    /** a text of the copies, or of the run */
    encodeText,
    /** a write of the new computation; its number stays */
    write: inTerms,
    /** a text of the new computation, with the uids of the copies */
    plain: (text: unknown) => resolveValue(text, resolving) as string,
    /** a text of the new computation */
    current: (text: unknown): Text => encodeText(resolveValue(text, resolving) as string),
    /** uids that a text of the approved change refers to: of records that equal writes create, or have created */
    uids: (text: Text) => uidsOf(text, places),
    /** uids of records whose create shows a value once: a run that has lost such an answer replaces the record */
    shownOnce: new Set(writes.filter(({ method }) => showsOnce(methodOf(method))).flatMap(madeBy)),
  };
  const counts = Map.groupBy(writes, ({ n }) => equal(n));
  for (const [n, uids] of existing) {
    const more = (places.get(n) as string[]).length - (counts.get(n) as Write[]).length;
    // The record that the stack contains, or else the first one, belongs to the change.
    if (more > 0 && uids.length > 0) {
      const mine = uids.toSorted((a, b) => Number(owned.has(a)) - Number(owned.has(b)));
      return { terms, surplus: mine.slice(0, Math.min(more, mine.length)) };
    }
  }
  return { terms, surplus: [] };
};

const showsOnce = ({ verb, schema }: WriteMethod) => verb === "create" && fieldPaths(schema, isShownOnce).length > 0;

const uidsOf = (text: Text, places: ReadonlyMap<number, readonly string[]>) => {
  if (typeof text === "string") return [text];
  return "$uid" in text ? (places.get(text.$uid) ?? []) : [];
};

/** For each record that a write creates, the values that later writes set. */
const updatedIn = (writes: readonly Write[]): ReadonlyMap<number, readonly Json[]> => {
  const updated = new Map<number, Json[]>();
  for (const { uid, fields, mask = [] } of writes) {
    if (typeof uid !== "object" || !("$uid" in uid)) continue;
    const names = mask.map((path) => path.split(".", 1)[0] as string);
    const values = Object.fromEntries(names.map((name) => [name, fields[name]]));
    getOrInsert(updated, uid.$uid, () => []).push(values);
  }
  return updated;
};

interface Place {
  /** uids of its possible parents; empty: none */
  above: readonly string[];
  fieldsOf(record: Json): Json;
  /** the values that the change sets later */
  updated: readonly Json[];
}

/** uids of the records that match a create, and that were created after the approval of the change. */
const finderOf = (records: CurrentChange["records"], { services, created }: Change) => {
  const indexes = new Map([...records].map(([address, all]) => [address, indexOf(all)]));
  return (write: Write, { above, fieldsOf, updated }: Place): string[] => {
    const method = methodOf(write.method);
    const index = indexes.get(write.service ?? (services[0] as string));
    const later = updated.flatMap((one) => ("name" in one ? [nameIn(one)] : []));
    const names = new Set([nameIn(write.fields), ...later]);
    return above
      .flatMap((parent) => [...names].map((name) => `${method.resource.plural} ${parent} ${name}`))
      .flatMap((key) => index?.get(key) ?? [])
      .filter(({ createTime }) => typeof createTime !== "string" || inSeconds(createTime) >= inSeconds(created))
      .filter((record) => hasGiven(method, write.fields, fieldsOf(record), updated))
      .toSorted((a, b) => (String(b.createTime) < String(a.createTime) ? -1 : 1))
      .map(({ uid }) => String(uid));
  };
};

const nameIn = ({ name }: Json) => (typeof name === "string" ? name : "");

/** A record is also listed without its name: a name that contains the uid of another record is searched among all. */
const indexOf = (all: Records): ReadonlyMap<string, Json[]> => {
  const index = new Map<string, Json[]>();
  for (const [plural, list] of Object.entries(all))
    for (const record of list ?? [])
      for (const name of new Set([nameIn(record), ""])) {
        getOrInsert(index, `${plural} ${parentOf(String(record.uid))} ${name}`, () => []).push(record);
      }
  return index;
};

const hasGiven = (method: WriteMethod, given: Json, held: Json, updated: readonly Json[]): boolean => {
  const kept = fieldPaths(
    method.schema,
    ({ secret, inputOnly, answeredAs }) => secret === true || (inputOnly === true && !answeredAs),
  );
  const oneofs = [...oneofsOf(method.schema).values()];
  const hasOne = (name: string, value: unknown) => includes(held[name], value, kept, name);
  return Object.entries(given).every(([name, value]) => {
    if (kept.includes(name) || isForPeople(method, name) || hasOne(name, value)) return true;
    const others = oneofs.find((names) => names.includes(name)) ?? [];
    return updated.some((one) => (name in one ? hasOne(name, one[name]) : others.some((other) => other in one)));
  });
};

const isForPeople = (method: WriteMethod, name: string) =>
  decidesNothing(method, name) && !method.resource.givesNoAccess;

/** The service may set more fields of a message. */
const includes = (held: unknown, given: unknown, kept: readonly string[], path: string): boolean => {
  if (!isObject(given) || !isObject(held) || Object.keys(given).some((key) => key.startsWith("$")))
    return canonical(held ?? null) === canonical(given);
  return Object.entries(given).every(
    ([key, value]) => kept.includes(`${path}.${key}`) || includes(held[key], value, kept, `${path}.${key}`),
  );
};
