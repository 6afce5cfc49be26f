// proto3 JSON (docs/internals/contract.md#json), read and written by the schema. A message in memory has the shape of its JSON:
// lowerCamel names, times as RFC 3339, int64 as decimal strings. Unknown fields are discarded. Each malformed value of a
// known field is a violation with its path. All violations are reported.
import { z } from "zod";
import type { FieldViolation } from "./error.ts";
import {
  asMessage,
  duration,
  enumInfo,
  fieldByName,
  fieldsOf,
  isZero,
  type Message,
  mapMessages,
  scalarInfo,
  unwrap,
  zeroOf,
} from "./field.ts";
import { suggestion } from "./nearest.ts";
import { once } from "./once.ts";

export type Json = Record<string, unknown>;

/** Items of lists and entries of maps that one request may hold in total: each costs time to read. */
export const VALUES_MAX = 1000;

export const TOO_MANY_VALUES = `has too many values: a request may hold ${VALUES_MAX} items of lists and entries of maps`;

export interface Decoded {
  value: Json;
  violations: FieldViolation[];
}

/** Reads a message. Paths of violations start with `field`. `strict`: an unknown field is a violation. */
export const messageFromJson = (schema: Message, json: unknown, field = "", strict = false): Decoded => {
  const reading: Reading = { violations: [], open: false, strict, room: VALUES_MAX };
  return { value: readMessage(schema, json, field, reading), violations: reading.violations };
};

/**
 * Reads a response. Unknown fields and enum values are kept as received, because servers evolve (AIP-180). `strict`: an unknown field is a
 * violation.
 */
export const answerFromJson = (schema: Message, json: unknown, strict = false): Decoded => {
  const reading: Reading = { violations: [], open: true, strict, room: Number.POSITIVE_INFINITY };
  return { value: readMessage(schema, json, "", reading), violations: reading.violations };
};

interface Reading {
  violations: FieldViolation[];
  open: boolean;
  /** how many more values are allowed */
  room: number;
  strict: boolean;
}

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value of a record at a path such as `claimMatch.issuer`; undefined if the record has none there. */
export const valueAt = (record: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>((held, name) => (isObject(held) && Object.hasOwn(held, name) ? held[name] : undefined), record);

const join = (path: string, name: string) => (path ? `${path}.${name}` : name);

const readMessage = (schema: Message, json: unknown, path: string, reading: Reading): Json => {
  if (!isObject(json)) {
    refuse(path, "must be an object", reading);
    return {};
  }
  const value: Json = {};
  const members = new Map<string, string>();
  for (const { name, schema: field, spellings, info } of fieldsOf(schema)) {
    // Accepts each spelling of a field, but only one at a time. Reads own properties only, so `__proto__` is an unknown name.
    const given = spellings.filter((spelling) => Object.hasOwn(json, spelling)).map((spelling) => json[spelling]);
    const raw = given.find((one) => one !== null);
    if (given.length > 1 && !reading.open) refuse(join(path, name), "must be given once", reading);
    if (raw === undefined) continue;
    const { oneof } = info;
    const other = oneof && members.get(oneof);
    if (other) refuse(join(path, name), `only one of ${other}, ${name} may be set`, reading);
    if (oneof) members.set(oneof, name);
    value[name] = readValue(field, raw, join(path, name), reading);
  }
  if (reading.strict) refuseUnknown(schema, json, path, reading);
  return reading.open ? { ...unknownFields(schema, json), ...value } : value;
};

const unknownFields = (schema: Message, json: Json): Json =>
  Object.fromEntries(Object.entries(json).filter(([name]) => !fieldByName(schema, name)));

/** Limits for unknown fields in errors: a body may be full of them, and they may be long. */
const UNKNOWN_MAX = 10;
const UNKNOWN_LENGTH_MAX = 100;

const refuseUnknown = (schema: Message, json: Json, path: string, reading: Reading) => {
  const names = Object.keys(schema.shape);
  for (const unknown of Object.keys(unknownFields(schema, json)).slice(0, UNKNOWN_MAX)) {
    const name = unknown.slice(0, UNKNOWN_LENGTH_MAX);
    refuse(join(path, name), `there is no such field${suggestion(name, names)}`, reading);
  }
};

const readValue = (schema: z.ZodType, raw: unknown, path: string, reading: Reading): unknown => {
  const message = asMessage(schema);
  if (message) return readMessage(message, raw, path, reading);
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) {
    if (!Array.isArray(raw)) return refuse(path, "must be a list", reading);
    if (!takeRoom(raw.length, reading)) return refuse(path, TOO_MANY_VALUES, reading);
    return raw.map((item, i) => readValue(inner.element as z.ZodType, item, `${path}[${i}]`, reading));
  }
  if (inner instanceof z.ZodRecord) {
    if (!isObject(raw)) return refuse(path, "must be a map", reading);
    if (!takeRoom(largeSizes.get(raw) ?? Object.keys(raw).length, reading))
      return refuse(path, TOO_MANY_VALUES, reading);
    const entries = Object.entries(raw).map(([key, item]) => [
      readValue(inner.keyType as z.ZodType, key, join(path, key), reading),
      readValue(inner.valueType as z.ZodType, item, join(path, key), reading),
    ]);
    return Object.fromEntries(entries);
  }
  return readScalar(inner, raw, path, reading);
};

