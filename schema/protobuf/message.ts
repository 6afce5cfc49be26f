// Converts a zod message to its protobuf descriptor: numbers, types, oneofs, presence, maps, JSON names, reserved fields (proto3).
import { z } from "zod";
import {
  type Behavior,
  capitalize,
  enumInfo,
  type FieldInfo,
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
import type { Operation } from "../operation.ts";
import { operations, PACKAGE } from "../operations.ts";

// The part that we use of a protobuf file as plain data: google.protobuf.FileDescriptorProto in its JSON mapping. An option
// of another package is a key in brackets, as in proto3 JSON: `"[google.api.http]"`.

export type ScalarType =
  | "TYPE_STRING"
  | "TYPE_BOOL"
  | "TYPE_INT32"
  | "TYPE_INT64"
  | "TYPE_BYTES"
  | "TYPE_MESSAGE"
  | "TYPE_ENUM";

export type Options = Readonly<Record<string, unknown>>;

export interface FieldDescriptor {
  name: string;
  number: number;
  label: "LABEL_OPTIONAL" | "LABEL_REPEATED";
  type: ScalarType;
  /** full name of the message or enum, with a dot before it */
  typeName?: string;
  jsonName?: string;
  oneofIndex?: number;
  /** `optional` in proto3; its oneof is a synthetic one, named `_field` */
  proto3Optional?: boolean;
  /** the message that an extension extends */
  extendee?: string;
  options?: Options;
}

export interface EnumDescriptor {
  name: string;
  value: { name: string; number: number }[];
}

export interface MessageDescriptor {
  name: string;
  field: FieldDescriptor[];
  nestedType: MessageDescriptor[];
  enumType: EnumDescriptor[];
  oneofDecl: { name: string }[];
  /** `end` is exclusive */
  reservedRange: { start: number; end: number }[];
  reservedName: string[];
  options?: { mapEntry: true };
}

export interface MethodDescriptor {
  name: string;
  inputType: string;
  outputType: string;
  clientStreaming?: boolean;
  serverStreaming?: boolean;
  options?: Options;
}

export interface ServiceDescriptor {
  name: string;
  method: MethodDescriptor[];
}

export interface FileDescriptor {
  name: string;
  package: string;
  dependency: string[];
  syntax: "proto3";
  messageType: MessageDescriptor[];
  enumType: EnumDescriptor[];
  service: ServiceDescriptor[];
  extension: FieldDescriptor[];
}

export const emptyMessage = (name: string): MessageDescriptor => ({
  name,
  field: [],
  nestedType: [],
  enumType: [],
  oneofDecl: [],
  reservedRange: [],
  reservedName: [],
});

export const emptyFile = (name: string, packageName: string): FileDescriptor => ({
  name,
  package: packageName,
  dependency: [],
  syntax: "proto3",
  messageType: [],
  enumType: [],
  service: [],
  extension: [],
});

/** The default JSON name of a field. */
export const toLowerCamel = (name: string): string =>
  name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** A field of a handwritten message. A type with a dot before it is the full name of a message. */
export const field = (
  name: string,
  number: number,
  type: ScalarType | `.${string}` = "TYPE_STRING",
): FieldDescriptor => ({
  name,
  number,
  label: "LABEL_OPTIONAL",
  ...(type.startsWith(".") ? { type: "TYPE_MESSAGE", typeName: type } : { type: type as ScalarType }),
  jsonName: toLowerCamel(name),
});

export const repeatedField = (descriptor: FieldDescriptor): FieldDescriptor => ({
  ...descriptor,
  label: "LABEL_REPEATED",
});

/** A handwritten message. `oneof`: its only oneof, with the names of the member fields. */
export const messageOf = (name: string, fields: FieldDescriptor[], oneof?: { name: string; members: string[] }) => ({
  ...emptyMessage(name),
  field: fields.map((descriptor) =>
    oneof?.members.includes(descriptor.name) ? { ...descriptor, oneofIndex: 0 } : descriptor,
  ),
  oneofDecl: oneof ? [{ name: oneof.name }] : [],
});

// The protobuf packages of the schema's names: `iam.Identity.ClaimMatch` is in `chainguard.platform.iam.<version>`,
// `iam.v1.Group` in `chainguard.platform.iam` (packages of v1 have no version), `google.rpc.Status` in `google.rpc`.

export interface Place {
  package: string;
  /** names of the messages around it, then its own name */
  path: string[];
}

const versioned = new Set(
  Object.values(operations as Record<string, Operation>)
    .filter(({ path }) => path.includes("{version}"))
    .map(({ service }) => service.split(".", 1)[0]),
);

export const protobufPlace = (name: string, version: string): Place => {
  const [domainName, ...path] = name.split(".") as [string, ...string[]];
  if (domainName === "google") return { package: `google.${path[0]}`, path: path.slice(1) };
  if (domainName === "capabilities") return { package: "chainguard.capabilities", path };
  if (path[0] === "v1") return { package: `${PACKAGE}.${domainName}`, path: path.slice(1) };
  return {
    package: versioned.has(domainName) ? `${PACKAGE}.${domainName}.${version}` : `${PACKAGE}.${domainName}`,
    path,
  };
};

export const nameOfPlace = (place: Place): string => [place.package, ...place.path].join(".");

/** Full name of a message or an enum. */
export const fullName = (name: string, version: string): string => nameOfPlace(protobufPlace(name, version));

/** Name of a type in TypeScript and in Pulumi: `iam.Identity.ClaimMatch` is `IdentityClaimMatch`. */
export const typeName = (name: string): string => name.split(".").slice(1).join("");

/** Full name of a service. Its package has the version in the paths of its methods, except v1. */
export const serviceName = (service: string, path: string): string => {
  const [domainName, name] = service.split(".") as [string, string];
  const version = /^\/[^/]+\/(v2[^/]*)\//.exec(path)?.[1];
  return [PACKAGE, domainName, ...(version ? [version] : []), name].join(".");
};

/** One file a package; the names of google's files are fixed. */
export const fileOf = ({ package: name, path }: Place): string => {
  const folder = name.replaceAll(".", "/");
  if (name === "google.protobuf") return `${folder}/${toSnake(path[0] as string).slice(1)}.proto`;
  if (name === "google.rpc") return path[0] === "Status" ? `${folder}/status.proto` : `${folder}/error_details.proto`;
  const named = name.split(".").findLast((part) => !/^v\d/.test(part));
  return `${folder}/${named}.proto`;
};

// The annotations of google.api in our .proto files: the HTTP binding of a method, the behavior of a field (AIP-127,
// AIP-203). Their definitions are here too, so that the generated files need no others.

export const ANNOTATIONS_FILE = "google/api/annotations.proto";
export const BEHAVIOR_FILE = "google/api/field_behavior.proto";

/** `option (google.api.http)` of a method: its rows, the first one on top. */
export const httpOption = ([first, ...further]: readonly { row: Operation; path: string }[]): Options => {
  const rule = ({ row, path }: { row: Operation; path: string }) => ({
    [row.method.toLowerCase()]: path.replace(/\{[^}]+\}/g, toSnake),
    ...(row.body && { body: toSnake(row.body) }),
  });
  const additional = further.length > 0 ? { additionalBindings: further.map(rule) } : {};
  return first ? { "[google.api.http]": { ...rule(first), ...additional } } : {};
};

