// The requests that the plugin serves (github.com/pulumi/pulumi/blob/master/proto/pulumi/provider.proto): the fields that it reads by
// name, and those that it only checks. The generated code of @pulumi/pulumi has no description of them; a test compares both.
import { STRUCT } from "./struct.ts";
import type { FieldType, MessageType, ValueOf } from "./wire-format.ts";

type Named = Readonly<Record<string, readonly [number: number, type: FieldType]>>;

/** A request of these fields, and of others that are checked. A field that is left out is empty, as proto3 has it. */
const request = <const Fields extends Named>(
  fields: Fields,
  others: MessageType = {},
): MessageType<{ readonly [Name in keyof Fields]: ValueOf<Fields[Name][1]> }> => {
  const names = Object.entries(fields);
  return {
    ...others,
    ...Object.fromEntries(names.map(([, [number, type]]) => [number, type])),
    from: (read) => {
      const values = Object.fromEntries(read);
      return Object.fromEntries(
        names.map(([name, [number, type]]) => [name, values[number] ?? emptyOf(type)]),
      ) as never;
    },
  };
};

const emptyOf = (type: FieldType): unknown => {
  if (typeof type === "object") return type.from?.([]);
  return type === "text" ? "" : 0;
};

const each = (type: FieldType, ...numbers: number[]): MessageType =>
  Object.fromEntries(numbers.map((number) => [number, type]));

const VIEW: MessageType = { ...each("text", 1, 2, 3, 4), ...each(STRUCT, 5, 6) };

const CHECK = request(
  { urn: [1, "text"], olds: [2, STRUCT], news: [3, STRUCT] },
  { ...each("text", 6, 7), 5: "bytes", 8: { 1: "text", 2: "varint" }, 9: STRUCT },
);

const DIFF = request(
  { id: [1, "text"], urn: [2, "text"], olds: [3, STRUCT], news: [4, STRUCT], oldInputs: [6, STRUCT] },
  each("text", 5, 7, 8),
);

const NOTHING = request({});

export const requestTypes = {
  handshake: request({}, { ...each("text", 1, 2, 3, 8, 9, 10), ...each("varint", 4, 5, 6, 7, 11, 12, 13, 14, 15) }),
  getPluginInfo: NOTHING,
  getSchema: request({}, { 1: "varint", ...each("text", 2, 3) }),
  attach: request({ address: [1, "text"] }),
  checkConfig: CHECK,
  diffConfig: DIFF,
  configure: request(
    { args: [2, STRUCT], id: [7, "text"], urn: [8, "text"] },
    { 1: each("text", 1, 2), ...each("varint", 3, 4, 5, 6), ...each("text", 9, 10) },
  ),
  check: CHECK,
  diff: DIFF,
  create: request(
    { urn: [1, "text"], properties: [2, STRUCT], timeout: [3, "double"], preview: [4, "varint"] },
    each("text", 5, 6, 7, 8),
  ),
  read: request(
    { id: [1, "text"], urn: [2, "text"], properties: [3, STRUCT], inputs: [4, STRUCT], timeout: [10, "double"] },
    { ...each("text", 5, 6, 7, 8), 9: VIEW },
  ),
  update: request(
    {
      id: [1, "text"],
      urn: [2, "text"],
      olds: [3, STRUCT],
      news: [4, STRUCT],
      timeout: [5, "double"],
      preview: [7, "varint"],
      oldInputs: [8, STRUCT],
    },
    { ...each("text", 6, 9, 10, 11, 12), 13: VIEW },
  ),
  delete: request(
    { id: [1, "text"], urn: [2, "text"], properties: [3, STRUCT], timeout: [4, "double"], oldInputs: [5, STRUCT] },
    { ...each("text", 6, 7, 8, 9), 10: VIEW },
  ),
  invoke: request({ tok: [1, "text"], args: [2, STRUCT] }, { 7: "varint" }),
  cancel: NOTHING,
} satisfies Record<string, MessageType>;

export type ServedMethod = keyof typeof requestTypes;

export type Request<Method extends ServedMethod> = ValueOf<(typeof requestTypes)[Method]>;
