// Checks a binary message before google-protobuf reads it (https://protobuf.dev/programming-guides/encoding). That library believes
// the length of a text: six bytes with a length of 4 GiB keep it busy for ever. It does not compare the type of a field with the
// wire either, so a number in place of a text is such a length too.
import { isUtf8 } from "node:buffer";

export type FieldType = "varint" | "double" | "text" | "bytes" | MessageType;

/** The fields of a message by number. Others are skipped. */
export interface MessageType {
  [field: number]: FieldType;
  /** one of its fields must be there */
  isOneOf?: true;
}

/** A message that cannot be read, in one sentence. */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
}

/** Messages in messages; an object in an object takes three. */
export const DEPTH_MAX = 300;
/** Fields of a message and of those in it. */
export const FIELDS_MAX = 2_000_000;

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH = 2;
const FIXED_32 = 5;

/** Throws MalformedMessage. */
export const checkMessage = (type: MessageType, bytes: Uint8Array): void => {
  let fields = 0;

  /** From `start` to `end`. */
  const check = (own: MessageType, start: number, end: number, path: readonly number[]): void => {
    if (path.length > DEPTH_MAX) throw broken(path, `is nested more than ${DEPTH_MAX} levels deep`);
    let isKnown = false;
    for (let at = start; at < end; ) {
      const tag = varintAt(bytes, at, end, path);
      at = tag.end;
      fields += 1;
      if (fields > FIELDS_MAX) throw broken([], `has more than ${FIELDS_MAX.toLocaleString("en")} fields`);
      const number = Math.floor(tag.value / 8);
      const wireType = tag.value % 8;
      const field = [...path, number];
      if (tag.value > 0xffff_ffff || number === 0) throw broken(path, "has a field without a number");
      const expected = own[number];
      isKnown ||= expected !== undefined;
      if (expected !== undefined && wireType !== wireTypeOf(expected)) throw broken(field, "is of another type");
      const content = contentAt(bytes, at, end, wireType, field);
      if (expected === "text" && !isUtf8(bytes.subarray(content.start, content.end)))
        throw broken(field, "is not UTF-8");
      if (typeof expected === "object") check(expected, content.start, content.end, field);
      at = content.end;
    }
    // Its reader throws where the plugin does not expect it.
    if (own.isOneOf && !isKnown) throw broken(path, "is a value without a kind");
  };
  check(type, 0, bytes.length, []);
};

const wireTypeOf = (type: FieldType): number => {
  if (type === "varint") return VARINT;
  return type === "double" ? FIXED_64 : LENGTH;
};

const SHOWN = 6;

const broken = (path: readonly number[], text: string): MalformedMessage => {
  const shown = path.length > SHOWN ? [...path.slice(0, SHOWN), "…"] : path;
  return new MalformedMessage(
    `the message is malformed: ${path.length === 0 ? "it" : `field ${shown.join(".")}`} ${text}`,
  );
};

const contentAt = (bytes: Uint8Array, at: number, end: number, wireType: number, field: readonly number[]) => {
  const until = (start: number, length: number) => {
    if (length > end - start) throw broken(field, "ends after its message");
    return { start, end: start + length };
  };
  switch (wireType) {
    case VARINT:
      return { start: at, end: varintAt(bytes, at, end, field).end };
    case FIXED_64:
      return until(at, 8);
    case LENGTH: {
      const length = varintAt(bytes, at, end, field);
      return until(length.end, length.value);
    }
    case FIXED_32:
      return until(at, 4);
    default:
      // Groups, which proto3 does not have, and two types that do not exist.
      throw broken(field, "is of a type that does not exist");
  }
};

/** Beyond 2^53 the value is not exact: such a length or tag is refused anyhow. */
const varintAt = (bytes: Uint8Array, start: number, end: number, path: readonly number[]) => {
  let value = 0;
  for (let at = start; at < end && at < start + 10; at += 1) {
    const byte = bytes[at] as number;
    value += (byte & 127) * 2 ** (7 * (at - start));
    if (byte < 128) return { value, end: at + 1 };
  }
  throw broken(path, "has a number without an end");
};
