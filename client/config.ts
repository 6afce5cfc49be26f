// Where the service is and which identity to assume. The stack's configuration (`irm:*`) takes precedence over the environment, except
// for the addresses. Tokens are never read from the stack's configuration, because the state stores all of it.
import { isAbsolute } from "node:path";
import { addressProblem, isUidp, nearest, schemeProblem, suggestion } from "../schema/index.ts";
import {
  type AddressConflict,
  addressConflicts,
  defaultAuthUrl,
  type Env,
  type Reach,
  serviceOf,
  without,
  withoutSlash,
} from "./addresses.ts";
import { CREDENTIAL_SETTINGS, type CredentialSource, credentialSource, usualSource } from "./credential-settings.ts";
import { runIn, serviceIn } from "./run-file.ts";

export type { Env } from "./addresses.ts";
export { serviceOf } from "./addresses.ts";

export interface Config {
  /** address of the API, without a slash at the end; also the audience of its tokens */
  baseUrl: string;
  /** address of the token exchange */
  authUrl: string;
  /** uid of the identity to assume; absent: the identity whose exact issuer and subject match */
  identity?: string;
  /** longest time for one request, including its response */
  requestTimeoutMs: number;
  /** folder of the intent journals; absent: below the user's state folder */
  journal?: string;
  /** confirms a move: former address of the service, or uid of an organization */
  movedFrom?: string;
  /** where the credentials are; absent: in the environment, under the usual names */
  credentials?: CredentialSource;
  /** name of the explicit provider with these settings */
  provider?: string;
}

/** Reads a key of the stack's configuration, `irm:baseUrl`. */
export type GetConfig = (key: string) => string | undefined;

/** All keys of the stack's configuration, where they are available: `irm:baseUrl`, `aws:region`. */
export interface Given {
  keys: readonly string[];
  /** name of the project, which prefixes its own keys */
  project?: string | undefined;
  /** name of an explicit provider, whose arguments replace the stack's configuration */
  provider?: string | undefined;
  /** flag of a command that gives the address, and perhaps its credentials: `--copy-of` */
  flag?: string | undefined;
  /** what is wrong with the environment */
  envProblems?: readonly string[] | undefined;
}

const NOTHING_GIVEN: Given = { keys: [] };

const VARIABLE = {
  baseUrl: "IRM_BASE_URL",
  authUrl: "IRM_AUTH_URL",
  identity: "IRM_IDENTITY",
  requestTimeout: "IRM_REQUEST_TIMEOUT",
  journal: "IRM_JOURNAL",
  movedFrom: "IRM_MOVED_FROM",
} as const;

/** The settings of an explicit provider, as its arguments. */
export const PROVIDER_SETTINGS: readonly string[] = [...Object.keys(VARIABLE), ...Object.keys(CREDENTIAL_SETTINGS)];

const REQUEST_TIMEOUT_SECONDS = { least: 1, usual: 60, most: 3600 };

/** The configuration of a process, parsed once. Its problems are an error only for a step that needs the configuration. */
export interface ParsedConfig {
  /** absent when one of its values is wrong or missing */
  config: Config | undefined;
  /** wrong or missing values */
  problems: readonly string[];
  /**
   * The same, misspelt keys, and addresses that the environment has otherwise. They do not stop a read or a delete: a refresh and a destroy
   * have the configuration of the last update.
   */
  strictProblems: readonly string[];
  warnings: readonly string[];
  /** present even if the configuration is wrong */
  credentials: CredentialSource;
}

/**
 * Reads only the environment if `fromStack` is undefined: a command of `irm` has no stack. In a run that a command of ours starts, the
 * address stays, while the credentials are those of the copy or of the gate. A review has a journal of its own.
 */
export const parseConfig = (fromStack: GetConfig | undefined, env: Env, given: Given = NOTHING_GIVEN): ParsedConfig => {
  const parsed = parseSettings(fromStack, env, given);
  const found = runIn(env);
  if (found === undefined) return parsed;
  const refused = (problem: string): ParsedConfig => ({
    ...parsed,
    config: undefined,
    problems: [problem, ...parsed.problems],
    strictProblems: [problem, ...parsed.strictProblems],
  });
  if (found.problem !== undefined) return refused(found.problem);
  if (!parsed.config) return parsed;
  const service = serviceIn(found, parsed.config.baseUrl);
  if ("problem" in service) return refused(service.problem);
  const credentials = { env: { IRM_TOKEN: service.token } };
  // The command has chosen the identity.
  const { identity: _, ...config } = parsed.config;
  const { run } = found;
  const own = run.kind === "review" ? { journal: run.journal } : {};
  return { ...parsed, credentials, config: { ...config, ...own, credentials } };
};