/** `(google.api.field_behavior)` of a field. */
export const behaviorOption = ({ behavior, immutable, inputOnly }: FieldInfo): Options | undefined => {
  const behaviors = [behavior, inputOnly && "INPUT_ONLY", immutable && "IMMUTABLE"].filter(Boolean);
  return behaviors.length > 0 ? { "[google.api.field_behavior]": behaviors } : undefined;
};

const httpMessages: MessageDescriptor[] = [
  messageOf("Http", [
    repeatedField(field("rules", 1, ".google.api.HttpRule")),
    field("fully_decode_reserved_expansion", 2, "TYPE_BOOL"),
  ]),
  messageOf(
    "HttpRule",
    [
      field("selector", 1),
      field("get", 2),
      field("put", 3),
      field("post", 4),
      field("delete", 5),
      field("patch", 6),
      field("custom", 8, ".google.api.CustomHttpPattern"),
      field("body", 7),
      field("response_body", 12),
      repeatedField(field("additional_bindings", 11, ".google.api.HttpRule")),
    ],
    { name: "pattern", members: ["get", "put", "post", "delete", "patch", "custom"] },
  ),
  messageOf("CustomHttpPattern", [field("kind", 1), field("path", 2)]),
];

const BEHAVIORS: Record<Behavior | "FIELD_BEHAVIOR_UNSPECIFIED", number> = {
  FIELD_BEHAVIOR_UNSPECIFIED: 0,
  OPTIONAL: 1,
  REQUIRED: 2,
  OUTPUT_ONLY: 3,
  INPUT_ONLY: 4,
  IMMUTABLE: 5,
};

const fieldBehavior: EnumDescriptor = {
  name: "FieldBehavior",
  value: Object.entries(BEHAVIORS).map(([name, number]) => ({ name, number })),
};

/** The files of google.api, the imported ones first. */
export const annotationFiles: readonly FileDescriptor[] = [
  { ...emptyFile("google/api/http.proto", "google.api"), messageType: httpMessages },
  {
    ...emptyFile(ANNOTATIONS_FILE, "google.api"),
    dependency: ["google/api/http.proto", "google/protobuf/descriptor.proto"],
    extension: [{ ...field("http", 72295728, ".google.api.HttpRule"), extendee: ".google.protobuf.MethodOptions" }],
  },
  {
    ...emptyFile(BEHAVIOR_FILE, "google.api"),
    dependency: ["google/protobuf/descriptor.proto"],
    enumType: [fieldBehavior],
    extension: [
      {
        ...repeatedField(field("field_behavior", 1052, "TYPE_ENUM")),
        typeName: ".google.api.FieldBehavior",
        extendee: ".google.protobuf.FieldOptions",
      },
    ],
  },
];

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
  const words = fieldName.split("_").map(capitalize);
  const [key, value] = [map.keyType, map.valueType].map((one) => typeOf(unwrap(one as z.ZodType), naming));
  return {
    ...emptyMessage(`${words.join("")}Entry`),
    field: [
      { ...field("key", 1), ...key },
      { ...field("value", 2), ...value },
    ],
    options: { mapEntry: true },
  };
};
