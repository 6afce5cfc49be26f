// Without checkpoints, resources of other providers are refused (provider/engine/unchecked.ts): they keep no journal. The provider sees those
// in the state; only the program sees new ones, as it constructs them.
import * as pulumi from "@pulumi/pulumi";
import { typeOfToken } from "../record/kind.ts";
import { skipsCheckpoints } from "../run/checkpoints.ts";
import { programError } from "./session.ts";

/** From now on. */
export const refuseOtherResources = (): void => {
  if (!skipsCheckpoints(process.env) || pulumi.runtime.getStackResource() === undefined) return;
  pulumi.runtime.registerStackTransformation(({ type, name, opts, resource }) => {
    const isRead = (opts as pulumi.CustomResourceOptions).id !== undefined;
    const isOwn = type.startsWith("pulumi:") || typeOfToken(type) !== undefined;
    if (pulumi.CustomResource.isInstance(resource) && !isRead && !isOwn) throw programError(refusal(type, name));
    return undefined;
  });
};

const refusal = (type: string, name: string): string =>
  `PULUMI_SKIP_CHECKPOINTS: ${type} ${name} is of another provider, which keeps no journal: what a killed run did with it would be lost. ` +
  "Put it into a stack of its own, or unset PULUMI_SKIP_CHECKPOINTS.";
