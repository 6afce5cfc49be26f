// The standard services beside the API: server reflection (grpc/grpc: reflection.proto, in v1 and v1alpha) and health
// checking (grpc/grpc: health.proto).
import { emptyFile, type FileDescriptor, field, messageOf, repeatedField } from "../../schema/index.ts";

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

export const standardFiles: readonly FileDescriptor[] = [...REFLECTION_PACKAGES.map(reflectionFile), healthFile];
