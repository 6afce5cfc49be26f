// Stands between the engine and another provider (https://github.com/pulumi/pulumi/blob/master/proto/pulumi/provider.proto). The provider answers
// the requests of a preview. The guard refuses each change and answers each read from the state. The engine then skips the dependents of a
// refused change.
import { createRequire } from "node:module";
import { Server, ServerCredentials, type ServiceError, type sendUnaryData, status } from "@grpc/grpc-js";
import type {
  CheckRequest,
  CreateRequest,
  DiffRequest,
  InvokeRequest,
  ProviderHandshakeRequest,
  ReadRequest,
  UpdateRequest,
} from "@pulumi/pulumi/proto/provider_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import type { Json } from "../../../schema/index.ts";
import { CHANNEL, type Provider, ProviderError } from "./process.ts";

/** In the error of each refused change: other errors are failures. */
export const NOT_RUN = "a review does not run other providers";

/** The engine prints it. */
class GuardError extends Error {
  override readonly name = "GuardError";
}

/** The facts about a resource from the preview of the original. */
export interface Judge {
  isOurs(urn: string): boolean;
  /** undefined: it does not show the resource */
  isChanged(urn: string): boolean | undefined;
  /** the record as the preview read it; `kept`: as in the state; undefined: not known */
  readOf(urn: string, id: string): "kept" | { inputs: Json; outputs: Json } | undefined;
}

/** The provider behind a guard. */
export interface Guarded {
  /** dynamic resources: this package's reach their code, and those of others do not */
  isDynamic: boolean;
  /** of the executable */
  folder?: string | undefined;
  /** The engine has connected here, and listens at `engine`: starts the provider. */
  attach?(connection: string, engine: string): Promise<void>;
  /** undefined: nothing runs, and each answer is the guard's own */
  of(connection: string): Provider | undefined;
}

/** `report` gets the sentence of a provider without an answer. */
export const startGuard = async (
  guarded: Guarded,
  judge: Judge,
  report: (problem: string) => void = () => undefined,
) => {
  // The rest of this package loads without the SDK.
  const require = createRequire(import.meta.url);
  const { ResourceProviderService } = require("@pulumi/pulumi/proto/provider_grpc_pb.js");
  const messages = require("@pulumi/pulumi/proto/provider_pb.js") as Messages;
  const server = new Server(CHANNEL);
  const answer = answersOf(guarded, judge, messages);
  const methods = Object.entries(ResourceProviderService as Record<string, Method>).filter(
    ([, { responseStream }]) => !responseStream,
  );
  const raw = methods.map(([name, method]) => [
    name,
    {
      ...method,
      requestDeserialize: (bytes: Buffer) => bytes,
      responseSerialize: (bytes: Uint8Array) => Buffer.from(bytes),
    },
  ]);
  const handlers = methods.map(([name, method]) => [
    name,
    (call: { request: Buffer; getPeer(): string }, callback: sendUnaryData<Uint8Array>) =>
      void answer(name, method, call.getPeer(), call.request).then(
        (response) => callback(null, response),
        (error: Partial<ServiceError>) => {
          if (error instanceof ProviderError) report(error.message);
          const { code = status.UNKNOWN, details = error.message, metadata } = error;
          callback({ code, details, metadata });
        },
      ),
  ]);
  server.addService(Object.fromEntries(raw) as never, Object.fromEntries(handlers) as never);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return { port, close: () => server.forceShutdown() };
};

type Messages = typeof import("@pulumi/pulumi/proto/provider_pb.js");

interface Method {
  path: string;
  responseStream: boolean;
  requestDeserialize(bytes: Buffer): unknown;
}

interface Message {
  serializeBinary(): Uint8Array;
}

const NOTHING = new Uint8Array();
/** Of a resource of another provider, they reach nobody. */
const NEVER = ["create", "read", "update", "delete"];
const OF_RESOURCES = ["check", "diff", ...NEVER];
/** They run code of the program, for as long as its resources take. */
const UNLIMITED = ["construct", "call"];

