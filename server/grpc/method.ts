// gRPC to the pipeline: messages between their binary form and proto3 JSON, the form that both wires share from here on.
import { type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import { Metadata, type Server, type ServerReadableStream, type sendUnaryData } from "@grpc/grpc-js";
import {
  ApiError,
  apiError,
  type FieldViolation,
  type GrpcMethod,
  isExchange,
  type Json,
  methodsOf,
  type Operation,
  serviceName,
  unservedMethods,
  VERSIONS,
} from "../../schema/index.ts";
import { type Log, withRequestId } from "../base/log.ts";
import { once } from "../base/once.ts";
import { bodyMaxOf, type Side, sideOf } from "../connection/bounds.ts";
import type { Delivery } from "../connection/delivery.ts";
import { decodeRequest, internalError, type Pipeline, relative } from "../pipeline/pipeline.ts";
import { receiveMessage } from "./arrival.ts";
import type { Calls } from "./call.ts";
import { type CallRecord, tooManyValues } from "./count.ts";
import { grpcStatus } from "./refused.ts";
import { methodIn } from "./registry.ts";

const UNKNOWN_MAX = 10;

const decodeGrpc = (row: Operation, schema: DescMessage, bytes: Uint8Array, strictBodies: boolean) => {
  const { json, unknown, violation } = jsonFromBinary(schema, bytes);
  // Over HTTP there always is a body.
  if (row.body && row.body !== "*") json[row.body] ??= {};
  const body = (row.body === "*" ? json : json[row.body ?? ""]) as Json | undefined;
  const decoded = decodeRequest(row, json, body, false);
  if (violation) decoded.violations.unshift(relative(violation, row.body));
  // As over REST: an unknown limit of an exchange is refused, since it would be dropped.
  if (isExchange(row) || strictBodies)
    for (const field of unknown().slice(0, UNKNOWN_MAX))
      decoded.violations.push({ field, description: "is not the number of a field of the request" });
  return decoded;
};

interface MessageJson {
  json: Json;
  /** numbers of the fields that a message does not declare, after the path of that message */
  unknown: () => string[];
  /** the reason not to read the bytes as a message; `json` is then empty */
  violation?: FieldViolation;
}

const jsonFromBinary = (schema: DescMessage, bytes: Uint8Array): MessageJson => {
  const tooMany = tooManyValues(schema, bytes);
  if (tooMany) return { json: {}, unknown: () => [], violation: tooMany };
  try {
    const message = fromBinary(schema, bytes);
    const fields = message as unknown as Json;
    // JSON cannot express every mask, so a mask is read as it was written, in either spelling.
    const mask = fields.updateMask as { paths: string[] } | undefined;
    delete fields.updateMask;
    const json = toJson(schema, message) as Json;
    return {
      json: mask ? { ...json, updateMask: mask.paths.join(",") } : json,
      unknown: () => [...new Set(unknownIn(message))],
    };
  } catch (error) {
    const reason = (error as Error).message.slice(0, 200);
    const violation = { field: "", description: `the message is not of its type: ${reason}` };
    return { json: {}, unknown: () => [], violation };
  }
};

/** Omits values that a newer version stored and this one does not know. */
export const binaryFromJson = (schema: DescMessage, json: Json): Buffer =>
  Buffer.from(toBinary(schema, fromJson(schema, json as JsonValue, { ignoreUnknownFields: true })));

const unknownIn = (value: unknown, path = ""): string[] => {
  if (Array.isArray(value)) return value.flatMap((item, i) => unknownIn(item, `${path}[${i}]`));
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return [];
  const { $unknown = [], ...fields } = value as { $unknown?: { no: number }[] };
  const below = (name: string) => (path === "" ? name : `${path}.${name}`);
  const numbers = $unknown.map(({ no }) => below(String(no)));
  return [...numbers, ...Object.entries(fields).flatMap(([name, field]) => unknownIn(field, below(name)))];
};

// The methods of the table as gRPC handlers: binary to the JSON of REST, through the pipeline, and back. Published methods
// that are not served are refused as such (docs/internals/contract.md#d31).

export interface GrpcMethods {
  pipeline: Pipeline;
  /** refuses a message with a field that does not exist */
  strictBodies: boolean;
  log: Log;
  /** default: answers are sent as they are */
  delivery?: Delivery | undefined;
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

  const add = (service: string, name: string, domain: string, answer: Answer) => {
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
        // Clients look for the request id in the initial metadata, even of an error.
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
      endedBy: () => {
        // The timer of a deadline may be late, so its time counts.
        if (Number(call.getDeadline()) <= Date.now()) return "DEADLINE_EXCEEDED";
        return call.cancelled ? "CANCELLED" : undefined;
      },
    };
    return binaryFromJson(output, await pipeline(record.call));
  };
};
