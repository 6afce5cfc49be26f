// Binary messages that are no messages: the seeds that broke a reader once, and mutations of good messages.

/** Why it is refused, its bytes, and the text of the plugin for a Check. */
export const malformedSeeds: readonly (readonly [reason: string, bytes: readonly number[], text: string])[] = [
  [
    "a text of 4 GiB in six bytes, which google-protobuf reads for ever",
    [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f],
    "field 1 ends after its message",
  ],
  ["a length of 2^63", [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], "field 1 ends after its message"],
  [
    "a number in place of a text, which is read as its length",
    [0x08, 0xff, 0xff, 0xff, 0xff, 0x0f],
    "field 1 is of another type",
  ],
  ["a text that ends one byte after the message", [0x0a, 0x02, 0x61], "field 1 ends after its message"],
  [
    "a text that ends after the message that holds it",
    [0x12, 0x04, 0x0a, 0x02, 0x0a, 0x05],
    "field 2.1.1 ends after its message",
  ],
  [
    "the key of a map of 4 GiB",
    [0x12, 0x08, 0x0a, 0x06, 0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f],
    "field 2.1.1 ends after its message",
  ],
  ["a message of 4 GiB in a message", [0x12, 0xff, 0xff, 0xff, 0xff, 0x0f], "field 2 ends after its message"],
  ["a tag without its field", [0x0a], "field 1 has a number without an end"],
  ["a number of eleven bytes", [0xa0, 0x06, ...Array(10).fill(0xff), 0x01], "field 100 has a number without an end"],
  ["a number that never ends", [0xff, 0xff], "it has a number without an end"],
  ["field 0", [0x00, 0x00], "it has a field without a number"],
  ["a field beyond the last number", [0x80, 0x80, 0x80, 0x80, 0x10, 0x00], "it has a field without a number"],
  ["the begin of a group", [0x0b], "field 1 is of another type"],
  ["the begin of a group that is no field", [0xa3, 0x06], "field 100 is of a type that does not exist"],
  ["the end of a group", [0xa4, 0x06], "field 100 is of a type that does not exist"],
  ["a type that does not exist", [0xa7, 0x06, 0x00], "field 100 is of a type that does not exist"],
  ["eight bytes of which four are there", [0xa1, 0x06, 0, 0, 0, 0], "field 100 ends after its message"],
  ["a text that is not UTF-8", [0x0a, 0x02, 0xc3, 0x28], "field 1 is not UTF-8"],
  ["a text that ends within a character", [0x0a, 0x01, 0xe2], "field 1 is not UTF-8"],
];
