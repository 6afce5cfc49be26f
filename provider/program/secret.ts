// Secrets in the program's process: arguments that the engine keeps encrypted whatever the program says of them, and outputs that
// it encrypts. A dynamic provider cannot mark an output as secret by itself; only an option of the resource does.
import * as pulumi from "@pulumi/pulumi";
import { SECRETS } from "../state/normal-form.ts";

/** The options of a resource with secret outputs of these names. */
export const withSecretOutputs = (
  opts: pulumi.CustomResourceOptions,
  names: readonly string[],
): pulumi.CustomResourceOptions => ({
  ...opts,
  additionalSecretOutputs: [...(opts.additionalSecretOutputs ?? []), ...names],
});

/** Options for a resource some of whose arguments are secret and never returned. */
export const withSecretInputs = (opts: pulumi.CustomResourceOptions): pulumi.CustomResourceOptions =>
  withSecretOutputs(opts, [SECRETS]);

/** The block with one of its members secret; where the block itself is an Output, all of it is. */
export const withSecretMember = <T extends object>(
  block: pulumi.Input<T> | undefined,
  name: keyof T,
): pulumi.Input<T> | undefined => {
  if (block === undefined) return undefined;
  if (pulumi.Output.isInstance(block) || block instanceof Promise)
    return pulumi
      .output(block)
      .apply((value) => pulumi.output(secretMember(value as T, name))) as unknown as pulumi.Input<T>;
  return secretMember(block as T, name);
};

const secretMember = <T extends object>(block: T, name: keyof T): T =>
  block[name] === undefined ? block : { ...block, [name]: pulumi.secret(block[name]) };
