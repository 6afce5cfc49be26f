// A gRPC client that shares nothing with the server: grpc-js on the generated .proto files, read by proto-loader. Requests
// and answers are written as their JSON, which the schema translates.
import { readdirSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http2";
import { fileURLToPath } from "node:url";
import { type CallOptions, Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import {
  loadSync,
  type MessageTypeDefinition,
  type MethodDefinition,
  type PackageDefinition,
} from "@grpc/proto-loader";
import { z } from "zod";
import { detailMessages } from "../../schema/error.ts";
import {
  asMessage,
  type Json,
  type Message,
  messageInfo,
  type OperationName,
  operations,
  scalarInfo,
  toSnake,
  unwrap,
} from "../../schema/index.ts";
import type { Body } from "./http.ts";

/** What a call came to, in JSON; of an error code, text and details, as they stand in the body of REST. */
export interface GrpcAnswer {
  code: number;
  message: string;
  details: Body[];
  json: Body;
  /** initial metadata, and what came with an error */
  metadata: Record<string, unknown>;
}

export interface GrpcCallOptions extends CallOptions {
  /** null: none */
  token?: string | null;
  metadata?: Record<string, string | readonly string[]>;
  /** takes the call back when it resolves */
  cancelled?: Promise<void>;
}

export type GrpcClient = ReturnType<typeof createGrpcClient>;

const folder = fileURLToPath(new URL("../../schema/generated", import.meta.url));

let loaded: PackageDefinition | undefined;

/** Every generated .proto file. */
export const generatedProtos = (): PackageDefinition => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".proto"));
  const asTexts = { longs: String, enums: String, bytes: String, json: true };
  loaded ??= loadSync(files, { includeDirs: [folder], keepCase: true, ...asTexts });
  return loaded;
};

/** The method of an operation in the generated files, which have v2beta1: v2 differs in the path only. */
export const grpcMethodOf = (operation: OperationName, version = "v2beta1"): MethodDefinition<object, object> => {
  const { service, path, rpc = operation } = operations[operation] as { service: string; path: string; rpc?: string };
  const [domain, name] = service.split(".") as [string, string];
  const packageName = path.includes("{version}") ? `${domain}.v2beta1` : domain;
  const definition = generatedProtos()[`chainguard.platform.${packageName}.${name}`] as unknown as Record<
    string,
    MethodDefinition<object, object>
  >;
  const method = definition?.[rpc];
  if (!method) throw new Error(`the generated files have no ${packageName}.${name}/${rpc}`);
  return { ...method, path: method.path.replace(".v2beta1.", `.${version}.`) };
};

/** `baseUrl` of a server without TLS, or with credentials of one with it. */
export const createGrpcClient = (baseUrl: string, security = credentials.createInsecure()) => {
  const client = new Client(new URL(baseUrl).host, security);
  /** Any unary method by its path; messages as bytes. */
  const bytes = (
    path: string,
    request: Buffer,
    { token, metadata = {}, cancelled, ...options }: GrpcCallOptions = {},
  ): Promise<GrpcAnswer & { bytes: Buffer }> =>
    new Promise((resolve) => {
      const sent = new Metadata();
      if (token) sent.set("authorization", `Bearer ${token}`);
      for (const [key, values] of Object.entries(metadata))
        for (const value of [values].flat()) sent.add(key, value as string);
      const received: Record<string, unknown> = {};
      const answer = (error: ServiceError | null, own?: Buffer) =>
        resolve({
          ...errorFrom(error),
          json: {},
          metadata: { ...error?.metadata.getMap(), ...received },
          bytes: own ?? Buffer.alloc(0),
        });
      const asItIs = (own: Buffer) => own;
      const call = client.makeUnaryRequest(path, asItIs, asItIs, request, sent, options, answer);
      cancelled?.then(() => call.cancel());
      call.on("metadata", (own: Metadata) => Object.assign(received, own.getMap()));
    });
  return {
    /** grpc-js itself, for streams and cancellation */
    client,
    bytes,
    /** A method of the table: `v2beta1` unless another version is named. */
    call: async (
      operation: OperationName,
      request: Json,
      { version, ...options }: GrpcCallOptions & { version?: string } = {},
    ): Promise<GrpcAnswer> => {
      const method = grpcMethodOf(operation, version);
      const { request: input, response: output } = operations[operation] as { request: Message; response: Message };
      const answer = await bytes(method.path, method.requestSerialize(toProto(input, request)), options);
      if (answer.code !== 0) return answer;
      return { ...answer, json: fromProto(output, method.responseDeserialize(answer.bytes) as Json) };
    },
    close: () => client.close(),
  };
};

