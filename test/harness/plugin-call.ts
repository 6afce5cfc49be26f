// Calls of a plugin over gRPC, as the engine makes them.
import { type Client, credentials, type ServiceError } from "@grpc/grpc-js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import type * as types from "@pulumi/pulumi/proto/provider_pb.js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import statuses from "@pulumi/pulumi/proto/status_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
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

const KINDS = Object.entries(messages.PropertyDiff.Kind);

/** The methods of a resource; each takes the members of its request. */
export const methodsOf = <Value>(
  { call }: Pick<ReturnType<typeof connectPlugin>, "call">,
  valueFrom: (struct: Struct.Struct | undefined) => Value,
) => ({
  check: async (members: Json, method = "check") => {
    const response = await call<types.CheckResponse>(method, members, messages.CheckRequest);
    const failures = response
      .getFailuresList()
      .map((one) => ({ property: one.getProperty(), reason: one.getReason() }));
    return { inputs: valueFrom(response.getInputs()), failures };
  },
  diff: async (members: Json, method = "diff") => {
    const response = await call<types.DiffResponse>(method, members, messages.DiffRequest);
    const detailed: Record<string, { kind: string; isInput: boolean }> = {};
    response.getDetaileddiffMap().forEach((one, path) => {
      const [kind = ""] = KINDS.find(([, value]) => value === one.getKind()) ?? [];
      detailed[path] = { kind, isInput: one.getInputdiff() };
    });
    return {
      changes: response.getChanges() === messages.DiffResponse.DiffChanges.DIFF_SOME,
      replaces: response.getReplacesList(),
      deleteBeforeReplace: response.getDeletebeforereplace(),
      detailed,
    };
  },
  create: async (members: Json) => {
    const response = await call<types.CreateResponse>("create", members, messages.CreateRequest);
    return { id: response.getId(), outs: valueFrom(response.getProperties()) };
  },
  update: async (members: Json) => {
    const response = await call<types.UpdateResponse>("update", members, messages.UpdateRequest);
    return { outs: valueFrom(response.getProperties()) };
  },
  read: async (members: Json) => {
    const response = await call<types.ReadResponse>("read", members, messages.ReadRequest);
    const inputs = response.hasInputs() ? valueFrom(response.getInputs()) : undefined;
    return { id: response.getId(), outs: valueFrom(response.getProperties()), inputs };
  },
  delete: async (members: Json): Promise<void> => void (await call("delete", members, messages.DeleteRequest)),
  cancel: async (): Promise<void> => void (await call("cancel", {}, empty.Empty)),
});

/** What the engine's state keeps of a failed step, from the details of the error; undefined: there is no record. */
export const initFailureIn = ({ metadata }: ServiceError) => {
  const [packed] = metadata.get("grpc-status-details-bin") as Buffer[];
  const [detail] = packed === undefined ? [] : statuses.Status.deserializeBinary(packed).getDetailsList();
  if (detail?.getTypeName() !== "pulumirpc.ErrorResourceInitFailed") return undefined;
  const failed = messages.ErrorResourceInitFailed.deserializeBinary(detail.getValue_asU8());
  return { id: failed.getId(), properties: failed.getProperties(), reasons: failed.getReasonsList() };
};
