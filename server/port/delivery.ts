// How responses leave the server. The wires send them as they are; a test of clients may put something else in their place
// (`server/faults/delivery.ts`).
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { Call } from "../pipeline.ts";

export interface HttpAnswer {
  http: number;
  headers: Record<string, string>;
  text: string;
}

export interface Delivery {
  /** What an answer of REST becomes. `send`: takes the place of sending it. */
  rest(
    call: Call,
    answer: HttpAnswer,
  ): HttpAnswer & { send?: (request: IncomingMessage, response: ServerResponse, answer: HttpAnswer) => void };
  /** Ends a call of gRPC in place of its answer, if it has to. `message` is absent of an error. */
  grpc(call: Call, stream: ServerHttp2Stream, message?: Buffer): boolean;
}

/** The stream of a request of REST on HTTP/2, which looks like one of HTTP/1.1 otherwise. */
export const streamOf = (response: ServerResponse): ServerHttp2Stream | undefined =>
  (response as { stream?: ServerHttp2Stream }).stream;
