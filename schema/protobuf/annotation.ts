// The annotations of google.api in our .proto files: the HTTP binding of a method, the behaviour of a field (AIP-127,
// AIP-203). Their definitions are here too, so that the generated files need no others.

import { type Behavior, type FieldInfo, toSnake } from "../field.ts";
import type { Operation } from "../operation.ts";
import {
  type EnumDescriptor,
  emptyFile,
  type FileDescriptor,
  field,
  type MessageDescriptor,
  messageOf,
  type Options,
  repeatedField,
} from "./descriptor.ts";

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
