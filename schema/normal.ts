// The normal form of a record, so that two records can be compared. Zero fields are left out, sets are sorted, and keyed
// objects are in the order of their keys. Times and durations have one spelling.
import { z } from "zod";
import { asMessage, type FieldInfo, fieldInfo, fieldsOf, isZero, type Message, scalarInfo, unwrap } from "./field.ts";
import { inputFields } from "./input.ts";
import { isObject, type Json } from "./json.ts";

/**
 * The fields of a record that a caller may set, in normal form, without its other fields. `unknown` stands for a value that a preview does
 * not know yet: it stays unchanged.
 */
export const normalForm = (schema: Message, value: Json, unknown?: string): Json => {
  const normal: Json = {};
  for (const name of inputFields(schema)) {
    const item = value[name];
    // Most fields of most records are absent.
    if (item === undefined) continue;
    const field = schema.shape[name] as z.ZodType;
    if (isZero(field, item) || item === fieldInfo(field).sameAsUnset) continue;
    normal[name] = valueIn(normalForm, field, item, unknown);
  }
  return normal;
};

/** The same record with one spelling of sets, keyed objects, times and durations, as the API writes them, and everything else unchanged. */
export const canonicalForm = (schema: Message, value: Json, unknown?: string): Json =>
  Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      const field = schema.shape[name];
      return [name, field === undefined ? item : valueIn(canonicalForm, field, item, unknown)];
    }),
  );

type Form = (schema: Message, value: Json, unknown?: string) => Json;

/** The value of a field, with the messages in it in that form. */
const valueIn = (form: Form, field: z.ZodType, value: unknown, unknown: string | undefined): unknown => {
  if (value === unknown) return value;
  const inner = unwrap(field);
  const itemIn = (type: unknown) => (item: unknown) => valueIn(form, type as z.ZodType, item, unknown);
  if (inner instanceof z.ZodArray && Array.isArray(value)) return sortItems(field, value.map(itemIn(inner.element)));
  if (!isObject(value)) return normalScalar(inner, value);
  const message = asMessage(inner);
  if (message) return form(message, value, unknown);
  if (!(inner instanceof z.ZodRecord)) return value;
  const changed = itemIn(inner.valueType);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, changed(item)]));
};

const normalScalar = (inner: z.ZodType, value: unknown): unknown => {
  const scalar = scalarInfo(inner)?.scalar;
  if (scalar === "timestamp" && !Number.isNaN(Date.parse(value as string)))
    return new Date(value as string).toISOString();
  // Zeros at either end mean nothing (proto3 JSON mapping).
  if (scalar === "duration")
    return String(value)
      .replace(/^(-?)0+(?=\d)/, "$1")
      .replace(/(\.\d*?)0+s$/, "$1s")
      .replace(".s", "s");
  return value;
};

/** Sorts the items of a list if their order means nothing. */
const sortItems = (field: z.ZodType, items: unknown[]) => {
  const { list } = fieldInfo(field);
  if (list === "set") return [...new Set(items)].sort();
  if (typeof list !== "object") return items;
  const keyOf = (item: unknown) => String(isObject(item) ? item[list.key] : item);
  return items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0));
};

/** Paths of the fields that the predicate accepts: `staticKeys.expirationTime`. Does not look into lists and maps. */
export const fieldPaths = (schema: Message, accepts: (info: FieldInfo) => boolean, prefix = ""): string[] =>
  fieldsOf(schema).flatMap(({ name, info, message }) => {
    const path = prefix + name;
    if (accepts(info)) return [path];
    return message ? fieldPaths(message, accepts, `${path}.`) : [];
  });

/** Whether only the response to the create returns the field: the code of an invite. */
export const isShownOnce = ({ behavior, secret }: FieldInfo): boolean => behavior === "OUTPUT_ONLY" && secret === true;
