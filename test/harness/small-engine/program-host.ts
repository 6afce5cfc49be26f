// Runs a program in TypeScript by the real SDK in this process, one at a time, and registers its resources at a provider.
import { runtime } from "@pulumi/pulumi";
import messages, { type RegisterResourceRequest } from "@pulumi/pulumi/proto/resource_pb.js";
import * as settings from "@pulumi/pulumi/runtime/settings.js";
import Struct from "google-protobuf/google/protobuf/struct_pb.js";
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

/** `steps`: `create urn` and `update urn`. */
export const runProgram = async (run: ProgramRun) => {
  const [steps, errors]: [string[], string[]] = [[], []];
  const [organization, project, stack] = run.stack.split("/");
  settings.setMockOptions(monitorOf({ ...run, steps, errors }), project, stack, false, organization);
  runtime.setAllConfig({ ...run.config }, Object.keys(run.config ?? {}));
  // A resource that failed rejects its outputs, which nobody may wait for.
  const note = (error: Error): void => void (errors.length === 0 && errors.push(error.message));
  process.on("unhandledRejection", note);
  try {
    await runtime.runInPulumiStack(run.program);
    await settings.disconnect();
  } catch (error) {
    note(error as Error);
  } finally {
    process.off("unhandledRejection", note);
  }
  return { steps, errors };
};

type Current = ProgramRun & Awaited<ReturnType<typeof runProgram>>;

type Done = (error: Error | null, answer?: unknown) => void;

/** What the SDK calls of the engine's monitor. */
const monitorOf = (run: Current) => {
  const served =
    <Request>(handle: (request: Request) => unknown) =>
    (request: Request, done: Done): void => {
      void (async () => handle(request))().then((answer) => done(null, answer), done);
    };
  return {
    getDeploymentInfo: served(() => {
      const features = messages.ResourceMonitorFeature;
      const supported = [features.RESOURCE_MONITOR_FEATURE_SECRETS, features.RESOURCE_MONITOR_FEATURE_ALIAS_SPECS];
      return new messages.DeploymentInfo().setSupportedfeaturesList(supported);
    }),
    registerResource: served(async (request: RegisterResourceRequest) => {
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
    }),
    registerResourceOutputs: served(() => ({})),
    // What the engine has stored of the stack (provider/program/stored-resources.ts).
    invoke: served(() => {
      const stored = [...run.state].map(([urn, { outputs }]) => [urn, { type: urn.split("::")[2], outputs }]);
      const outputs = Object.fromEntries(stored);
      return new messages.ResourceInvokeResponse().setReturn(Struct.Struct.fromJavaScript({ outputs } as never));
    }),
    close: () => undefined,
  };
};

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