const parseSettings = (fromStack: GetConfig | undefined, env: Env, given: Given): ParsedConfig => {
  const get = fromStack ?? (() => undefined);
  const { read, differing, reach, placesOf } = settingsIn(get, env, given);
  const secrets =
    given.provider === undefined ? SECRETS.filter((key) => get(`irm:${key}`) !== undefined).map(secretProblem) : [];
  const keys = unknownKeys(given);
  const problems: string[] = [...(given.envProblems ?? [])];
  const baseUrl = read("baseUrl");
  const authUrl = read("authUrl");
  const identity = read("identity");
  if (!baseUrl) problems.push(missing(placesOf("baseUrl"), fromStack !== undefined));
  for (const found of [baseUrl, authUrl]) {
    const problem = found && addressProblem(found.value);
    if (problem) problems.push(`${found.place}: ${problem}`);
  }
  if (identity && !isUidp(identity.value))
    problems.push(
      `${identity.place}: must be the uid of an identity: 40 hexadecimal digits, then / and 16 more for each level`,
    );
  const seconds = read("requestTimeout");
  const requestTimeout = seconds === undefined ? REQUEST_TIMEOUT_SECONDS.usual : Number(seconds.value);
  const { least, most } = REQUEST_TIMEOUT_SECONDS;
  if (!(requestTimeout >= least && requestTimeout <= most))
    problems.push(`${seconds?.place}: must be a number of seconds from ${least} to ${most}`);
  const journal = read("journal");
  if (journal && !isAbsolute(journal.value)) problems.push(`${journal.place}: must be the absolute path of a folder`);
  const movedFrom = read("movedFrom");
  if (movedFrom && !isUidp(movedFrom.value)) {
    const problem = schemeProblem(movedFrom.value);
    if (problem !== undefined || !URL.canParse(movedFrom.value))
      problems.push(
        `${movedFrom.place}: ${problem ?? "must be the address of the service before, or the uid of an organization"}`,
      );
  }
  const credentialSettings = Object.keys(CREDENTIAL_SETTINGS).flatMap((name) => {
    const value = name === "token" && given.provider === undefined ? undefined : get(`irm:${name}`);
    return value ? [{ name, value, place: placesOf(name)[0] }] : [];
  });
  const base = baseUrl && withoutSlash(baseUrl.value);
  const exchange = base && (authUrl ? withoutSlash(authUrl.value) : defaultAuthUrl(base));
  const service = base && exchange && problems.length === 0 ? { baseUrl: base, authUrl: exchange } : undefined;
  const about = { env, reach, service };
  const { source, problems: wrong } =
    credentialSettings.length > 0
      ? credentialSource(credentialSettings, { ...about, isOfFlag: given.flag !== undefined })
      : usualSource({ ...about, given, place: baseUrl?.place });
  problems.push(...wrong);
  const parsed = {
    problems: [...secrets, ...problems],
    strictProblems: [...secrets, ...keys.problems, ...differing, ...problems],
    warnings: keys.warnings,
    credentials: source ?? { env },
  };
  if (!base || !exchange || parsed.problems.length > 0) return { ...parsed, config: undefined };
  const config: Config = {
    baseUrl: base,
    authUrl: exchange,
    ...(identity ? { identity: identity.value } : {}),
    requestTimeoutMs: requestTimeout * 1000,
    ...(journal ? { journal: journal.value } : {}),
    ...(movedFrom ? { movedFrom: isUidp(movedFrom.value) ? movedFrom.value : serviceOf(movedFrom.value) } : {}),
    ...(source ? { credentials: source } : {}),
    ...(given.provider !== undefined ? { provider: given.provider } : {}),
  };
  return { ...parsed, config };
};

type Setting = keyof typeof VARIABLE;

/**
 * The settings that are set, in the order of docs/reference/provider.md, and where each comes from: `environment IRM_BASE_URL`. Without those
 * that name credentials.
 */
export const foundSettings = (
  fromStack: GetConfig | undefined,
  env: Env,
): { name: string; value: string; place: string }[] => {
  const { read } = settingsIn(fromStack ?? (() => undefined), env, NOTHING_GIVEN);
  return (Object.keys(VARIABLE) as Setting[]).flatMap((name) => {
    const found = read(name);
    return found ? [{ name, ...found }] : [];
  });
};

/**
 * An explicit provider or a flag may name another service than the environment; it then uses nothing that belongs to the environment's. A
 * configuration must not: the environment's addresses count, and those that differ are problems of the run.
 */
