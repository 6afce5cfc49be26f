// The native plugin in this process, called over gRPC as the engine calls it, against a reference server.
import { type Client, credentials, type ServiceError } from "@grpc/grpc-js";
import plugins from "@pulumi/pulumi/proto/plugin_pb.js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import statuses from "@pulumi/pulumi/proto/status_pb.js";
import type { Env } from "../../client/config.ts";
import { systemTransport, type Transport } from "../../client/transport.ts";
import { createPlugin, type PluginOptions } from "../../plugin/server.ts";
import type { Marked } from "../../plugin/value.ts";
import type { Environment } from "../../provider/run/session.ts";
import type { Json } from "../../schema/index.ts";
import { manualClock } from "./clock.ts";
import { markedFrom, structFrom } from "./struct.ts";

export interface PropertyDiff {
  kind: string;
  isInput: boolean;
}

/** One plugin process as the engine sees it. */
export interface PluginClient {
  /** lines in the output of Pulumi, each with the name of its resource */
  messages: string[];
  configure(inputs?: Marked, name?: string): Promise<void>;
  checkConfig(inputs: Marked, name?: string): Promise<string[]>;
  diffConfig(olds: Json, news: Json): Promise<Record<string, PropertyDiff>>;
  check(urn: string, news: Marked, olds?: Marked): Promise<{ inputs: Marked; failures: string[] }>;
  diff(urn: string, id: string, olds: Marked, news: Marked, oldInputs?: Marked): Promise<Diffed>;
  create(
    urn: string,
    inputs: Marked,
    options?: { preview?: boolean; seconds?: number },
  ): Promise<{ id: string; outs: Marked }>;
  read(
    urn: string,
    id: string,
    stored?: Marked,
    inputs?: Marked,
  ): Promise<{ id: string; outs: Marked; inputs: Marked }>;
  update(
    urn: string,
    id: string,
    olds: Marked,
    news: Marked,
    options?: { preview?: boolean },
  ): Promise<{ outs: Marked }>;
  delete(urn: string, id: string, stored: Marked): Promise<void>;
  invoke(token: string, args: Marked): Promise<Marked>;
  construct(type: string, name: string, inputs: Marked): Promise<{ urn: string; outs: Marked }>;
  cancel(): Promise<void>;
  /** An engine attaches itself, as with PULUMI_DEBUG_PROVIDERS. */
  attach(): Promise<void>;
  close(): void;
}

export interface Diffed {
  changes: boolean;
  replaces: string[];
  deleteBeforeReplace: boolean;
  detailed: Record<string, PropertyDiff>;
}

export const urnOf = (type: string, name: string, project = "project"): string =>
  `urn:pulumi:stack::${project}::irm:index:${type}::${name}`;

const providerUrn = (name: string) => `urn:pulumi:stack::project::pulumi:providers:irm::${name}`;

/** What the engine's state keeps of a failed create: from the details of the error. */
export const initFailure = (error: unknown): { id: string; outs: Marked; reasons: string[] } => {
  const [packed] = (error as ServiceError).metadata.get("grpc-status-details-bin") as Buffer[];
  const [detail] = statuses.Status.deserializeBinary(packed as Buffer).getDetailsList();
  const own = messages.ErrorResourceInitFailed.deserializeBinary(detail?.getValue_asU8() as Uint8Array);
  return { id: own.getId(), outs: markedFrom(own.getProperties()), reasons: own.getReasonsList() };
};

