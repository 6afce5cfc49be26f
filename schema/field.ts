// How a zod object describes a protobuf message: each field carries its number and its behavior (AIP-203),
// each message and enum its name. Everything that reads the schema (checks, wire codecs, descriptors) starts here.
import { z } from "zod";
import { once } from "./once.ts";

/** AIP-203 behaviors that this API uses. */
export type Behavior = "REQUIRED" | "OPTIONAL" | "OUTPUT_ONLY" | "INPUT_ONLY" | "IMMUTABLE";

export interface FieldInfo {
  /** protobuf field number */
  number: number;
  /** for people: its meaning, its unit and its default; part of every description of the API */
  text?: string;
  /** the same for the argument of a program, if it takes more than the field */
  argumentText?: string;
  /** the same for the output of a resource, if it differs */
  outputText?: string;
  behavior?: Behavior;
  /** may be set on create only; restating the same value is no change */
  immutable?: boolean;
  /** immutable, though the published descriptors do not mark it */
  createOnly?: boolean;
  /** the server chooses it if the caller leaves it out, so it is compared only if the caller sets it */
  serverChosen?: boolean;
  /** changes by itself: no difference between two records */
  volatile?: boolean;
  /**
   * the meaning of the order of a list: `set`: scalars in any order; `ordered`: the order counts; `key`: objects in any order, which one
   * of their fields identifies
   */
  list?: "set" | "ordered" | { readonly key: string };
  /** accepted on input, never returned */
  inputOnly?: boolean;
  /** path in the response with the value of the field, if the response may lack the field itself */
  answeredAs?: string;
  /** type of the record whose uid it holds, or each value of the map (google.api.resource_reference) */
  references?: string;
  /** also takes a text that names a record, and stores the uid of that record */
  respelled?: boolean;
  /** value that means the same as an unset field */
  sameAsUnset?: string;
  /** maps the spellings that people may write in this list to the API's */
  synonyms?: Readonly<Record<string, string>>;
  /** name of the protobuf oneof that the field is a member of */
  oneof?: string;
  /** written even when it is zero (docs/internals/contract.md#d1) */
  always?: boolean;
  /** never logged and never returned */
  secret?: boolean;
  /** proto3 `optional`: zero is distinguishable from absent */
  presence?: boolean;
  /** name of the argument of a program, if the output has the name of the field */
  argument?: string;
  /** other JSON spelling that is accepted on input */
  alias?: string;
  /** fields that may not be set together with it */
  excludes?: readonly string[];
}

export interface MessageInfo {
  /** name inside `chainguard.platform`, e.g. `iam.Identity.ClaimMatch` */
  message: string;
  /** oneofs of which one member must be set */
  requiredOneofs?: readonly string[];
  /** rules between its fields; `field` of a violation is relative to the message */
  rules?: (
    value: Readonly<Record<string, unknown>>,
    isUnknown: (value: unknown) => boolean,
  ) => readonly { field: string; description: string }[];
  /** numbers and names of removed fields; no field may reuse them */
  reserved?: readonly (number | string)[];
  /** fields of which at least one must be set */
  anyOf?: readonly string[];
  /** its type in programs, as an argument; absent: no argument has this type */
  argumentType?: string;
  /** for people: its meaning */
  text?: string;
}
export interface EnumInfo {
  enum: string;
  numbers: Readonly<Record<string, number>>;
  /** its type in programs; absent: no argument has this type */
  argumentType?: string;
  text?: string;
}
export interface ScalarInfo {
  scalar: "int32" | "int64" | "timestamp" | "duration" | "fieldMask" | "bytes";
}

const fieldInfos = z.registry<FieldInfo>();
const messageInfos = z.registry<MessageInfo>();
const enumInfos = z.registry<EnumInfo>();
const scalarInfos = z.registry<ScalarInfo>();

export type Shape = Readonly<Record<string, z.ZodType>>;
export type Message<S extends Shape = Shape> = z.ZodObject<S>;

type Extra = Omit<FieldInfo, "number" | "behavior" | "text">;

/** The text of a field, and its further properties. A field of v1 has no text. */
type About = [text?: string, extra?: Extra] | [extra: Extra];

const register = <T extends z.ZodType>(schema: T, number: number, about: About, behavior?: Behavior) => {
  const [text, more] = about;
  const said = typeof text === "object" ? text : { ...(text !== undefined && { text }), ...more };
  fieldInfos.add(schema, { number, ...(behavior && { behavior }), ...said });
  return schema;
};

