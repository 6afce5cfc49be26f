// The fields of the requests that the plugin serves (github.com/pulumi/pulumi/blob/master/proto/pulumi/provider.proto), by method.
// The generated code of @pulumi/pulumi has no description of them; a test compares this table with that code.
import type { FieldType, MessageType } from "./wire-format.ts";

// google/protobuf/struct.proto
const VALUE: MessageType = { 1: "varint", 2: "double", 3: "text", 4: "varint", isOneOf: true };
const STRUCT: MessageType = { 1: { 1: "text", 2: VALUE } };
VALUE[5] = STRUCT;
VALUE[6] = { 1: VALUE };

const fields = (type: FieldType, ...numbers: number[]): MessageType =>
  Object.fromEntries(numbers.map((number) => [number, type]));

const VIEW: MessageType = { ...fields("text", 1, 2, 3, 4), ...fields(STRUCT, 5, 6) };

const CHECK: MessageType = {
  ...fields("text", 1, 6, 7),
  ...fields(STRUCT, 2, 3, 9),
  5: "bytes",
  8: { 1: "text", 2: "varint" },
};

const DIFF: MessageType = { ...fields("text", 1, 2, 5, 7, 8), ...fields(STRUCT, 3, 4, 6) };

export const requestTypes = {
  handshake: { ...fields("text", 1, 2, 3, 8, 9, 10), ...fields("varint", 4, 5, 6, 7, 11, 12, 13, 14, 15) },
  getPluginInfo: {},
  getSchema: { 1: "varint", ...fields("text", 2, 3) },
  attach: { 1: "text" },
  checkConfig: CHECK,
  diffConfig: DIFF,
  configure: { 1: fields("text", 1, 2), 2: STRUCT, ...fields("varint", 3, 4, 5, 6), ...fields("text", 7, 8, 9, 10) },
  check: CHECK,
  diff: DIFF,
  create: { 2: STRUCT, 3: "double", 4: "varint", ...fields("text", 1, 5, 6, 7, 8) },
  read: { ...fields("text", 1, 2, 5, 6, 7, 8), ...fields(STRUCT, 3, 4), 9: VIEW, 10: "double" },
  update: {
    ...fields("text", 1, 2, 6, 9, 10, 11, 12),
    ...fields(STRUCT, 3, 4, 8),
    5: "double",
    7: "varint",
    13: VIEW,
  },
  delete: { ...fields("text", 1, 2, 6, 7, 8, 9), ...fields(STRUCT, 3, 5), 4: "double", 10: VIEW },
  invoke: { 1: "text", 2: STRUCT, 7: "varint" },
  cancel: {},
} satisfies Record<string, MessageType>;

export type ServedMethod = keyof typeof requestTypes;
