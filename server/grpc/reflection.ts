// Server reflection (grpc/grpc: reflection.proto): clients such as grpcurl list the services, and fetch the files that describe
// them. It takes no token: the description is public. An answer is a thousand times as large as its request, so a connection gets
// a bounded number of them.
import { type DescFile, type FileRegistry, fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { Server, ServerDuplexStream } from "@grpc/grpc-js";
import { apiError, codes, type Json, once } from "../../schema/index.ts";
import type { Connection } from "../connection/connections.ts";
import type { Streams } from "./arrival.ts";
import type { Calls } from "./call.ts";
import { binaryFromJson } from "./method.ts";
import { grpcStatus } from "./refused.ts";
import { grpcRegistry, messageIn, REFLECTION_PACKAGES } from "./registry.ts";

/** The method of a reflection package. Its clients may keep the stream open. */
export const reflectionPath = (name: string): string => `/${name}.ServerReflection/ServerReflectionInfo`;

interface ReflectionOptions {
  services: readonly string[];
  streams: Streams;
  calls: Pick<Calls, "of">;
}

/** Bytes of answers for one connection: several times what a client gets that asks for each file on a stream of its own. */
const REFLECTION_MAX = 2 * 1024 * 1024;

// The memory of an answer beside its bytes.
const ANSWER = 1024;

export const addReflection = (server: Server, { services, streams, calls }: ReflectionOptions): void => {
  const spent = new WeakMap<Connection, number>();
  for (const name of REFLECTION_PACKAGES) {
    const schema = (message: string) => messageIn(`${name}.${message}`);
    server.register(
      reflectionPath(name),
      (call: ServerDuplexStream<Json, Buffer>) => {
        streams.opened(call, () => call.end());
        const { work, answering } = calls.of(call.metadata);
        // Each file is sent once a stream, as clients expect.
        const sent = new Set<DescFile>();
        let hasEnded = false;
        call.on("data", (request: Json) => {
          // The drain or the limit has ended the responses; requests may still arrive.
          if (hasEnded || call.writableEnded) return;
          const before = spent.get(work.connection) ?? 0;
          if (before > REFLECTION_MAX) {
            hasEnded = true;
            call.emit("error", grpcStatus(apiError("RESOURCE_EXHAUSTED", TOO_MUCH), "iam"));
            return;
          }
          const json = {
            validHost: request.host ?? "",
            originalRequest: request,
            ...answerTo(request, services, sent),
          };
          const bytes = binaryFromJson(schema("ServerReflectionResponse"), json);
          spent.set(work.connection, before + bytes.length + ANSWER);
          answering.add(bytes.length);
          // A client that does not read gets no more.
          if (call.write(bytes)) return;
          call.pause();
          call.once("drain", () => call.resume());
        });
        call.on("end", () => call.end());
      },
      (bytes: Buffer) => bytes,
      (bytes: Buffer) =>
        toJson(schema("ServerReflectionRequest"), fromBinary(schema("ServerReflectionRequest"), bytes)) as Json,
      "bidi",
    );
  }
};

const TOO_MUCH = "this connection has read too many descriptions; open another one";

interface ReflectionRequest {
  fileByFilename?: string;
  fileContainingSymbol?: string;
  fileContainingExtension?: { containingType?: string; extensionNumber?: number };
  allExtensionNumbersOfType?: string;
  listServices?: string;
}

const answerTo = (request: ReflectionRequest, services: readonly string[], sent: Set<DescFile>): Json => {
  if (request.listServices !== undefined)
    return { listServicesResponse: { service: services.map((name) => ({ name })) } };
  if (request.allExtensionNumbersOfType !== undefined) {
    const type = request.allExtensionNumbersOfType;
    if (!grpcRegistry().getMessage(type)) return missing(`message ${type}`);
    return {
      allExtensionNumbersResponse: {
        baseTypeName: type,
        extensionNumber: extensions().flatMap(({ extendee, number }) => (extendee.typeName === type ? [number] : [])),
      },
    };
  }
  const file = fileFor(request);
  if (!file) return missing("such file or symbol");
  return { fileDescriptorResponse: { fileDescriptorProto: filesOf(file, sent) } };
};

const missing = (what: string) => ({
  errorResponse: { errorCode: codes.NOT_FOUND.number, errorMessage: `there is no ${what}` },
});

const extensions = () =>
  [...grpcRegistry().files].flatMap((file) =>
    [...nestedTypes(file)].flatMap((type) => (type.kind === "extension" ? [type] : [])),
  );

const fileFor = (request: ReflectionRequest) => {
  if (request.fileByFilename !== undefined) return grpcRegistry().getFile(request.fileByFilename);
  if (request.fileContainingSymbol !== undefined) return fileOfSymbol(request.fileContainingSymbol);
  const { containingType = "", extensionNumber } = request.fileContainingExtension ?? {};
  return extensions().find(({ extendee, number }) => extendee.typeName === containingType && number === extensionNumber)
    ?.file;
};

// A symbol is a type, or a member of one: a field, a value, a method.
const fileOfSymbol = (symbol: string) => {
  const type = grpcRegistry().get(symbol);
  if (type) return type.file;
  const holder = grpcRegistry().get(symbol.slice(0, symbol.lastIndexOf(".")));
  const name = symbol.slice(symbol.lastIndexOf(".") + 1);
  return holder && membersOf(holder).some((member) => member.name === name) ? holder.file : undefined;
};

const membersOf = (type: NonNullable<ReturnType<FileRegistry["get"]>>): readonly { name: string }[] => {
  if (type.kind === "message") return type.fields;
  if (type.kind === "service") return type.methods;
  return type.kind === "enum" ? type.values : [];
};

/** The file and its imports, without the files that the stream has already sent. */
const filesOf = (file: DescFile, sent: Set<DescFile>): string[] => {
  const files: DescFile[] = [];
  const visit = (current: DescFile) => {
    if (current !== file && sent.has(current)) return;
    sent.add(current);
    files.push(current);
    for (const dependency of current.dependencies) if (!files.includes(dependency)) visit(dependency);
  };
  visit(file);
  return files.map(base64Of);
};

// Any client may ask for a file, again and again, without a token.
const base64Of = once((file: DescFile) =>
  Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto)).toString("base64"),
);
