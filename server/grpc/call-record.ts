// The state of one gRPC call, from its first header to its line in the log.
import type { ServerHttp2Stream } from "node:http2";
import type { OperationName } from "../../schema/index.ts";
import type { Answering } from "../connection/answer-memory.ts";
import type { Work } from "../connection/connections.ts";
import type { Call } from "../pipeline/pipeline.ts";

/** The state of a call; its handler adds to it. */
export interface CallRecord {
  requestId: string;
  stream: ServerHttp2Stream;
  /** the call as work on its connection */
  work: Work;
  /** the memory of its answer */
  answering: Answering;
  /** address of the client */
  peer: string;
  operation?: OperationName;
  /** absent: the pipeline has not seen it */
  call?: Call;
  /** top-level fields of the body, for the log */
  fields?: string;
  /** text of the error */
  message?: string;
  /** requested every few seconds: logged for debugging only */
  quiet?: boolean;
}
