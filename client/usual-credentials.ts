// Whether the usual variables of the environment (docs/configuration.md#credentials) may be used at an address: they are the job's, and so
// they go where the job says (addresses.ts).
import { isAudience, type Reach } from "./addresses.ts";
import { API_TOKENS, CREDENTIAL_VARIABLES, type CredentialSource, type Service } from "./credential-settings.ts";
import { type Env, without } from "./env.ts";
import { claimsOf } from "./token-claims.ts";

interface Asked {
  env: Env;
  reach: Reach;
  /** absent where the address is wrong or missing */
  service: Omit<Service, "advice"> | undefined;
  given: { provider?: string | undefined; flag?: string | undefined };
  /** where the address comes from */
  place: string | undefined;
}

/** The source is undefined where the environment is one without limits. */
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

const nameOf = (variable: string): string =>
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
