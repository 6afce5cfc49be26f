import { expect, it } from "vitest";
import { type Config, type Env, type GetConfig, type Given, parseConfig, unknownKeys } from "../../client/config.ts";
import { readConfig } from "../../client/credentials.ts";
import { ConfigError } from "../../client/errors.ts";
import { getter, ORG } from "../support/scripted.ts";
import { errorOf } from "../support/thrown.ts";

const BASE = "https://console-api.example.com";
const configFrom = (get: GetConfig, env: Env, given?: Given): Config => {
  const { config, strictProblems } = parseConfig(get, env, given);
  if (!config || strictProblems.length > 0) throw new ConfigError(strictProblems);
  return config;
};

const thrown = (config: Record<string, string>, env: Env): ConfigError =>
  errorOf(() => configFrom(getter(config), env));

it("configuration is read from the stack before the environment, except for the addresses, which are the same", () => {
  const [baseUrl, authUrl] = ["https://env.example.com", "https://env-auth.example.com"];
  const env = { IRM_BASE_URL: baseUrl, IRM_AUTH_URL: authUrl, IRM_IDENTITY: ORG };
  const stack = {
    "irm:baseUrl": "https://ENV.example.com/",
    "irm:authUrl": "https://env-auth.example.com:443",
    "irm:identity": `${ORG}/a033a6fabe0bfa0d`,
  };
  const own = { baseUrl, authUrl, requestTimeoutMs: 60_000 };
  expect(configFrom(getter(stack), env)).toEqual({ ...own, identity: `${ORG}/a033a6fabe0bfa0d` });
  expect(configFrom(getter(), env)).toEqual({ ...own, identity: ORG });
});

it("configuration treats an empty variable as unset", () => {
  expect(configFrom(getter({ "irm:baseUrl": "" }), { IRM_BASE_URL: BASE, IRM_IDENTITY: "" })).toEqual({
    baseUrl: BASE,
    authUrl: "https://issuer.example.com",
    requestTimeoutMs: 60_000,
  });
});

const authUrls: [string, string, string][] = [
  ["https://console-api.enforce.dev", "https://issuer.enforce.dev", "the service's own pair"],
  ["https://console-api.example.com/", "https://issuer.example.com", "a slash at the end goes"],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080", "one address for both"],
  ["https://irm.console-api.example.com", "https://irm.console-api.example.com", "only in front of the host"],
];
for (const [baseUrl, authUrl, reason] of authUrls)
  it(`configuration exchanges tokens at ${authUrl} for ${baseUrl}: ${reason}`, () =>
    expect(configFrom(getter(), { IRM_BASE_URL: baseUrl }).authUrl).toBe(authUrl));

const [NOT_HTTPS, CREDENTIALS] = ["must be an https URL", "must be a URL without user, query or fragment"];
const IN_THE_CLEAR = `${NOT_HTTPS}; http is for loopback only, since tokens would travel in the clear`;
const scheme = (address: string) => `has no scheme; write ${address}`;
const wrong: [string, string, string][] = [
  ["nonsense", NOT_HTTPS, "no URL"],
  ["127.0.0.1:8080", scheme("http://127.0.0.1:8080"), "an address of this machine without its scheme"],
  ["localhost:8080/", scheme("http://localhost:8080"), "a name that reads as a scheme"],
  ["console-api.example.com/password@", scheme("https://console-api.example.com/…"), "a host without its scheme"],
  ["eyJhbGci.eyJpc3Mi.c2ln", NOT_HTTPS, "a token"],
  ["http://example.com", IN_THE_CLEAR, "in the clear"],
  ["https://user:password@example.com", CREDENTIALS, "a password"],
  ["https://example.com?x=1", CREDENTIALS, "a query"],
];
for (const [baseUrl, problem, reason] of wrong)
  it(`configuration refuses ${reason} as an address, without quoting it`, () => {
    const error = thrown({}, { IRM_BASE_URL: baseUrl });
    expect(error.problems).toEqual([`environment IRM_BASE_URL: ${problem}`]);
    expect(error.message).not.toContain("password@");
  });

