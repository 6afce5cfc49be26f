// The credential provider chain: an API token (IRM_TOKEN, IRM_TOKEN_FILE), then an exchange of the workload's own token
// (IRM_IDENTITY_TOKEN, IRM_IDENTITY_TOKEN_FILE, GitHub Actions). Settings may name other variables (credential-settings.ts). A token stays
// in this process and is renewed before it expires.
import { decodeProtectedHeader } from "jose/decode/protected_header";
import { decodeJwt } from "jose/jwt/decode";
import { isUidp, protocolProblem } from "../schema/index.ts";
import { isAudience } from "./addresses.ts";
import { type Config, type Env, type GetConfig, type Given, type ParsedConfig, parseConfig } from "./config.ts";
import { API_TOKENS, type CredentialSource, GITHUB, WORKLOAD_TOKENS } from "./credential-settings.ts";
import { ConfigError, type Redactor } from "./errors.ts";
import type { Clock } from "./retry.ts";
import { claimsOf } from "./token.ts";

export interface Credentials {
  /** where the token came from, for the error when it is refused: "IRM_TOKEN" */
  source: string;
  /** the API token comes from an exchange of the workload's own */
  isExchange: boolean;
  /** a token that should be valid for the next minutes */
  token(): Promise<string>;
  /** a token other than `rejected`; undefined when there is no way to get one */
  renew(rejected: string): Promise<string | undefined>;
  /** The same workload, with tokens that may do no more than this. Undefined for an API token, which nothing exchanges. */
  narrowed(limits: Limits): Promise<Credentials | undefined>;
}

/** What a token may do at most. */
export interface Limits {
  /** friendly names, at least one */
  capabilities: readonly string[];
  /** uids of groups; none: wherever the identity holds the capabilities */
  scopes: readonly string[];
}

export interface CredentialEnvironment extends CredentialSource {
  /** uid of the identity to assume */
  identity?: string | undefined;
  clock: Clock;
  redactor: Redactor;
  readFile(path: string): Promise<string>;
  /** exchanges the workload's token for an API token (STS); `source`: where it came from, for errors */
  exchange(identityToken: string, source: string, limits?: Limits): Promise<string>;
  /** gets the OIDC token of a GitHub Actions job */
  githubToken(requestUrl: string, requestToken: string): Promise<string>;
}

// Renews a token when this share of its lifetime is left: five minutes of an hour.
const RENEW_BEFORE = 1 / 12;

export const credentialsFrom = (environment: CredentialEnvironment): Credentials => {
  const { env, isEither, githubToken } = environment;
  const variable = API_TOKENS.find((name) => env[name]);
  if (variable !== undefined) return (isEither ? eitherCredentials : fixedCredentials)(variable, environment);
  const { IRM_IDENTITY_TOKEN: given } = env;
  const wrong = given && workloadProblem(given, "IRM_IDENTITY_TOKEN", environment);
  if (wrong) throw new ConfigError([wrong], "sign-in");
  const own = WORKLOAD_TOKENS.find((name) => env[name]);
  if (own !== undefined)
    return exchangeCredentials({ source: nameOf(own, environment), read: readerOf(own, environment) }, environment);
  const [url, token] = GITHUB.map((name) => env[name]);
  if (!url || !token) throw new ConfigError([environment.missing ?? MISSING], "sign-in");
  const problem = protocolProblem(url);
  if (problem) throw new ConfigError([`${GITHUB[0]}: ${problem}`], "sign-in");
  environment.redactor.note(token);
  return exchangeCredentials({ source: "GitHub Actions", read: () => githubToken(url, token) }, environment);
};

/** Name of a variable in messages. */
const nameOf = (variable: string, { names }: CredentialSource) => names?.[variable] ?? variable;

const MISSING =
  "no credentials in the environment: set IRM_TOKEN (an API token), IRM_TOKEN_FILE (a file with one), " +
  "IRM_IDENTITY_TOKEN (the workload's own OIDC token, which is exchanged for one) or IRM_IDENTITY_TOKEN_FILE (a file with one); " +
  "in GitHub Actions, give the job the permission id-token: write";