// Counting the names of an object costs as much as parsing it, so objects with too many names are counted once.
const largeSizes = new WeakMap<object, number>();

/** The number of names of objects that were counted. */
export const noteSize = (object: object, size: number): void => {
  if (size > VALUES_MAX) largeSizes.set(object, size);
};

const takeRoom = (count: number, reading: Reading): boolean => {
  reading.room -= count;
  return reading.room >= 0;
};

const refuse = (path: string, description: string, reading: Reading): undefined => {
  reading.violations.push({ field: path, description });
  return undefined;
};

// If two names share a number, the first in the enum wins.
const namesByNumber = once((numbers: Readonly<Record<string, number>>): ReadonlyMap<number, string> => {
  const names = Object.entries(numbers).map(([name, number]) => [number, name] as const);
  return new Map(names.toReversed());
});

const INT32 = 2 ** 31;
const ISO_LENGTH = "2026-01-28T12:54:21.189Z".length;
// About 10,000 years (google.protobuf.Duration).
const DURATION_MAX_S = 315_576_000_000;

const readScalar = (schema: z.ZodType, raw: unknown, path: string, reading: Reading): unknown => {
  const numbers = enumInfo(schema)?.numbers;
  if (numbers) {
    const name = typeof raw === "number" ? namesByNumber(numbers).get(raw) : raw;
    if (typeof name === "string" && Object.hasOwn(numbers, name)) return name;
    if (reading.open && (typeof raw === "string" || typeof raw === "number")) return raw;
    return refuse(path, "is not a known value of its enum", reading);
  }
  switch (scalarInfo(schema)?.scalar) {
    case "int32": {
      const value = typeof raw === "string" && /^-?\d+$/.test(raw) ? Number(raw) : raw;
      const fits = Number.isInteger(value) && (value as number) >= -INT32 && (value as number) < INT32;
      return fits ? value : refuse(path, "must be an integer of 32 bits", reading);
    }
    case "int64": {
      const text = typeof raw === "number" && Number.isSafeInteger(raw) ? String(raw) : raw;
      const value = typeof text === "string" && /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
      const fits = value !== undefined && BigInt.asIntN(64, value) === value;
      return fits ? String(value) : refuse(path, "must be an integer", reading);
    }
    case "duration": {
      const fits = duration.safeParse(raw).success && Math.abs(Number.parseFloat(raw as string)) <= DURATION_MAX_S;
      return fits ? raw : refuse(path, 'must be a duration such as "3600s"', reading);
    }
    case "bytes": {
      // Either base64 alphabet, with or without padding (proto3 JSON mapping).
      const text = typeof raw === "string" && /^[\w+/-]*={0,2}$/.test(raw) ? Buffer.from(raw, "base64") : undefined;
      return text ? text.toString("base64") : refuse(path, "must be base64", reading);
    }
    case "timestamp": {
      const ms = typeof raw === "string" ? Date.parse(raw) : Number.NaN;
      if (Number.isNaN(ms)) return refuse(path, "must be an RFC 3339 time", reading);
      const text = new Date(ms).toISOString();
      // As a rule it is written like this already. A year of more than four digits has a sign.
      const isKnown = (text === raw && text.length === ISO_LENGTH) || schema.safeParse(raw).success;
      return isKnown ? text : refuse(path, "must be an RFC 3339 time", reading);
    }
  }
  const type = schema instanceof z.ZodBoolean ? "boolean" : "string";
  if (typeof raw !== type) return refuse(path, `must be a ${type}`, reading);
  // Half a surrogate pair has no UTF-8 encoding, so protobuf cannot hold it.
  return type === "boolean" || (raw as string).isWellFormed() ? raw : refuse(path, "must be Unicode text", reading);
};

/** Writes a message without unset and zero fields, except those that are always shown (docs/internals/contract.md#d1). */
export const messageToJson = (schema: Message, value: Json): Json => {
  const json: Json = {};
  for (const { name, schema: field, info } of fieldsOf(schema)) {
    const member = value[name];
    if (!isZero(field, member)) json[name] = mapMessages(field, member, messageToJson);
    else if (info.always) json[name] = zeroOf(field);
  }
  return json;
};

// Problems with the shape of a value that people write, in plain words instead of zod's messages.

export interface Problem {
  path: PropertyKey[];
  text: string;
}

export const shapeError = (issue: z.core.$ZodRawIssue): string | undefined => {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.map(String).join(" or ")}`;
    case "too_small":
      return issue.origin === "string" ? "is required" : `must be at least ${issue.minimum}`;
    case "too_big":
      return `must be at most ${issue.maximum}${issue.origin === "string" ? " characters" : ""}`;
  }
  return undefined;
};

const KINDS: Record<string, string> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  record: "a map",
};

/** The problems that a schema found. Each unknown key is a problem at its own path. */
export const shapeProblems = (issues: readonly z.core.$ZodIssue[]): Problem[] =>
  issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => ({ path: [...issue.path, key], text: "there is no such field here" }))
      : [{ path: issue.path, text: issue.message }],
  );
