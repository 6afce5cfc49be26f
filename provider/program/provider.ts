// Provider: a service and the credentials for it, for a program with several services, or with its own settings. Only native resources
// accept it.
import * as pulumi from "@pulumi/pulumi";
import { unknownArguments } from "../../client/config.ts";
import { bulleted } from "../../schema/index.ts";
import type { ProviderArgs } from "./generated/provider-args.ts";
import { pinPosition } from "./position.ts";
import { programError } from "./session.ts";

/**
 * The service, and the credentials for it. The environment supplies what is left out, if it is for the same service (docs/resources.md#native-plugin).
 * Errors: unknown arguments are one error of the preview.
 *
 * @example
 * ```ts
 * const other = new Provider("other", { baseUrl: "https://api.example.com", tokenEnv: "OTHER_TOKEN" });
 * ```
 */
export class Provider extends pulumi.ProviderResource {
  /** `name` is its logical name, unique among the providers of the stack. */
  constructor(name: string, args: ProviderArgs = {}, opts: pulumi.ResourceOptions = {}) {
    // Without a misspelt argument, the provider could use another service.
    const problems = unknownArguments(Object.keys(args));
    if (problems.length > 0) throw programError(bulleted(`Provider ${name}:`, ...problems));
    const { token, requestTimeout, ...others } = args;
    const inputs = {
      ...others,
      // The engine keeps the settings of a provider as texts.
      ...(requestTimeout !== undefined && { requestTimeout: pulumi.output(requestTimeout).apply(String) }),
      ...(token !== undefined && { token: pulumi.secret(token) }),
    };
    const unpin = pinPosition(new.target);
    try {
      super("irm", name, inputs, pulumi.mergeOptions(opts, { additionalSecretOutputs: ["token"] }));
    } finally {
      unpin();
    }
  }
}
