// Calls whose message has not arrived in full. Such a call has done nothing yet, so the server may refuse it. It does when the
// call takes longer than a REST request may, and when the server drains.

import type { EventEmitter } from "node:events";
import type { ServerHttp2Stream } from "node:http2";
import type { ServerReadableStream } from "@grpc/grpc-js";
import { type ApiError, apiError } from "../../schema/index.ts";
import { awaitEnd, endEarly, LATE } from "../connection/delivery.ts";
import type { Arriving, BodyMemory } from "../connection/memory.ts";
import type { CallRecord } from "./count.ts";
import { grpcStatus, serviceOf, trailersFrom } from "./refused.ts";

export type Arrivals = ReturnType<typeof createArrivals>;

export const createArrivals = (memory: BodyMemory) => {
  const awaited = new Map<ServerHttp2Stream, Arriving & { refuse(error: ApiError): void }>();
  return {
    begin: (stream: ServerHttp2Stream, path: string, record: CallRecord) => {
      const refuse = (error: ApiError) => {
        if (!stream.headersSent) {
          const status = grpcStatus(error, serviceOf(path));
          record.message = status.details;
          stream.respond({ ...HEAD, ...trailersFrom(status) }, { endStream: true });
        }
        endEarly(stream);
      };
      const arriving = memory.begin(refuse);
      awaited.set(stream, { ...arriving, refuse });
      stream.once("close", arriving.release);
      awaitEnd(
        stream,
        () => refuse(apiError("DEADLINE_EXCEEDED", LATE)),
        () => {
          arriving.complete();
          awaited.delete(stream);
        },
      );
    },
    /** Counts the bytes that arrive from here on. */
    count: (stream: ServerHttp2Stream) => {
      const arriving = awaited.get(stream);
      if (arriving) stream.on("data", (chunk: Buffer) => awaited.has(stream) && arriving.add(chunk.length + CHUNK));
    },
    /** Refuses the calls that are still arriving. */
    end: () => {
      for (const { refuse } of [...awaited.values()]) refuse(apiError("UNAVAILABLE", "the server is draining"));
    },
  };
};

// The memory of a chunk beside its bytes: grpc-js keeps each one, and a frame may hold one byte.
const CHUNK = 128;

const HEAD = { ":status": 200, "content-type": "application/grpc+proto" };

/** The only message of a call, at the end of the client's half of the stream. */
export const receiveMessage = (call: ServerReadableStream<Buffer, Buffer>, max: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const refuse = (text: string) => reject(apiError("UNIMPLEMENTED", `${text} for method ${call.getPath()}`));
    let message: Buffer | undefined;
    call.on("data", (bytes: Buffer) => {
      if (bytes.length > max)
        reject(apiError("RESOURCE_EXHAUSTED", `Received message larger than max (${bytes.length} vs ${max})`));
      if (message) refuse("Received a second request message");
      message ??= bytes;
    });
    call.on("end", () => (message ? resolve(message) : refuse("Received no request message")));
    // The client ended the call, or grpc-js has refused a malformed message.
    call.on("cancelled", () => reject(apiError("CANCELLED", "the call ended before its message")));
  });

// Streams that do not end by themselves (reflection, a watched health): the end of the server ends them.

export type Streams = ReturnType<typeof createStreams>;

// For all clients together, since they need no token. One more ends the stream that has been open longest.
const STREAMS_MAX = 1000;

export const createStreams = () => {
  const open = new Map<EventEmitter, () => void>();
  let hasEnded = false;
  return {
    /** `end`: called when the server drains and the stream is open. `left`: called once it has ended, for any reason. */
    opened: (call: EventEmitter, end: () => void, left?: () => void) => {
      open.set(call, end);
      if (open.size > STREAMS_MAX) {
        const [oldest] = open.values();
        oldest?.();
      }
      const close = () => {
        if (open.delete(call)) left?.();
      };
      for (const event of ["cancelled", "close", "finish"]) call.once(event, close);
      // It arrived when the drain had begun.
      if (hasEnded) end();
    },
    end: () => {
      hasEnded = true;
      for (const end of [...open.values()]) end();
    },
  };
};
