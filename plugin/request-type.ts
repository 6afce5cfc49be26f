// The requests that the plugin serves (github.com/pulumi/pulumi/blob/master/proto/pulumi/provider.proto): the fields that it reads by
// name, and those that it only checks. The generated code of @pulumi/pulumi has no description of them; a test compares both.
import { STRUCT, VALUE } from "./struct.ts";
import { emptyOf, entryWith, type FieldType, type MessageType, type ValueOf } from "./wire-format.ts";

/** A repeated field is a list of all its values. */
type NamedField = readonly [number: number, type: FieldType, label?: "repeated"];
type Named = Readonly<Record<string, NamedField>>;
type FieldValue<Field extends NamedField> = Field[2] extends "repeated"
  ? readonly ValueOf<Field[1]>[]
  : ValueOf<Field[1]>;

/** A message of these fields, and of others that are only checked. A missing field is empty, as in proto3. */
const request = <const Fields extends Named>(
  fields: Fields,
  others: MessageType = {},
): MessageType<{ readonly [Name in keyof Fields]: FieldValue<Fields[Name]> }> => {
  const names = Object.entries<NamedField>(fields);
  return {
    ...others,
    ...Object.fromEntries(names.map(([, [number, type]]) => [number, type])),
    from: (read) =>
      Object.fromEntries(
        names.map(([name, [number, type, label]]) => {
          const values = read.flatMap(([own, value]) => (own === number ? [value] : []));
          return [name, label === "repeated" ? values : (values.at(-1) ?? emptyOf(type))];
        }),
      ) as never,
  };
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

const TEXTS = entryWith("text");
const URNS = request({ urns: [1, "text", "repeated"] });

const ALIAS = request({
  urn: [1, "text"],
  spec: [
    2,
    request({
      name: [1, "text"],
      type: [2, "text"],
      stack: [3, "text"],
      project: [4, "text"],
      parenturn: [5, "text"],
      noparent: [6, "varint"],
    }),
  ],
});

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
  construct: request(
    {
      project: [1, "text"],
      stack: [2, "text"],
      config: [3, TEXTS, "repeated"],
      dryrun: [4, "varint"],
      parallel: [5, "varint"],
      monitorendpoint: [6, "text"],
      type: [7, "text"],
      name: [8, "text"],
      parent: [9, "text"],
      inputs: [10, STRUCT],
      inputdependencies: [11, entryWith(URNS), "repeated"],
      protect: [12, "varint"],
      providers: [13, TEXTS, "repeated"],
      dependencies: [15, "text", "repeated"],
      configsecretkeys: [16, "text", "repeated"],
      organization: [17, "text"],
      deletedwith: [20, "text"],
      ignorechanges: [22, "text", "repeated"],
      retainondelete: [24, "varint"],
      aliases: [29, ALIAS, "repeated"],
    },
    {
      ...each("text", 18, 23, 27, 28),
      ...each("varint", 21, 25),
      19: each("text", 1, 2, 3, 4),
      26: each("text", 1, 2, 3, 4, 5, 6, 7),
      30: VALUE,
    },
  ),
  invoke: request({ tok: [1, "text"], args: [2, STRUCT] }, { 7: "varint" }),
  cancel: NOTHING,
} satisfies Record<string, MessageType>;

export type ServedMethod = keyof typeof requestTypes;

export type Request<Method extends ServedMethod> = ValueOf<(typeof requestTypes)[Method]>;
