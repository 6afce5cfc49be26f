// Where credentials are looked for, and to which addresses they may go. Settings may name a variable or a file in place of the usual
// variables, for a program with two providers; so they hold no secret.

import { realpathSync } from "node:fs";
import { isAbsolute } from "node:path";
import { defaultAuthUrl, type Env, isAudience, isSameAddress, type Reach, without } from "./addresses.ts";
import { claimsOf } from "./token.ts";

/** Where credentials are looked for. */
export interface CredentialSource {
  env: Env;
  /** IRM_TOKEN → its name in messages; absent: the variable's name */
  names?: Readonly<Record<string, string>>;
  /** the problem of a setting that names a credential which does not exist */
  missing?: string;
  /** the token may be an API token or the workload's own: its content tells which */
  isEither?: boolean;
  /** a token goes to these addresses only if its audience names them; absent: the job has said that it may go there */
  mustBeFor?: Service | undefined;
  /** why a file must not be read; undefined: it may be */
  refusesFile?: (path: string) => string | undefined;
}

interface Service {
  baseUrl: string;
  authUrl: string;
  /** what to do about a token for another service */
  advice: string;
}

/** Setting → the variable that it stands for. */
export const CREDENTIAL_SETTINGS: Readonly<Record<string, string>> = {
  tokenEnv: "IRM_TOKEN",
  tokenFile: "IRM_TOKEN_FILE",
  identityTokenEnv: "IRM_IDENTITY_TOKEN",
  identityTokenFile: "IRM_IDENTITY_TOKEN_FILE",
  // Only an explicit provider has it, because its arguments may be secret.
  token: "IRM_TOKEN",
};

/** The variables of the credential provider chain, in its order: tokens for the API, tokens of a workload, and those of GitHub Actions. */
export const API_TOKENS = ["IRM_TOKEN", "IRM_TOKEN_FILE"];
export const WORKLOAD_TOKENS = ["IRM_IDENTITY_TOKEN", "IRM_IDENTITY_TOKEN_FILE"];
export const GITHUB = ["ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"] as const;

/** All variables that hold, or lead to, a credential. */
export const CREDENTIAL_VARIABLES = [...API_TOKENS, ...WORKLOAD_TOKENS, ...GITHUB];

interface Setting {
  name: string;
  value: string;
  /** for messages: `provider acme: tokenEnv` */
  place: string;
}

interface About {
  env: Env;
  reach: Reach;
  /** absent where the address is wrong or missing */
  service: Omit<Service, "advice"> | undefined;
  /** a flag of the command names the source, so the job allows it */
  isOfFlag: boolean;
}

/** `given`: the settings that are present, at least one. The source is undefined if they contradict each other. */
export const credentialSource = (
  given: readonly Setting[],
  about: About,
): { source: CredentialSource | undefined; problems: string[] } => {
  const [setting, ...others] = given;
  if (!setting || others.length > 0) {
    const names = given.map(({ place }) => place).join("; ");
    return { source: undefined, problems: [`only one of these may be set: ${names}`] };
  }
  const { name, value, place } = setting;
  const { env, isOfFlag } = about;
  const variable = CREDENTIAL_SETTINGS[name] as string;
  const cleanEnv = without(env, CREDENTIAL_VARIABLES);
  const sourceFrom = (token: string, text: string, more: Partial<CredentialSource> = {}) => ({
    source: {
      env: { ...cleanEnv, [variable]: token },
      names: { [variable]: text },
      isEither: !name.startsWith("identity"),
      ...more,
    },
    problems: [],
  });
  const refused = (problem: string) => ({ source: { env: cleanEnv, missing: problem }, problems: [problem] });
  if (name === "token") return sourceFrom(value, place);
  const { allowed, problems } = isOfFlag ? { allowed: [], problems: [] } : allowedSources(env);
  if (problems.length > 0) return { source: undefined, problems };
  if (!name.endsWith("Env")) {
    const refusesFile = (path: string) =>
      isOfFlag || entriesForFile(path, allowed).length > 0 ? undefined : notAllowedText(place, "a file");
    const problem = refusesFile(value);
    if (problem !== undefined) return refused(problem);
    const mustBeFor = isOfFlag ? undefined : requiredService(entriesForFile(value, allowed), about, "PATH");
    return sourceFrom(value, place, { refusesFile, mustBeFor });
  }
  // The value is not quoted: it may be a token by mistake.
  if (!isVariableName(value)) return refused(`${place}: must be the name of an environment variable`);
  const entries = allowed.filter((one) => one.name === value);
  if (!isOfFlag && entries.length === 0) return refused(notAllowedText(place, `the variable ${value}`));
  const token = env[value];
  if (!token) return { source: { env: cleanEnv, missing: `${place}: the environment has no ${value}` }, problems: [] };
  const mustBeFor = isOfFlag ? undefined : requiredService(entries, about, value);
  return sourceFrom(token, `${value} (${place})`, { mustBeFor });
};

/** A token of the job that the settings name, and that the job has not bound to this service by an entry with its address. */
const requiredService = (
  entries: readonly AllowedSource[],
  { reach, service }: About,
  name: string,
): Service | undefined => {
  if (reach === "job" || service === undefined) return undefined;
  const { baseUrl, authUrl } = service;
  const isBound = [baseUrl, ...(isSameAddress(authUrl, defaultAuthUrl(baseUrl)) ? [] : [authUrl])].every((address) =>
    entries.some((one) => one.address !== undefined && isSameAddress(one.address, address)),
  );
  const advice = `if it may go there, list ${name}=${baseUrl} in IRM_ALLOW_TOKEN_SOURCES of the environment`;
  return isBound ? undefined : { ...service, advice };
};