/** Code, text and details of an error; code 0 for success. */
export const errorFrom = (error: ServiceError | null): Pick<GrpcAnswer, "code" | "message" | "details"> => {
  if (!error) return { code: 0, message: "", details: [] };
  const [status] = error.metadata.get("grpc-status-details-bin");
  if (!status) return { code: error.code, message: error.details, details: [] };
  const type = generatedProtos()["google.rpc.Status"] as MessageTypeDefinition<object, Body>;
  const { code, message, details = [] } = type.deserialize(status as Buffer) as Body;
  if (code !== error.code || message !== error.details) throw new Error("the status and its details tell two errors");
  return { code, message, details: details.map(detailFrom) };
};

/** The error in trailers of a raw call, as a client reads it. */
export const errorInHeaders = (headers: IncomingHttpHeaders) => {
  const status = Buffer.from(String(headers["grpc-status-details-bin"]), "base64");
  const details = decodeURI(String(headers["grpc-message"]));
  return errorFrom({ code: Number(headers["grpc-status"]), details, metadata: { get: () => [status] } } as never);
};

const detailFrom = ({ "@type": type, ...detail }: Body): Body => {
  const schema = detailMessages.find((own) => type.endsWith(`/${messageInfo(own)?.message}`));
  if (!schema) throw new Error(`${type} is no detail of this API`);
  return { "@type": type, ...fromProto(schema as unknown as Message, detail) };
};

/** JSON to what protobufjs takes; a field that the schema lacks is a fault of the test. */
export const toProto = (schema: Message, json: Json): Json =>
  Object.fromEntries(
    Object.entries(json).map(([name, value]) => {
      const field = schema.shape[name];
      if (!field) throw new Error(`${messageInfo(schema)?.message} has no field ${name}`);
      return [toSnake(name), translated(field, value, toProto, scalarToProto)];
    }),
  );

/** What protobufjs gives to JSON. */
export const fromProto = (schema: Message, object: Json): Json =>
  Object.fromEntries(
    Object.entries(schema.shape).flatMap(([name, field]) => {
      const value = object[toSnake(name)];
      return value === undefined || value === null
        ? []
        : [[name, translated(field, value, fromProto, scalarFromProto)]];
    }),
  );

const translated = (
  schema: z.ZodType,
  value: unknown,
  message: (schema: Message, value: Json) => Json,
  scalar: (kind: string, value: never) => unknown,
): unknown => {
  const inner = unwrap(schema);
  const below = (own: z.ZodType) => (item: unknown) => translated(own, item, message, scalar);
  if (inner instanceof z.ZodArray) return (value as unknown[]).map(below(inner.element as z.ZodType));
  if (inner instanceof z.ZodRecord) {
    const own = below(inner.valueType as z.ZodType);
    const isInt64 = scalarInfo(inner.keyType as z.ZodType)?.scalar === "int64";
    return Object.fromEntries(
      Object.entries(value as Json).map(([key, item]) => [isInt64 ? decimal(key) : key, own(item)]),
    );
  }
  const nested = asMessage(inner);
  if (nested) return message(nested, value as Json);
  const kind = scalarInfo(inner)?.scalar;
  return kind ? scalar(kind, value as never) : value;
};

// protobufjs leaves the key of a map as the eight bytes of an int64.
const decimal = (key: string): string => (key.length === 8 ? String(Buffer.from(key, "latin1").readBigInt64LE()) : key);

const scalarToProto = (kind: string, value: string): unknown => {
  if (kind === "timestamp")
    return { seconds: Math.floor(Date.parse(value) / 1000), nanos: (Date.parse(value) % 1000) * 1e6 };
  if (kind === "duration") return secondsOf(value);
  if (kind === "fieldMask") return { paths: value === "" ? [] : value.split(",").map(toSnake) };
  return value;
};

const secondsOf = (text: string) => {
  const [seconds, fraction = ""] = text.replace("s", "").split(".") as [string, string?];
  return { seconds, nanos: Number(fraction.padEnd(9, "0")) };
};

const scalarFromProto = (kind: string, value: { seconds?: string; nanos?: number }): unknown => {
  const { seconds = "0", nanos = 0 } = value;
  if (kind === "timestamp") return new Date(Number(seconds) * 1000 + nanos / 1e6).toISOString();
  if (kind === "duration") return `${seconds}${nanos ? `.${String(nanos / 1e6).padStart(3, "0")}` : ""}s`;
  return value;
};
