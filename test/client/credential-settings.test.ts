import { describe, expect, it } from "vitest";
import { parseConfig } from "../../client/config.ts";
import { type CredentialEnvironment, credentialsFrom, missingCredentials } from "../../client/credentials.ts";
import { redactor } from "../../client/errors.ts";
import { manualClock } from "../harness/clock.ts";
import { getter } from "../support/scripted.ts";

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

describe("settings that name where a token is", () => {
  it("replace the usual variables", async () => {
    const env = { IRM_TOKEN: "usual", ACME_TOKEN: "acme" };
    const own = credentials({ "irm:tokenEnv": "ACME_TOKEN" }, env);
    expect(await own.token()).toBe("acme");
    expect(own.source).toBe("ACME_TOKEN (stack configuration irm:tokenEnv)");
    const file = credentials({ "irm:tokenFile": "/run/token" }, env);
    expect(await file.token()).toBe("in-run-token");
    expect(file.source).toBe("the file that stack configuration irm:tokenFile names");
  });

  it("take an API token, or the workload's own, which is exchanged", async () => {
    const claims = (sub: string) => ["e30", Buffer.from(JSON.stringify({ sub })).toString("base64url"), "x"].join(".");
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

  it("may give an explicit provider its token, which the stack's configuration must not hold", async () => {
    const own = credentials({ "irm:token": "acme" }, { IRM_TOKEN: "usual" }, "acme");
    expect(await own.token()).toBe("acme");
    expect(own.source).toBe("provider acme: token");
    expect(parse({ "irm:token": "acme" }).problems).toEqual([
      "irm:token would be stored in the state; remove it and use the environment (IRM_TOKEN, IRM_TOKEN_FILE)",
    ]);
  });

  it("are a problem where the variable does not exist, only once a token is needed", () => {
    const { problems, credentials: source } = parse({ "irm:tokenEnv": "ACME_TOKEN" }, { IRM_TOKEN: "usual" }, "acme");
    expect(problems).toEqual([]);
    expect(missingCredentials(source)).toBe("provider acme: tokenEnv: the environment has no ACME_TOKEN");
    expect(() => credentials({ "irm:tokenEnv": "ACME_TOKEN" }, { IRM_TOKEN: "usual" }, "acme")).toThrow(
      "provider acme: tokenEnv: the environment has no ACME_TOKEN",
    );
  });

  it("are refused where they are a token by mistake, or more than one, without quoting them", () => {
    expect(parse({ "irm:tokenEnv": "eyJhbGciOi.J9.secret" }).problems).toEqual([
      "stack configuration irm:tokenEnv: must be the name of an environment variable",
    ]);
    expect(parse({ "irm:tokenEnv": "A", "irm:tokenFile": "/b" }).problems).toEqual([
      "only one of these may be set: stack configuration irm:tokenEnv; stack configuration irm:tokenFile",
    ]);
  });

  it("name the workload's own token too", () => {
    expect(() => credentials({ "irm:identityTokenEnv": "CI_TOKEN" }, { CI_TOKEN: "opaque" })).toThrow(
      "CI_TOKEN (stack configuration irm:identityTokenEnv) is not the workload's own OIDC token, a JWT: three parts of letters and " +
        "digits with dots between them; for a token that is in a file, set identityTokenFile to its path",
    );
  });
});

describe("the arguments of an explicit provider", () => {
  it("are named by the provider in every problem", () => {
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

  it("fall back to the environment", () => {
    const { config } = parseConfig(getter({}), JOB, { keys: [], provider: "acme" });
    expect(config?.baseUrl).toBe("https://api.example.com");
  });
});
