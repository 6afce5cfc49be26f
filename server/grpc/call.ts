// Every gRPC call from its first header to its end: one request id, one line of the log, one count. That includes calls that
// grpc-js answers by itself: an unknown method, a message that is too large, a deadline.
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Metadata } from "@grpc/grpc-js";
import { type Code, codeFromNumber } from "../../schema/index.ts";
import { headerValues, headSize, type Log, REQUEST_ID, requestIdFrom } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { Connections } from "../connection/connections.ts";
import type { AnswerMemory } from "../connection/memory.ts";
import type { Arrivals } from "./arrival.ts";
import type { CallRecord } from "./count.ts";
import { completeAnswer } from "./refused.ts";

export type Calls = ReturnType<typeof createCalls>;

// grpc-js passes the metadata to handlers, and not the stream. This entry identifies the call in both.
const CALL = "irm-call";

interface CallsOptions {
  arrivals: Arrivals;
  connections: Connections;
  answers: AnswerMemory;
  /** methods whose clients may keep their half of the stream open for any time */
  openEnded: ReadonlySet<string>;
  ready: Promise<{ metrics: Metrics; log: Log }>;
}

export const createCalls = ({ arrivals, connections, answers, openEnded, ready }: CallsOptions) => {
  const records = new Map<string, CallRecord>();
  let begun = 0;

  const observe = async (stream: ServerHttp2Stream, path: string, record: CallRecord) => {
    const closed = Promise.withResolvers<void>();
    stream.once("close", () => closed.resolve());
    const { metrics, log } = await ready;
    const finish = metrics.begin("grpc");
    await closed.promise;
    const code = codeOf(stream);
    const { requestId, operation, fields, message, quiet } = record;
    const ms = finish({ operation, code });
    log(quiet ? "debug" : "info", "request", { requestId, path, operation, fields, code, ms, message });
  };

  return {
    /** A call begins; its headers become metadata after this. */
    begin: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]) => {
      const key = String(++begun);
      const work = connections.begin(stream.session?.socket);
      const record: CallRecord = {
        requestId: requestIdFrom(headers[REQUEST_ID]),
        stream,
        work,
        answering: answers.begin(work.connection, headSize(rawHeaders)),
        peer: stream.session?.socket.remoteAddress ?? "",
      };
      // Until a method takes over.
      record.work.wait();
      records.set(key, record);
      stream.once("close", () => {
        records.delete(key);
        record.work.end();
        record.answering.release();
      });
      headers[CALL] = key;
      repairHeaders(headers, rawHeaders);
      const path = headers[":path"] ?? "";
      completeAnswer(stream, path, record);
      if (!openEnded.has(path)) arrivals.begin(stream, path, record);
      void observe(stream, path, record);
    },
    of: (metadata: Metadata) => records.get(String(metadata.get(CALL)[0])) as CallRecord,
  };
};

const TIMER_MAX_MS = 2 ** 31 - 1;
const UNIT_MS: Record<string, number> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

// HTTP/2 allows more values than gRPC does. grpc-js drops the others with a line on stderr that quotes them, maybe a token.
const isLegal = (value: string) => /^[\x20-\x7e]*$/.test(value);

/** Changes the headers that Node or grpc-js would misread. */
const repairHeaders = (headers: Record<string, unknown>, rawHeaders: readonly string[]) => {
  // Node keeps the first `authorization` of a stream and drops the others. The server refuses them together.
  const all = headerValues(rawHeaders, "authorization");
  if (all.length > 1) headers.authorization = all.map((value) => (isLegal(value) ? value : ""));
  for (const [name, value] of Object.entries(headers))
    if (typeof value === "string" && !name.endsWith("-bin") && !isLegal(value)) delete headers[name];
  // A deadline beyond the range of a timer counts as none. grpc-js would treat it as past.
  const [, count, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(String(headers["grpc-timeout"])) ?? [];
  if (Number(count) * (UNIT_MS[unit] ?? 0) > TIMER_MAX_MS) delete headers["grpc-timeout"];
};

// The code that was sent. Without one, the client or its connection was gone before.
const codeOf = ({ sentTrailers, sentHeaders }: ServerHttp2Stream): Code | "OK" => {
  const status = (sentTrailers ?? sentHeaders)?.["grpc-status"];
  if (status === undefined) return "CANCELLED";
  return Number(status) === 0 ? "OK" : (codeFromNumber(Number(status)) ?? "UNKNOWN");
};
