// What every gRPC response carries: the request id, and with an error its details (AIP-193, docs/contract.md#d30). grpc-js
// refuses some calls by itself, with a text alone: an unknown method, a message that is too large, an unknown compression, a
// missed deadline.
import type { OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { apiError, codeFromNumber } from "../../schema/index.ts";
import { REQUEST_ID } from "../base/request.ts";
import { endEarly } from "../connection/arrival.ts";
import type { CallRecord } from "./call-record.ts";
import { grpcStatus, trailersFrom } from "./status.ts";

/** Completes what grpc-js will send on the stream, the only place where it can be seen. */
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
    // The server does not wait for the message of a refused call. The trailers go first.
    setImmediate(() => {
      if (!isGone()) endEarly(stream);
    });
  };
};

const DEADLINE_EXCEEDED = 4;

/** `registry.v2.ReposService`; empty for a path outside the API. */
export const serviceOf = (path: string): string => /^\/chainguard\.platform\.([\w.]+)/.exec(path)?.[1] ?? "";

// grpc-js encodes all of its texts but one.
const decodeText = (text: string): string => {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
};