const answersOf = (
  { isDynamic, folder, attach, of }: Guarded,
  judge: Judge,
  messages: Messages,
): ((name: string, method: Method, connection: string, bytes: Buffer) => Promise<Uint8Array>) => {
  const own = ownAnswers(judge, messages);
  const ownAnswer = (name: string, request: unknown): Uint8Array => {
    const found = own[name];
    if (found) return found(request as never).serializeBinary();
    throw Object.assign(new GuardError(`${name} is not answered in a review`), { code: status.UNIMPLEMENTED });
  };
  return async (name, method, connection, bytes) => {
    const request = method.requestDeserialize(bytes) as Message & { getUrn?(): string };
    const isOfOthers = OF_RESOURCES.includes(name) && !judge.isOurs(request.getUrn?.() ?? "");
    if (isOfOthers && (isDynamic || NEVER.includes(name))) return ownAnswer(name, request);
    if (name === "attach" && attach) {
      await attach(connection, (request as Message & { getAddress(): string }).getAddress());
      return NOTHING;
    }
    // The engine attaches itself to the SDK's provider after it.
    if (name === "handshake" && isDynamic) return ownAnswer(name, request);
    if (name === "handshake" && attach)
      await attach(connection, (request as Message & ProviderHandshakeRequest).getEngineAddress());
    const provider = of(connection);
    if (!provider) return name === "cancel" || name === "attach" ? NOTHING : ownAnswer(name, request);
    const limit = UNLIMITED.includes(name) ? "unlimited" : undefined;
    const pass = (changed: Message = request) =>
      provider.call(method.path, changed === request ? bytes : Buffer.from(changed.serializeBinary()), limit);
    // It may end before it answers.
    if (name === "cancel") return pass().catch(() => NOTHING);
    if (name === "handshake" && folder !== undefined) {
      const handshake = messages.ProviderHandshakeRequest.deserializeBinary(bytes);
      handshake.setRootDirectory(folder);
      handshake.setProgramDirectory(folder);
      return pass(handshake);
    }
    if (name === "invoke") {
      // The program asks as in a preview.
      const invoke: InvokeRequest = messages.InvokeRequest.deserializeBinary(bytes);
      invoke.setPreview(true);
      return pass(invoke);
    }
    const response = await pass();
    if (name !== "diff" || !isOfOthers || judge.isChanged((request as Message & DiffRequest).getUrn()) !== true)
      return response;
    // The preview has compared with the existing record, and the state may be older.
    const diff = messages.DiffResponse.deserializeBinary(response);
    diff.setChanges(messages.DiffResponse.DiffChanges.DIFF_SOME);
    return diff.serializeBinary();
  };
};

/** The answers in place of the provider's. */
const ownAnswers = (judge: Judge, messages: Messages): Readonly<Record<string, (request: never) => Message>> => {
  const { CheckResponse, ConfigureResponse, CreateResponse, DiffResponse } = messages;
  const { GetSchemaResponse, ReadResponse, UpdateResponse } = messages;
  const isUnchanged = (urn: string) => judge.isChanged(urn) === false;
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
  // By the class of the SDK's google-protobuf, which an empty field has.
  const empty = messages.InvokeRequest.deserializeBinary(Uint8Array.of(0x12, 0)).getArgs() as Struct;
  const structFrom = (values: Json) => (empty.constructor as typeof Struct).fromJavaScript(values as never);
  const refused = (verb: string) => new GuardError(`${NOT_RUN}: nothing was ${verb}`);
  return {
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
    // The guard does not know the inputs that the code would add to a change.
    check: (request: CheckRequest) => check(isUnchanged(request.getUrn()) ? request.getOlds() : request.getNews()),
    diff: (request: DiffRequest) => diff(!isUnchanged(request.getUrn())),
    read: (request: ReadRequest) => {
      const found = judge.readOf(request.getUrn(), request.getId());
      if (found === undefined) throw refused("read");
      const response = new ReadResponse();
      response.setId(request.getId());
      response.setProperties(found === "kept" ? request.getProperties() : structFrom(found.outputs));
      response.setInputs(found === "kept" ? request.getInputs() : structFrom(found.inputs));
      return response;
    },
    // In a preview, only the outputs that the inputs give are known.
    create: (request: CreateRequest) => {
      if (!request.getPreview()) throw refused("created");
      const response = new CreateResponse();
      response.setProperties(request.getProperties());
      return response;
    },
    update: (request: UpdateRequest) => {
      if (!request.getPreview()) throw refused("updated");
      const response = new UpdateResponse();
      response.setProperties(request.getNews());
      return response;
    },
    delete: () => {
      throw refused("deleted");
    },
  };
};
