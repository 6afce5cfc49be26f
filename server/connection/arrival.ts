// How long a client may take to send a whole request. Node enforces that on HTTP/1.1, but not on the streams of HTTP/2, for gRPC
// or REST.
import { constants, type ServerHttp2Stream } from "node:http2";

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
