// Where credentials go. The environment is the job's, and everything else may be of the author of a pull request, whose
// address is EVIL.
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, test } from "vitest";
import { clientWith } from "../../client/client.ts";
import { parseConfig } from "../../client/config.ts";
import { missingCredentials, readConfig } from "../../client/credentials.ts";
import { redactor } from "../../client/errors.ts";
import { manualClock } from "../harness/clock.ts";
import { getter, json, ORG, tokenWith } from "../support/scripted.ts";
import { testFolder } from "../support/test-folder.ts";

const API = "https://console-api.example.com";
const EXCHANGE = "https://issuer.example.com";
const EVIL = "https://evil.example";
const IDENTITY = `${ORG}/a033a6fabe0bfa0d`;

const apiToken = (aud: string | string[]) => tokenWith({ sub: IDENTITY, aud });
const workloadToken = (aud: string | string[]) => tokenWith({ sub: "repo:acme/x", aud });

const GITHUB = {
  ACTIONS_ID_TOKEN_REQUEST_URL: "https://pipelines.example/token?api-version=2",
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: "request-token",
};
const USUAL: Record<string, Record<string, string>> = {
  IRM_TOKEN: { IRM_TOKEN: apiToken(API) },
  IRM_IDENTITY_TOKEN: { IRM_IDENTITY_TOKEN: workloadToken(EXCHANGE) },
  "the token of the GitHub Actions job": GITHUB,
};

interface Sent {
  url: string;
  token: string;
}

/** What one call of the API sends, with these settings of the configuration or of a provider, and its error. */
const send = async (settings: Record<string, string>, env: Record<string, string>, provider?: string) => {
  const sent: Sent[] = [];
  const given = { keys: Object.keys(settings).map((name) => `irm:${name}`), provider };
  const get = getter(Object.fromEntries(Object.entries(settings).map(([name, value]) => [`irm:${name}`, value])));
  try {
    const config = readConfig(get, env, given);
    const client = clientWith({
      ...{ config, env, clock: manualClock(), redactor: redactor() },
      transport: async ({ url, token }) => {
        sent.push({ url: url.href, token });
        if (url.host === "pipelines.example") return json({ value: workloadToken(EXCHANGE) });
        // An exchange that gives a token for any audience.
        const aud = url.searchParams.get("aud");
        return json(aud === null ? { items: [] } : { token: apiToken(aud) });
      },
    });
    await client.call("ListGroups", {});
    return { sent, hosts: hostsOf(sent), error: "" };
  } catch (error) {
    return { sent, hosts: hostsOf(sent), error: (error as Error).message };
  }
};

const hostsOf = (sent: Sent[]): string[] => [...new Set(sent.map(({ url }) => new URL(url).host))];

const folder = testFolder().path(".");

const named = { IRM_BASE_URL: API };
const attacks: [string, Record<string, string>, string | undefined, string][] = [
  ["irm:baseUrl", { baseUrl: EVIL }, undefined, `${EVIL} differs from ${API} (environment IRM_BASE_URL)`],
  ["irm:authUrl", { authUrl: EVIL }, undefined, `differs from ${EXCHANGE} (the exchange of environment IRM_BASE_URL)`],
  ["another port", { baseUrl: `${API}:8443` }, undefined, `${API}:8443 differs from ${API}`],
  ["a path", { authUrl: `${EXCHANGE}/evil` }, undefined, `${EXCHANGE}/evil differs from ${EXCHANGE}`],
  ["a user in front of the host", { baseUrl: `https://x:y@evil.example` }, undefined, "URL without user"],
  ["a provider", { baseUrl: EVIL }, "p", "provider p: no credentials; "],
  ["the exchange of a provider", { authUrl: EVIL }, "p", "provider p: no credentials; "],
];
for (const [name, credentials] of Object.entries(USUAL))
  test.each(attacks)(`${name} does not go to an address of %s`, async (_, settings, provider, text) => {
    const { sent, error } = await send(settings, { ...named, ...credentials }, provider);
    expect(sent).toEqual([]);
    expect(error).toContain(text);
  });

test.each(Object.entries(USUAL))(
  "with IRM_BASE_URL, %s goes where the environment says, in another spelling too",
  async (name, own) => {
    const settings = { baseUrl: "https://CONSOLE-API.example.com:443/", authUrl: `${EXCHANGE}/` };
    for (const provider of [undefined, "p"]) {
      const { hosts, error } = await send(settings, { ...named, ...own }, provider);
      expect(error).toBe("");
      expect(hosts.filter((host) => host !== "pipelines.example")).toEqual(
        name === "IRM_TOKEN" ? ["console-api.example.com"] : ["issuer.example.com", "console-api.example.com"],
      );
    }
  },
);

it("with IRM_BASE_URL, it wins in a refresh and a destroy, which have the configuration of the last update", () => {
  const moved = getter({ "irm:baseUrl": "https://before.example.com", "irm:authUrl": "https://issuer.before.com" });
  const { config, problems, strictProblems } = parseConfig(moved, { ...named, ...USUAL.IRM_TOKEN });
  expect(config).toMatchObject({ baseUrl: API, authUrl: EXCHANGE });
  expect(problems).toEqual([]);
  expect(strictProblems).toHaveLength(2);
});

