// Limits the time in which a client sends a whole request. Node enforces that on HTTP/1.1, but not on the streams of HTTP/2, for gRPC
// or REST.

import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type ServerHttp2Stream } from "node:http2";
import type { Call } from "../pipeline/pipeline.ts";

/** A slower client would only occupy a connection. */
export const REQUEST_MS = 60_000;

/** The text of the refusal of a slow request, on either wire. */
export const LATE = "the request did not arrive in time";

/** Calls `late` when the client's half of the stream is still open by then; `arrived` once it has ended or closed. */
export const awaitEnd = (stream: ServerHttp2Stream, late: () => void, arrived: () => void = () => {}): void => {
  const timer = setTimeout(late, REQUEST_MS).unref();
  const end = () => {
    clearTimeout(timer);
    arrived();
  };
  stream.once("end", end).once("close", end);
};

/** Ends a stream that was answered before the client sent everything (RFC 9113 section 8.1). */
export const endEarly = (stream: ServerHttp2Stream): void => stream.close(constants.NGHTTP2_NO_ERROR);

// Delivers responses. The wires send them unchanged, unless a test of clients replaces them
// (`server/faults/delivery.ts`).

export interface HttpAnswer {
  http: number;
  headers: Record<string, string>;
  text: string;
}

export interface Delivery {
  /** The response to send in place of `answer`. `send` sends it in place of the wire. */
  rest(
    call: Call,
    answer: HttpAnswer,
  ): HttpAnswer & { send?: (request: IncomingMessage, response: ServerResponse, answer: HttpAnswer) => void };
  /** True when it has ended the call in place of the wire. `message`: absent for an error. */
  grpc(call: Call, stream: ServerHttp2Stream, message?: Buffer): boolean;
}

/** The stream of a REST request on HTTP/2; undefined on HTTP/1.1. */
export const streamOf = (response: ServerResponse): ServerHttp2Stream | undefined =>
  (response as { stream?: ServerHttp2Stream }).stream;
