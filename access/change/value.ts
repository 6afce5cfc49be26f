// The values of a write in the file. Every object with a member that begins with $ is ours. If an author's map has such a key, or keys that
// are not plain texts, it is written as a list of its entries ($map).
import { z } from "zod";
import {
  asMessage,
  enumInfo,
  fieldInfo,
  inputFields,
  isObject,
  type Json,
  type Message,
  once,
  scalarInfo,
  unwrap,
} from "../../schema/index.ts";
import { inOrderOf, mapItems } from "../canonical.ts";
import { HIDDEN, type Made, type Text } from "./text.ts";

export interface Encoding {
  encodeText(text: string): Text;
  /** the sort key for the items of a list whose order means nothing */
  orderOf(encoded: unknown): string;
}

/** `value` is in normal form (schema/normal.ts). */
export const encodeFields = (schema: Message, value: Json, encoding: Encoding): Json =>
  Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, encodeField(schema.shape[name] as z.ZodType, item, encoding)]),
  );

const encodeField = (field: z.ZodType, value: unknown, encoding: Encoding): unknown => {
  const { secret, list } = fieldInfo(field);
  if (secret) return HIDDEN;
  const encoded = encodeType(field, value, encoding);
  if (!Array.isArray(encoded) || list === undefined || list === "ordered") return encoded;
  return inOrderOf(encoded, (item) =>
    encoding.orderOf(typeof list === "object" && isObject(item) ? item[list.key] : item),
  );
};

const encodeType = (type: z.ZodType, value: unknown, encoding: Encoding): unknown => {
  const inner = unwrap(type);
  const message = asMessage(inner);
  if (message) return encodeFields(message, value as Json, encoding);
  if (inner instanceof z.ZodArray)
    return (value as unknown[]).map((item) => encodeType(inner.element as z.ZodType, item, encoding));
  if (inner instanceof z.ZodRecord) return encodeMap(inner.valueType as z.ZodType, value as Json, encoding);
  return isText(inner) ? encoding.encodeText(value as string) : value;
};

const isText = (inner: z.ZodType) => inner instanceof z.ZodString && !scalarInfo(inner) && !enumInfo(inner);

const encodeMap = (type: z.ZodType, map: Json, encoding: Encoding): Json => {
  const entries = Object.entries(map).map(
    ([key, item]) => [encoding.encodeText(key), encodeType(type, item, encoding)] as const,
  );
  if (entries.every(([key]) => typeof key === "string" && isPlainKey(key)))
    return Object.fromEntries(entries as [string, unknown][]);
  return { $map: inOrderOf(entries, ([key]) => encoding.orderOf(key)) };
};

const isPlainKey = (key: string) => !key.startsWith("$") && key !== "__proto__";

export interface Resolving {
  uidOf(n: number): string;
  /** replaces a secret */
  hidden: string;
}

/** The value that an encoded value represents. */
export const resolveValue = (value: unknown, resolving: Resolving): unknown => {
  const resolved = (item: unknown): unknown => resolveValue(item, resolving);
  if (isObject(value)) {
    if (Array.isArray(value.$map)) return Object.fromEntries(value.$map.map((entry) => entry.map(resolved)));
    if (Array.isArray(value.$text)) return value.$text.map(resolved).join("");
    if (typeof value.$uid === "number") return resolving.uidOf(value.$uid);
    if (typeof value.$segment === "number") return resolving.uidOf(value.$segment).replace(/^.*\//, "");
    if (value.$secret === true) return resolving.hidden;
  }
  return mapItems(value, resolved);
};

/** The value with another value in place of each reference to a write. */
export const mapMade = (value: unknown, map: (made: Made) => unknown): unknown =>
  isObject(value) && (typeof value.$uid === "number" || typeof value.$segment === "number")
    ? map(value as Made)
    : mapItems(value, (item) => mapMade(item, map));

/** The numbers of the writes that a value refers to. */
export const referencesIn = (value: unknown): number[] => {
  const numbers = new Set<number>();
  mapMade(value, (made) => void numbers.add(Object.values(made)[0] as number));
  return [...numbers];
};

// The values that a file may contain. The server checks the rest.

const OBJECTS = 'must be a text, { "$uid": N }, { "$segment": N }, { "$text": […] } or { "$secret": true }';
const plainTexts = [z.string(), z.strictObject({ $uid: z.int() }), z.strictObject({ $segment: z.int() })] as const;

export const WrittenText = z.union(
  [
    ...plainTexts,
    z.strictObject({ $text: z.array(z.union(plainTexts)).min(1) }),
    z.strictObject({ $secret: z.literal(true) }),
  ],
  { error: OBJECTS },
);

/** The fields of a write to a record. */
export const writtenFields = once((schema: Message): z.ZodType => writtenObject(schema, inputFields(schema)));

const writtenObject = (schema: Message, names: readonly string[]): z.ZodType =>
  z.strictObject(
    Object.fromEntries(names.map((name) => [name, writtenType(schema.shape[name] as z.ZodType).optional()])),
    {
      error: ({ code, keys }) =>
        code === "unrecognized_keys" ? `${(keys as string[])[0]}: there is no such field` : "must be an object",
    },
  );

const writtenType = (type: z.ZodType): z.ZodType => {
  const inner = unwrap(type);
  const message = asMessage(inner);
  if (message) return writtenObject(message, Object.keys(message.shape));
  if (inner instanceof z.ZodArray) return z.array(writtenType(inner.element as z.ZodType), { error: "must be a list" });
  if (inner instanceof z.ZodRecord) {
    const item = writtenType(inner.valueType as z.ZodType);
    const plainMap = z.custom((value) => isObject(value) && Object.keys(value).every(isPlainKey));
    const entries = z.strictObject({ $map: z.array(z.tuple([WrittenText, item])) });
    return z.union([entries, plainMap.pipe(z.record(z.string(), item))], {
      error: 'must be a map, or { "$map": [[KEY, VALUE], …] }',
    });
  }
  return isText(inner)
    ? WrittenText
    : z.union([z.string(), z.number(), z.boolean()], { error: "must be a plain value" });
};