it("without IRM_BASE_URL, credentials are an API token that is for this address by its audience", async () => {
  const token = apiToken([API, "https://other.example"]);
  const file = join(folder, "api-token");
  writeFileSync(file, token);
  const tokens: Record<string, string>[] = [{ IRM_TOKEN: token }, { IRM_TOKEN_FILE: file }];
  for (const own of tokens)
    for (const provider of [undefined, "p"])
      expect(await send({ baseUrl: `${API}/` }, own, provider)).toMatchObject({
        hosts: [new URL(API).host],
        error: "",
      });
});

const refused: [string, Record<string, string>][] = [
  ["IRM_TOKEN", { IRM_TOKEN: apiToken(API) }],
  ["IRM_TOKEN", { IRM_TOKEN: "opaque" }],
  ["IRM_IDENTITY_TOKEN", { IRM_IDENTITY_TOKEN: workloadToken(EVIL) }],
  ["IRM_IDENTITY_TOKEN_FILE", { IRM_IDENTITY_TOKEN_FILE: "/run/token" }],
  ["the token of the GitHub Actions job", GITHUB],
];
test.each(refused)("without IRM_BASE_URL, %s is not sent, and the message says to set it", async (name, own) => {
  for (const provider of [undefined, "p"]) {
    const place = provider === undefined ? "stack configuration irm:baseUrl" : "provider p: baseUrl";
    const { sent, error } = await send({ baseUrl: EVIL }, own, provider);
    expect(sent).toEqual([]);
    expect(error).toContain(
      `${place}: ${name} is not sent to ${EVIL}: the environment does not name this address; if it is right, set IRM_BASE_URL=${EVIL}`,
    );
    expect(error).not.toContain("eyJ");
  }
});

it("without IRM_BASE_URL, credentials are not the token of a file that is for another address", async () => {
  const { sent, error } = await send({ baseUrl: EVIL }, { IRM_TOKEN_FILE: join(folder, "api-token") });
  expect(sent).toEqual([]);
  expect(error).toContain(`set IRM_BASE_URL=${EVIL}`);
});

const env = { IRM_BASE_URL: API, IRM_AUTH_URL: EXCHANGE, IRM_IDENTITY: IDENTITY, IRM_REQUEST_TIMEOUT: "9" };
const there = "https://there.example.com";

it("a provider at another address uses no exchange or identity of the environment, and no token until it asks", () => {
  const { config, credentials } = parseConfig(getter({ "irm:baseUrl": there }), env, { keys: [], provider: "acme" });
  expect(config).toMatchObject({ baseUrl: there, authUrl: there, requestTimeoutMs: 9_000 });
  expect(config?.identity).toBeUndefined();
  expect(missingCredentials(credentials)).toBe(
    "provider acme: no credentials; give it a token, or name one by tokenEnv or tokenFile that IRM_ALLOW_TOKEN_SOURCES lists",
  );
});

it("a provider at another address uses the token that the program gives it", async () => {
  for (const token of [apiToken(there), workloadToken("any"), "opaque"])
    expect(await send({ baseUrl: there, token }, { ...env, IRM_TOKEN: "usual" }, "p")).toMatchObject({
      hosts: ["there.example.com"],
      error: "",
    });
});