it("configuration names what to write for a former address without its scheme", () => {
  expect(thrown({}, { IRM_BASE_URL: BASE, IRM_MOVED_FROM: "localhost:8080" }).problems).toEqual([
    "environment IRM_MOVED_FROM: has no scheme; write http://localhost:8080",
  ]);
});

it("configuration reports all problems at once", () => {
  const stack = {
    "irm:baseUrl": "x",
    "irm:authUrl": "http://example.com",
    "irm:identity": "ci",
    "irm:token": "secret-token",
  };
  const error = thrown(stack, {});
  expect(error.problems).toHaveLength(4);
  expect(error.message).toContain("stack configuration irm:identity: must be the uid of an identity");
  expect(error.message).toContain("irm:token would be stored in the state");
  expect(error.message).not.toContain("secret-token");
});

const misspelt: [string, string][] = [
  ["baseURL", "did you mean irm:baseUrl?"],
  ["identiy", "did you mean irm:identity?"],
  ["requestTimeoutS", "did you mean irm:requestTimeout?"],
];
it.each(misspelt)("configuration refuses irm:%s: %s", (key, meant) => {
  const given = { keys: ["irm:baseUrl", `irm:${key}`, "aws:baseURL"], project: "access" };
  const [problem, ...further] = unknownKeys(given).problems;
  expect(problem).toBe(`stack configuration irm:${key}: there is no such setting; ${meant}`);
  expect(further).toEqual([]);
});

it("configuration refuses a misspelt token setting, which would be stored in the state too", () => {
  expect(unknownKeys({ keys: ["irm:Token", "irm:identitytoken"] }).problems).toEqual([
    "irm:Token would be stored in the state; remove it and use the environment (IRM_TOKEN, IRM_TOKEN_FILE)",
    "irm:identitytoken would be stored in the state; remove it and use the environment (IRM_TOKEN, IRM_TOKEN_FILE)",
  ]);
});

it("configuration reports a misspelt key together with the setting that it leaves missing", () => {
  expect(() => configFrom(getter({ "irm:baseURL": BASE }), {}, { keys: ["irm:baseURL"] })).toThrow(
    new ConfigError([
      "stack configuration irm:baseURL: there is no such setting; did you mean irm:baseUrl?",
      "no address of the API: set the stack configuration irm:baseUrl, or IRM_BASE_URL in the environment",
    ]),
  );
});

it("configuration only warns of a key that resembles no setting, since a later version may know it", () => {
  const given = { keys: ["irm:baseUrl", "irm:colour"] };
  expect(unknownKeys(given)).toEqual({
    problems: [],
    warnings: [
      "stack configuration irm:colour is ignored: this version of pulumi-irm does not know it; it knows irm:baseUrl, irm:authUrl, irm:identity, irm:requestTimeout, irm:journal, irm:movedFrom, irm:tokenEnv, irm:tokenFile, irm:identityTokenEnv, irm:identityTokenFile",
    ],
  });
  expect(configFrom(getter({ "irm:baseUrl": BASE }), {}, given).baseUrl).toBe(BASE);
});

it("configuration ignores the keys of a project that is called irm", () => {
  const given = { keys: ["irm:colour", "irm:baseURL"], project: "irm" };
  expect(unknownKeys(given)).toEqual({ problems: [], warnings: [] });
});

it("configuration lists all that can be set, credentials included, in one error", () => {
  expect(() => readConfig(getter(), {})).toThrow(
    new ConfigError(
      [
        "no address of the API: set the stack configuration irm:baseUrl, or IRM_BASE_URL in the environment",
        "no credentials in the environment: set IRM_TOKEN (an API token), IRM_TOKEN_FILE (a file with one), " +
          "IRM_IDENTITY_TOKEN (the workload's own OIDC token, which is exchanged for one) or IRM_IDENTITY_TOKEN_FILE (a file with one); " +
          "in GitHub Actions, give the job the permission id-token: write",
      ],
      "sign-in",
    ),
  );
});
