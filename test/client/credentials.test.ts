import { expect, it } from "vitest";
import { type Env, parseConfig } from "../../client/config.ts";
import {
  type CredentialEnvironment,
  type Credentials,
  credentialsFrom,
  missingCredentials,
} from "../../client/credentials.ts";
import { ConfigError, redactor } from "../../client/errors.ts";
import { manualClock } from "../harness/clock.ts";
import { getter, tokenWith as jwt, jwt as workloadJwt } from "../support/scripted.ts";

const HOUR = 3_600;

const setUp = (env: Env, files: Record<string, string> = {}, isEither = false) => {
  const clock = manualClock();
  const calls: string[] = [];
  let issued = 0;
  const surroundings: CredentialEnvironment = {
    env,
    isEither,
    clock,
    redactor: redactor(),
    readFile: async (path) => {
      calls.push(`read ${path}`);
      if (files[path] === undefined) throw Object.assign(new Error("no such file"), { code: "ENOENT" });
      return files[path];
    },
    exchange: async (token, source, limits) => {
      calls.push(`exchange ${token} of ${source}${limits ? ` for ${JSON.stringify(limits)}` : ""}`);
      // A clock that is ten minutes off does not matter: only the difference counts.
      return jwt({ iat: 1_000_000, exp: 1_000_000 + HOUR }, `${++issued}`);
    },
    githubToken: async (url, token) => {
      calls.push(`github ${url} ${token}`);
      return "github-oidc-token";
    },
  };
  return { credentials: credentialsFrom(surroundings), clock, calls, files };
};

const all: Env = {
  IRM_TOKEN: "token-1",
  IRM_TOKEN_FILE: "/token",
  IRM_IDENTITY_TOKEN: workloadJwt("1"),
  IRM_IDENTITY_TOKEN_FILE: "/workload",
  ACTIONS_ID_TOKEN_REQUEST_URL: "https://actions.example.com/token?api-version=2",
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: "request-token",
};
const files = { "/token": "token-2\n", "/workload": `${workloadJwt("2")}\n` };
const order: [keyof typeof all, string[]][] = [
  ["IRM_TOKEN", []],
  ["IRM_TOKEN_FILE", ["read /token"]],
  ["IRM_IDENTITY_TOKEN", [`exchange ${workloadJwt("1")} of IRM_IDENTITY_TOKEN`]],
  ["IRM_IDENTITY_TOKEN_FILE", ["read /workload", `exchange ${workloadJwt("2")} of IRM_IDENTITY_TOKEN_FILE`]],
  [
    "ACTIONS_ID_TOKEN_REQUEST_URL",
    [
      "github https://actions.example.com/token?api-version=2 request-token",
      "exchange github-oidc-token of GitHub Actions",
    ],
  ],
];
order.forEach(([name, expected], i) => {
  it(`the API token is ${name} when no earlier source is set`, async () => {
    const { credentials, calls } = setUp(Object.fromEntries(Object.entries(all).slice(i)), files);
    await credentials.token();
    expect(calls).toEqual(expected);
  });
});

it("the API token is an error without a request when no source is set", () => {
  expect(() => setUp({ IRM_TOKEN: "" })).toThrow(ConfigError);
  expect(() => setUp({ IRM_IDENTITY_TOKEN: "" })).toThrow("no credentials in the environment: set IRM_TOKEN");
  expect(() => setUp({ ACTIONS_ID_TOKEN_REQUEST_URL: "https://x.example.com" })).toThrow("no credentials");
});

it.each([
  ["http://actions.example.com/token", "; http is for loopback only, since tokens would travel in the clear"],
  ["ftp://127.0.0.1/token", "; http is for loopback only, since tokens would travel in the clear"],
  ["actions.example.com", ""],
])("the API token does not send GitHub's request token to %s", (url, reason) => {
  const env = { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: "request-token" };
  expect(() => setUp(env)).toThrow(
    new ConfigError([`ACTIONS_ID_TOKEN_REQUEST_URL: must be an https URL${reason}`], "sign-in"),
  );
});

it("the API token asks for GitHub's token over http on loopback", async () => {
  const url = "http://127.0.0.1:8080/token";
  const { credentials, calls } = setUp({
    ACTIONS_ID_TOKEN_REQUEST_URL: url,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: "request-token",
  });
  await credentials.token();
  expect(calls[0]).toBe(`github ${url} request-token`);
});