const settingsIn = (get: GetConfig, env: Env, given: Given) => {
  const { provider, flag } = given;
  const placesOf = (key: string): [string, string] => [
    flag ?? (provider === undefined ? `stack configuration irm:${key}` : `provider ${provider}: ${key}`),
    `environment ${VARIABLE[key as Setting]}`,
  ];
  const isGiven = provider !== undefined || flag !== undefined;
  const conflicts = addressConflicts({ baseUrl: get("irm:baseUrl"), authUrl: get("irm:authUrl") }, env);
  const isElsewhere = isGiven && conflicts.length > 0;
  const settingsEnv = isElsewhere ? without(env, SERVICES_OWN) : env;
  /** A CI system sets a missing variable to the empty string. */
  const read = (key: Setting) => {
    const [stack, environment] = placesOf(key);
    const isIgnored = !isGiven && conflicts.some(({ name }) => name === key);
    const inConfig = { value: isIgnored ? undefined : get(`irm:${key}`), place: stack };
    const inEnvironment = { value: settingsEnv[VARIABLE[key]], place: environment };
    const isEnvironmentFirst = ENVIRONMENT_FIRST.includes(key) && !isGiven;
    const order = isEnvironmentFirst ? [inEnvironment, inConfig] : [inConfig, inEnvironment];
    return order.flatMap(({ value, place }) => (value ? [{ value, place }] : []))[0];
  };
  const differing = isGiven ? [] : conflicts.map((one) => conflictText(one, placesOf(one.name)[0]));
  const named = env.IRM_BASE_URL || flag !== undefined ? "job" : "unnamed";
  const reach: Reach = isElsewhere ? "elsewhere" : named;
  return { read, differing, reach, placesOf };
};

/** Quotes an address only if it is one: another text may hold a password. */
const conflictText = ({ own, job, place }: AddressConflict, ownPlace: string) => {
  const problem = addressProblem(own);
  if (problem !== undefined) return `${ownPlace}: ${problem}`;
  const other = addressProblem(job) === undefined ? `${serviceOf(job)} (${place})` : place;
  return `${ownPlace}: ${serviceOf(own)} differs from ${other}, and credentials of the environment go only to the latter; make them the same, or remove the setting`;
};

const SERVICES_OWN = [VARIABLE.authUrl, VARIABLE.identity];

const missing = ([stack, environment]: [string, string], inStack: boolean) =>
  `no address of the API: set ${inStack ? `the ${stack}, or ` : ""}${environment.replace(/^environment /, "")} in the environment`;

const SECRETS = ["token", "identityToken"];

const secretProblem = (key: string) =>
  `irm:${key} would be stored in the state; remove it and use the environment (IRM_TOKEN, IRM_TOKEN_FILE)`;

/**
 * Problems and warnings of unknown keys. A misspelt setting is an error: without it the run could use another address. Any other key
 * may belong to a later version, so it is a warning.
 */
export const unknownKeys = ({ keys, project, provider }: Given): { problems: string[]; warnings: string[] } => {
  const problems: string[] = [];
  const warnings: string[] = [];
  const names = keys.filter((key) => key.startsWith("irm:")).map((key) => key.slice("irm:".length));
  if (provider !== undefined)
    return { problems: unknownArguments(names).map((problem) => `provider ${provider}: ${problem}`), warnings };
  if (project === "irm") return { problems, warnings };
  const settings = PROVIDER_SETTINGS.filter((name) => name !== "token");
  for (const key of names.filter((name) => ![...settings, ...SECRETS].includes(name))) {
    const near = nearest(key, [...settings, ...SECRETS]);
    const known = `it knows ${settings.map((name) => `irm:${name}`).join(", ")}`;
    if (near === undefined)
      warnings.push(`stack configuration irm:${key} is ignored: this version of pulumi-irm does not know it; ${known}`);
    else if (SECRETS.includes(near)) problems.push(secretProblem(key));
    else problems.push(`stack configuration irm:${key}: there is no such setting; did you mean irm:${near}?`);
  }
  return { problems, warnings };
};

/** Every unknown argument of an explicit provider is an error: its program and this code have the same version. */
export const unknownArguments = (names: readonly string[]): string[] =>
  names
    .filter((name) => !PROVIDER_SETTINGS.includes(name))
    .map((name) => `${name}: unknown argument${suggestion(name, PROVIDER_SETTINGS)}`);

/** The author of a change must not choose where tokens go: the configuration is the author's, the environment the job's. */
const ENVIRONMENT_FIRST: readonly Setting[] = ["baseUrl", "authUrl"];
