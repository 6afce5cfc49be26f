// An error on its way out over gRPC: code and message in the trailers. `grpc-status-details-bin` contains google.rpc.Status with
// the details that REST sends (AIP-193).

import type { OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { Metadata } from "@grpc/grpc-js";
import { type ApiError, apiError, codeFromNumber, domainOf, statusFromError } from "../../schema/index.ts";
import { REQUEST_ID } from "../base/log.ts";
import { endEarly } from "../connection/delivery.ts";
import type { CallRecord } from "./count.ts";
import { grpcRegistry, messageIn } from "./registry.ts";

type GrpcStatus = ReturnType<typeof grpcStatus>;

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

// Every gRPC response carries the request id, and with an error its details (AIP-193, docs/internals/contract.md#d30). grpc-js
// refuses some calls by itself, with only a text: an unknown method, a message that is too large, an unknown compression, a
// missed deadline.

/** Completes the headers and trailers that grpc-js sends. Only the stream exposes them. */
export const completeAnswer = (stream: ServerHttp2Stream, path: string, record: CallRecord): void => {
  const complete = (headers: OutgoingHttpHeaders): OutgoingHttpHeaders => {
    const number = Number(headers["grpc-status"] ?? 0);
    if (number === 0 || headers["grpc-status-details-bin"]) return headers;
    const text = number === DEADLINE_EXCEEDED ? "the call took too long" : decodeText(String(headers["grpc-message"]));
    const error = apiError(codeFromNumber(number) ?? "UNKNOWN", text);
    const status = grpcStatus(error, serviceOf(path));
    record.message = status.details;
    return { ...headers, ...trailersFrom(status) };
  };
  const { respond, sendTrailers } = stream;
  // The client may have gone. Node throws then, which grpc-js does not expect of an unknown method.
  const isGone = () => stream.destroyed || stream.closed;
  stream.respond = (headers = {}, options) => {
    if (isGone()) return;
    respond.call(stream, { ...complete(headers as OutgoingHttpHeaders), [REQUEST_ID]: record.requestId }, options);
  };
  stream.sendTrailers = (trailers) => {
    if (isGone()) return;
    sendTrailers.call(stream, complete(trailers));
    // The server does not wait for the message of a refused call. The trailers are sent first.
    setImmediate(() => {
      if (!isGone()) endEarly(stream);
    });
  };
};

const DEADLINE_EXCEEDED = 4;

/** `registry.v2.ReposService`; empty for a path outside the API. */
export const serviceOf = (path: string): string => /^\/chainguard\.platform\.([\w.]+)/.exec(path)?.[1] ?? "";

// grpc-js encodes all of its texts but one.
const decodeText = (text: string) => {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
};
