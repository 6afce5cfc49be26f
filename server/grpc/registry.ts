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
import {
  annotationFiles,
  emptyFile,
  type FileDescriptor,
  field,
  messageOf,
  protobufFiles,
  repeatedField,
} from "../../schema/index.ts";
import { once } from "../base/once.ts";

// The standard services beside the API: server reflection (grpc/grpc: reflection.proto, in v1 and v1alpha) and health
// checking (grpc/grpc: health.proto).

export const REFLECTION_PACKAGES = ["grpc.reflection.v1", "grpc.reflection.v1alpha"] as const;
export const HEALTH_PACKAGE = "grpc.health.v1";

type Fields = Parameters<typeof messageOf>[1];

/** A message whose last fields are the members of its only oneof. */
const withOneof = (name: string, fields: Fields, oneof: string, members: Fields) =>
  messageOf(name, [...fields, ...members], { name: oneof, members: members.map((member) => member.name) });

const reflectionFile = (name: string): FileDescriptor => ({
  ...emptyFile(`${name.replaceAll(".", "/")}/reflection.proto`, name),
  messageType: [
    withOneof("ServerReflectionRequest", [field("host", 1)], "message_request", [
      field("file_by_filename", 3),
      field("file_containing_symbol", 4),
      field("file_containing_extension", 5, `.${name}.ExtensionRequest`),
      field("all_extension_numbers_of_type", 6),
      field("list_services", 7),
    ]),
    messageOf("ExtensionRequest", [field("containing_type", 1), field("extension_number", 2, "TYPE_INT32")]),
    withOneof(
      "ServerReflectionResponse",
      [field("valid_host", 1), field("original_request", 2, `.${name}.ServerReflectionRequest`)],
      "message_response",
      [
        field("file_descriptor_response", 4, `.${name}.FileDescriptorResponse`),
        field("all_extension_numbers_response", 5, `.${name}.ExtensionNumberResponse`),
        field("list_services_response", 6, `.${name}.ListServiceResponse`),
        field("error_response", 7, `.${name}.ErrorResponse`),
      ],
    ),
    messageOf("FileDescriptorResponse", [repeatedField(field("file_descriptor_proto", 1, "TYPE_BYTES"))]),
    messageOf("ExtensionNumberResponse", [
      field("base_type_name", 1),
      repeatedField(field("extension_number", 2, "TYPE_INT32")),
    ]),
    messageOf("ListServiceResponse", [repeatedField(field("service", 1, `.${name}.ServiceResponse`))]),
    messageOf("ServiceResponse", [field("name", 1)]),
    messageOf("ErrorResponse", [field("error_code", 1, "TYPE_INT32"), field("error_message", 2)]),
  ],
  service: [
    {
      name: "ServerReflection",
      method: [
        {
          name: "ServerReflectionInfo",
          inputType: `.${name}.ServerReflectionRequest`,
          outputType: `.${name}.ServerReflectionResponse`,
          clientStreaming: true,
          serverStreaming: true,
        },
      ],
    },
  ],
});

const healthRequest = { inputType: `.${HEALTH_PACKAGE}.HealthCheckRequest` };
const healthResponse = { outputType: `.${HEALTH_PACKAGE}.HealthCheckResponse` };

const STATUSES = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];

const healthFile: FileDescriptor = {
  ...emptyFile("grpc/health/v1/health.proto", HEALTH_PACKAGE),
  messageType: [
    messageOf("HealthCheckRequest", [field("service", 1)]),
    {
      ...messageOf("HealthCheckResponse", [
        {
          ...field("status", 1, "TYPE_ENUM"),
          typeName: `.${HEALTH_PACKAGE}.HealthCheckResponse.ServingStatus`,
        },
      ]),
      enumType: [{ name: "ServingStatus", value: STATUSES.map((name, number) => ({ name, number })) }],
    },
  ],
  service: [
    {
      name: "Health",
      method: [
        { name: "Check", ...healthRequest, ...healthResponse },
        { name: "Watch", ...healthRequest, ...healthResponse, serverStreaming: true },
      ],
    },
  ],
};

const standardFiles = [...REFLECTION_PACKAGES.map(reflectionFile), healthFile];

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
