// Calls of a plugin over gRPC, as the engine makes them.
import { type Client, credentials, type ServiceError } from "@grpc/grpc-js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import type Struct from "google-protobuf/google/protobuf/struct_pb.js";
import type { Json } from "../../schema/index.ts";

interface CallOptions {
  /** of each member that is an object */
  structFrom(value: Json): Struct.Struct;
  errorFrom?(error: ServiceError): Error;
}

/** `call` sends a request with these members, by the names of their setters. */
export const connectPlugin = (port: number, { structFrom, errorFrom = (error) => error }: CallOptions) => {
  const client = new services.ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure());
  const methods = client as unknown as Record<string, (request: unknown, done: unknown) => void>;
  const call = <Response>(method: string, members: Json, Request: new () => object): Promise<Response> => {
    const request = new Request();
    for (const [name, value] of Object.entries(members)) {
      const own = typeof value === "object" && value !== null ? structFrom(value as Json) : value;
      (request as Record<string, (own: unknown) => void>)[`set${name}`]?.(own);
    }
    return new Promise((resolve, reject) => {
      const done = (error: ServiceError | null, response: Response) =>
        error ? reject(errorFrom(error)) : resolve(response);
      methods[method]?.(request, done);
    });
  };
  return { call, close: () => (client as unknown as Client).close() };
};