/** `transport` may meet faults; `own` is what the engine has said and stored. */
export const startPlugin = async (
  env: Env,
  transport: Transport = systemTransport(),
  { storedStacks, ...own }: Pick<PluginOptions, "options"> & Pick<Environment, "storedStacks"> = {},
): Promise<PluginClient> => {
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
  const port = await plugin.listen();
  const client = new services.ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure());
  const call = <Response>(method: string, request: unknown): Promise<Response> =>
    new Promise((resolve, reject) => {
      const methods = client as unknown as Record<string, (...args: unknown[]) => void>;
      methods[method]?.(request, (error: ServiceError | null, response: Response) =>
        error ? reject(error) : resolve(response),
      );
    });
  /** A request with these members set. */
  const requestWith = <T extends object>(request: T, members: Json): T => {
    const setters = request as unknown as Record<string, (value: unknown) => void>;
    for (const [name, value] of Object.entries(members)) {
      const isStruct = typeof value === "object" && !Array.isArray(value);
      setters[`set${name}`]?.call(request, isStruct ? structFrom(value as Marked) : value);
    }
    return request;
  };
  const kindNames = Object.fromEntries(
    Object.entries(messages.PropertyDiff.Kind).map(([name, value]) => [value, name]),
  );
  const detailedIn = (response: InstanceType<typeof messages.DiffResponse>): Diffed["detailed"] =>
    Object.fromEntries(
      response
        .getDetaileddiffMap()
        .toArray()
        .map(([path]) => {
          const one = response.getDetaileddiffMap().get(path);
          return [path, { kind: kindNames[one?.getKind() ?? 0] as string, isInput: one?.getInputdiff() === true }];
        }),
    );

  return {
    messages: lines,
    configure: async (inputs = {}, name = "default") => {
      await call(
        "configure",
        requestWith(new messages.ConfigureRequest(), { Args: inputs, Urn: providerUrn(name), Id: "p-1" }),
      );
    },
    checkConfig: async (inputs, name = "default") => {
      const request = requestWith(new messages.CheckRequest(), { News: inputs, Urn: providerUrn(name) });
      const response = await call<InstanceType<typeof messages.CheckResponse>>("checkConfig", request);
      return response.getFailuresList().map((one) => `${one.getProperty()}: ${one.getReason()}`);
    },
    diffConfig: async (olds, news) => {
      const request = requestWith(new messages.DiffRequest(), {
        OldInputs: olds,
        News: news,
        Urn: providerUrn("default"),
      });
      return detailedIn(await call("diffConfig", request));
    },
    check: async (urn, news, olds = {}) => {
      const request = requestWith(new messages.CheckRequest(), { Urn: urn, News: news, Olds: olds });
      const response = await call<InstanceType<typeof messages.CheckResponse>>("check", request);
      const failures = response.getFailuresList().map((one) => `${one.getProperty()}: ${one.getReason()}`);
      return { inputs: markedFrom(response.getInputs()), failures };
    },
    diff: async (urn, id, olds, news, oldInputs = {}) => {
      const request = requestWith(new messages.DiffRequest(), {
        Urn: urn,
        Id: id,
        Olds: olds,
        News: news,
        OldInputs: oldInputs,
      });
      const response = await call<InstanceType<typeof messages.DiffResponse>>("diff", request);
      return {
        changes: response.getChanges() === messages.DiffResponse.DiffChanges.DIFF_SOME,
        replaces: response.getReplacesList(),
        deleteBeforeReplace: response.getDeletebeforereplace(),
        detailed: detailedIn(response),
      };
    },
    create: async (urn, inputs, { preview = false, seconds = 0 } = {}) => {
      const members = { Urn: urn, Properties: inputs, Preview: preview, Timeout: seconds };
      const response = await call<InstanceType<typeof messages.CreateResponse>>(
        "create",
        requestWith(new messages.CreateRequest(), members),
      );
      return { id: response.getId(), outs: markedFrom(response.getProperties()) };
    },
    read: async (urn, id, stored = {}, inputs = {}) => {
      const request = requestWith(new messages.ReadRequest(), { Urn: urn, Id: id, Properties: stored, Inputs: inputs });
      const response = await call<InstanceType<typeof messages.ReadResponse>>("read", request);
      return {
        id: response.getId(),
        outs: markedFrom(response.getProperties()),
        inputs: markedFrom(response.getInputs()),
      };
    },
    update: async (urn, id, olds, news, { preview = false } = {}) => {
      const members = { Urn: urn, Id: id, Olds: olds, News: news, Preview: preview };
      const response = await call<InstanceType<typeof messages.UpdateResponse>>(
        "update",
        requestWith(new messages.UpdateRequest(), members),
      );
      return { outs: markedFrom(response.getProperties()) };
    },
    delete: async (urn, id, stored) => {
      await call("delete", requestWith(new messages.DeleteRequest(), { Urn: urn, Id: id, Properties: stored }));
    },
    invoke: async (token, args) => {
      const request = requestWith(new messages.InvokeRequest(), { Tok: token, Args: args });
      const response = await call<InstanceType<typeof messages.InvokeResponse>>("invoke", request);
      return markedFrom(response.getReturn());
    },
    construct: async (type, name, inputs) => {
      const request = requestWith(new messages.ConstructRequest(), { Type: type, Name: name, Inputs: inputs });
      const response = await call<InstanceType<typeof messages.ConstructResponse>>("construct", request);
      return { urn: response.getUrn(), outs: markedFrom(response.getState()) };
    },
    cancel: async () => {
      const { default: empty } = await import("google-protobuf/google/protobuf/empty_pb.js");
      await call("cancel", new empty.Empty());
    },
    attach: async () => {
      await call("attach", requestWith(new plugins.PluginAttach(), { Address: "127.0.0.1:1" }));
    },
    close: () => {
      (client as unknown as Client).close();
      plugin.close();
    },
  };
};
