// Reads a binary message (https://protobuf.dev/programming-guides/encoding), which may be anything: whoever reaches the port can send
// one. What is no such message is refused by the numbers of its fields. google-protobuf believes the length of a text, six bytes with a
// length of 4 GiB keep it busy for ever, and it does not compare the type of a field with the wire.
import { isUtf8 } from "node:buffer";

export type FieldType = "varint" | "double" | "text" | "bytes" | MessageType;

/** The number of a field, and what it holds. A field that occurs twice is here twice. */
type Field = readonly [number: number, value: unknown];

/** The fields of a message by number. Others are skipped. */
export interface MessageType<Value = unknown> {
  [field: number]: FieldType;
  /** The value of a message with these fields; undefined where it lacks one without which it has no value. Default: nothing. */
  from?(fields: readonly Field[]): Value | undefined;
}

/** What a field of this type holds. */
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

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH = 2;
const FIXED_32 = 5;

/** Throws MalformedMessage. */
export const readMessage = <Value>(type: MessageType<Value>, bytes: Uint8Array): Value => {
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  /** of the field that is read */
  const path: number[] = [];
  let at = 0;
  let count = 0;

  const broken = (text: string): MalformedMessage => malformed(path, text);

  /** Beyond 2^53 the value is not exact: such a length or tag is refused anyhow. */
  const readVarint = (end: number): number => {
    let value = 0;
    for (let factor = 1, last = Math.min(end, at + 10); at < last; factor *= 128) {
      const byte = message[at++] as number;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw broken("has a number without an end");
  };

  /** Where the content of a field ends. */
  const endOf = (length: number, end: number): number => {
    if (length > end - at) throw broken("ends after its message");
    return at + length;
  };

  const skip = (wireType: number, end: number): void => {
    if (wireType === VARINT) readVarint(end);
    else if (wireType === FIXED_64) at = endOf(8, end);
    else if (wireType === LENGTH) at = endOf(readVarint(end), end);
    else if (wireType === FIXED_32) at = endOf(4, end);
    // Groups, which proto3 does not have, and two types that do not exist.
    else throw broken("is of a type that does not exist");
  };

  const read = (type: FieldType, end: number): unknown => {
    if (type === "varint") return readVarint(end);
    const contentEnd = endOf(type === "double" ? 8 : readVarint(end), end);
    if (typeof type === "object") return readFields(type, contentEnd);
    const content = message.subarray(at, contentEnd);
    at = contentEnd;
    if (type === "double") return content.readDoubleLE();
    if (type === "bytes") return content;
    if (!isUtf8(content)) throw broken("is not UTF-8");
    return content.toString();
  };

  const readFields = (type: MessageType, end: number): unknown => {
    if (path.length > DEPTH_MAX) throw broken(`is nested more than ${DEPTH_MAX} levels deep`);
    const fields: Field[] = [];
    while (at < end) {
      const tag = readVarint(end);
      count += 1;
      if (count > FIELDS_MAX) throw malformed([], `has more than ${FIELDS_MAX.toLocaleString("en")} fields`);
      const number = Math.floor(tag / 8);
      if (tag > 0xffff_ffff || number === 0) throw broken("has a field without a number");
      path.push(number);
      const expected = type[number];
      if (expected === undefined) skip(tag % 8, end);
      else if (tag % 8 === wireTypeOf(expected)) fields.push([number, read(expected, end)]);
      else throw broken("is of another type");
      path.pop();
    }
    const value = type.from?.(fields);
    if (type.from && value === undefined) throw broken("is a value without a kind");
    return value;
  };

  return readFields(type, message.length) as Value;
};

const wireTypeOf = (type: FieldType): number => {
  if (type === "varint") return VARINT;
  return type === "double" ? FIXED_64 : LENGTH;
};

const SHOWN = 6;

const malformed = (path: readonly number[], text: string): MalformedMessage => {
  const shown = path.length > SHOWN ? [...path.slice(0, SHOWN), "…"] : path;
  return new MalformedMessage(
    `the message is malformed: ${path.length === 0 ? "it" : `field ${shown.join(".")}`} ${text}`,
  );
};
