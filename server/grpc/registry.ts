// The descriptors of everything that is served over gRPC, derived from the schema: the published services with their
// messages, the error details, and the standard services.
import {
  create,
  createFileRegistry,
  type DescMessage,
  type DescMethod,
  type FileRegistry,
  fromJson,
  type JsonValue,
} from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_timestamp,
} from "@bufbuild/protobuf/wkt";
import { annotationFiles, type FileDescriptor, protobufFiles } from "../../schema/index.ts";
import { once } from "../base/once.ts";
import { standardFiles } from "./standard-file.ts";

const WELL_KNOWN = [
  file_google_protobuf_any,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_timestamp,
].map(({ proto }) => proto);

const registryOf = (files: readonly FileDescriptorProto[]) =>
  createFileRegistry(create(FileDescriptorSetSchema, { file: [...WELL_KNOWN, ...files] }));

/** Created at the first call: a server that speaks only REST never needs them. */
export const grpcRegistry = once(() => {
  const parse = (files: readonly FileDescriptor[], registry?: FileRegistry) =>
    files.map((file) => fromJson(FileDescriptorProtoSchema, file as unknown as JsonValue, registry && { registry }));
  // The options in the other files are extensions that these files declare.
  const extensions = registryOf(parse(annotationFiles));
  return registryOf(parse([...protobufFiles(), ...standardFiles], extensions));
});

/** Throws for a message that the registry lacks. */
export const messageIn = (name: string): DescMessage => {
  const message = grpcRegistry().getMessage(name);
  if (!message) throw new TypeError(`there is no protobuf message ${name}`);
  return message;
};

export const methodIn = (service: string, name: string): DescMethod => {
  const method = grpcRegistry()
    .getService(service)
    ?.methods.find((candidate) => candidate.name === name);
  if (!method) throw new TypeError(`there is no protobuf method ${service}/${name}`);
  return method;
};
