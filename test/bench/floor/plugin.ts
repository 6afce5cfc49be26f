// A native plugin that answers at once.
import { existsSync, readFileSync } from "node:fs";
import { Server, ServerCredentials, type sendUnaryData, type UntypedServiceImplementation } from "@grpc/grpc-js";
import plugins from "@pulumi/pulumi/proto/plugin_pb.js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import struct from "google-protobuf/google/protobuf/struct_pb.js";
import { outputsOf } from "./outputs.ts";

type Answer<Request> = (request: Request) => object;

const answering =
  <Request>(answer: Answer<Request>) =>
  ({ request }: { request: Request }, callback: sendUnaryData<object>): void =>
    callback(null, answer(request));

const nothing = () => new empty.Empty();

const checkResponse = (request: provider.CheckRequest) => {
  const response = new provider.CheckResponse();
  response.setInputs(request.getNews());
  return response;
};

const diffResponse = () => {
  const response = new provider.DiffResponse();
  response.setChanges(provider.DiffResponse.DiffChanges.DIFF_NONE);
  return response;
};

/** `urn:pulumi:dev::bench::irm:index:Group::g0` to `Group`. */
const typeIn = (urn: string): string => /:(\w+)::[^:]*$/.exec(urn)?.[1] ?? "";

const methods = {
  getSchema: () => {
    const response = new provider.GetSchemaResponse();
    const file = new URL("./schema.json", import.meta.url);
    response.setSchema(existsSync(file) ? readFileSync(file, "utf8") : "{}");
    return response;
  },
  getPluginInfo: () => {
    const response = new plugins.PluginInfo();
    response.setVersion(JSON.parse(readFileSync(new URL("./schema.json", import.meta.url), "utf8")).version);
    return response;
  },
  checkConfig: checkResponse,
  diffConfig: diffResponse,
  configure: () => {
    const response = new provider.ConfigureResponse();
    response.setSupportspreview(true);
    return response;
  },
  check: checkResponse,
  diff: diffResponse,
  create: (request: provider.CreateRequest) => {
    const inputs = (request.getProperties() as struct.Struct).toJavaScript() as Record<string, unknown>;
    const { id, outs } = outputsOf(typeIn(request.getUrn()), inputs);
    const response = new provider.CreateResponse();
    response.setId(id);
    response.setProperties(struct.Struct.fromJavaScript(outs as never));
    return response;
  },
  read: (request: provider.ReadRequest) => {
    const response = new provider.ReadResponse();
    response.setId(request.getId());
    response.setProperties(request.getProperties());
    response.setInputs(request.getInputs());
    return response;
  },
  delete: nothing,
  cancel: nothing,
  attach: nothing,
};

const server = new Server();
const implementation = Object.fromEntries(
  Object.entries(methods).map(([name, answer]) => [name, answering(answer as Answer<never>)]),
) as unknown as UntypedServiceImplementation;
server.addService(services.ResourceProviderService as never, implementation);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(0));
process.stdin.once("end", () => process.exit(0)).resume();
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  process.stdout.write(`${port}\n`);
});
