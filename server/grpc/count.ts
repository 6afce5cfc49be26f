// Counts the values of a binary message before it is read (https://protobuf.dev/programming-guides/encoding). An item of a
// list may be one byte, and reading it creates an object. The bounds of lists and maps are those of JSON.

import type { ServerHttp2Stream } from "node:http2";
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { type FieldViolation, type OperationName, once, TOO_MANY_VALUES, VALUES_MAX } from "../../schema/index.ts";
import type { Work } from "../connection/connections.ts";
import type { Answering } from "../connection/memory.ts";
import type { Call } from "../pipeline/pipeline.ts";

/** Fields of a message and of its nested messages, known or not. An entry of a map counts as three. */
const FIELDS_MAX = 4 * VALUES_MAX;

/** The list or map with too many values, or the message as a whole. The reader itself reports a broken message. */
export const tooManyValues = (schema: DescMessage, bytes: Uint8Array): FieldViolation | undefined => {
  try {
    countMessage(schema, bytes, { values: 0, fields: 0 }, "");
    return undefined;
  } catch (error) {
    // Any other error means a broken message.
    return error instanceof Exceeded ? { field: error.field, description: error.message } : undefined;
  }
};

class Exceeded extends Error {
  readonly field: string;
  constructor(field: string, description: string) {
    super(description);
    this.field = field;
  }
}

interface Counts {
  values: number;
  fields: number;
}

const fieldTable = once((schema: DescMessage) => new Map(schema.fields.map((field) => [field.number, field])));

function* fieldsIn(bytes: Uint8Array, counts: Counts) {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    counts.fields += 1;
    if (counts.fields > FIELDS_MAX) throw new Exceeded("", `has more than ${FIELDS_MAX} fields`);
    yield { number, wireType, content: contentIn(reader, wireType) };
  }
}

const countMessage = (schema: DescMessage, bytes: Uint8Array, counts: Counts, path: string) => {
  const fields = fieldTable(schema);
  for (const { number, wireType, content } of fieldsIn(bytes, counts)) {
    const field = fields.get(number);
    if (field) countField(field, content, wireType, counts, path);
  }
};

const VALUE_OF_ENTRY = 2;

const countField = (field: DescField, content: Uint8Array, wireType: WireType, counts: Counts, path: string) => {
  const fieldPath = path ? `${path}.${field.jsonName}` : field.jsonName;
  if (field.fieldKind === "list" || field.fieldKind === "map") {
    const isPacked = wireType === WireType.LengthDelimited && field.fieldKind === "list" && field.packed;
    counts.values += isPacked ? packedItems(content) : 1;
    if (counts.values > VALUES_MAX) throw new Exceeded(fieldPath, TOO_MANY_VALUES);
  }
  if (wireType !== WireType.LengthDelimited || !field.message) return;
  if (field.fieldKind !== "map") return countMessage(field.message, content, counts, fieldPath);
  // An entry of a map is a message of a key and a value; only the value can nest.
  for (const part of fieldsIn(content, counts))
    if (part.number === VALUE_OF_ENTRY && part.wireType === WireType.LengthDelimited)
      countMessage(field.message, part.content, counts, fieldPath);
};

// Each varint ends with a byte below 128; the schema has no packed field of a fixed width.
const packedItems = (content: Uint8Array) => {
  let count = 0;
  for (const byte of content) {
    if (byte < 128) count += 1;
    if (count > VALUES_MAX) break;
  }
  return count;
};

const NOTHING = new Uint8Array();

// A group, which proto3 does not have, is counted field by field: the reader would skip its contents.
const contentIn = (reader: BinaryReader, wireType: WireType) => {
  if (wireType === WireType.LengthDelimited) return reader.bytes();
  if (wireType !== WireType.StartGroup && wireType !== WireType.EndGroup) reader.skip(wireType);
  return NOTHING;
};

// The state of one gRPC call, from its first header to its line in the log.

/** The state of a call; its handler adds to it. */
export interface CallRecord {
  requestId: string;
  stream: ServerHttp2Stream;
  /** the call as work on its connection */
  work: Work;
  /** the memory of its answer */
  answering: Answering;
  /** address of the client */
  peer: string;
  operation?: OperationName;
  /** absent: the pipeline has not seen it */
  call?: Call;
  /** top-level fields of the body, for the log */
  fields?: string;
  /** text of the error */
  message?: string;
  /** requested every few seconds: logged for debugging only */
  quiet?: boolean;
}
