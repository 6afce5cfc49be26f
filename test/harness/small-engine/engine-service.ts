// What the engine serves to its plugins: lines for its output (pulumirpc.Engine).
import { Server, type ServerUnaryCall, type sendUnaryData, type UntypedServiceImplementation } from "@grpc/grpc-js";
import services from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import { createPort } from "../../../plugin/port.ts";

/** `address`: host and port. */
export const startEngineService = async (log: (line: string) => void) => {
  const server = new Server();
  const handlers = {
    log: ({ request }: ServerUnaryCall<LogRequest, unknown>, done: sendUnaryData<unknown>) => {
      log(request.getMessage());
      done(null, new empty.Empty());
    },
  };
  server.addService(services.EngineService as never, handlers as unknown as UntypedServiceImplementation);
  const port = createPort(server);
  return { address: `127.0.0.1:${await port.listen()}`, close: port.close };
};
