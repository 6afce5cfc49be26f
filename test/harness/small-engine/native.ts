// The native adapter: calls a plugin over gRPC, as the engine does. States keep secrets as signed values.
import { randomUUID } from "node:crypto";
import type { ServiceError } from "@grpc/grpc-js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import Struct from "google-protobuf/google/protobuf/struct_pb.js";
import type { Json } from "../../../schema/index.ts";
import { connectPlugin, initFailureIn, methodsOf } from "../plugin-call.ts";
import { type Named, type Provider, type Snapshot, typeOf } from "./provider.ts";

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
  const connection = connectPlugin(plugin.port, { structFrom, errorFrom });
  const { call } = connection;
  const methods = methodsOf(connection, jsonFrom);
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

  const updateOf = (resource: Named, { id, inputs: oldInputs, outputs: olds }: Snapshot, news: Json, preview = false) =>
    methods.update({ ...about(resource), Id: id, Olds: olds, OldInputs: oldInputs, News: news, Preview: preview });
  const createOf = (resource: Named, inputs: Json, preview = false) =>
    methods.create({ ...about(resource), Properties: inputs, Preview: preview });

  return {
    check: (resource, olds, news) => methods.check({ ...about(resource), Olds: olds, News: news }),
    diff: (resource, { id, inputs: oldInputs, outputs }, inputs) =>
      methods.diff({ ...about(resource), Id: id, Olds: outputs, OldInputs: oldInputs, News: inputs }),
    preview: async (resource, inputs, stored) => {
      await (stored ? updateOf(resource, stored, inputs, true) : createOf(resource, inputs, true));
    },
    create: async (resource, inputs) => {
      const { id, outs } = await createOf(resource, inputs);
      return { id, inputs, outputs: outs };
    },
    update: async (resource, stored, inputs) => {
      const { outs } = await updateOf(resource, stored, inputs);
      return { id: stored.id, inputs, outputs: outs };
    },
    read: async (resource, { id: own, inputs: stored, outputs }) => {
      const found = await methods.read({ ...about(resource), Id: own, Properties: outputs, Inputs: stored });
      const { id, outs, inputs = stored } = found;
      return id === "" ? undefined : { id, inputs, outputs: outs };
    },
    delete: (resource, { id, inputs, outputs }) =>
      methods.delete({ ...about(resource), Id: id, Properties: outputs, OldInputs: inputs }),
    cancel: methods.cancel,
    end: async () => {
      // A plugin that was killed answers nothing.
      await methods.cancel().catch(() => undefined);
      connection.close();
      await plugin.end();
    },
  };
};

/** What the engine prints of an error, and what it keeps of one that has a record. */
const errorFrom = (error: ServiceError): Error => {
  const { properties, ...failure } = initFailureIn(error) ?? {};
  const half = properties && { ...failure, properties: jsonFrom(properties) };
  return Object.assign(new Error(error.details), half);
};
