// Provider: a service and the credentials for it, for a program with several, or with settings of its own. Native resources alone take it.
import * as pulumi from "@pulumi/pulumi";
import { unknownArguments } from "../../client/config.ts";
import { pinPosition } from "./position.ts";
import { programError } from "./session.ts";

/** Settings of an explicit provider; what is left out is that of the environment. */
export interface ProviderArgs {
  /** Address of the API: https, or http on loopback */
  baseUrl?: pulumi.Input<string>;
  /**
   * Address of the token exchange; default: the address of the API; a host that starts with `console-api.` becomes `issuer.`
   */
  authUrl?: pulumi.Input<string>;
  /** uid of the identity to assume; default: the only identity with exactly the token's issuer and subject */
  identity?: pulumi.Input<string>;
  /** Timeout of one request in seconds, from 1 to 3600; default: 60 */
  requestTimeout?: pulumi.Input<number>;
  /** Folder of the journals, an absolute path; default: `$XDG_STATE_HOME/pulumi-irm`, or `~/.local/state/pulumi-irm` */
  journal?: pulumi.Input<string>;
  /** Address that the API had before it moved: confirms that it is the same service */
  movedFrom?: pulumi.Input<string>;
  /** Name of an environment variable with an API token, or the workload's own OIDC token, which is exchanged */
  tokenEnv?: pulumi.Input<string>;
  /** Path of a file with such a token; read again after a 401, and for each exchange */
  tokenFile?: pulumi.Input<string>;
  /** Name of an environment variable with a workload's OIDC token */
  identityTokenEnv?: pulumi.Input<string>;
  /** Path of a file with a workload's OIDC token; read again for each exchange */
  identityTokenFile?: pulumi.Input<string>;
  /** Token of either kind; the state keeps it, encrypted, so prefer tokenEnv or tokenFile */
  token?: pulumi.Input<string>;
}

/**
 * The service, and the credentials for it. What is not given is that of the environment, where that is for the same service
 * (docs/plugin.md). Errors: unknown arguments are one error of the preview.
 *
 * @example
 * ```ts
 * const other = new Provider("other", { baseUrl: "https://api.example.com", tokenEnv: "OTHER_TOKEN" });
 * ```
 */
export class Provider extends pulumi.ProviderResource {
  /** `name` is its logical name, unique among the providers of the stack. */
  constructor(name: string, args: ProviderArgs = {}, opts: pulumi.ResourceOptions = {}) {
    requireKnown(name, args);
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

/** Throws one error with every unknown argument: without a misspelt one, the provider could use another service. */
const requireKnown = (name: string, args: object): void => {
  const problems = unknownArguments(Object.keys(args));
  if (problems.length > 0) throw programError([`Provider ${name}:`, ...problems].join("\n  - "));
};