it("the API token does not quote a token that is given in place of a file name", async () => {
  const { credentials } = setUp({ IRM_IDENTITY_TOKEN_FILE: "eyJ.secret.token" });
  await expect(credentials.token()).rejects.toThrow(
    "pulumi-irm is not configured:\n  - IRM_IDENTITY_TOKEN_FILE names a file that cannot be read (ENOENT)",
  );
});

it("the API token refuses a token that no header can hold, without quoting it", async () => {
  const { credentials } = setUp({ IRM_TOKEN: "two\nlines" });
  await expect(credentials.token()).rejects.toThrow("  - IRM_TOKEN does not hold a token");
});

const [header = "", claims = ""] = workloadJwt("x").split(".");
const rows: [string, string][] = [
  ["the path of a file", "/var/run/secrets/tokens/irm.token"],
  ["the name of a host", "issuer.example.com"],
  ["an opaque token", "0123456789abcdef0123456789abcdef"],
  ["spaces alone", "   "],
  ["a token with a space in it", workloadJwt("with a space")],
  ["a header of HTTP", `Bearer ${workloadJwt("x")}`],
  ["a token in quotes", JSON.stringify(workloadJwt("x"))],
  ["a token that was cut short", `${header}.${claims}`],
  ["a token without a signature", `${header}.${claims}.`],
  ["an encrypted token", `${workloadJwt("x")}.x.x`],
  ["claims that are no object", `${header}.${Buffer.from("[]").toString("base64url")}.x`],
];
const WANTED = "the workload's own OIDC token, a JWT: three parts of letters and digits with dots between them";

it.each(rows)("a malformed token: %s in IRM_IDENTITY_TOKEN", (_, value) => {
  expect(() => setUp({ IRM_IDENTITY_TOKEN: value })).toThrow(
    new ConfigError(
      [`IRM_IDENTITY_TOKEN is not ${WANTED}; for a token that is in a file, set IRM_IDENTITY_TOKEN_FILE to its path`],
      "sign-in",
    ),
  );
});

it.each([["nothing", ""], ...rows])(
  "a malformed token: %s in the file of IRM_IDENTITY_TOKEN_FILE",
  async (_, value) => {
    const { credentials, calls } = setUp({ IRM_IDENTITY_TOKEN_FILE: "/workload" }, { "/workload": value });
    await expect(credentials.token()).rejects.toThrow(
      new ConfigError(
        [
          `IRM_IDENTITY_TOKEN_FILE names a file that does not hold ${WANTED}; for an API token, set IRM_TOKEN_FILE to its path`,
        ],
        "sign-in",
      ),
    );
    expect(calls).toEqual(["read /workload"]);
  },
);

it("a malformed token: a line break at the end of a token is ignored", async () => {
  const { credentials, calls } = setUp({ IRM_IDENTITY_TOKEN: `${workloadJwt("1")}\n` });
  await credentials.token();
  expect(calls).toEqual([`exchange ${workloadJwt("1")} of IRM_IDENTITY_TOKEN`]);
});

it("an exchanged token is cached, and exchanged again when a twelfth of its lifetime is left", async () => {
  const { credentials, clock, calls } = setUp({ IRM_IDENTITY_TOKEN: workloadJwt("w") });
  await credentials.token();
  clock.advance(54 * 60_000);
  await credentials.token();
  expect(calls).toHaveLength(1);
  clock.advance(2 * 60_000);
  await credentials.token();
  expect(calls).toHaveLength(2);
});

it("an exchanged token is exchanged once for all concurrent callers", async () => {
  const { credentials, calls } = setUp({ IRM_IDENTITY_TOKEN: workloadJwt("w") });
  await Promise.all(Array.from({ length: 50 }, () => credentials.token()));
  expect(calls).toHaveLength(1);
});

it("an exchanged token is exchanged again after a refusal, once for all callers that hold it", async () => {
  const { credentials, calls } = setUp({ IRM_IDENTITY_TOKEN: workloadJwt("w") });
  const first = await credentials.token();
  const renewed = await Promise.all(Array.from({ length: 50 }, () => credentials.renew(first)));
  expect(new Set(renewed).size).toBe(1);
  expect(renewed[0]).not.toBe(first);
  expect(await credentials.renew(first)).toBe(renewed[0]);
  expect(calls).toHaveLength(2);
});

