// One record in its four shapes: the bag of arguments that the engine keeps as inputs, the message that a request carries,
// the answer, and the outputs in the state.
import { type Json, parentOf } from "../schema/index.ts";
import { forget, normal } from "./diff.ts";
import type { Kind } from "./kind/kind.ts";

/** The engine's own member of the bag: the text that finds this code again. */
export const PROVIDER = "__provider";

/** The arguments that were given; null is how some say nothing. */
export const given = ({ [PROVIDER]: _provider, ...bag }: Json): Json => withoutNull(bag) as Json;

const withoutNull = (value: unknown): unknown => {
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNull(member)]));
};

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `identityUid` to `identity`: the name that the program used. */
export const argumentOf = (kind: Kind, field: string): string => kind.arguments?.[field] ?? field;

export const spelt = (kind: Kind, bag: Json): Json => kind.spelt?.(bag) ?? { ...bag };

/** The lists of these kinds are sets: one order, so that no other order ever shows as a change. */
export const withSets = (bag: Json): Json =>
  Object.fromEntries(
    Object.entries(bag).map(([name, value]) => [name, Array.isArray(value) ? [...new Set(value)].sort() : value]),
  );

/**
 * Outputs: the API's fields, uid first; nothing undefined, which the SDK cannot send: it would lose the record. allowReplace
 * goes with them, because a read is given outputs only; that a group is a root is in its uid.
 */
export const outputsFrom = (kind: Kind, answer: Json, { allowReplace }: Json): Json => {
  const { uid, ...fields } = kind.observed?.(answer) ?? answer;
  return withoutNull({ uid, ...fields, ...(allowReplace === true ? { allowReplace } : {}) }) as Json;
};

/** The API's fields of stored outputs. */
export const withoutOwn = ({ [PROVIDER]: _provider, allowReplace: _allowReplace, ...fields }: Json): Json => fields;

/**
 * What a program would have to say to mean the record as it is. What the service chose is left out: the program may never
 * have said it, and a diff compares it only when the program does.
 */
export const inputsFrom = (kind: Kind, id: string, observed: Json, { allowReplace }: Json): Json => {
  const parent = parentOf(id);
  const fields = normal(kind.schema, observed);
  for (const path of kind.serverChosen ?? []) forget(fields, path.split("."));
  return {
    ...(parent === "" ? { root: true } : { parent }),
    ...fields,
    ...(allowReplace === true ? { allowReplace } : {}),
  };
};
