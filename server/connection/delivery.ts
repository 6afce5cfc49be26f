// How responses leave the server. The wires send them as they are, unless a test of clients replaces them
// (`server/faults/delivery.ts`).
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { Call } from "../pipeline/pipeline.ts";

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
