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
