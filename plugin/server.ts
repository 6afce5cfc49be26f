// The plugin as the engine calls it: pulumirpc.ResourceProvider (github.com/pulumi/pulumi/blob/master/proto/pulumi/provider.proto). One
// process serves one provider of a program, for one operation. Configure is answered before any call that needs it.
import { type handleUnaryCall, Server, status, type UntypedServiceImplementation } from "@grpc/grpc-js";
import plugins, { type PluginAttach } from "@pulumi/pulumi/proto/plugin_pb.js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import provider, {
  type CheckRequest,
  type ConfigureRequest,
  type CreateRequest,
  type DeleteRequest,
  type DiffRequest,
  type InvokeRequest,
  type ReadRequest,
  type UpdateRequest,
} from "@pulumi/pulumi/proto/provider_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import { providerWith } from "../provider/engine/methods.ts";
import type { Environment } from "../provider/session/session.ts";
import { invoke } from "./functions.ts";
import { organizationWithout } from "./key.ts";
import type { Log } from "./log.ts";
import { checkConfig, configurationFrom, diffConfig } from "./provider-config.ts";
import { resourceMethods } from "./resource.ts";
import { Ended, serviceErrorFrom } from "./status.ts";

export interface PluginOptions {
  version: string;
  /** JSON text of the package's schema */
  schema(): string;
  environment: Environment;
  log: Log;
  /** The engine attached itself at this address. */
  attached(address: string): void;
}

export interface Plugin {
  server: Server;
  /** calls that are not answered yet */
  underWay(): number;
  /** Resolves as soon as none is. */
  idle(): Promise<void>;
}

type Handler = handleUnaryCall<unknown, unknown>;

// The engine's own limit (github.com/pulumi/pulumi/sdk/go/common/util/rpcutil).
const MESSAGE_BYTES = 400 * 1024 * 1024;

export const createPlugin = ({ version, schema, environment, log, attached }: PluginOptions): Plugin => {
  let cancelled = cancellation();
  let configured: ReturnType<typeof configure> | undefined;
  let count = 0;
  const waiting: (() => void)[] = [];

  const configure = (request: ConfigureRequest) => {
    const { config, id } = configurationFrom(request);
    const own = providerWith(environment, { looksUp: true });
    void own.kinds.group.configure({ config });
    const organization = organizationWithout(id, environment.env, process.cwd());
    return { resources: resourceMethods(own, organization), session: own.session };
  };
  const current = () => {
    if (!configured) throw new Error("the plugin is not configured");
    return configured;
  };

  /** Answers a call, unless the engine ends it first, or the resource's customTimeouts do. */
  const answered =
    <Request, Response>(work: (request: Request) => Response | Promise<Response>): Handler =>
    ({ request }, callback) => {
      const own = request as Request;
      const { urn, seconds } = aboutOf(own);
      count += 1;
      const run = log.during(urn, async () => Promise.race([work(own), cancelled.promise, timeoutOf(urn, seconds)]));
      run
        .then(
          (response) => callback(null, response),
          (error) => callback(serviceErrorFrom(error)),
        )
        .finally(() => {
          count -= 1;
          if (count === 0) for (const wake of waiting.splice(0)) wake();
        });
    };

  const server = new Server({
    "grpc.max_receive_message_length": MESSAGE_BYTES,
    "grpc.max_send_message_length": MESSAGE_BYTES,
  });
  const handlers = {
    handshake: answered(() => {
      const response = new provider.ProviderHandshakeResponse();
      response.setAcceptSecrets(true);
      return response;
    }),
    getPluginInfo: answered(() => {
      const response = new plugins.PluginInfo();
      response.setVersion(version);
      return response;
    }),
    getSchema: answered(() => {
      const response = new provider.GetSchemaResponse();
      response.setSchema(schema());
      return response;
    }),
    attach: answered((request: PluginAttach) => {
      attached(request.getAddress());
      // The operation before it has been cancelled at its end.
      cancelled = cancellation();
      return new empty.Empty();
    }),
    checkConfig: answered((request: CheckRequest) => checkConfig(request, environment.env)),
    diffConfig: answered(diffConfig),
    configure: answered((request: ConfigureRequest) => {
      configured = configure(request);
      const response = new provider.ConfigureResponse();
      response.setAcceptsecrets(true);
      response.setSupportspreview(true);
      return response;
    }),
    check: answered((request: CheckRequest) => current().resources.check(request)),
    diff: answered((request: DiffRequest) => current().resources.diff(request)),
    create: answered((request: CreateRequest) => current().resources.create(request)),
    read: answered((request: ReadRequest) => current().resources.read(request)),
    update: answered((request: UpdateRequest) => current().resources.update(request)),
    delete: answered(async (request: DeleteRequest) => {
      await current().resources.delete(request);
      return new empty.Empty();
    }),
    invoke: answered((request: InvokeRequest) => invoke(request, current().session)),
    // What is under way ends at once. The journal has the creates, and the next update takes over what they have created.
    cancel: answered(() => {
      cancelled.reject(new Ended(status.CANCELLED, "cancelled: the next update continues from the intent journal"));
      return new empty.Empty();
    }),
  };
  server.addService(services.ResourceProviderService as never, handlers as unknown as UntypedServiceImplementation);

  return {
    server,
    underWay: () => count,
    idle: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
};

/** Rejects once the engine cancels. */
const cancellation = (): PromiseWithResolvers<never> => {
  const own = Promise.withResolvers<never>();
  own.promise.catch(() => undefined);
  return own;
};

/** The resource that a request is about, and its time-out in seconds. */
const aboutOf = (request: unknown): { urn: string; seconds: number } => {
  const { getUrn, getTimeout } = request as { getUrn?(): string; getTimeout?(): number };
  return { urn: getUrn?.call(request) ?? "", seconds: getTimeout?.call(request) ?? 0 };
};

const timeoutOf = (urn: string, seconds: number): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (seconds <= 0) return;
    const text = `${urn.replace(/^.*::/s, "")}: not finished after ${seconds} s (customTimeouts)`;
    const error = new Ended(status.DEADLINE_EXCEEDED, `${text}; the next update continues from the intent journal`);
    setTimeout(() => reject(error), seconds * 1000).unref();
  });
