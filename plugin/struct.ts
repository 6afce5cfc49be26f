// google.protobuf.Struct on the wire, read into the engine's values and written from them. Secrets have signatures, and values that a
// preview does not know are texts (github.com/pulumi/pulumi/sdk/go/common/resource/sig,
// github.com/pulumi/pulumi/sdk/go/common/resource/plugin/rpc.go).
import { SECRET_SIGNATURE, SIGNATURE, UNKNOWN } from "../pulumi/value.ts";
import { isObject, type Json } from "../schema/index.ts";
import { type Marked, Secret } from "./value.ts";
import { entryWith, type Fields, type MessageType } from "./wire-format.ts";

/** The engine uses one such text for each type of value. */
const UNKNOWNS: ReadonlySet<unknown> = new Set([
  UNKNOWN,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
]);

/** Fields of google.protobuf.Value, of which each value has one. */
const KIND = { null: 1, number: 2, text: 3, boolean: 4, struct: 5, list: 6 } as const;

/** A google.protobuf.Value. */
export const VALUE: MessageType = {
  [KIND.null]: "varint",
  [KIND.number]: "double",
  [KIND.text]: "text",
  [KIND.boolean]: "varint",
  from: (fields) => {
    const [kind, content] = fields.at(-1) ?? [];
    if (kind === KIND.null) return null;
    if (kind === KIND.boolean) return content !== 0;
    if (kind === KIND.text && UNKNOWNS.has(content)) return UNKNOWN;
    if (kind !== KIND.struct) return content;
    const { [SIGNATURE]: signature, value } = content as Json;
    return signature === SECRET_SIGNATURE ? new Secret(value) : content;
  },
};

export const STRUCT: MessageType<Marked> = {
  1: entryWith(VALUE),
  from: (fields) => Object.fromEntries(fields.map(([, member]) => member as [string, unknown])),
};

VALUE[KIND.struct] = STRUCT;
VALUE[KIND.list] = { 1: VALUE, from: (fields) => fields.map(([, item]) => item) };

/** A Struct as a message. */
export const structFrom = (values: Json): Fields => ({
  1: Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [{ 1: name, 2: valueFrom(value) }])),
});

const valueFrom = (value: unknown): Fields => {
  if (typeof value === "string") return { [KIND.text]: [value] };
  if (typeof value === "number") return { [KIND.number]: [value] };
  if (typeof value === "boolean") return { [KIND.boolean]: [value] };
  if (Array.isArray(value)) return { [KIND.list]: { 1: value.map(valueFrom) } };
  if (value instanceof Secret) return valueFrom({ [SIGNATURE]: SECRET_SIGNATURE, value: value.value });
  return isObject(value) ? { [KIND.struct]: structFrom(value) } : { [KIND.null]: [false] };
};
