// The native plugin in this process, called over gRPC as the engine calls it, against a reference server.
import type { ServiceError } from "@grpc/grpc-js";
import plugins from "@pulumi/pulumi/proto/plugin_pb.js";
import messages, { type InvokeResponse } from "@pulumi/pulumi/proto/provider_pb.js";
import Struct from "google-protobuf/google/protobuf/struct_pb.js";
import type { Env } from "../../client/config.ts";
import { systemTransport, type Transport } from "../../client/transport.ts";
import { createPlugin, type PluginOptions } from "../../plugin/server.ts";
import { STRUCT, structFrom } from "../../plugin/struct.ts";
import type { Marked } from "../../plugin/value.ts";
import { messageOf, readMessage } from "../../plugin/wire-format.ts";
import type { Environment } from "../../provider/run/session.ts";
import type { Json } from "../../schema/index.ts";
import { manualClock } from "./clock.ts";
import { connectPlugin, initFailureIn, methodsOf } from "./plugin-call.ts";

/** One plugin process as the engine sees it. */
export type PluginClient = Awaited<ReturnType<typeof startPlugin>>;

export type Diffed = Awaited<ReturnType<PluginClient["diff"]>>;

export const urnOf = (type: string, name: string, project = "project"): string =>
  `urn:pulumi:stack::${project}::irm:index:${type}::${name}`;

const providerUrn = (name: string) => `urn:pulumi:stack::project::pulumi:providers:irm::${name}`;

const markedFrom = (struct: Struct.Struct | undefined): Marked =>
  readMessage(STRUCT, struct?.serializeBinary() ?? new Uint8Array());

/** What the engine's state keeps of a failed create. */
export const initFailure = (error: unknown) => {
  const { properties, ...failure } = initFailureIn(error as ServiceError) as NonNullable<
    ReturnType<typeof initFailureIn>
  >;
  return { ...failure, outs: markedFrom(properties) };
};

const textsOf = (failures: readonly { property: string; reason: string }[]) =>
  failures.map(({ property, reason }) => `${property}: ${reason}`);

/** `transport` may meet faults; `own` is what the engine has said and stored. */
export const startPlugin = async (
  env: Env,
  transport: Transport = systemTransport(),
  { storedStacks, ...own }: Pick<PluginOptions, "options"> & Pick<Environment, "storedStacks"> = {},
) => {
  const lines: string[] = [];
  const plugin = createPlugin({
    version: "1.2.3",
    schema: () => "{}",
    environment: {
      ...{ env, clock: manualClock(), transport, log: (text) => void lines.push(text) },
      ...(storedStacks && { storedStacks }),
    },
    ...own,
    log: { info: () => undefined, during: (_urn, call) => call() },
    attached: () => undefined,
  });
  const connection = connectPlugin(await plugin.listen(), {
    structFrom: (values) => Struct.Struct.deserializeBinary(messageOf(structFrom(values))),
  });
  const { call } = connection;
  const methods = methodsOf(connection, markedFrom);

  return {
    /** lines in the output of Pulumi, each with the name of its resource */
    messages: lines,
    configure: async (inputs: Marked = {}, name = "default"): Promise<void> => {
      await call("configure", { Args: inputs, Urn: providerUrn(name), Id: "p-1" }, messages.ConfigureRequest);
    },
    checkConfig: async (inputs: Marked, name = "default") =>
      textsOf((await methods.check({ News: inputs, Urn: providerUrn(name) }, "checkConfig")).failures),
    diffConfig: async (olds: Json, news: Json) =>
      (await methods.diff({ OldInputs: olds, News: news, Urn: providerUrn("default") }, "diffConfig")).detailed,
    check: async (urn: string, news: Marked, olds: Marked = {}) => {
      const { inputs, failures } = await methods.check({ Urn: urn, News: news, Olds: olds });
      return { inputs, failures: textsOf(failures) };
    },
    diff: (urn: string, id: string, olds: Marked, news: Marked, oldInputs: Marked = {}) =>
      methods.diff({ Urn: urn, Id: id, Olds: olds, News: news, OldInputs: oldInputs }),
    create: (urn: string, inputs: Marked, { preview = false, seconds = 0 } = {}) =>
      methods.create({ Urn: urn, Properties: inputs, Preview: preview, Timeout: seconds }),
    read: async (urn: string, id: string, stored: Marked = {}, inputs: Marked = {}) => {
      const read = await methods.read({ Urn: urn, Id: id, Properties: stored, Inputs: inputs });
      return { ...read, inputs: read.inputs ?? {} };
    },
    update: (urn: string, id: string, olds: Marked, news: Marked, { preview = false } = {}) =>
      methods.update({ Urn: urn, Id: id, Olds: olds, News: news, Preview: preview }),
    delete: (urn: string, id: string, stored: Marked) => methods.delete({ Urn: urn, Id: id, Properties: stored }),
    invoke: async (token: string, args: Marked) =>
      markedFrom(
        (await call<InvokeResponse>("invoke", { Tok: token, Args: args }, messages.InvokeRequest)).getReturn(),
      ),
    construct: async (type: string, name: string, inputs: Marked): Promise<void> => {
      await call("construct", { Type: type, Name: name, Inputs: inputs }, messages.ConstructRequest);
    },
    cancel: methods.cancel,
    /** An engine attaches itself, as with PULUMI_DEBUG_PROVIDERS. */
    attach: async (): Promise<void> => {
      await call("attach", { Address: "127.0.0.1:1" }, plugins.PluginAttach);
    },
    close: (): void => {
      connection.close();
      plugin.close();
    },
  };
};
