// A server and a client for all the tests of a file. Each closes after the last test, the newest first.
import { afterAll } from "vitest";
import { createGrpcClient } from "../support/grpc.ts";
import { startServer, type TestServer } from "./api-server.ts";

export const startSharedServer = async (...options: Parameters<typeof startServer>): Promise<TestServer> => {
  const api = await startServer(...options);
  afterAll(() => api.close());
  return api;
};

export const openSharedGrpc = (api: TestServer): ReturnType<typeof createGrpcClient> => {
  const grpc = createGrpcClient(api.baseUrl);
  afterAll(() => grpc.close());
  return grpc;
};