/** A field without a behavior, in requests and envelopes. */
export const plain = <T extends z.ZodType>(number: number, schema: T, ...about: About): z.ZodOptional<T> =>
  register(schema.optional(), number, about);

/** REQUIRED: must be set on create. */
export const required = <T extends z.ZodType>(number: number, schema: T, ...about: About): T =>
  // A clone keeps its parent's metadata (zod registries look it up), so that one message or scalar can be many fields.
  register(schema.clone() as T, number, about, "REQUIRED");

/** OPTIONAL: absent reads as zero. */
export const optional = <T extends z.ZodType>(number: number, schema: T, ...about: About): z.ZodOptional<T> =>
  register(schema.optional(), number, about, "OPTIONAL");

/** OUTPUT_ONLY: set by the server, ignored on input. The readonly wrapper lets types and readers see it. */
export const output = <T extends z.ZodType>(number: number, schema: T, ...about: About): z.ZodReadonly<T> =>
  register(schema.readonly(), number, about, "OUTPUT_ONLY");

/** A message: name inside the platform's package, and its fields. */
export const message = <S extends Shape>(
  name: string,
  shape: S,
  info: Omit<MessageInfo, "message"> = {},
): Message<S> => {
  const schema = z.object(shape);
  messageInfos.add(schema, { message: name, ...info });
  return schema as unknown as Message<S>;
};

/** An enum: JSON has the names, protobuf the numbers. The first member means unset. */
export const enumeration = <const N extends Record<string, number>>(
  name: string,
  numbers: N,
  info: Omit<EnumInfo, "enum" | "numbers"> = {},
) => {
  const names = Object.keys(numbers) as [keyof N & string, ...(keyof N & string)[]];
  const short = names.length <= 20 ? `one of ${names.slice(1).join(", ")}` : `a value of ${name.split(".").at(-1)}`;
  const schema = z.enum(names, {
    error: ({ input }) => (input === undefined ? "is required" : `must be ${short}; got ${show(input)}`),
  });
  enumInfos.add(schema, { enum: name, numbers, ...info });
  return schema;
};

const show = (value: unknown) => (typeof value === "string" ? `"${value.slice(0, 100)}"` : typeof value);

const scalar = <T extends z.ZodType>(schema: T, kind: ScalarInfo["scalar"]) => {
  scalarInfos.add(schema, { scalar: kind });
  return schema;
};

export const string = z.string({ error: "must be a string" });
export const bool = z.boolean({ error: "must be true or false" });
export const int32 = scalar(z.int32({ error: "must be an integer of 32 bits" }), "int32");
/** int64 is a decimal string in JSON (proto3 JSON mapping). */
export const int64 = scalar(z.string().regex(/^-?\d+$/, "must be a decimal integer"), "int64");
/** RFC 3339, UTC, with milliseconds (docs/internals/contract.md#json). */
export const timestamp = scalar(
  z.iso.datetime({ offset: true, error: "must be an RFC 3339 time such as 2026-01-28T12:54:21.189Z" }),
  "timestamp",
);
/** proto3 JSON duration: seconds with up to nine decimals and `s`. */
export const duration = scalar(
  z.string().regex(/^-?\d{1,12}(\.\d{1,9})?s$/, 'must be a duration such as "3600s"'),
  "duration",
);
/** proto3 JSON bytes: base64. */
export const bytes = scalar(
  z.string().regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, "must be base64"),
  "bytes",
);
/** proto3 JSON field mask: comma-joined lowerCamel paths. */
export const fieldMask = scalar(z.string(), "fieldMask");
export const strings = z.array(string, { error: "must be a list of strings" });
export const stringMap = z.record(z.string(), string, { error: "must be a map of strings" });
export const int32Map = z.record(z.string(), int32, { error: "must be a map of integers" });

/** The times of a record, in two fields from `number` on. */
export const recordTimes = (number: number) => ({
  createTime: output(number, timestamp, "When it was created: RFC 3339, UTC"),
  updateTime: output(number + 1, timestamp, "When it was last changed: RFC 3339, UTC"),
});

// A registry builds its answer on every call, and readers ask once per list item: so each answer is computed once.

/** The type itself, without optional and readonly. */
export const unwrap = once((schema: z.ZodType) => {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodReadonly) inner = inner.unwrap() as z.ZodType;
  return inner;
});

