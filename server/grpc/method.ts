// The methods of the table as gRPC handlers: binary to the same JSON as over REST, the same pipeline, and back. Published
// methods that are not served are refused as such (docs/contract.md#d31).
import type { FileRegistry } from "@bufbuild/protobuf";
import { Metadata, type Server, type ServerReadableStream, type sendUnaryData } from "@grpc/grpc-js";
import {
  ApiError,
  apiError,
  type GrpcMethod,
  isExchange,
  type Json,
  methodsOf,
  serviceName,
  unservedMethods,
  VERSIONS,
} from "../../schema/index.ts";
import { decodeRequest, relative } from "../decode.ts";
import { cutCall } from "../faults/wire.ts";
import type { Log } from "../log.ts";
import type { Decoded, Pipeline } from "../pipeline.ts";
import { bodyMaxOf } from "../port/body-size.ts";
import { once } from "../port/once.ts";
import { withRequestId } from "../request.ts";
import { type Side, sideOf } from "../rest/route.ts";
import type { CallRecord, Calls } from "./call.ts";
import { binaryFromJson, jsonFromBinary } from "./decode.ts";
import { methodIn } from "./registry.ts";
import { grpcStatus } from "./status.ts";

export interface MethodsOptions {
  side: Side;
  registry: () => FileRegistry;
  calls: Calls;
  ready: Promise<{ pipeline: Pipeline; strictBodies: boolean; log: Log }>;
}

type MethodCall = ServerReadableStream<Buffer, Buffer>;
type Answer = (call: MethodCall, record: CallRecord) => Promise<Buffer>;

/** Adds every method of a side; returns the full names of their services. */
export const addMethods = (server: Server, options: MethodsOptions): Set<string> => {
  const { side, registry, calls } = options;
  const onThisSide = (service: string) => side === "both" || sideOf(service) === side;

  const add = (service: string, name: string, domain: string, answer: Answer): void => {
    const handle = async (call: MethodCall, callback: sendUnaryData<Buffer>) => {
      const record = calls.of(call.metadata);
      record.work.resume();
      try {
        const bytes = await withRequestId(record.requestId, () => answer(call, record));
        if (cut(record, bytes)) return;
        callback(null, bytes);
      } catch (error) {
        const known = error instanceof ApiError ? error : await internal(options, error);
        // The client has gone, or grpc-js has answered by itself.
        if (call.cancelled) return;
        record.message = known.message;
        if (cut(record)) return;
        // Initial metadata with an error too: there clients look for the request id.
        call.sendMetadata(new Metadata());
        callback(grpcStatus(registry(), known, domain));
      }
    };
    // Bytes as they are: what is no message is refused like any other malformed value, to those who may call at all.
    const asItIs = (bytes: Buffer) => bytes;
    // As a stream of messages to grpc-js, which would otherwise read the message before anyone looks at the token.
    server.register(`/${service}/${name}`, handle, asItIs, asItIs, "clientStream");
  };

  const services = new Set<string>();
  for (const method of VERSIONS.flatMap(methodsOf)) {
    const [{ row }] = method.rows as [GrpcMethod["rows"][number]];
    if (!onThisSide(row.service)) continue;
    services.add(method.service);
    add(method.service, method.name, row.service, servedBy(options, method));
  }
  for (const { service, name, path } of unservedMethods) {
    if (!onThisSide(service)) continue;
    const refuse = () => Promise.reject(apiError("UNIMPLEMENTED", `${name} is not served here`));
    for (const version of VERSIONS)
      add(serviceName(service, path.replace("{version}", version)), name, service, refuse);
  }
  return services;
};

// True when a scripted failure has ended the call in place of the answer.
const cut = ({ stream, fault }: CallRecord, bytes?: Buffer): boolean => {
  if (!fault?.reset && fault?.truncate === undefined) return false;
  cutCall(stream, fault, {}, bytes);
  return true;
};

const internal = async ({ ready }: MethodsOptions, error: unknown): Promise<ApiError> => {
  const { log } = await ready;
  log("error", "internal error", { error: error instanceof Error ? error.stack : String(error) });
  return apiError("INTERNAL", "the server failed to answer; its log says why", { cause: error });
};

const UNKNOWN_MAX = 10;

const servedBy = ({ registry, ready }: MethodsOptions, { service, name, rows }: GrpcMethod): Answer => {
  const [{ row, operation }] = rows as [GrpcMethod["rows"][number]];
  return async (call, record) => {
    record.operation = operation;
    const { pipeline, strictBodies } = await ready;
    const { input, output } = methodIn(registry(), service, name);
    const receive = once(() => {
      record.work.wait();
      return receiveMessage(call, bodyMaxOf(operation)).finally(record.work.resume);
    });
    const decode = async (): Promise<Decoded> => {
      const { json, unknown, violation } = jsonFromBinary(input, await receive());
      // Over HTTP there always is a body.
      if (row.body && row.body !== "*") json[row.body] ??= {};
      const body = (row.body === "*" ? json : json[row.body ?? ""]) as Json | undefined;
      const { bodyFields, ...decoded } = decodeRequest(row, json, body, false);
      if (violation) decoded.violations.unshift(relative(violation, row.body));
      // As over REST: a limit of which this version knows nothing would be dropped.
      if (isExchange(row) || strictBodies)
        for (const field of unknown().slice(0, UNKNOWN_MAX))
          decoded.violations.push({ field, description: "is not the number of a field of the request" });
      record.fields = bodyFields?.join(",");
      return decoded;
    };
    const answer = await pipeline({
      operation,
      wire: "grpc",
      receive,
      decode,
      authorization: call.metadata.get("authorization").map(String),
      peer: record.peer,
      gone: () => goneOf(call),
      onFault: (fault) => {
        record.fault = fault;
      },
    });
    return binaryFromJson(output, answer);
  };
};

// The only message of a call, which ends with it.
const receiveMessage = (call: MethodCall, max: number): Promise<Buffer> =>
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
    // The client, or grpc-js, which has answered what is no message.
    call.on("cancelled", () => reject(apiError("CANCELLED", "the call ended before its message")));
  });

// The timer of a deadline may be late: its time is looked at.
const goneOf = (call: MethodCall) => {
  if (Number(call.getDeadline()) <= Date.now()) return "DEADLINE_EXCEEDED";
  return call.cancelled ? "CANCELLED" : undefined;
};
