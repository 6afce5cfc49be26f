// An error on its way out over gRPC: code and message in the trailers. `grpc-status-details-bin` has google.rpc.Status with
// the same details as over REST (AIP-193).
import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { Metadata } from "@grpc/grpc-js";
import { type ApiError, domainOf, statusFromError } from "../../schema/index.ts";
import { grpcRegistry, messageIn } from "./registry.ts";

export type GrpcStatus = ReturnType<typeof grpcStatus>;

/** The trailers of an error, for a response that does not pass grpc-js. */
export const trailersFrom = ({ code, details, metadata }: GrpcStatus) => ({
  "grpc-status": code,
  "grpc-message": encodeURI(details),
  ...metadata.toHttp2Headers(),
});

// Clients accept 8 KiB of trailers (gRPC over HTTP/2), where base64 adds a third and the text is sent twice.
const TEXT_MAX = 1024;
const VIOLATIONS_ROOM = 3 * 1024;

export const grpcStatus = (error: ApiError, service: string) => {
  const { code, message: text, details } = statusFromError(error, domainOf(service), VIOLATIONS_ROOM);
  // A cut may leave half a character, which no header can hold.
  const status = { code, message: text.slice(0, TEXT_MAX).toWellFormed(), details };
  const schema = messageIn("google.rpc.Status");
  const metadata = new Metadata();
  const message = fromJson(schema, status as unknown as JsonValue, { registry: grpcRegistry() });
  metadata.set("grpc-status-details-bin", Buffer.from(toBinary(schema, message)));
  return { code: status.code, details: status.message, metadata };
};