/** Whether a field may be absent. */
export const isOptional = (schema: z.ZodType): boolean =>
  schema instanceof z.ZodOptional || (schema instanceof z.ZodReadonly && isOptional(schema.unwrap() as z.ZodType));

export const fieldInfo = once((schema: z.ZodType): FieldInfo => {
  const info = fieldInfos.get(schema);
  if (!info) throw new TypeError("a field of a message was declared without a number");
  return info;
});
export const messageInfo = once((schema: z.ZodType): MessageInfo | undefined => messageInfos.get(unwrap(schema)));
export const enumInfo = once((schema: z.ZodType): EnumInfo | undefined => enumInfos.get(unwrap(schema)));
export const scalarInfo = once((schema: z.ZodType): ScalarInfo | undefined => scalarInfos.get(unwrap(schema)));

/** The description of a field: in the API, as an argument of a program, or as an output of a resource. */
export const fieldText = (schema: z.ZodType, use?: "argument" | "output"): string | undefined => {
  const { text, argumentText, outputText } = fieldInfo(schema);
  return (use === "argument" ? argumentText : use === "output" ? outputText : undefined) ?? text;
};

/** The message behind a field, or undefined when the field is a scalar, a list or a map. */
export const asMessage = (schema: z.ZodType): Message | undefined => {
  const inner = unwrap(schema);
  return inner instanceof z.ZodObject ? (inner as unknown as Message) : undefined;
};

type Held = Readonly<Record<string, unknown>>;

/** The value of a field, with `change` applied to the message in it: of a list and of a map, to each. */
export const mapMessages = (
  schema: z.ZodType,
  value: unknown,
  change: (message: Message, value: Held) => unknown,
): unknown => {
  const inner = unwrap(schema);
  const changed = (type: unknown) => (item: unknown) => mapMessages(type as z.ZodType, item, change);
  if (inner instanceof z.ZodObject) return change(inner as unknown as Message, value as Held);
  if (inner instanceof z.ZodArray) return (value as unknown[]).map(changed(inner.element));
  if (!(inner instanceof z.ZodRecord)) return value;
  const changeItem = changed(inner.valueType);
  return Object.fromEntries(Object.entries(value as Held).map(([key, item]) => [key, changeItem(item)]));
};

export const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

export const uncapitalize = (word: string): string => word.charAt(0).toLowerCase() + word.slice(1);

/** lowerCamel to snake_case, the protobuf spelling of a field. */
export const toSnake = (name: string): string => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);

/** The value that proto3 reads from an absent field. */
export const zeroOf = (schema: z.ZodType): unknown => {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) return [];
  if (inner instanceof z.ZodRecord) return {};
  return scalarZero(inner);
};

const scalarZero = once((inner: z.ZodType): unknown => {
  if (inner instanceof z.ZodBoolean) return false;
  if (scalarInfo(inner)?.scalar === "int32") return 0;
  if (scalarInfo(inner)?.scalar === "int64") return "0";
  const numbers = enumInfo(inner)?.numbers;
  if (numbers) return Object.keys(numbers)[0];
  return inner instanceof z.ZodString ? "" : undefined;
});

/** True for values that proto3 cannot distinguish from an absent field. */
export const isZero = (schema: z.ZodType, value: unknown): boolean => {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (unwrap(schema) instanceof z.ZodRecord) return Object.keys(value as object).length === 0;
  return value === zeroOf(schema);
};

// The fields of a message by every spelling of their names. Computed once per message, because a request may have a million names.

export interface Field {
  name: string;
  schema: z.ZodType;
  info: FieldInfo;
  /** the JSON spellings; the first one is written */
  spellings: readonly string[];
  /** the message that the field holds, if any */
  message: Message | undefined;
}

const tableOf = once((schema: Message) => {
  const fields = Object.entries(schema.shape).map(([name, field]): Field => {
    const info = fieldInfo(field);
    const names = new Set([name, toSnake(name), ...(info.alias ? [info.alias] : [])]);
    return { name, schema: field, info, spellings: [...names], message: asMessage(field) };
  });
  const named = fields.flatMap((field) => field.spellings.map((spelling) => [spelling, field] as const));
  // If two fields share a spelling, the first in the message wins.
  return { fields, bySpelling: new Map(named.toReversed()) };
});

export const fieldsOf = (schema: Message): readonly Field[] => tableOf(schema).fields;

/** The field with this name, in any of its spellings. */
export const fieldByName = (schema: Message, spelling: string): Field | undefined =>
  tableOf(schema).bySpelling.get(spelling);