interface Asked extends Omit<About, "isOfFlag"> {
  given: { provider?: string | undefined; flag?: string | undefined };
  /** where the address comes from */
  place: string | undefined;
}

/**
 * Whether the usual variables of the environment (docs/reference/provider.md#credentials) may be used at an address. They are the job's, and so
 * they go where the job says (addresses.ts). The source is undefined where the environment is one without limits.
 */
export const usualSource = ({
  env,
  reach,
  service,
  given,
  place,
}: Asked): { source: CredentialSource | undefined; problems: string[] } => {
  const free = { source: undefined, problems: [] };
  if (reach === "job" || service === undefined) return free;
  if (reach === "elsewhere")
    return given.flag === undefined ? ofProvider(env, given.provider) : ofFlag(env, given.flag);
  const { baseUrl } = service;
  const advice = `the environment does not name this address; if it is right, set IRM_BASE_URL=${baseUrl}`;
  const refused = (name: string) => `${place}: ${nameOf(name)} is not sent to ${baseUrl}: ${advice}`;
  const found = CREDENTIAL_VARIABLES.find((name) => env[name]);
  if (found === undefined) return free;
  const mustBeFor = { ...service, advice };
  const isUsable =
    found === "IRM_TOKEN_FILE" || (found === "IRM_TOKEN" && isAudience(claimsOf(env.IRM_TOKEN ?? ""), [baseUrl]));
  return { source: { env, mustBeFor }, problems: isUsable ? [] : [refused(found)] };
};

const nameOf = (variable: string) =>
  variable.startsWith("ACTIONS_") ? "the token of the GitHub Actions job" : variable;

/** A provider at another address has credentials of its own, or none. */
const ofProvider = (env: Env, provider: string | undefined) => {
  const found = CREDENTIAL_VARIABLES.find((name) => env[name]);
  const missing =
    `provider ${provider}: no credentials; ${found === undefined ? "" : `${nameOf(found)} is for the service of IRM_BASE_URL, so `}` +
    "give it a token, or name one by tokenEnv or tokenFile that IRM_ALLOW_TOKEN_SOURCES lists";
  const source = { env: without(env, CREDENTIAL_VARIABLES), missing };
  return { source, problems: found === undefined ? [] : [missing] };
};

/** Whoever starts a command has chosen the address. A workload's own token proves who it is there; an API token is for another service. */
const ofFlag = (env: Env, flag: string) => {
  const found = API_TOKENS.find((name) => env[name]);
  if (found === undefined) return { source: undefined, problems: [] };
  const missing = `${flag}: no credentials; ${found} is for the service of IRM_BASE_URL, so set IRM_BASE_URL to the same address, with a token for it`;
  return { source: { env: without(env, API_TOKENS), missing }, problems: [] };
};

// Descriptions of the settings of an explicit provider, by name. Most settings are also keys of a stack's configuration.

export const PROVIDER_TEXT =
  "The service, and the credentials for it. The environment supplies what is left out, if it is for the same service (docs/resources.md#native-plugin).";

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

// IRM_ALLOW_TOKEN_SOURCES: the variables and files from which settings may take a token. Settings are the author's of a change, and could
// otherwise name every secret of the job.

const ALLOWED = "IRM_ALLOW_TOKEN_SOURCES";

interface AllowedSource {
  /** name of a variable, or absolute path of a file */
  name: string;
  /** to which its token may go, whatever its audience is */
  address: string | undefined;
}

const isVariableName = (text: string) => /^[A-Za-z_]\w*$/.test(text);

/** Entries are separated by commas or spaces: `NAME`, `/path`, `NAME=https://…`. An entry is not quoted: it may be a token by mistake. */
export const allowedSources = (env: Env): { allowed: AllowedSource[]; problems: string[] } => {
  const allowed = (env[ALLOWED] ?? "")
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((text): AllowedSource => {
      const [, name = text, address] = /^(.+?)=(https?:\/\/.+)$/.exec(text) ?? [];
      return { name, address };
    });
  const problems = allowed.flatMap(({ name, address }, i) => {
    if (address !== undefined && !URL.canParse(address))
      return [`environment ${ALLOWED}: entry ${i + 1} has an address that is not a URL`];
    if (isVariableName(name) || isAbsolute(name)) return [];
    return [`environment ${ALLOWED}: entry ${i + 1} must be the name of a variable, or the absolute path of a file`];
  });
  return { allowed, problems };
};

/**
 * The entries for this file: those that name it by the same path, or another path of the same file. Below /proc, where files show the
 * variables and the open files of a process, only the same path counts.
 */
const entriesForFile = (path: string, allowed: readonly AllowedSource[]) => {
  const real = realPath(path);
  const isSpecial = real === undefined || /^\/proc(\/|$)/.test(real);
  return allowed.filter(({ name }) => name === path || (!isSpecial && isAbsolute(name) && realPath(name) === real));
};

// As the system resolves it: `..` after a link is the folder above the link's target.
const realPath = (path: string) => {
  try {
    return realpathSync.native(path);
  } catch {
    // It does not exist, or this user may not see it.
    return undefined;
  }
};

const notAllowedText = (place: string, text: string) =>
  `${place}: names ${text} that ${ALLOWED} of the environment does not list; list it there if its token may be used`;
