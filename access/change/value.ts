// The values of a write as the file has them. Every object with a member that begins with $ is ours: the map of an author that has such a key
// is written as a list of its entries ($map), and so is one whose keys are no plain texts.
import { z } from "zod";
import {
  asMessage,
  enumInfo,
  fieldInfo,
  isObject,
  type Json,
  type Message,
  scalarInfo,
  unwrap,
} from "../../schema/index.ts";
import { inOrderOf } from "../canonical.ts";
import { HIDDEN, type Made, type Text } from "./text.ts";

export interface Encoding {
  textOf(text: string): Text;
  /** by which the items of a list are sorted whose order means nothing */
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
  const keyOf = (item: unknown): unknown => (typeof list === "object" && isObject(item) ? item[list.key] : item);
  return inOrderOf(encoded, (item) => encoding.orderOf(keyOf(item)));
};

const encodeType = (type: z.ZodType, value: unknown, encoding: Encoding): unknown => {
  const inner = unwrap(type);
  const message = asMessage(inner);
  if (message) return encodeFields(message, value as Json, encoding);
  if (inner instanceof z.ZodArray)
    return (value as unknown[]).map((item) => encodeType(inner.element as z.ZodType, item, encoding));
  if (inner instanceof z.ZodRecord) return encodeMap(inner.valueType as z.ZodType, value as Json, encoding);
  return isText(inner) ? encoding.textOf(value as string) : value;
};

const isText = (inner: z.ZodType): boolean => inner instanceof z.ZodString && !scalarInfo(inner) && !enumInfo(inner);

const encodeMap = (type: z.ZodType, map: Json, encoding: Encoding): Json => {
  const entries = Object.entries(map).map(
    ([key, item]) => [encoding.textOf(key), encodeType(type, item, encoding)] as const,
  );
  if (entries.every(([key]) => typeof key === "string" && isPlainKey(key)))
    return Object.fromEntries(entries as [string, unknown][]);
  return { $map: inOrderOf(entries, ([key]) => encoding.orderOf(key)) };
};

const isPlainKey = (key: string): boolean => !key.startsWith("$") && key !== "__proto__";

export interface Resolving {
  uidOf(n: number): string;
  /** stands for a secret */
  hidden: string;
}

/** The value that a write stands for. */
export const resolveValue = (value: unknown, resolving: Resolving): unknown => {
  if (Array.isArray(value)) return value.map((item) => resolveValue(item, resolving));
  if (!isObject(value)) return value;
  if (Array.isArray(value.$map))
    return Object.fromEntries(
      (value.$map as unknown[][]).map((entry) => entry.map((one) => resolveValue(one, resolving))),
    );
  if (Array.isArray(value.$text)) return value.$text.map((part) => resolveValue(part, resolving)).join("");
  if (typeof value.$uid === "number") return resolving.uidOf(value.$uid);
  if (typeof value.$segment === "number") {
    const uid = resolving.uidOf(value.$segment);
    return uid.slice(uid.lastIndexOf("/") + 1);
  }
  if (value.$secret === true) return resolving.hidden;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolveValue(item, resolving)]));
};

/** The same with another value in place of each reference to a write. */
export const mapMade = (value: unknown, map: (made: Made) => unknown): unknown => {
  if (Array.isArray(value)) return value.map((item) => mapMade(item, map));
  if (!isObject(value)) return value;
  if (typeof value.$uid === "number" || typeof value.$segment === "number") return map(value as Made);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapMade(item, map)]));
};

/** `n` of a reference that may be used here; the problem of another one */
export type CheckMade = (n: number) => string | undefined;

/** What is wrong with the fields of a write that a file has, with the path of each; the server checks the rest. */
export const fieldProblems = (
  schema: Message,
  fields: Json,
  names: readonly string[],
  check: CheckMade,
  path = "",
): string[] =>
  Object.entries(fields).flatMap(([name, value]) =>
    names.includes(name)
      ? typeProblems(schema.shape[name] as z.ZodType, value, check, path + name)
      : [`${path}${name}: there is no such field`],
  );

const typeProblems = (type: z.ZodType, value: unknown, check: CheckMade, path: string): string[] => {
  const inner = unwrap(type);
  const message = asMessage(inner);
  if (message) {
    if (!isObject(value) || isOurs(value)) return [`${path}: must be an object`];
    return fieldProblems(message, value, Object.keys(message.shape), check, `${path}.`);
  }
  if (inner instanceof z.ZodArray) {
    if (!Array.isArray(value)) return [`${path}: must be a list`];
    return value.flatMap((item, i) => typeProblems(inner.element as z.ZodType, item, check, `${path}[${i}]`));
  }
  if (inner instanceof z.ZodRecord) return mapProblems(inner.valueType as z.ZodType, value, check, path);
  if (isText(inner)) return textProblems(value, check, path);
  return ["string", "number", "boolean"].includes(typeof value) ? [] : [`${path}: must be a plain value`];
};

const mapProblems = (type: z.ZodType, value: unknown, check: CheckMade, path: string): string[] => {
  if (!isObject(value)) return [`${path}: must be a map`];
  if (!isOurs(value))
    return Object.entries(value).flatMap(([key, item]) => typeProblems(type, item, check, `${path}.${key}`));
  const { $map: entries, ...others } = value;
  const isList = Array.isArray(entries) && Object.keys(others).length === 0;
  if (!isList || !entries.every((one) => Array.isArray(one) && one.length === 2))
    return [`${path}: must be a map, or { "$map": [[KEY, VALUE], …] }`];
  return entries.flatMap(([key, item], i) => [
    ...textProblems(key, check, `${path}.$map[${i}]`),
    ...typeProblems(type, item, check, `${path}.$map[${i}]`),
  ]);
};

const isOurs = (value: Json): boolean => Object.keys(value).some((key) => !isPlainKey(key));

export const textProblems = (value: unknown, check: CheckMade, path: string): string[] => {
  if (typeof value === "string") return [];
  const problem = isObject(value) ? objectProblem(value, check) : "must be a text";
  return problem === undefined ? [] : [`${path}: ${problem}`];
};

const OBJECTS = 'must be a text, { "$uid": N }, { "$segment": N }, { "$text": […] } or { "$secret": true }';

const objectProblem = (value: Json, check: CheckMade): string | undefined => {
  const [[name, held] = [], ...others] = Object.entries(value);
  if (others.length > 0) return OBJECTS;
  if (name === "$secret") return held === true ? undefined : OBJECTS;
  if (name === "$uid" || name === "$segment") return Number.isSafeInteger(held) ? check(held as number) : OBJECTS;
  if (name !== "$text" || !Array.isArray(held) || held.length === 0) return OBJECTS;
  return held
    .filter((part) => typeof part !== "string")
    .map((part) =>
      isObject(part) && !("$text" in part) && !("$secret" in part) ? objectProblem(part, check) : OBJECTS,
    )
    .find((problem) => problem !== undefined);
};
