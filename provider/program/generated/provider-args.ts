// Generated from schema/ by `npm run generate`; not to be edited.
import type * as pulumi from "@pulumi/pulumi";

/** Settings of an explicit provider; the environment gives what is left out. */
export interface ProviderArgs {
  /** Address of the API: https, or http on loopback; default: `IRM_BASE_URL` of the environment */
  baseUrl?: pulumi.Input<string>;
  /**
   * Address of the token exchange; default: the address of the API; a host that starts with `console-api.` becomes
   * `issuer.`
   */
  authUrl?: pulumi.Input<string>;
  /** uid of the identity to assume; default: the only identity with exactly the token's issuer and subject */
  identity?: pulumi.Input<string>;
  /** Timeout of one request in seconds, from 1 to 3600; default: 60 */
  requestTimeout?: pulumi.Input<number>;
  /**
   * Folder of the journals, an absolute path; default: `$XDG_STATE_HOME/pulumi-irm`, or `~/.local/state/pulumi-irm`
   */
  journal?: pulumi.Input<string>;
  /** Address that the API had before it moved: confirms that it is the same service; default: none */
  movedFrom?: pulumi.Input<string>;
  /**
   * Name of an environment variable with an API token, or the workload's own OIDC token, which is exchanged;
   * `IRM_ALLOW_TOKEN_SOURCES` must list it; default: the variables of the environment
   */
  tokenEnv?: pulumi.Input<string>;
  /**
   * Path of a file with such a token; read again after a 401, and for each exchange; `IRM_ALLOW_TOKEN_SOURCES` must
   * list it; default: the variables of the environment
   */
  tokenFile?: pulumi.Input<string>;
  /**
   * Name of an environment variable with a workload's OIDC token; `IRM_ALLOW_TOKEN_SOURCES` must list it; default:
   * the variables of the environment
   */
  identityTokenEnv?: pulumi.Input<string>;
  /**
   * Path of a file with a workload's OIDC token; read again for each exchange; `IRM_ALLOW_TOKEN_SOURCES` must list
   * it; default: the variables of the environment
   */
  identityTokenFile?: pulumi.Input<string>;
  /**
   * Token of either kind; the state keeps it, encrypted, so prefer tokenEnv or tokenFile; default: the variables of
   * the environment
   */
  token?: pulumi.Input<string>;
}
