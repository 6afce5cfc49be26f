// The fields of the requests that the plugin serves (github.com/pulumi/pulumi/blob/master/proto/pulumi/provider.proto), by method.
// The generated code of @pulumi/pulumi has no description of them; a test compares this table with that code.
import type { MessageType } from "./wire-format.ts";

// google/protobuf/struct.proto
const VALUE: MessageType = { 1: "varint", 2: "double", 3: "text", 4: "varint", isOneOf: true };
const STRUCT: MessageType = { 1: { 1: "text", 2: VALUE } };
VALUE[5] = STRUCT;
VALUE[6] = { 1: VALUE };

const VIEW: MessageType = { 1: "text", 2: "text", 3: "text", 4: "text", 5: STRUCT, 6: STRUCT };

const CHECK: MessageType = {
  1: "text",
  2: STRUCT,
  3: STRUCT,
  5: "bytes",
  6: "text",
  7: "text",
  8: { 1: "text", 2: "varint" },
  9: STRUCT,
};

const DIFF: MessageType = { 1: "text", 2: "text", 3: STRUCT, 4: STRUCT, 5: "text", 6: STRUCT, 7: "text", 8: "text" };

export const requestTypes = {
  handshake: {
    1: "text",
    2: "text",
    3: "text",
    4: "varint",
    5: "varint",
    6: "varint",
    7: "varint",
    8: "text",
    9: "text",
    10: "text",
    11: "varint",
    12: "varint",
    13: "varint",
    14: "varint",
    15: "varint",
  },
  getPluginInfo: {},
  getSchema: { 1: "varint", 2: "text", 3: "text" },
  attach: { 1: "text" },
  checkConfig: CHECK,
  diffConfig: DIFF,
  configure: {
    1: { 1: "text", 2: "text" },
    2: STRUCT,
    3: "varint",
    4: "varint",
    5: "varint",
    6: "varint",
    7: "text",
    8: "text",
    9: "text",
    10: "text",
  },
  check: CHECK,
  diff: DIFF,
  create: { 1: "text", 2: STRUCT, 3: "double", 4: "varint", 5: "text", 6: "text", 7: "text", 8: "text" },
  read: {
    1: "text",
    2: "text",
    3: STRUCT,
    4: STRUCT,
    5: "text",
    6: "text",
    7: "text",
    8: "text",
    9: VIEW,
    10: "double",
  },
  update: {
    1: "text",
    2: "text",
    3: STRUCT,
    4: STRUCT,
    5: "double",
    6: "text",
    7: "varint",
    8: STRUCT,
    9: "text",
    10: "text",
    11: "text",
    12: "text",
    13: VIEW,
  },
  delete: {
    1: "text",
    2: "text",
    3: STRUCT,
    4: "double",
    5: STRUCT,
    6: "text",
    7: "text",
    8: "text",
    9: "text",
    10: VIEW,
  },
  invoke: { 1: "text", 2: STRUCT, 7: "varint" },
  cancel: {},
} satisfies Record<string, MessageType>;

export type ServedMethod = keyof typeof requestTypes;
