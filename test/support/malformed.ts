// Binary messages that are no messages: the seeds that broke a reader once, and mutations of good messages.
import type { FieldType, MessageType } from "../../plugin/wire-format.ts";
import type { Random } from "./random.ts";
import { rowsOf } from "./rows.ts";

/** Why it is refused, its bytes, and the text of the plugin for a Check. */
export const malformedSeeds = rowsOf(`
a text of 4 GiB in six bytes, which google-protobuf reads forever | 0affffffff0f | field 1 cannot be read: premature EOF
a length of 2^63 | 0affffffffffffffff7f | field 1 cannot be read: premature EOF
a number in place of a text, which is read as its length | 08ffffffff0f | field 1 is of another type
a text that ends one byte after the message | 0a0261 | field 1 cannot be read: premature EOF
a text that ends after the message that holds it | 12040a020a05 | field 2.1.1 cannot be read: premature EOF
the key of a map of 4 GiB | 12080a060affffffff0f | field 2.1.1 cannot be read: premature EOF
a message of 4 GiB in a message | 12ffffffff0f | field 2 cannot be read: premature EOF
a tag without its field | 0a | field 1 cannot be read: premature EOF
a number of eleven bytes | a006ffffffffffffffffffff01 | field 100 cannot be read: invalid varint
a number that never ends | ffff | it cannot be read: premature EOF
field 0 | 0000 | it cannot be read: illegal tag: field no 0 wire type 0
a field beyond the last number | 808080801000 | it cannot be read: illegal tag: varint overflows uint32
the begin of a group | 0b | field 1 is of another type
the begin of a group that is no field | a306 | field 100 is of another type
the end of a group | a406 | field 100 is of another type
a type that does not exist | a70600 | it cannot be read: illegal tag: field no 100 wire type 7
eight bytes of which four are there | a10600000000 | field 100 cannot be read: Offset is outside the bounds of the DataView
a text that is not UTF-8 | 0a02c328 | field 1 cannot be read: The encoded data was not valid for encoding utf-8
a text that ends within a character | 0a01e2 | field 1 cannot be read: The encoded data was not valid for encoding utf-8
a value without a kind, which ended the process | 12070a050a01611200 | field 2.1.2 is a value without a kind
a value of a kind that does not exist | 12090a070a016112023801 | field 2.1.2 is a value without a kind
`).map(([reason = "", hex = "", text = ""]) => [reason, Buffer.from(hex, "hex"), text] as const);

/** A message with fields of these types and others, nearly always with something wrong. */
export const malformedMessage = (random: Random, type: MessageType): Buffer => {
  const seed = random.below(20);
  if (seed === 0) return Buffer.from(random.pick(malformedSeeds)[1]);
  if (seed === 1) return randomBytes(random, random.below(200));
  let bytes = randomMessage(random, type, 0);
  for (let count = random.below(4); count > 0; count -= 1) bytes = mutate(random, bytes);
  return bytes;
};

/** A JSON text in which something is wrong. */
export const malformedText = (random: Random, names: readonly string[]): Buffer => {
  const value = (depth: number): unknown => {
    const kinds = [() => random.below(1000) - 500, () => "", () => null, () => true, () => text(random)];
    if (depth > 3 || random.below(2) === 0) return random.pick(kinds)();
    if (random.below(2) === 0) return Array.from({ length: random.below(4) }, () => value(depth + 1));
    return object(depth + 1);
  };
  const object = (depth: number): unknown =>
    Object.fromEntries(Array.from({ length: random.below(5) }, () => [random.pick(names), value(depth)]));
  let bytes: Buffer = Buffer.from(JSON.stringify(random.below(8) === 0 ? value(0) : object(0)) ?? "");
  for (let count = random.below(3); count > 0; count -= 1) bytes = mutate(random, bytes);
  return bytes;
};

const randomBytes = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => random.below(256)));

const URNS = ["Group", "RoleBinding", "RoleBindingSet", "Nothing"].map(
  (type) => `urn:pulumi:stack::project::irm:index:${type}::a`,
);
const TEXTS = [
  ...["", ...URNS, ...URNS, "\0", "\u202e", "e".repeat(300)],
  ..."a irm:index:getGroup irm:index:listGroups / .. grün * {} __proto__ constructor $".split(" "),
];

const text = (random: Random): string => (random.below(4) === 0 ? random.hex(40) : random.pick(TEXTS));

const varint = (value: bigint): Buffer => {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    bytes.push(Number(rest & 127n) + (rest > 127n ? 128 : 0));
    if (rest <= 127n) return Buffer.from(bytes);
  }
};

const NUMBERS = [0n, 1n, 2n, 127n, 128n, 300n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 63n, 2n ** 64n - 1n];

const randomMessage = (random: Random, type: MessageType, depth: number): Buffer => {
  const numbers = Object.keys(type).map(Number).filter(Number.isInteger);
  const count = depth > 8 ? 0 : random.below(5);
  const fields = Array.from({ length: count }, () => {
    const number = numbers.length === 0 || random.below(10) === 0 ? random.below(2000) + 1 : random.pick(numbers);
    return randomField(random, number, type[number] ?? random.pick(["varint", "double", "text", "bytes"]), depth);
  });
  return Buffer.concat(fields);
};

const randomField = (random: Random, number: number, type: FieldType, depth: number): Buffer => {
  const tag = (wireType: number) => varint(BigInt(number * 8 + (random.below(40) === 0 ? random.below(8) : wireType)));
  if (type === "varint") return Buffer.concat([tag(0), varint(random.pick(NUMBERS))]);
  if (type === "double") return Buffer.concat([tag(1), randomBytes(random, 8)]);
  const content =
    type === "text"
      ? Buffer.from(text(random))
      : type === "bytes"
        ? randomBytes(random, random.below(20))
        : randomMessage(random, type, depth + 1);
  const length = random.below(40) === 0 ? random.pick(NUMBERS) : BigInt(content.length);
  return Buffer.concat([tag(2), varint(length), content]);
};

const mutate = (random: Random, bytes: Buffer): Buffer => {
  const at = random.below(bytes.length + 1);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (random.below(6)) {
    case 0:
      return before;
    case 1:
      return Buffer.concat([before, randomBytes(random, 1), after.subarray(1)]);
    case 2:
      return Buffer.concat([before, varint(random.pick(NUMBERS)), after]);
    case 3:
      return Buffer.concat([before, randomBytes(random, 1 + random.below(4)), after]);
    case 4:
      return Buffer.concat([before, after, after]);
    default:
      return Buffer.concat([before, after.subarray(1 + random.below(4))]);
  }
};
