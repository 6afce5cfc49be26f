// How long a client may take to send a whole request. Node looks after that on HTTP/1.1; on a stream of HTTP/2, be it gRPC or
// REST, nobody does.
import { constants, type ServerHttp2Stream } from "node:http2";

/** Who is slower holds a connection for nothing. */
export const REQUEST_MS = 60_000;

/** What is told of it, over either wire. */
export const LATE = "the request did not arrive in time";

/** Calls `late`, unless the client has ended its half of the stream by then; `arrived` as soon as it has, or has gone. */
export const awaitEnd = (stream: ServerHttp2Stream, late: () => void, arrived: () => void = () => {}): void => {
  const timer = setTimeout(late, REQUEST_MS).unref();
  const end = () => {
    clearTimeout(timer);
    arrived();
  };
  stream.once("end", end).once("close", end);
};

/** The end of a stream that has been answered before the client has sent all (RFC 9113, 8.1). */
export const endEarly = (stream: ServerHttp2Stream): void => stream.close(constants.NGHTTP2_NO_ERROR);
