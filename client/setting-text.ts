// Descriptions of the settings of an explicit provider, by name. Most settings are also keys of a stack's configuration.

export const PROVIDER_TEXT =
  "The service, and the credentials for it. The environment supplies what is left out, if it is for the same service (docs/plugin.md).";

export const settingTexts: Readonly<Record<string, string>> = {
  baseUrl: "Address of the API: https, or http on loopback; default: `IRM_BASE_URL` of the environment",
  authUrl:
    "Address of the token exchange; default: the address of the API; a host that starts with `console-api.` becomes `issuer.`",
  identity: "uid of the identity to assume; default: the only identity with exactly the token's issuer and subject",
  requestTimeout: "Timeout of one request in seconds, from 1 to 3600; default: 60",
  journal:
    "Folder of the journals, an absolute path; default: `$XDG_STATE_HOME/pulumi-irm`, or `~/.local/state/pulumi-irm`",
  movedFrom: "Address that the API had before it moved: confirms that it is the same service; default: none",
  tokenEnv:
    "Name of an environment variable with an API token, or the workload's own OIDC token, which is exchanged; `IRM_ALLOW_TOKEN_SOURCES` must list it; default: the variables of the environment",
  tokenFile:
    "Path of a file with such a token; read again after a 401, and for each exchange; `IRM_ALLOW_TOKEN_SOURCES` must list it; default: the variables of the environment",
  identityTokenEnv:
    "Name of an environment variable with a workload's OIDC token; `IRM_ALLOW_TOKEN_SOURCES` must list it; default: the variables of the environment",
  identityTokenFile:
    "Path of a file with a workload's OIDC token; read again for each exchange; `IRM_ALLOW_TOKEN_SOURCES` must list it; default: the variables of the environment",
  token:
    "Token of either kind; the state keeps it, encrypted, so prefer tokenEnv or tokenFile; default: the variables of the environment",
};
