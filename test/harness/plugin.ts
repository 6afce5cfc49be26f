// The native plugin in this process, called over gRPC as the engine calls it, against a reference server.
import type { ServiceError } from "@grpc/grpc-js";
import plugins from "@pulumi/pulumi/proto/plugin_pb.js";
import messages, {
  type CheckResponse,
  type CreateResponse,
  type DiffResponse,
  type InvokeResponse,
  type ReadResponse,
  type UpdateResponse,
} from "@pulumi/pulumi/proto/provider_pb.js";
import statuses from "@pulumi/pulumi/proto/status_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
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
import { connectPlugin } from "./plugin-call.ts";

/** One plugin process as the engine sees it. */
export type PluginClient = Awaited<ReturnType<typeof startPlugin>>;

export type Diffed = Awaited<ReturnType<PluginClient["diff"]>>;

export const urnOf = (type: string, name: string, project = "project"): string =>
  `urn:pulumi:stack::${project}::irm:index:${type}::${name}`;

const providerUrn = (name: string) => `urn:pulumi:stack::project::pulumi:providers:irm::${name}`;

const markedFrom = (struct: Struct.Struct | undefined): Marked =>
  readMessage(STRUCT, struct?.serializeBinary() ?? new Uint8Array());

/** What the engine's state keeps of a failed create: from the details of the error. */
export const initFailure = (error: unknown) => {
  const [packed] = (error as ServiceError).metadata.get("grpc-status-details-bin") as Buffer[];
  const [detail] = statuses.Status.deserializeBinary(packed as Buffer).getDetailsList();
  const own = messages.ErrorResourceInitFailed.deserializeBinary(detail?.getValue_asU8() as Uint8Array);
  return { id: own.getId(), outs: markedFrom(own.getProperties()), reasons: own.getReasonsList() };
};

const KINDS = Object.entries(messages.PropertyDiff.Kind);

const detailedIn = (response: DiffResponse) => {
  const found: Record<string, { kind: string; isInput: boolean }> = {};
  response.getDetaileddiffMap().forEach((one, path) => {
    const [kind = ""] = KINDS.find(([, value]) => value === one.getKind()) ?? [];
    found[path] = { kind, isInput: one.getInputdiff() };
  });
  return found;
};

const failuresIn = (response: CheckResponse) =>
  response.getFailuresList().map((one) => `${one.getProperty()}: ${one.getReason()}`);

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
  const { call, close } = connectPlugin(await plugin.listen(), {
    structFrom: (values) => Struct.Struct.deserializeBinary(messageOf(structFrom(values))),
  });
  const checkOf = (method: string, members: Json) => call<CheckResponse>(method, members, messages.CheckRequest);
  const diffOf = (method: string, members: Json) => call<DiffResponse>(method, members, messages.DiffRequest);

  return {
    /** lines in the output of Pulumi, each with the name of its resource */
    messages: lines,
    configure: async (inputs: Marked = {}, name = "default"): Promise<void> => {
      await call("configure", { Args: inputs, Urn: providerUrn(name), Id: "p-1" }, messages.ConfigureRequest);
    },
    checkConfig: async (inputs: Marked, name = "default") =>
      failuresIn(await checkOf("checkConfig", { News: inputs, Urn: providerUrn(name) })),
    diffConfig: async (olds: Json, news: Json) =>
      detailedIn(await diffOf("diffConfig", { OldInputs: olds, News: news, Urn: providerUrn("default") })),
    check: async (urn: string, news: Marked, olds: Marked = {}) => {
      const response = await checkOf("check", { Urn: urn, News: news, Olds: olds });
      return { inputs: markedFrom(response.getInputs()), failures: failuresIn(response) };
    },
    diff: async (urn: string, id: string, olds: Marked, news: Marked, oldInputs: Marked = {}) => {
      const response = await diffOf("diff", { Urn: urn, Id: id, Olds: olds, News: news, OldInputs: oldInputs });
      return {
        changes: response.getChanges() === messages.DiffResponse.DiffChanges.DIFF_SOME,
        replaces: response.getReplacesList(),
        deleteBeforeReplace: response.getDeletebeforereplace(),
        detailed: detailedIn(response),
      };
    },
    create: async (urn: string, inputs: Marked, { preview = false, seconds = 0 } = {}) => {
      const members = { Urn: urn, Properties: inputs, Preview: preview, Timeout: seconds };
      const response = await call<CreateResponse>("create", members, messages.CreateRequest);
      return { id: response.getId(), outs: markedFrom(response.getProperties()) };
    },
    read: async (urn: string, id: string, stored: Marked = {}, inputs: Marked = {}) => {
      const members = { Urn: urn, Id: id, Properties: stored, Inputs: inputs };
      const response = await call<ReadResponse>("read", members, messages.ReadRequest);
      const [outs, read] = [response.getProperties(), response.getInputs()].map(markedFrom) as [Marked, Marked];
      return { id: response.getId(), outs, inputs: read };
    },
    update: async (urn: string, id: string, olds: Marked, news: Marked, { preview = false } = {}) => {
      const members = { Urn: urn, Id: id, Olds: olds, News: news, Preview: preview };
      const response = await call<UpdateResponse>("update", members, messages.UpdateRequest);
      return { outs: markedFrom(response.getProperties()) };
    },
    delete: async (urn: string, id: string, stored: Marked): Promise<void> => {
      await call("delete", { Urn: urn, Id: id, Properties: stored }, messages.DeleteRequest);
    },
    invoke: async (token: string, args: Marked) =>
      markedFrom(
        (await call<InvokeResponse>("invoke", { Tok: token, Args: args }, messages.InvokeRequest)).getReturn(),
      ),
    construct: async (type: string, name: string, inputs: Marked): Promise<void> => {
      await call("construct", { Type: type, Name: name, Inputs: inputs }, messages.ConstructRequest);
    },
    cancel: async (): Promise<void> => {
      await call("cancel", {}, empty.Empty);
    },
    /** An engine attaches itself, as with PULUMI_DEBUG_PROVIDERS. */
    attach: async (): Promise<void> => {
      await call("attach", { Address: "127.0.0.1:1" }, plugins.PluginAttach);
    },
    close: (): void => {
      close();
      plugin.close();
    },
  };
};
