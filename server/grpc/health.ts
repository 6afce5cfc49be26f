// Health checking (grpc/grpc: health.proto): of the whole server ("") and of each service by its full name; all of them can
// serve, or none can. Orchestrators ask every few seconds, without a token.
import { type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import type { Server, ServerUnaryCall, ServerWritableStream, sendUnaryData } from "@grpc/grpc-js";
import { apiError } from "../../schema/index.ts";
import type { Calls } from "./call.ts";
import { binaryFromJson } from "./message.ts";
import { messageIn } from "./registry.ts";
import { HEALTH_PACKAGE } from "./standard-file.ts";
import { grpcStatus } from "./status.ts";
import type { Streams } from "./stream.ts";

type Request = { service: string };
type Answer = { status: "SERVING" | "NOT_SERVING" | "SERVICE_UNKNOWN" };

export interface HealthOptions {
  registry: () => FileRegistry;
  services: ReadonlySet<string>;
  streams: Streams;
  calls: Calls;
  isServing: () => Promise<boolean>;
}

export const addHealth = (server: Server, { registry, services, streams, calls, isServing }: HealthOptions): void => {
  const serialize = (answer: Answer) =>
    binaryFromJson(messageIn(registry(), `${HEALTH_PACKAGE}.HealthCheckResponse`), { ...answer });
  const deserialize = (bytes: Buffer) =>
    fromBinary(messageIn(registry(), `${HEALTH_PACKAGE}.HealthCheckRequest`), bytes) as unknown as Request;
  const isKnown = (service: string) => service === "" || services.has(service);
  const now = async (): Promise<Answer> => ({ status: (await isServing()) ? "SERVING" : "NOT_SERVING" });

  const check = async (call: ServerUnaryCall<Request, Answer>, callback: sendUnaryData<Answer>) => {
    calls.of(call.metadata).quiet = true;
    const { service } = call.request;
    if (isKnown(service)) callback(null, await now());
    else callback(grpcStatus(registry(), apiError("NOT_FOUND", `there is no service ${service.slice(0, 200)}`), "iam"));
  };

  // The end of serving is told to who watches; a database that fails is seen by who checks.
  const watch = async (call: ServerWritableStream<Request, Answer>) => {
    streams.opened(call, () => {
      call.write({ status: "NOT_SERVING" });
      call.end();
    });
    call.write(isKnown(call.request.service) ? await now() : { status: "SERVICE_UNKNOWN" });
  };

  server.register(`/${HEALTH_PACKAGE}.Health/Check`, check, serialize, deserialize, "unary");
  server.register(`/${HEALTH_PACKAGE}.Health/Watch`, watch, serialize, deserialize, "serverStream");
};
