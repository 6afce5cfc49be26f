// Without checkpoints, resources of other providers are refused (provider/engine/unchecked.ts): they keep no journal. The provider sees those
// in the state; only the program sees new ones, as it constructs them.
import * as pulumi from "@pulumi/pulumi";
import { typeOfToken } from "../record/kind.ts";
import { skipsCheckpoints } from "../run/checkpoints.ts";
import { programError } from "./session.ts";

const stacks = new WeakSet<object>();

/** In this run of a program, from now on. */
export const refuseOtherResources = (): void => {
  const stack = pulumi.runtime.getStackResource();
  if (!skipsCheckpoints(process.env) || stack === undefined || stacks.has(stack)) return;
  stacks.add(stack);
  pulumi.runtime.registerStackTransformation(({ type, name, opts, resource }) => {
    const isRead = (opts as pulumi.CustomResourceOptions).id !== undefined;
    const isOwn = type.startsWith("pulumi:") || typeOfToken(type) !== undefined;
    if (!isComponent(resource) && !isRead && !isOwn) throw programError(refusal(type, name));
    return undefined;
  });
};

/** The SDK's own mark of a custom resource comes later, and its class may be of another copy of the SDK. */
const isComponent = (resource: pulumi.Resource): boolean => "registerOutputs" in resource;

const refusal = (type: string, name: string): string =>
  `PULUMI_SKIP_CHECKPOINTS: ${type} ${name} is of another provider, which keeps no journal: what a killed run did with it would be lost. ` +
  "Put it into a stack of its own, or unset PULUMI_SKIP_CHECKPOINTS.";