it("an exchanged token is exchanged for the current token in the workload's file", async () => {
  const { credentials, clock, calls, files } = setUp(
    { IRM_IDENTITY_TOKEN_FILE: "/workload" },
    { "/workload": workloadJwt("first") },
  );
  await credentials.token();
  files["/workload"] = workloadJwt("second");
  clock.advance(HOUR * 1000);
  await credentials.token();
  expect(calls.filter((call) => call.startsWith("exchange"))).toEqual([
    `exchange ${workloadJwt("first")} of IRM_IDENTITY_TOKEN_FILE`,
    `exchange ${workloadJwt("second")} of IRM_IDENTITY_TOKEN_FILE`,
  ]);
});

const limits = { capabilities: ["repo.create"], scopes: ["a".repeat(40)] };

it("narrowed credentials exchange the workload's token for one within the limits, renewed in time", async () => {
  const { credentials, clock, calls } = setUp({ IRM_IDENTITY_TOKEN: workloadJwt("w") });
  const narrowed = (await credentials.narrowed(limits)) as Credentials;
  const tokens = [await narrowed.token(), await narrowed.token(), await credentials.token()];
  clock.advance(56 * 60_000);
  tokens.push(await narrowed.token());
  expect(new Set(tokens).size).toBe(3);
  const exchanged = `exchange ${workloadJwt("w")} of IRM_IDENTITY_TOKEN`;
  const own = `${exchanged} for ${JSON.stringify(limits)}`;
  expect(calls).toEqual([own, exchanged, own]);
});

it("narrowed credentials do not exist for an API token, also where its content tells", async () => {
  const apiToken = jwt({ sub: "a".repeat(40) });
  for (const env of [{ IRM_TOKEN: "opaque" }, { IRM_TOKEN_FILE: "/token" }])
    expect(await setUp(env, { "/token": apiToken }).credentials.narrowed(limits)).toBeUndefined();
  const either = (token: string) => setUp({ IRM_TOKEN: token }, {}, true).credentials.narrowed(limits);
  expect(await either(apiToken)).toBeUndefined();
  expect(await either(workloadJwt("w"))).toBeDefined();
});

it("a given token cannot be renewed", async () => {
  const { credentials } = setUp({ IRM_TOKEN: "token" });
  expect(await credentials.renew(await credentials.token())).toBeUndefined();
});

it("a given token is read again from its file after a refusal", async () => {
  const { credentials, files } = setUp({ IRM_TOKEN_FILE: "/token" }, { "/token": "first" });
  expect(await credentials.token()).toBe("first");
  expect(await credentials.renew("first")).toBeUndefined();
  files["/token"] = "second";
  expect(await credentials.renew("first")).toBe("second");
  expect(await credentials.token()).toBe("second");
});

const BASE = { "irm:baseUrl": "https://api.example.com" };

const JOB = {
  IRM_BASE_URL: "https://api.example.com",
  IRM_ALLOW_TOKEN_SOURCES: "ACME, ACME_TOKEN CI_TOKEN,/run/token",
};

const parse = (settings: Record<string, string>, env: Record<string, string> = {}, provider?: string) =>
  parseConfig(getter({ ...BASE, ...settings }), { ...JOB, ...env }, { keys: Object.keys(settings), provider });

const credentials = (settings: Record<string, string>, env: Record<string, string>, provider?: string) => {
  const { credentials: source, config } = parse(settings, env, provider);
  const environment: CredentialEnvironment = {
    ...source,
    identity: config?.identity,
    clock: manualClock(),
    redactor: redactor(),
    readFile: async (path) => `in ${path}`.replaceAll(/\W+/g, "-"),
    exchange: () => Promise.reject(new Error("not exchanged here")),
    githubToken: () => Promise.reject(new Error("not asked here")),
  };
  return credentialsFrom(environment);
};

