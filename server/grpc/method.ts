// The methods of the table as gRPC handlers: binary to the JSON that REST has, the same pipeline, and back. Published methods
// that are not served are refused as such (docs/contract.md#d31).
import { Metadata, type Server, type ServerReadableStream, type sendUnaryData } from "@grpc/grpc-js";
import {
  ApiError,
  apiError,
  type GrpcMethod,
  methodsOf,
  serviceName,
  unservedMethods,
  VERSIONS,
} from "../../schema/index.ts";
import type { Log } from "../base/log.ts";
import { once } from "../base/once.ts";
import { withRequestId } from "../base/request.ts";
import { bodyMaxOf } from "../connection/body-size.ts";
import type { Delivery } from "../connection/delivery.ts";
import { type Side, sideOf } from "../connection/side.ts";
import { internalError, type Pipeline } from "../pipeline/pipeline.ts";
import { receiveMessage } from "./arrival.ts";
import type { Calls } from "./call.ts";
import type { CallRecord } from "./call-record.ts";
import { binaryFromJson, decodeGrpc } from "./decode.ts";
import { methodIn } from "./registry.ts";
import { grpcStatus } from "./status.ts";

export interface GrpcMethods {
  pipeline: Pipeline;
  /** refuses a message with a field that does not exist */
  strictBodies: boolean;
  log: Log;
  /** default: answers are sent as they are */
  delivery?: Delivery;
}

interface MethodsOptions {
  side: Side;
  calls: Calls;
  ready: Promise<GrpcMethods>;
}

type MethodCall = ServerReadableStream<Buffer, Buffer>;
type Answer = (call: MethodCall, record: CallRecord, methods: GrpcMethods) => Promise<Buffer>;

/** Adds every method of a side; returns the full names of their services. */
export const addMethods = (server: Server, { side, calls, ready }: MethodsOptions): Set<string> => {
  const onThisSide = (service: string) => side === "both" || sideOf(service) === side;

  const add = (service: string, name: string, domain: string, answer: Answer): void => {
    const handle = async (call: MethodCall, callback: sendUnaryData<Buffer>) => {
      const record = calls.of(call.metadata);
      record.work.resume();
      const methods = await ready;
      const isDelivered = (message?: Buffer) =>
        record.call !== undefined && methods.delivery?.grpc(record.call, record.stream, message) === true;
      try {
        const bytes = await withRequestId(record.requestId, () => answer(call, record, methods));
        record.answering.add(bytes.length);
        if (!isDelivered(bytes)) callback(null, bytes);
      } catch (error) {
        const known = error instanceof ApiError ? error : internalError(methods.log, error);
        // The client has gone, or grpc-js has answered by itself.
        if (call.cancelled) return;
        record.message = known.message;
        if (isDelivered()) return;
        // Clients look for the request id in the initial metadata, also of an error.
        call.sendMetadata(new Metadata());
        callback(grpcStatus(known, domain));
      }
    };
    // Bytes as they are: a malformed message is refused like any other malformed value, after the token.
    const asItIs = (bytes: Buffer) => bytes;
    // A stream of messages to grpc-js, which would otherwise read the message before the token is verified.
    server.register(`/${service}/${name}`, handle, asItIs, asItIs, "clientStream");
  };

  const services = new Set<string>();
  for (const method of VERSIONS.flatMap(methodsOf)) {
    const [{ row }] = method.rows as [GrpcMethod["rows"][number]];
    if (!onThisSide(row.service)) continue;
    services.add(method.service);
    add(method.service, method.name, row.service, answerOf(method));
  }
  for (const { service, name, path } of unservedMethods) {
    if (!onThisSide(service)) continue;
    const refuse = () => Promise.reject(apiError("UNIMPLEMENTED", `${name} is not served here`));
    for (const version of VERSIONS)
      add(serviceName(service, path.replace("{version}", version)), name, service, refuse);
  }
  return services;
};

const answerOf = ({ service, name, rows }: GrpcMethod): Answer => {
  const [{ row, operation }] = rows as [GrpcMethod["rows"][number]];
  return async (call, record, { pipeline, strictBodies }) => {
    record.operation = operation;
    const { input, output } = methodIn(service, name);
    record.call = {
      operation,
      wire: "grpc",
      decode: once(async () => {
        record.work.wait();
        const bytes = await receiveMessage(call, bodyMaxOf(operation)).finally(record.work.resume);
        if (!(await record.answering.room())) throw apiError("CANCELLED", "the call ended before its answer");
        const { bodyFields, ...decoded } = decodeGrpc(row, input, bytes, strictBodies);
        record.fields = bodyFields?.join(",");
        return decoded;
      }),
      authorization: call.metadata.get("authorization").map(String),
      peer: record.peer,
      endedBy: () => endOf(call),
    };
    return binaryFromJson(output, await pipeline(record.call));
  };
};

// The timer of a deadline may be late, so its time counts.
const endOf = (call: MethodCall) => {
  if (Number(call.getDeadline()) <= Date.now()) return "DEADLINE_EXCEEDED";
  return call.cancelled ? "CANCELLED" : undefined;
};
