// Converts a zod message to its protobuf descriptor: numbers, types, oneofs, presence, maps, JSON names, reserved fields (proto3).
import { z } from "zod";
import {
  enumInfo,
  fieldInfo,
  fieldText,
  type Message,
  type MessageInfo,
  messageInfo,
  type ScalarInfo,
  scalarInfo,
  toSnake,
  unwrap,
} from "../field.ts";
import { behaviorOption } from "./annotation.ts";
import { type EnumDescriptor, emptyMessage, type FieldDescriptor, type MessageDescriptor } from "./descriptor.ts";

/** Full name of a message or an enum of the schema, with a dot before it. */
export type Naming = (name: string) => string;

type Type = Pick<FieldDescriptor, "type" | "typeName">;

const SCALARS: Record<ScalarInfo["scalar"], Type | { wellKnown: string }> = {
  int32: { type: "TYPE_INT32" },
  int64: { type: "TYPE_INT64" },
  bytes: { type: "TYPE_BYTES" },
  timestamp: { wellKnown: "google.protobuf.Timestamp" },
  duration: { wellKnown: "google.protobuf.Duration" },
  fieldMask: { wellKnown: "google.protobuf.FieldMask" },
};

/** Descriptions of messages and fields, apart from the descriptors, whose JSON has no place for them. */
export const descriptorTexts = new WeakMap<FieldDescriptor | MessageDescriptor, string>();

export const enumDescriptor = (name: string, numbers: Readonly<Record<string, number>>): EnumDescriptor => ({
  name,
  value: Object.entries(numbers).map(([value, number]) => ({ name: value, number })),
});

export const messageDescriptor = (name: string, schema: Message, naming: Naming): MessageDescriptor => {
  const descriptor = emptyMessage(name);
  const { message, text, reserved = [] } = messageInfo(schema) as MessageInfo;
  if (text !== undefined) descriptorTexts.set(descriptor, text);
  const oneofs = new Set(Object.values(schema.shape).flatMap((field) => fieldInfo(field).oneof ?? []));
  // Synthetic oneofs come after the real ones.
  const synthetic: string[] = [];
  for (const [jsonName, field] of Object.entries(schema.shape)) {
    const { number, oneof, presence } = fieldInfo(field);
    const fieldName = toSnake(jsonName);
    const inner = unwrap(field);
    const fieldDescriptor: FieldDescriptor = { name: fieldName, number, ...fieldType(inner, naming), jsonName };
    if (inner instanceof z.ZodRecord) {
      const entry = mapEntry(fieldName, inner, naming);
      descriptor.nestedType.push(entry);
      fieldDescriptor.typeName = `${naming(message)}.${entry.name}`;
    }
    if (oneof) fieldDescriptor.oneofIndex = [...oneofs].indexOf(oneof);
    if (presence) {
      fieldDescriptor.oneofIndex = oneofs.size + synthetic.push(`_${fieldName}`) - 1;
      fieldDescriptor.proto3Optional = true;
    }
    const options = behaviorOption(fieldInfo(field));
    if (options) fieldDescriptor.options = options;
    const text = fieldText(field);
    if (text !== undefined) descriptorTexts.set(fieldDescriptor, text);
    descriptor.field.push(fieldDescriptor);
  }
  descriptor.oneofDecl = [...oneofs, ...synthetic].map((oneof) => ({ name: oneof }));
  for (const taken of reserved) {
    if (typeof taken === "string") descriptor.reservedName.push(taken);
    else descriptor.reservedRange.push({ start: taken, end: taken + 1 });
  }
  return descriptor;
};

const fieldType = (inner: z.ZodType, naming: Naming): Type & Pick<FieldDescriptor, "label"> => {
  if (inner instanceof z.ZodArray)
    return { label: "LABEL_REPEATED", ...typeOf(unwrap(inner.element as z.ZodType), naming) };
  if (inner instanceof z.ZodRecord) return { label: "LABEL_REPEATED", type: "TYPE_MESSAGE" };
  return { label: "LABEL_OPTIONAL", ...typeOf(inner, naming) };
};

const typeOf = (inner: z.ZodType, naming: Naming): Type => {
  const scalar = scalarInfo(inner)?.scalar;
  if (scalar) {
    const type = SCALARS[scalar];
    return "wellKnown" in type ? { type: "TYPE_MESSAGE", typeName: naming(type.wellKnown) } : type;
  }
  const enumName = enumInfo(inner)?.enum;
  if (enumName) return { type: "TYPE_ENUM", typeName: naming(enumName) };
  const message = messageInfo(inner)?.message;
  if (message) return { type: "TYPE_MESSAGE", typeName: naming(message) };
  return { type: inner instanceof z.ZodBoolean ? "TYPE_BOOL" : "TYPE_STRING" };
};

// A map is a repeated message of key and value (protobuf language guide, maps): `resource_limits` of `ResourceLimitsEntry`.
const mapEntry = (fieldName: string, map: z.ZodRecord, naming: Naming): MessageDescriptor => {
  const words = fieldName.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const field = (name: string, number: number, schema: z.ZodType): FieldDescriptor => ({
    name,
    number,
    label: "LABEL_OPTIONAL",
    ...typeOf(unwrap(schema), naming),
    jsonName: name,
  });
  return {
    ...emptyMessage(`${words.join("")}Entry`),
    field: [field("key", 1, map.keyType as z.ZodType), field("value", 2, map.valueType as z.ZodType)],
    options: { mapEntry: true },
  };
};
