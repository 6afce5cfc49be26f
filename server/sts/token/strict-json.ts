// JSON that two parsers cannot read differently: UTF-8 without a byte order mark, and each name once in an object (RFC 8259
// section 4 leaves duplicates to the parser; RFC 7515 section 4 forbids them in a header).
import type { Json } from "../../../schema/index.ts";
import { hasDuplicateName } from "../../base/duplicate-name.ts";

/** Throws a TypeError that does not repeat the input. */
export const parseStrictJson = (input: Uint8Array | string): unknown => {
  const text = typeof input === "string" ? input : decodeUtf8(input);
  const value = parse(text);
  if (hasDuplicateName(text, value)) throw new TypeError("a JSON object has the same name twice");
  return value;
};

/** A member of the object itself: not `__proto__` or `constructor` of the prototype. */
export const ownValue = (object: Json, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

const decodeUtf8 = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // the decoder's own text says no more
    throw new TypeError("not UTF-8");
  }
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // the parser's own text quotes the input, which may be a token
    throw new TypeError("not JSON");
  }
};
