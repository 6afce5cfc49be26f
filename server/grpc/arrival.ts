// Calls whose message has not come to its end. Such a call has done nothing yet: it is refused when it takes longer than a
// request of REST may, and as soon as the server drains, whose end it must not hold up.
import type { ServerHttp2Stream } from "node:http2";
import type { FileRegistry } from "@bufbuild/protobuf";
import { apiError, type Code } from "../../schema/index.ts";
import { awaitEnd, endEarly, LATE } from "../arrival.ts";
import { serviceOf } from "./answer.ts";
import type { CallRecord } from "./call.ts";
import { grpcStatus } from "./status.ts";

export interface Arrivals {
  begin(stream: ServerHttp2Stream, path: string, record: CallRecord): void;
  /** Refuses those that are under way. */
  end(): void;
}

export const createArrivals = (registry: () => FileRegistry): Arrivals => {
  const awaited = new Map<ServerHttp2Stream, (code: Code, text: string) => void>();
  return {
    begin: (stream, path, record) => {
      awaited.set(stream, (code, text) => {
        if (!stream.headersSent) {
          const { code: number, details, metadata } = grpcStatus(registry(), apiError(code, text), serviceOf(path));
          record.message = details;
          const status = { "grpc-status": number, "grpc-message": encodeURI(details), ...metadata.toHttp2Headers() };
          stream.respond({ ...HEAD, ...status }, { endStream: true });
        }
        endEarly(stream);
      });
      const late = () => awaited.get(stream)?.("DEADLINE_EXCEEDED", LATE);
      awaitEnd(stream, late, () => awaited.delete(stream));
    },
    end: () => {
      for (const refuse of [...awaited.values()]) refuse("UNAVAILABLE", "the server is draining");
    },
  };
};

const HEAD = { ":status": 200, "content-type": "application/grpc+proto" };
