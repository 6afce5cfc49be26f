// Answers the engine for other providers (github.com/pulumi/pulumi/blob/master/proto/pulumi/provider.proto): their resources keep what the
// state has, and every change is refused. So is what a resource depends on such a change: the engine does not run it.
import { createRequire } from "node:module";
import { Server, ServerCredentials, type ServiceError, type sendUnaryData, status } from "@grpc/grpc-js";
import type { CheckRequest, DiffRequest, ReadRequest } from "@pulumi/pulumi/proto/provider_pb.js";
import { type DynamicProviders, dynamicProviders, NO_LIMIT, StandInError } from "./dynamic.ts";

/** In the error of each change. It tells a refused change from one that failed. */
export const NOT_RUN = "irm rehearse does not run other providers";

/** The packages of dynamic resources: any program may declare one, also one that its preview did not show. */
const DYNAMIC = ["pulumi-nodejs", "pulumi-python"];

export interface StandInOptions {
  /** names of packages that are not ours */
  packages: Iterable<string>;
  /** the resource is ours, and runs */
  isOurs(urn: string): boolean;
  /** the preview of the original leaves the resource as it is */
  isUnchanged(urn: string): boolean;
  /** folder of the program */
  cwd: string;
  env: NodeJS.ProcessEnv;
}

type Services = typeof import("@pulumi/pulumi/proto/provider_grpc_pb.js");
type Messages = typeof import("@pulumi/pulumi/proto/provider_pb.js");

export interface StandIn {
  /** what the engine reads it from */
  env: NodeJS.ProcessEnv;
  close(): void;
}

export const startStandIn = async (options: StandInOptions): Promise<StandIn> => {
  // The rest of this package loads without the SDK.
  const require = createRequire(import.meta.url);
  const services = require("@pulumi/pulumi/proto/provider_grpc_pb.js") as Services;
  const messages = require("@pulumi/pulumi/proto/provider_pb.js") as Messages;
  const servers: Server[] = [];
  const behind = dynamicProviders(options.cwd, options.env);
  const listen = async (name: string): Promise<string> => {
    const server = new Server(NO_LIMIT);
    servers.push(server);
    const own = name === "pulumi-nodejs" ? behind : undefined;
    addMethods(server, services, answersWith(messages, options), { isOurs: options.isOurs, behind: own });
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    );
    return `${name}:${port}`;
  };
  const close = (): void => {
    behind.close();
    for (const one of servers) one.forceShutdown();
  };
  try {
    const names = [...new Set([...DYNAMIC, ...options.packages])];
    const ports = await Promise.all(names.map(listen));
    return { env: { PULUMI_DEBUG_PROVIDERS: ports.join(",") }, close };
  } catch (error) {
    close();
    throw error;
  }
};

type Handler = (request: never) => { serializeBinary(): Uint8Array };
type Answers = Readonly<Record<string, Handler>>;

/** What the engine gets for each method; any other one is not implemented. */
const answersWith = (messages: Messages, { isUnchanged }: StandInOptions): Answers => {
  const { CheckResponse, ConfigureResponse, DiffResponse, GetSchemaResponse, ReadResponse } = messages;
  const check = (inputs: unknown) => {
    const response = new CheckResponse();
    response.setInputs(inputs as never);
    return response;
  };
  const diff = (isChanged: boolean) => {
    const { DIFF_SOME, DIFF_NONE } = DiffResponse.DiffChanges;
    const response = new DiffResponse();
    response.setChanges(isChanged ? DIFF_SOME : DIFF_NONE);
    return response;
  };
  const refuse = (verb: string) => (): never => {
    throw new StandInError(`${NOT_RUN}: nothing was ${verb}`);
  };
  const answers: Record<string, (request: never) => unknown> = {
    checkConfig: (request: CheckRequest) => check(request.getNews()),
    diffConfig: () => diff(false),
    configure: () => {
      const response = new ConfigureResponse();
      response.setAcceptsecrets(true);
      response.setAcceptresources(true);
      response.setAcceptoutputs(true);
      return response;
    },
    getSchema: () => {
      const response = new GetSchemaResponse();
      response.setSchema("{}");
      return response;
    },
    // What the provider would add to the inputs of a change is not known.
    check: (request: CheckRequest) => check(isUnchanged(request.getUrn()) ? request.getOlds() : request.getNews()),
    diff: (request: DiffRequest) => diff(!isUnchanged(request.getUrn())),
    read: (request: ReadRequest) => {
      const response = new ReadResponse();
      response.setId(request.getId());
      response.setProperties(request.getProperties());
      response.setInputs(request.getInputs());
      return response;
    },
    create: refuse("created"),
    update: refuse("updated"),
    delete: refuse("deleted"),
    invoke: refuse("read"),
    call: refuse("called"),
    construct: refuse("constructed"),
  };
  return answers as Answers;
};

/** Methods without a response of their own. */
const EMPTY = ["cancel", "attach"];
const NOTHING = new Uint8Array();

interface Ours {
  isOurs(urn: string): boolean;
  behind: DynamicProviders | undefined;
}

const addMethods = (server: Server, services: Services, answers: Answers, { isOurs, behind }: Ours): void => {
  const definition = services.ResourceProviderService as unknown as Readonly<Record<string, Method>>;
  const answer = async (name: string, method: Method, peer: string, bytes: Buffer): Promise<Uint8Array> => {
    const request = method.requestDeserialize(bytes);
    if (name === "attach") await behind?.attach(peer, (request as { getAddress(): string }).getAddress());
    const urn = (request as { getUrn?(): string }).getUrn?.();
    const isOfOthers = urn !== undefined && OF_RESOURCES.has(name) && !isOurs(urn);
    // The engine then attaches itself, and says where it is.
    if (name === "handshake") throw notImplemented(name);
    if (behind && !isOfOthers && !EMPTY.includes(name)) return behind.call(peer, method.path, bytes);
    if (EMPTY.includes(name)) return name === "cancel" && behind ? behind.call(peer, method.path, bytes) : NOTHING;
    const own = answers[name];
    if (own) return own(request as never).serializeBinary();
    throw notImplemented(name);
  };
  const raw = Object.entries(definition).map(([name, method]) => [
    name,
    {
      ...method,
      requestDeserialize: (bytes: Buffer) => bytes,
      responseSerialize: (bytes: Uint8Array) => Buffer.from(bytes),
    },
  ]);
  const handlers = Object.entries(definition).map(([name, method]) => [
    name,
    (call: { request: Buffer; getPeer(): string }, callback: sendUnaryData<Uint8Array>) =>
      void answer(name, method, call.getPeer(), call.request).then(
        (response) => callback(null, response),
        (error: Partial<ServiceError>) =>
          callback({
            code: error.code ?? status.UNKNOWN,
            details: error.details ?? error.message,
            metadata: error.metadata,
          }),
      ),
  ]);
  server.addService(Object.fromEntries(raw) as never, Object.fromEntries(handlers) as never);
};

const notImplemented = (name: string): Error =>
  Object.assign(new StandInError(`${name} is not answered in a rehearsal`), { code: status.UNIMPLEMENTED });

interface Method {
  path: string;
  requestDeserialize(bytes: Buffer): unknown;
}

const OF_RESOURCES = new Set(["check", "diff", "create", "read", "update", "delete"]);
