// Runs a program in TypeScript without an engine: the real SDK runs it in this process, as an inline program of the Automation API, and
// registers its resources here. Each goes to the provider, as in engine.ts. One program runs at a time.
import {
  type Client,
  Server,
  type ServerUnaryCall,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { runtime } from "@pulumi/pulumi";
import * as automation from "@pulumi/pulumi/automation/server.js";
import engineService from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import engine, { type LogRequest } from "@pulumi/pulumi/proto/engine_pb.js";
import language from "@pulumi/pulumi/proto/language_pb.js";
import monitorService from "@pulumi/pulumi/proto/resource_grpc_pb.js";
import messages, { type RegisterResourceRequest } from "@pulumi/pulumi/proto/resource_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import Struct from "google-protobuf/google/protobuf/struct_pb.js";
import { createPort } from "../../../plugin/port.ts";
import type { StateKind } from "../../../provider/kind/index.ts";
import { typeOfToken } from "../../../provider/record/kind.ts";
import type { Json } from "../../../schema/index.ts";
import type { Provider, Snapshot } from "./provider.ts";
import { secretIn } from "./state.ts";

export interface ProgramRun {
  /** what the program declares, as the SDK runs it */
  program(): Promise<object>;
  /** organization/project/stack */
  stack: string;
  provider: Provider;
  /** settings of the stack, by their keys with the project; all of them are secret */
  config?: Readonly<Record<string, string>>;
  /** of an earlier run, by URN; the run adds to it */
  state: Map<string, Snapshot>;
}

export interface Ran {
  /** `create urn` and `update urn` */
  steps: string[];
  errors: string[];
}

export interface ProgramHost {
  run(run: ProgramRun): Promise<Ran>;
  close(): void;
}

/** What the Automation API serves an inline program with; not in the types of the SDK. */
const { LanguageServer } = automation as unknown as {
  LanguageServer: new (
    program: () => Promise<object>,
  ) => { run(call: object, done: (error: Error | null) => void): Promise<void> };
};

const FEATURES = ["secrets", "aliasSpecs"];

interface Current extends ProgramRun, Ran {}

export const startProgramHost = async (): Promise<ProgramHost> => {
  let current: Current | undefined;
  const server = new Server();
  server.addService(
    monitorService.ResourceMonitorService as never,
    monitorOf(() => current as Current),
  );
  server.addService(
    engineService.EngineService as never,
    engineOf(() => current as Current),
  );
  const port = createPort(server);
  const address = `127.0.0.1:${await port.listen()}`;
  return {
    run: async (run) => {
      current = { ...run, steps: [], errors: [] };
      const { steps, errors } = current;
      const request = requestOf(run, address);
      let connections: unknown[] = [];
      const program = async (): Promise<object> => {
        connections = [runtime.getMonitor(), runtime.getEngine()];
        return await run.program();
      };
      const failed = await new Promise<Error | null>((resolve) => {
        void new LanguageServer(program).run({ request }, resolve).catch(resolve);
      });
      // The SDK never does, and what it keeps grows with each run.
      for (const one of connections) (one as Client | undefined)?.close();
      if (failed && errors.length === 0) errors.push(failed.message);
      return { steps, errors };
    },
    close: port.close,
  };
};

const requestOf = ({ stack: name, config = {} }: ProgramRun, address: string): object => {
  const [organization = "", project = "", stack = ""] = name.split("/");
  const request = new language.RunRequest();
  request.setOrganization(organization);
  request.setProject(project);
  request.setStack(stack);
  request.setParallel(100);
  request.setMonitorAddress(address);
  request.setArgsList([address]);
  for (const [key, value] of Object.entries(config)) request.getConfigMap().set(key, value);
  request.setConfigsecretkeysList(Object.keys(config));
  return request;
};

type Handler<Request> = (request: Request) => unknown;

const served = (handlers: Record<string, Handler<never>>): UntypedServiceImplementation =>
  Object.fromEntries(
    Object.entries(handlers).map(([name, handle]) => [
      name,
      ({ request }: ServerUnaryCall<never, unknown>, done: sendUnaryData<unknown>) => {
        void (async () => handle(request))().then(
          (answer) => done(null, answer ?? new empty.Empty()),
          (error: Error) => done({ ...error, name: error.name, message: error.message }),
        );
      },
    ]),
  ) as unknown as UntypedServiceImplementation;

const engineOf = (current: () => Current): UntypedServiceImplementation =>
  served({
    log: (request: LogRequest) => {
      if (request.getSeverity() === engine.LogSeverity.ERROR) current().errors.push(request.getMessage());
    },
    getRootResource: () => new engine.GetRootResourceResponse(),
    setRootResource: () => new engine.SetRootResourceResponse(),
  });

const monitorOf = (current: () => Current): UntypedServiceImplementation =>
  served({
    supportsFeature: (request: InstanceType<typeof messages.SupportsFeatureRequest>) => {
      const answer = new messages.SupportsFeatureResponse();
      answer.setHassupport(FEATURES.includes(request.getId()));
      return answer;
    },
    registerResource: async (request: RegisterResourceRequest) => {
      const run = current();
      const urn = urnOf(request, run.stack);
      const answer = new messages.RegisterResourceResponse();
      answer.setUrn(urn);
      if (!request.getCustom()) return answer;
      try {
        const { id, outputs } = await register(request, urn, run);
        answer.setId(id);
        answer.setObject(Struct.Struct.fromJavaScript(outputs as never));
        return answer;
      } catch (error) {
        run.errors.push(`${urn}: ${(error as Error).message}`);
        throw error;
      }
    },
    registerResourceOutputs: () => undefined,
    // What the engine has stored of the stack (provider/program/stored-resources.ts).
    invoke: () => {
      const outputs = Object.fromEntries(
        [...current().state].map(([urn, own]) => [urn, { type: urn.split("::")[2], outputs: own.outputs }]),
      );
      const answer = new messages.ResourceInvokeResponse();
      answer.setReturn(Struct.Struct.fromJavaScript({ outputs } as never));
      return answer;
    },
    signalAndWaitForShutdown: () => undefined,
  });

const STACK = "pulumi:pulumi:Stack";

const urnOf = (request: RegisterResourceRequest, name: string): string => {
  const [, project, stack] = name.split("/");
  const above = request.getParent().split("::")[2] ?? STACK;
  const type = above === STACK ? request.getType() : `${above}$${request.getType()}`;
  return `urn:pulumi:${stack}::${project}::${type}::${request.getName()}`;
};

const register = async (request: RegisterResourceRequest, urn: string, run: Current): Promise<Snapshot> => {
  const { provider, state, steps } = run;
  const type = typeOfToken(request.getType()) as string;
  const kind = (type.charAt(0).toLowerCase() + type.slice(1)) as StateKind;
  const resource = { name: request.getName(), kind, urn };
  const given = (request.getObject()?.toJavaScript() ?? {}) as Json;
  // The SDK's own provider takes no secrets, so the engine opens them.
  const news = request.getType().startsWith("pulumi-nodejs:") ? (opened(given) as Json) : given;
  const stored = state.get(urn);
  const { inputs, failures } = await provider.check(resource, stored?.inputs ?? {}, news);
  if (failures.length > 0) throw new Error(failures.map(({ property, reason }) => `${property}: ${reason}`).join());
  if (stored === undefined) {
    const created = await provider.create(resource, inputs);
    state.set(urn, created);
    steps.push(`create ${urn}`);
    return created;
  }
  const { changes, replaces } = await provider.diff(resource, stored, inputs);
  if (replaces.length > 0) throw new Error(`would be replaced, for ${replaces.join()}`);
  if (!changes) return stored;
  const updated = await provider.update(resource, stored, inputs);
  state.set(urn, updated);
  steps.push(`update ${urn}`);
  return updated;
};

const opened = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(opened);
  if (typeof value !== "object" || value === null) return value;
  const secret = secretIn(value);
  if (secret !== undefined) return opened(secret);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, opened(one)]));
};