it("settings of a token replace the usual variables", async () => {
  const env = { IRM_TOKEN: "usual", ACME_TOKEN: "acme" };
  const own = credentials({ "irm:tokenEnv": "ACME_TOKEN" }, env);
  expect(await own.token()).toBe("acme");
  expect(own.source).toBe("ACME_TOKEN (stack configuration irm:tokenEnv)");
  const file = credentials({ "irm:tokenFile": "/run/token" }, env);
  expect(await file.token()).toBe("in-run-token");
  expect(file.source).toBe("the file that stack configuration irm:tokenFile names");
});

it("settings of a token take an API token, or the workload's own, which is exchanged", async () => {
  const claims = (sub: string) => jwt({ sub });
  const identity = `${"a".repeat(40)}/0123456789abcdef`;
  const ownToken = (token: string, settings = {}) =>
    credentials({ "irm:tokenEnv": "ACME", ...settings }, { ACME: token }, "acme");
  expect(await ownToken(claims(identity)).token()).toBe(claims(identity));
  await expect(ownToken(claims("repo:acme/x")).token()).rejects.toThrow("not exchanged here");
  const other = ownToken(claims(identity), { "irm:identity": `${"b".repeat(40)}/0123456789abcdef` });
  await expect(other.token()).rejects.toThrow(
    `ACME (provider acme: tokenEnv) holds an API token that is of the identity ${identity}, and the identity to assume is bbbb`,
  );
  await expect(ownToken("opaque", { "irm:identity": identity }).token()).rejects.toThrow(
    `ACME (provider acme: tokenEnv) holds an API token that does not show its identity, and the identity to assume is ${identity}`,
  );
});

it("settings of a token may give an explicit provider its token, and the stack none", async () => {
  const own = credentials({ "irm:token": "acme" }, { IRM_TOKEN: "usual" }, "acme");
  expect(await own.token()).toBe("acme");
  expect(own.source).toBe("provider acme: token");
  expect(parse({ "irm:token": "acme" }).problems).toEqual([
    "irm:token would be stored in the state; remove it and use the environment (IRM_TOKEN, IRM_TOKEN_FILE)",
  ]);
});

it("settings of a token are a problem where the variable does not exist, only once a token is needed", () => {
  const { problems, credentials: source } = parse({ "irm:tokenEnv": "ACME_TOKEN" }, { IRM_TOKEN: "usual" }, "acme");
  expect(problems).toEqual([]);
  expect(missingCredentials(source)).toBe("provider acme: tokenEnv: the environment has no ACME_TOKEN");
  expect(() => credentials({ "irm:tokenEnv": "ACME_TOKEN" }, { IRM_TOKEN: "usual" }, "acme")).toThrow(
    "provider acme: tokenEnv: the environment has no ACME_TOKEN",
  );
});

it("settings of a token are refused where they are a token by mistake, or more than one, without quoting them", () => {
  expect(parse({ "irm:tokenEnv": "eyJhbGciOi.J9.secret" }).problems).toEqual([
    "stack configuration irm:tokenEnv: must be the name of an environment variable",
  ]);
  expect(parse({ "irm:tokenEnv": "A", "irm:tokenFile": "/b" }).problems).toEqual([
    "only one of these may be set: stack configuration irm:tokenEnv; stack configuration irm:tokenFile",
  ]);
});

it("settings of a token name the workload's own token too", () => {
  expect(() => credentials({ "irm:identityTokenEnv": "CI_TOKEN" }, { CI_TOKEN: "opaque" })).toThrow(
    "CI_TOKEN (stack configuration irm:identityTokenEnv) is not the workload's own OIDC token, a JWT: three parts of letters and " +
      "digits with dots between them; for a token that is in a file, set identityTokenFile to its path",
  );
});

it("the arguments of an explicit provider are named by the provider in every problem", () => {
  const { problems } = parseConfig(
    getter({ "irm:baseUrl": "ftp://x", "irm:identity": "me" }),
    {},
    { keys: [], provider: "acme" },
  );
  expect(problems).toEqual([
    "provider acme: baseUrl: must be an https URL; http is for loopback only, since tokens would travel in the clear",
    "provider acme: identity: must be the uid of an identity: 40 hexadecimal digits, then / and 16 more for each level",
  ]);
});

it("the arguments of an explicit provider fall back to the environment", () => {
  const { config } = parseConfig(getter({}), JOB, { keys: [], provider: "acme" });
  expect(config?.baseUrl).toBe("https://api.example.com");
});
