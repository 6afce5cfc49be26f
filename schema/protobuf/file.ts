// Builds protobuf files from the table of methods: every service in every served version, with the messages and enums that
// it reaches. Descriptors are plain data, for gRPC, for reflection and for the .proto files.
import { z } from "zod";
import { detailMessages, StatusMessage } from "../error.ts";
import { asMessage, enumInfo, type Message, messageInfo, unwrap } from "../field.ts";
import { getOrInsert } from "../once.ts";
import type { Operation } from "../operation.ts";
import { type OperationName, operations, VERSIONS } from "../operations.ts";
import {
  ANNOTATIONS_FILE,
  annotationFiles,
  BEHAVIOR_FILE,
  emptyFile,
  enumDescriptor,
  type FileDescriptor,
  fileOf,
  httpOption,
  type MessageDescriptor,
  type MethodDescriptor,
  messageDescriptor,
  type Naming,
  nameOfPlace,
  type Place,
  protobufPlace,
  serviceName,
} from "./message.ts";

/** Every file, after the files that it imports. google.protobuf is left out, since every protobuf library has its files. */
export const protobufFiles = (): FileDescriptor[] => {
  const files = new Map<string, FileDescriptor>();
  const written = new Set<string>();
  for (const version of VERSIONS) {
    const write = createWriter(files, written, version);
    for (const detail of [StatusMessage, ...detailMessages]) write.message(detail);
    for (const rows of methodsOf(version)) write.method(rows);
  }
  return [...annotationFiles, ...inOrder([...files.values()])];
};

/** One gRPC method: its rows in the table (the exchange has two), with their paths in a version. */
export interface GrpcMethod {
  /** full name of the service */
  service: string;
  name: string;
  rows: { operation: OperationName; row: Operation; path: string }[];
}

/** The gRPC methods of the table. A service whose paths name no version is the same in all of them. */
export const methodsOf = (version: string): GrpcMethod[] => {
  const methods = new Map<string, GrpcMethod>();
  for (const [operation, row] of Object.entries(operations) as [OperationName, Operation][]) {
    const path = row.path.replace("{version}", version);
    const service = serviceName(row.service, path);
    const name = row.rpc ?? operation;
    const method = getOrInsert(methods, `${service}/${name}`, (): GrpcMethod => ({ service, name, rows: [] }));
    method.rows.push({ operation, row, path });
  }
  return [...methods.values()];
};

const createWriter = (files: Map<string, FileDescriptor>, written: Set<string>, version: string) => {
  const fileFor = (place: Place) => getOrInsert(files, fileOf(place), () => emptyFile(fileOf(place), place.package));

  // Full name of a type, from a file that then imports it.
  const namingFrom =
    (file: FileDescriptor): Naming =>
    (name) => {
      const place = protobufPlace(name, version);
      depend(file, fileOf(place));
      return `.${nameOfPlace(place)}`;
    };

  // True for the first schema of a name. Two schemas may describe one message: a batch may omit a required field. Their fields are equal.
  const markNew = (place: Place): boolean => {
    const name = nameOfPlace(place);
    return !written.has(name) && written.add(name).has(name);
  };

  const message = (schema: Message) => {
    const name = messageInfo(schema)?.message as string;
    const place = protobufPlace(name, version);
    if (place.package === "google.protobuf" || !markNew(place)) return;
    const file = fileFor(place);
    const descriptor = messageDescriptor(place.path.at(-1) as string, schema, namingFrom(file));
    if (descriptor.field.some(({ options }) => options)) depend(file, BEHAVIOR_FILE);
    // Written before the messages that it reaches, because a nested message needs the one around it.
    messagesOf(holderOf(file, place.path)).push(descriptor);
    for (const field of Object.values(schema.shape)) reach(field as z.ZodType);
  };

  const enumeration = (schema: z.ZodType) => {
    const { enum: name, numbers } = enumInfo(schema) as { enum: string; numbers: Record<string, number> };
    const place = protobufPlace(name, version);
    if (!markNew(place)) return;
    const file = fileFor(place);
    holderOf(file, place.path).enumType.push(enumDescriptor(place.path.at(-1) as string, numbers));
  };

  const reach = (schema: z.ZodType) => {
    const inner = unwrap(schema);
    if (inner instanceof z.ZodArray) reach(inner.element as z.ZodType);
    else if (inner instanceof z.ZodRecord) reach(inner.valueType as z.ZodType);
    else if (enumInfo(inner)) enumeration(inner);
    else {
      const nested = asMessage(inner);
      if (nested) message(nested);
    }
  };

  const method = ({ service, name, rows }: GrpcMethod) => {
    const [{ row }] = rows as [GrpcMethod["rows"][number]];
    const packageName = service.slice(0, service.lastIndexOf("."));
    const file = fileFor({ package: packageName, path: [] });
    const serviceName = service.slice(packageName.length + 1);
    const descriptor = file.service.find((entry) => entry.name === serviceName) ?? { name: serviceName, method: [] };
    if (!file.service.includes(descriptor)) file.service.push(descriptor);
    // A service of all versions has been written with the first one.
    if (descriptor.method.some((entry) => entry.name === name)) return;
    message(row.request);
    message(row.response);
    depend(file, ANNOTATIONS_FILE);
    const typeOf = (schema: Message) => namingFrom(file)(messageInfo(schema)?.message as string);
    const signature: MethodDescriptor = { name, inputType: typeOf(row.request), outputType: typeOf(row.response) };
    descriptor.method.push({ ...signature, options: httpOption(rows) });
  };

  return { message, method };
};

const depend = (file: FileDescriptor, name: string) => {
  if (name !== file.name && !file.dependency.includes(name)) file.dependency.push(name);
};

type Holder = FileDescriptor | MessageDescriptor;

const messagesOf = (holder: Holder) => ("nestedType" in holder ? holder.nestedType : holder.messageType);

/** The file, or the message that a type is nested in. */
const holderOf = (file: FileDescriptor, path: readonly string[]) =>
  path.slice(0, -1).reduce<Holder>((holder, name) => {
    const message = messagesOf(holder).find((nested) => nested.name === name);
    if (!message) throw new TypeError(`${path.join(".")} is nested in ${name}, which no method reaches`);
    return message;
  }, file);

// Sorts files, so that each comes after its imports.
const inOrder = (files: readonly FileDescriptor[]): FileDescriptor[] => {
  const ordered: FileDescriptor[] = [];
  const visit = (file: FileDescriptor) => {
    if (ordered.includes(file)) return;
    for (const name of file.dependency) {
      const dependency = files.find((other) => other.name === name);
      if (dependency) visit(dependency);
    }
    file.dependency.sort();
    ordered.push(file);
  };
  for (const file of files) visit(file);
  return ordered;
};
