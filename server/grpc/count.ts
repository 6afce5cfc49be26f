// Counts the values of a binary message before it is read (https://protobuf.dev/programming-guides/encoding). An item of a
// list may be one byte, and reading it creates an object. Lists and maps have the same bounds as in JSON.
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { TOO_MANY_VALUES, VALUES_MAX } from "../../schema/index.ts";

/** Fields of a message and of those in it, known or not. An entry of a map counts as three. */
export const FIELDS_MAX = 4 * VALUES_MAX;

/** Why a message is not read. A broken one has no such reason: its reader reports it. */
export interface TooMany {
  /** path of the list or map with too many values; empty: the message as a whole */
  field: string;
  description: string;
}

export const tooManyValues = (schema: DescMessage, bytes: Uint8Array): TooMany | undefined => {
  try {
    countMessage(schema, bytes, { values: 0, fields: 0 }, "");
    return undefined;
  } catch (error) {
    if (error instanceof Exceeded) return { field: error.field, description: error.message };
    if (error instanceof Broken) return undefined;
    throw error;
  }
};

class Exceeded extends Error {
  readonly field: string;
  constructor(field: string, description: string) {
    super(description);
    this.field = field;
  }
}

class Broken extends Error {}

interface Counts {
  values: number;
  fields: number;
}

const fieldTables = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

const fieldTable = (schema: DescMessage): ReadonlyMap<number, DescField> => {
  const known = fieldTables.get(schema);
  if (known) return known;
  const table = new Map(schema.fields.map((field) => [field.number, field]));
  fieldTables.set(schema, table);
  return table;
};

const countMessage = (schema: DescMessage, bytes: Uint8Array, counts: Counts, path: string): void => {
  const fields = fieldTable(schema);
  let at = 0;
  while (at < bytes.length) {
    const tag = varintAt(bytes, at);
    at = tag.end;
    counts.fields += 1;
    if (counts.fields > FIELDS_MAX) throw new Exceeded("", `has more than ${FIELDS_MAX} fields`);
    const field = fields.get(tag.value >>> 3);
    const end = endOf(bytes, at, tag.value & 7);
    if (field) countField(field, bytes.subarray(end.start, end.end), tag.value & 7, counts, path);
    at = end.end;
  }
};

const countField = (field: DescField, content: Uint8Array, wireType: number, counts: Counts, path: string): void => {
  const own = path ? `${path}.${field.jsonName}` : field.jsonName;
  if (field.fieldKind === "list" || field.fieldKind === "map") {
    const isPacked = wireType === LENGTH && field.fieldKind === "list" && field.packed;
    counts.values += isPacked ? packedItems(content) : 1;
    if (counts.values > VALUES_MAX) throw new Exceeded(own, TOO_MANY_VALUES);
  }
  if (wireType !== LENGTH || !field.message) return;
  if (field.fieldKind === "map") countEntry(field.message, content, counts, own);
  else countMessage(field.message, content, counts, own);
};

// An entry of a map is a message of a key and a value; only the value can nest.
const VALUE_OF_ENTRY = 2;

const countEntry = (value: DescMessage, bytes: Uint8Array, counts: Counts, path: string): void => {
  for (let at = 0; at < bytes.length; ) {
    const tag = varintAt(bytes, at);
    const end = endOf(bytes, tag.end, tag.value & 7);
    if (tag.value >>> 3 === VALUE_OF_ENTRY && (tag.value & 7) === LENGTH)
      countMessage(value, bytes.subarray(end.start, end.end), counts, path);
    counts.fields += 1;
    at = end.end;
  }
};

const LENGTH = 2;

// Each varint ends with a byte below 128; the schema has no packed field of a fixed width.
const packedItems = (content: Uint8Array): number => {
  let count = 0;
  for (const byte of content) {
    if (byte < 128) count += 1;
    if (count > VALUES_MAX) break;
  }
  return count;
};

const varintAt = (bytes: Uint8Array, start: number): { value: number; end: number } => {
  let value = 0;
  for (let at = start; at < bytes.length && at < start + 10; at += 1) {
    const byte = bytes[at] as number;
    if (at < start + 5) value |= (byte & 127) << (7 * (at - start));
    if (byte < 128) return { value: value >>> 0, end: at + 1 };
  }
  throw new Broken();
};

// The bounds of a field's content. A group, which proto3 does not have, is counted field by field.
const endOf = (bytes: Uint8Array, at: number, wireType: number): { start: number; end: number } => {
  switch (wireType) {
    case 0:
      return { start: at, end: varintAt(bytes, at).end };
    case 1:
      return { start: at, end: at + 8 };
    case LENGTH: {
      const { value, end } = varintAt(bytes, at);
      if (value > bytes.length - end) throw new Broken();
      return { start: end, end: end + value };
    }
    case 3:
    case 4:
      return { start: at, end: at };
    case 5:
      return { start: at, end: at + 4 };
    default:
      throw new Broken();
  }
};
