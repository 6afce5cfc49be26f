// The messages that the plugin answers with, as bytes (github.com/pulumi/pulumi/blob/master/proto/pulumi/provider.proto).
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { CheckFailure } from "../provider/reconcile/check.ts";
import { type Change, type DetailedDiff, memberIn } from "./detailed-diff.ts";

type Content = string | number | boolean | Uint8Array;

/**
 * The bytes of a message: texts, integers, booleans, and the bytes of messages, by number of their fields. Proto3 leaves out what is empty:
 * a text, a number or a boolean that is no item of a list.
 */
export const messageOf = (fields: Readonly<Record<number, Content | readonly Content[] | undefined>>): Buffer => {
  const writer = new BinaryWriter();
  for (const [number, value] of Object.entries(fields)) {
    const isEmpty = value === undefined || value === "" || value === 0 || value === false;
    const items = isEmpty ? [] : Array.isArray(value) ? value : [value];
    for (const item of items) writeField(writer, Number(number), item);
  }
  return Buffer.from(writer.finish().buffer);
};

const writeField = (writer: BinaryWriter, number: number, value: Content): void => {
  if (typeof value === "string") writer.tag(number, WireType.LengthDelimited).string(value);
  else if (typeof value === "object") writer.tag(number, WireType.LengthDelimited).bytes(value);
  else writer.tag(number, WireType.Varint).int32(Number(value));
};

export const EMPTY = messageOf({});

export const handshakeResponse = () => messageOf({ 1: true });

export const configureResponse = () => messageOf({ 1: true, 2: true });

export const pluginInfo = (version: string) => messageOf({ 1: version });

export const schemaResponse = (schema: string) => messageOf({ 1: schema });

export const checkResponse = (inputs: Uint8Array, failures: readonly CheckFailure[]) =>
  messageOf({ 1: inputs, 2: failures.map(({ property, reason }) => messageOf({ 1: property, 2: reason })) });

export const createResponse = (id: string, properties: Uint8Array) => messageOf({ 1: id, 2: properties });

export const readResponse = (id: string, properties?: Uint8Array, inputs?: Uint8Array) =>
  messageOf({ 1: id, 2: properties, 3: inputs });

export const updateResponse = (properties: Uint8Array) => messageOf({ 1: properties });

export const invokeResponse = (result: Uint8Array) => messageOf({ 1: result });

/** `dependencies` are the URNs that each member of `state` comes from. */
export const constructResponse = (
  urn: string,
  state: Uint8Array,
  dependencies: readonly (readonly [name: string, urns: readonly string[]])[],
) => {
  const entries = dependencies.map(([name, urns]) => messageOf({ 1: name, 2: messageOf({ 1: urns }) }));
  return messageOf({ 1: urn, 2: state, 3: entries });
};

/** Without and with a replacement. */
const KINDS: Readonly<Record<Change, readonly [number, number]>> = { add: [0, 1], delete: [2, 3], update: [4, 5] };

const [DIFF_NONE, DIFF_SOME] = [1, 2];

export const diffResponse = (
  hasChanges: boolean,
  detailed: DetailedDiff,
  { replaces = [], deleteBeforeReplace = false }: { replaces?: readonly string[]; deleteBeforeReplace?: boolean } = {},
) =>
  messageOf({
    1: replaces,
    3: deleteBeforeReplace,
    4: hasChanges ? DIFF_SOME : DIFF_NONE,
    5: [...new Set([...detailed.keys()].map(memberIn))],
    6: [...detailed].map(([path, { change, isReplacement, isInput }]) =>
      messageOf({ 1: path, 2: messageOf({ 1: KINDS[change][isReplacement ? 1 : 0], 2: isInput }) }),
    ),
    7: true,
  });