/**
 * Returns the configuration, or throws one error with everything that is wrong or missing, including credentials. Strict: including
 * misspelt keys. Reads and deletes of resources in a state are not strict.
 */
export const requireConfig = (
  { config, problems, strictProblems, credentials }: ParsedConfig,
  isStrict: boolean,
): Config => {
  const found = isStrict ? strictProblems : problems;
  if (config && found.length === 0) return config;
  const missing = missingCredentials(credentials);
  throw missing ? new ConfigError([...new Set([...found, missing])], "sign-in") : new ConfigError(found);
};

/** Reads the configuration of a process that needs it once. Throws ConfigError. */
export const readConfig = (get: GetConfig | undefined, env: Env, apiTokenCredentials?: Given): Config =>
  requireConfig(parseConfig(get, env, apiTokenCredentials), true);

/** The problem of an environment without credentials; undefined when it has some. */
export const missingCredentials = ({ env, missing }: CredentialSource): string | undefined => {
  const isToken = [...API_TOKENS, ...WORKLOAD_TOKENS].some((name) => env[name]);
  return isToken || GITHUB.every((name) => env[name]) ? undefined : (missing ?? MISSING);
};

// A header can carry no other characters, and undici's own error would not name the cause.
const clean = (text: string, source: string, { redactor }: CredentialEnvironment) => {
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw new ConfigError([`${source} does not hold a token`], "sign-in");
  return redactor.note(token);
};

// The exchange accepts a signed JWT (RFC 7519, 7.2); nothing else is sent. The value is not quoted: it may still be a token.
const workloadProblem = (text: string, variable: string, settings: CredentialSource): string | undefined => {
  const token = text.trim();
  try {
    decodeProtectedHeader(token);
    decodeJwt(token);
    if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
  } catch {
    // one of its parts is not a JSON object
  }
  const wanted = "the workload's own OIDC token, a JWT: three parts of letters and digits with dots between them";
  const source = nameOf(variable, settings);
  const isNamed = settings.names?.[variable] !== undefined;
  return variable === "IRM_IDENTITY_TOKEN"
    ? `${source} is not ${wanted}; for a token that is in a file, set ${isNamed ? "identityTokenFile" : "IRM_IDENTITY_TOKEN_FILE"} to its path`
    : `${source} names a file that does not hold ${wanted}; for an API token, set ${isNamed ? "tokenFile" : "IRM_TOKEN_FILE"} to its path`;
};

/** Reads the token that a variable holds, or that the file which it names holds. */
const readerOf = (variable: string, environment: CredentialEnvironment) => async (): Promise<string> => {
  let text = environment.env[variable] as string;
  if (variable.endsWith("_FILE")) {
    const refusal = environment.refusesFile?.(text);
    if (refusal !== undefined) throw new ConfigError([refusal], "sign-in");
    try {
      text = await environment.readFile(text);
    } catch (error) {
      // The path is not quoted: the variable may hold a token by mistake.
      const { code = "unreadable" } = error as NodeJS.ErrnoException;
      throw new ConfigError([`${nameOf(variable, environment)} names a file that cannot be read (${code})`], "sign-in");
    }
  }
  const problem = WORKLOAD_TOKENS.includes(variable) ? workloadProblem(text, variable, environment) : undefined;
  if (problem) throw new ConfigError([problem], "sign-in");
  return text;
};

/** Throws before a token goes to an address that it is not for: an API token to the API, the workload's own one to the exchange. */
const requireAudience = (
  token: string,
  source: string,
  { mustBeFor }: CredentialEnvironment,
  isOfWorkload = false,
): string => {
  if (!mustBeFor) return token;
  const { baseUrl, authUrl, advice } = mustBeFor;
  const [address, ...others] = isOfWorkload ? [authUrl, new URL(authUrl).host] : [baseUrl];
  if (isAudience(claimsOf(token), [address as string, ...others])) return token;
  throw new ConfigError([`${source} is not sent to ${address}: its audience does not name it; ${advice}`], "sign-in");
};

