// The resources in the state of the program's own stack, as the engine reports them while the program runs.
import * as pulumi from "@pulumi/pulumi";
import messages from "@pulumi/pulumi/proto/resource_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { urnFrom } from "../../pulumi/urn.ts";
import { clearValuesIn, valuesIn } from "../../pulumi/value.ts";
import type { Json } from "../../schema/index.ts";
import type { Leaving } from "../engine/review.ts";
import { typeOfToken } from "../record/kind.ts";
import { perRun, programStack } from "./session.ts";

/** The resources in the state, as of the program's first request. Fails if the engine does not return them. */
export const storedResources = (): Promise<Leaving[]> => {
  const run = currentRun();
  run.stored ??= readResources();
  return run.stored;
};

const currentRun = perRun((): { stored?: Promise<Leaving[]> } => ({}));

/** The records of resources with this name in the state, one for each component. Unknown values count as none. */
export const storedUids = async (type: string, name: string): Promise<readonly unknown[]> => {
  try {
    const stored = await storedResources();
    const own = stored.filter((one) => typeOfToken(one.type) === type && urnFrom(one.urn).name === name);
    return own.map(({ outputs }) => outputs.uid);
  } catch {
    // An engine without state, such as the mock of a unit test.
    return [];
  }
};

/** A function of the engine itself (pkg/resource/deploy/builtins.go). The SDK's own invoke drops the marks of secrets. */
const readResources = async (): Promise<Leaving[]> => {
  const request = new messages.ResourceInvokeRequest();
  request.setTok("pulumi:pulumi:readStackResourceOutputs");
  // A Struct by the class of the SDK's google-protobuf, which a program need not be able to import. An empty field has that class.
  const empty = messages.ResourceInvokeRequest.deserializeBinary(Uint8Array.of(0x12, 0)).getArgs() as Struct;
  request.setArgs((empty.constructor as typeof Struct).fromJavaScript({ stackName: programStack() }));
  const answer = (await invokeMonitor(request)).getReturn()?.toJavaScript() as { outputs?: Json } | undefined;
  return Object.entries(answer?.outputs ?? {}).map(([urn, own]) => {
    const { type, outputs } = own as { type: string; outputs?: Json };
    return { urn, type, outputs: clearValuesIn(outputs), shown: valuesIn(outputs) };
  });
};

interface Monitor {
  invoke(request: Request, callback: (error: Error | null, answer: Answer) => void): void;
}

type Request = InstanceType<typeof messages.ResourceInvokeRequest>;
type Answer = { getReturn(): Struct | undefined };

const invokeMonitor = (request: Request) => {
  const done = pulumi.runtime.rpcKeepAlive();
  const monitor = pulumi.runtime.getMonitor() as unknown as Monitor;
  return new Promise<Answer>((resolve, reject) => {
    monitor.invoke(request, (error, answer) => (error ? reject(error) : resolve(answer)));
  }).finally(done);
};
