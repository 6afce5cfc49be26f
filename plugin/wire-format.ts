// Reads and writes binary messages (https://protobuf.dev/programming-guides/encoding). Any process that reaches the port can send any
// bytes. Bytes that are not a message are refused by their field numbers (docs/internals/architecture.md#libraries-that-were-tried).
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Only a field that is skipped has four bytes. */
export type FieldType = "varint" | "double" | "text" | "bytes" | "fixed32" | MessageType;

/** The number of a field, and its value. A field that occurs twice is listed twice. */
type Field = readonly [number: number, value: unknown];

/** The fields of a message by number. Others are skipped. */
export interface MessageType<Value = unknown> {
  [field: number]: FieldType;
  /** The value of a message with these fields; undefined if a required field is missing. Default: no value. */
  from?(fields: readonly Field[]): Value | undefined;
}

/** The value of a field of this type. */
export type ValueOf<Type> = Type extends "text"
  ? string
  : Type extends "varint" | "double"
    ? number
    : Type extends MessageType<infer Value>
      ? Value
      : Uint8Array;

/** A message that cannot be read, in one sentence. */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
}

/** Messages in messages; an object in an object takes three. */
export const DEPTH_MAX = 300;
/** Fields of a message and of those in it. */
const FIELDS_MAX = 2_000_000;

const WIRE_TYPES = {
  varint: WireType.Varint,
  double: WireType.Bit64,
  text: WireType.LengthDelimited,
  bytes: WireType.LengthDelimited,
  fixed32: WireType.Bit32,
};

/** How an unknown field is read. Proto3 has no groups. */
const SKIPPED: Readonly<Partial<Record<WireType, FieldType>>> = {
  [WireType.Varint]: "varint",
  [WireType.Bit64]: "double",
  [WireType.LengthDelimited]: "bytes",
  [WireType.Bit32]: "fixed32",
};

/** Throws MalformedMessage. */
export const readMessage = <Value>(type: MessageType<Value>, bytes: Uint8Array): Value => {
  /** of the field that is read */
  const path: number[] = [];
  let count = 0;

  const read = (type: FieldType, reader: BinaryReader) => {
    if (type === "varint") return Number(reader.uint64());
    if (type === "double") return reader.double();
    if (type === "text") return reader.string(true);
    if (type === "fixed32") return reader.fixed32();
    const content = reader.bytes();
    return type === "bytes" ? content : readFields(type, content);
  };

  const readFields = (type: MessageType, content: Uint8Array): unknown => {
    if (path.length > DEPTH_MAX) throw malformed(path, `is nested more than ${DEPTH_MAX} levels deep`);
    const reader = new BinaryReader(content);
    const fields: Field[] = [];
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      count += 1;
      if (count > FIELDS_MAX) throw malformed([], `has more than ${FIELDS_MAX.toLocaleString("en")} fields`);
      path.push(number);
      const expected = type[number] ?? SKIPPED[wireType];
      const wanted = typeof expected === "object" ? WireType.LengthDelimited : expected && WIRE_TYPES[expected];
      if (expected === undefined || wireType !== wanted) throw malformed(path, "is of another type");
      const value = read(expected, reader);
      if (number in type) fields.push([number, value]);
      path.pop();
    }
    const value = type.from?.(fields);
    if (type.from && value === undefined) throw malformed(path, "is a value without a kind");
    return value;
  };

  try {
    return readFields(type, bytes) as Value;
  } catch (error) {
    throw error instanceof MalformedMessage ? error : malformed(path, `cannot be read: ${(error as Error).message}`);
  }
};

/** The default value of a field of this type in proto3. */
export const emptyOf = (type: FieldType): unknown => {
  if (typeof type === "object") return type.from?.([]);
  return type === "text" ? "" : 0;
};

/** An entry of a map with text keys: a map is a repeated field of such entries. */
export const entryWith = <Type extends FieldType>(type: Type): MessageType<readonly [string, ValueOf<Type>]> => ({
  1: "text",
  2: type,
  from: (fields) => {
    const { 1: key = "", 2: value = emptyOf(type) } = Object.fromEntries(fields);
    return value === undefined ? undefined : [key as string, value as ValueOf<Type>];
  },
});

const SHOWN = 6;

const malformed = (path: readonly number[], text: string) => {
  const shown = path.length > SHOWN ? [...path.slice(0, SHOWN), "…"] : path;
  return new MalformedMessage(
    `the message is malformed: ${path.length === 0 ? "it" : `field ${shown.join(".")}`} ${text}`,
  );
};

/** The value of a field: a number is a double, a bigint is any other number. */
type Content = string | number | bigint | boolean | Fields;

/** A message, by number of its fields. */
export interface Fields {
  readonly [number: number]: Content | readonly Content[] | undefined;
}

/** The bytes of a message. Proto3 omits empty fields, but no list items. */
export const messageOf = (fields: Fields): Buffer => {
  const writer = new BinaryWriter();
  writeFields(writer, fields);
  return Buffer.from(writer.finish().buffer);
};

const writeFields = (writer: BinaryWriter, fields: Fields) => {
  for (const [number, value] of Object.entries(fields) as [string, Fields[number]][])
    if (Array.isArray(value)) for (const item of value) writeField(writer, Number(number), item);
    else if (value) writeField(writer, Number(number), value as Content);
};

const writeField = (writer: BinaryWriter, number: number, value: Content) => {
  if (typeof value === "string") writer.tag(number, WireType.LengthDelimited).string(value);
  else if (typeof value === "number") writer.tag(number, WireType.Bit64).double(value);
  else if (typeof value === "object") {
    writeFields(writer.tag(number, WireType.LengthDelimited).fork(), value);
    writer.join();
  } else writer.tag(number, WireType.Varint).int32(Number(value));
};
