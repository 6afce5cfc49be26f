// Where the API and its token exchange are, and whether the environment says so. The environment is the job's. The stack's configuration,
// the program and its providers are the author's of a change, who must not choose where the job's tokens go
// (docs/reference/provider.md#addresses).
import { LOOPBACK_NAMES } from "../schema/index.ts";

/** One spelling for each address: `http://LOCALHOST:8080/` is `http://127.0.0.1:8080`. */
export const serviceOf = (address: string): string => {
  const { protocol, hostname, port, pathname } = new URL(address);
  const host = LOOPBACK_NAMES.includes(hostname) ? "127.0.0.1" : hostname;
  return withoutSlash(`${protocol}//${host}${port && `:${port}`}${pathname}`);
};

export const withoutSlash = (text: string): string => text.replace(/\/+$/, "");

/** Texts that are no URL are the same only if they are equal. */
export const isSameAddress = (one: string, other: string): boolean => {
  const [first, second] = [one, other].map((text) => (URL.canParse(text) ? serviceOf(text) : text));
  return first === second;
};

/** Tokens of a host `console-api.*` are exchanged at `issuer.*`, as at the public service; of any other host, at the host itself. */
export const defaultAuthUrl = (baseUrl: string): string => baseUrl.replace(/^(https?:\/\/)console-api\./, "$1issuer.");

const ADDRESSES = ["baseUrl", "authUrl"] as const;

export type AddressConflict = ReturnType<typeof addressConflicts>[number];

/**
 * The addresses that are given (`own`), and that the environment has otherwise (`job`, at `place`). Its exchange follows from its API where
 * IRM_AUTH_URL is not set.
 */
export const addressConflicts = (own: Readonly<Record<(typeof ADDRESSES)[number], string | undefined>>, env: Env) => {
  const { IRM_BASE_URL: baseUrl, IRM_AUTH_URL: authUrl } = env;
  const job = { baseUrl, authUrl: authUrl || (baseUrl && defaultAuthUrl(withoutSlash(baseUrl))) };
  const place = {
    baseUrl: "environment IRM_BASE_URL",
    authUrl: authUrl ? "environment IRM_AUTH_URL" : "the exchange of environment IRM_BASE_URL",
  };
  return ADDRESSES.flatMap((name) => {
    const [one, other] = [own[name], job[name]];
    return !one || !other || isSameAddress(one, other) ? [] : [{ name, own: one, job: other, place: place[name] }];
  });
};

/**
 * Who named the address that a run uses. `job`: the environment, or a flag. `unnamed`: the configuration or a provider, and the environment
 * has none. `elsewhere`: an explicit provider or a flag, and the environment has another one.
 */
export type Reach = "job" | "unnamed" | "elsewhere";

/** Whether the audience of a token names one of these addresses, or the host of an exchange. */
export const isAudience = (claims: Readonly<Record<string, unknown>>, addresses: readonly string[]): boolean =>
  [claims.aud]
    .flat()
    .some((one) => typeof one === "string" && addresses.some((address) => isSameAddress(one, address)));

/** The environment of a process. */
export type Env = Readonly<Record<string, string | undefined>>;

export const without = (env: Env, names: readonly string[]): Env => ({
  ...env,
  ...Object.fromEntries(names.map((name) => [name, undefined])),
});
