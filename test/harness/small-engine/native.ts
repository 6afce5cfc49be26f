// The native adapter: calls a plugin over gRPC, as the engine does (github.com/pulumi/pulumi/sdk/go/common/resource/plugin). States keep secrets
// as the wire has them: as signed values.
import { randomUUID } from "node:crypto";
import type { ServiceError } from "@grpc/grpc-js";
import messages, {
  type CheckResponse,
  type CreateResponse,
  type DiffResponse,
  type ReadResponse,
  type UpdateResponse,
} from "@pulumi/pulumi/proto/provider_pb.js";
import statuses from "@pulumi/pulumi/proto/status_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import Struct from "google-protobuf/google/protobuf/struct_pb.js";
import type { Json } from "../../../schema/index.ts";
import { connectPlugin } from "../plugin-call.ts";
import { type HalfDone, type Named, type Provider, type Snapshot, typeOf } from "./provider.ts";

/** A plugin of one operation. */
export interface Plugin {
  port: number;
  /** what the engine does with its process after it has sent Cancel */
  end(): Promise<void>;
}

const structFrom = (value: Json): Struct.Struct =>
  Struct.Struct.fromJavaScript(JSON.parse(JSON.stringify(value)) as never);

const jsonFrom = (struct: Struct.Struct | undefined): Json => (struct?.toJavaScript() ?? {}) as Json;

/** `stack`: organization/project/stack. `engine`: address of the engine. */
export const nativeProvider = async (plugin: Plugin, stack: string, engine: string): Promise<Provider> => {
  const { call, close } = connectPlugin(plugin.port, { structFrom, errorFrom });
  const [, project, own] = stack.split("/");
  const head = `urn:pulumi:${own}::${project}::`;
  const about = ({ name, kind, urn }: Named): Json => {
    const type = `irm:index:${typeOf(kind)}`;
    return { Urn: urn ?? `${head}${type}::${name}`, Name: name, Type: type };
  };

  // The default provider, as the engine registers it. It has no settings: those of the tests are in the environment.
  const [type, name] = ["pulumi:providers:irm", "default"];
  const itself = { Urn: `${head}${type}::${name}`, Name: name, Type: type };
  await call("handshake", { EngineAddress: engine, ConfigureWithUrn: true }, messages.ProviderHandshakeRequest);
  await call("checkConfig", { ...itself, Olds: {}, News: {} }, messages.CheckRequest);
  await call(
    "configure",
    { ...itself, Id: randomUUID(), Args: {}, Acceptsecrets: true, Acceptresources: true, SendsOldInputs: true },
    messages.ConfigureRequest,
  );

  const { DIFF_SOME } = messages.DiffResponse.DiffChanges;
  const cancel = async () => {
    await call("cancel", {}, empty.Empty);
  };
  const update = (resource: Named, { id, inputs: oldInputs, outputs: olds }: Snapshot, news: Json, preview = false) => {
    const members = { ...about(resource), Id: id, Olds: olds, OldInputs: oldInputs, News: news, Preview: preview };
    return call<UpdateResponse>("update", members, messages.UpdateRequest);
  };
  const create = (resource: Named, inputs: Json, preview = false) =>
    call<CreateResponse>(
      "create",
      { ...about(resource), Properties: inputs, Preview: preview },
      messages.CreateRequest,
    );

  return {
    check: async (resource, olds, news) => {
      const members = { ...about(resource), Olds: olds, News: news };
      const response = await call<CheckResponse>("check", members, messages.CheckRequest);
      return {
        inputs: jsonFrom(response.getInputs()),
        failures: response.getFailuresList().map((one) => ({ property: one.getProperty(), reason: one.getReason() })),
      };
    },
    diff: async (resource, { id, inputs: oldInputs, outputs }, inputs) => {
      const members = { ...about(resource), Id: id, Olds: outputs, OldInputs: oldInputs, News: inputs };
      const response = await call<DiffResponse>("diff", members, messages.DiffRequest);
      return { changes: response.getChanges() === DIFF_SOME, replaces: response.getReplacesList() };
    },
    preview: async (resource, inputs, stored) => {
      await (stored ? update(resource, stored, inputs, true) : create(resource, inputs, true));
    },
    create: async (resource, inputs) => {
      const response = await create(resource, inputs);
      return { id: response.getId(), inputs, outputs: jsonFrom(response.getProperties()) };
    },
    update: async (resource, stored, inputs) => {
      const response = await update(resource, stored, inputs);
      return { id: stored.id, inputs, outputs: jsonFrom(response.getProperties()) };
    },
    read: async (resource, { id, inputs, outputs }) => {
      const members = { ...about(resource), Id: id, Properties: outputs, Inputs: inputs };
      const response = await call<ReadResponse>("read", members, messages.ReadRequest);
      if (response.getId() === "") return undefined;
      return {
        id: response.getId(),
        inputs: response.hasInputs() ? jsonFrom(response.getInputs()) : inputs,
        outputs: jsonFrom(response.getProperties()),
      };
    },
    delete: async (resource, { id, inputs, outputs }) => {
      const members = { ...about(resource), Id: id, Properties: outputs, OldInputs: inputs };
      await call("delete", members, messages.DeleteRequest);
    },
    cancel,
    end: async () => {
      // A plugin that was killed answers nothing.
      await cancel().catch(() => undefined);
      close();
      await plugin.end();
    },
  };
};

/** What the engine prints of an error, and what it keeps of one that has a record. */
const errorFrom = ({ details, metadata }: ServiceError): Error => {
  const error = new Error(details);
  const [packed] = metadata.get("grpc-status-details-bin") as Buffer[];
  const [detail] = packed === undefined ? [] : statuses.Status.deserializeBinary(packed).getDetailsList();
  if (detail?.getTypeName() !== "pulumirpc.ErrorResourceInitFailed") return error;
  const failed = messages.ErrorResourceInitFailed.deserializeBinary(detail.getValue_asU8());
  const half: Omit<HalfDone, keyof Error> = {
    id: failed.getId(),
    properties: jsonFrom(failed.getProperties()),
    reasons: failed.getReasonsList(),
  };
  return Object.assign(error, half);
};