// Read once, and again when the service refuses the token: a sidecar may have written a new one to the file.
const fixedCredentials = (variable: string, environment: CredentialEnvironment): Credentials => {
  const source = nameOf(variable, environment);
  const read = readerOf(variable, environment);
  let current: string | undefined;
  const load = async () => {
    current = requireAudience(clean(await read(), source, environment), source, environment);
    return current;
  };
  return {
    source: variable.endsWith("_FILE") ? `the file that ${source} names` : source,
    isExchange: false,
    token: async () => current ?? load(),
    renew: async (rejected) => ((await load()) === rejected ? undefined : current),
    narrowed: async () => undefined,
  };
};

/**
 * The token that a setting names, of either kind. The subject of an API token is an identity of the service. A signed token with another
 * subject is the workload's own, and is exchanged.
 */
const eitherCredentials = (variable: string, environment: CredentialEnvironment): Credentials => {
  const source = nameOf(variable, environment);
  const read = readerOf(variable, environment);
  let chosen: Credentials | undefined;
  const choose = async () => {
    if (chosen) return chosen;
    const token = await read();
    const isWorkload = workloadProblem(token, variable, environment) === undefined && identityOf(token) === undefined;
    if (!isWorkload) requireIdentityOf(token, source, environment);
    chosen = isWorkload ? exchangeCredentials({ source, read }, environment) : fixedCredentials(variable, environment);
    return chosen;
  };
  return {
    get source() {
      return chosen?.source ?? source;
    },
    get isExchange() {
      return chosen?.isExchange ?? false;
    },
    token: async () => (await choose()).token(),
    renew: async (rejected) => (await choose()).renew(rejected),
    narrowed: async (limits) => (await choose()).narrowed(limits),
  };
};

const requireIdentityOf = (token: string, source: string, { identity }: CredentialEnvironment) => {
  const actual = identityOf(token);
  if (identity === undefined || actual === identity) return;
  const found = actual === undefined ? "does not show its identity" : `is of the identity ${actual}`;
  const problem = `${source} holds an API token that ${found}, and the identity to assume is ${identity}`;
  throw new ConfigError([`${problem}; give the workload's own OIDC token, or leave out identity`], "sign-in");
};

interface Workload {
  source: string;
  read(): Promise<string>;
}

const exchangeCredentials = (workload: Workload, environment: CredentialEnvironment, limits?: Limits): Credentials => {
  const { clock, exchange, redactor } = environment;
  let current: { token: string; renewAt: number } | undefined;
  let inFlight: Promise<string> | undefined;

  // Single flight: a hundred operations that find the token expired share one exchange.
  const exchangeToken = () => {
    inFlight ??= (async () => {
      // Before the request, so that its duration does not extend the token's lifetime.
      const start = clock.now();
      const { source } = workload;
      const own = requireAudience(clean(await workload.read(), source, environment), source, environment, true);
      const exchanged = redactor.note(await exchange(own, source, limits));
      const token = requireAudience(exchanged, `the token from ${source}`, environment);
      // Independent of the local clock (docs/internals/faults.md#f24). Opaque tokens are allowed; a 401 shows their expiry.
      const { exp, iat } = claimsOf(token);
      const lifeMs = (Number(exp) - Number(iat)) * 1000;
      current = { token, renewAt: start + (lifeMs > 0 ? lifeMs : Infinity) * (1 - RENEW_BEFORE) };
      return token;
    })().finally(() => {
      inFlight = undefined;
    });
    return inFlight;
  };

  return {
    source: `an exchange of ${workload.source}`,
    isExchange: true,
    token: async () => (current && clock.now() < current.renewAt ? current.token : exchangeToken()),
    renew: async (rejected) => (current && current.token !== rejected ? current.token : exchangeToken()),
    narrowed: async (own) => exchangeCredentials(workload, environment, own),
  };
};

/** uid of the identity that an API token stands for; undefined if the token does not show it. */
export const identityOf = (token: string): string | undefined => {
  const { sub } = claimsOf(token);
  return isUidp(sub) ? sub : undefined;
};