describe("IRM_ALLOW_TOKEN_SOURCES", () => {
  const file = join(folder, "token");
  const other = join(folder, "other");
  const link = join(folder, "link");
  const kept = join(folder, "kept");
  const hardLink = join(folder, "hard");
  beforeAll(() => {
    writeFileSync(file, apiToken(API));
    writeFileSync(other, "secret");
    symlinkSync(file, link);
    mkdirSync(kept);
    symlinkSync("/", join(kept, "root"));
    symlinkSync(other, join(kept, "token"));
    linkSync(other, hardLink);
  });
  const env = { IRM_BASE_URL: API, ACME: apiToken(API), PULUMI_ACCESS_TOKEN: "pul-secret" };
  const sendNamed = (settings: Record<string, string>, list: string, own: Record<string, string> = env) =>
    send(settings, { ...own, IRM_ALLOW_TOKEN_SOURCES: list });

  test.each<[string, Record<string, string>, string]>([
    ["another variable", { tokenEnv: "PULUMI_ACCESS_TOKEN" }, "ACME"],
    ["a variable, and there is no list", { identityTokenEnv: "ACME" }, ""],
    ["a part of a name", { tokenEnv: "ACM" }, "ACME"],
    ["another case", { tokenEnv: "acme" }, "ACME"],
    ["another file", { tokenFile: other }, file],
    ["the variables of the process", { tokenFile: "/proc/self/environ" }, `${file} /`],
    ["them by a link", { tokenFile: join(kept, "root", "proc", "self", "environ") }, `${file},/proc/1/environ`],
    ["them by the path of another process", { tokenFile: `/proc/${process.pid}/environ` }, "/proc/self/environ"],
    ["a file below a listed folder", { tokenFile: join(kept, "token") }, kept],
    ["a link to another file", { identityTokenFile: join(kept, "token") }, file],
    ["a hard link of a listed file, which is another path", { tokenFile: hardLink }, other],
    ["`..` after a link", { tokenFile: `${join(kept, "root")}/..${other}` }, file],
    ["a file that does not exist", { tokenFile: `${file}-2` }, file],
  ])("refuses %s", async (_, settings, list) => {
    const { sent, error } = await sendNamed(settings, list);
    expect(sent).toEqual([]);
    expect(error).toContain("that IRM_ALLOW_TOKEN_SOURCES of the environment does not list; list it there");
    expect(error).not.toContain("secret");
  });

  test.each<[string, Record<string, string>, string]>([
    ["a variable", { tokenEnv: "ACME" }, `OTHER, ACME`],
    ["a file", { tokenFile: file }, `ACME\n${file}`],
    ["a link to a listed file", { tokenFile: link }, file],
    ["a listed link", { tokenFile: file }, link],
    ["another path of a listed file", { tokenFile: `${folder}/kept/../token` }, file],
  ])("allows %s, at the address of the environment", async (_, settings, list) => {
    expect(await sendNamed(settings, list)).toMatchObject({ hosts: ["console-api.example.com"], error: "" });
  });

  it("is read again with the file, so that a link which has changed is not followed", async () => {
    const moving = join(folder, "moving");
    symlinkSync(file, moving);
    const { refusesFile } = parseConfig(getter({ "irm:tokenFile": moving }), {
      IRM_BASE_URL: API,
      IRM_ALLOW_TOKEN_SOURCES: file,
    }).credentials;
    expect(refusesFile?.(moving)).toBeUndefined();
    rmSync(moving);
    symlinkSync(other, moving);
    expect(refusesFile?.(moving)).toContain("does not list");
  });

  it("has mistakes, which are named by their number", async () => {
    const { error } = await sendNamed({ tokenEnv: "ACME" }, "ACME, a/b ACME=https://:x");
    expect(error).toContain("entry 2 must be the name of a variable, or the absolute path of a file");
    expect(error).toContain("entry 3 has an address that is not a URL");
  });

  const there = "https://there.example.com";
  const elsewhere = (token: string, list: string, more: Record<string, string> = {}) =>
    send({ baseUrl: there, tokenEnv: "ACME", ...more }, { ...env, ACME: token, IRM_ALLOW_TOKEN_SOURCES: list }, "p");

  it("lets a token go to another address that its audience names", async () => {
    const allowed = { hosts: ["there.example.com"], error: "" };
    expect(await elsewhere(apiToken(there), "ACME")).toMatchObject(allowed);
    expect(await elsewhere(workloadToken(there), "ACME")).toMatchObject(allowed);
    expect(await elsewhere(workloadToken("there.example.com"), "ACME")).toMatchObject(allowed);
  });

  test.each<[string, string, string, Record<string, string>]>([
    ["an API token for another service", apiToken(API), "ACME", {}],
    ["an opaque token", "opaque", "ACME", {}],
    ["a workload's token for another exchange", workloadToken(EXCHANGE), "ACME", {}],
    ["a token with an entry for another address", "opaque", `ACME=${API}`, {}],
    ["a workload's token for the API, to another exchange", workloadToken(there), "ACME", { authUrl: EVIL }],
    ["a bound token, to another exchange", workloadToken("any"), `ACME=${there}`, { authUrl: EVIL }],
  ])("does not let it go there otherwise: %s", async (_, token, list, settings) => {
    const { sent, error } = await elsewhere(token, list, settings);
    expect(sent).toEqual([]);
    expect(error).toContain(`list ACME=${there} in IRM_ALLOW_TOKEN_SOURCES of the environment`);
  });

  it("does not let the token of an exchange go to another API than its own", async () => {
    const settings = { baseUrl: EVIL, authUrl: EXCHANGE };
    const own = { ...env, ACME: workloadToken(EXCHANGE), IRM_ALLOW_TOKEN_SOURCES: "ACME" };
    // This exchange gives a token for any audience, and so for an address that has no use for it.
    const { sent } = await send({ ...settings, identityTokenEnv: "ACME" }, own, "p");
    expect(sent.map(({ url, token }) => [new URL(url).origin, token])).toEqual([
      [EXCHANGE, workloadToken(EXCHANGE)],
      [EVIL, apiToken(EVIL)],
    ]);
  });

  it("binds a token to an address, whatever its audience", async () => {
    const allowed = { hosts: ["there.example.com"], error: "" };
    expect(await elsewhere("opaque", `ACME=${there}/`)).toMatchObject(allowed);
    expect(await elsewhere(workloadToken("any"), `ACME=${there}`)).toMatchObject(allowed);
    const both = `ACME=${there},ACME=https://sts.example.com`;
    expect(await elsewhere(workloadToken("any"), both, { authUrl: "https://sts.example.com" })).toMatchObject({
      hosts: ["sts.example.com", "there.example.com"],
      error: "",
    });
  });
});
