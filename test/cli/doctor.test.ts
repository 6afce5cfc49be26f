// `irm doctor`: it passes where a run would work, names what is wrong where it would not, only reads, and prints no secret.
// Where the exchange refuses a workload's token: what the token has, and what the identity wants.
import { chmodSync, mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Check } from "../../cli/doctor/check.ts";
import { checkEngine, checkPlugin } from "../../cli/doctor/machine.ts";
import { packageVersion } from "../../cli/irm-command.ts";
import { IAM, serve } from "../harness/api-server.ts";
import { manualClock } from "../harness/clock.ts";
import { createRecord, createUid } from "../harness/records.ts";
import { payloadOf } from "../harness/sts.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../support/certificate.ts";
import { runIrm } from "../support/irm.ts";
import { startProxy } from "../support/proxy.ts";
import { testFolder } from "../support/test-folder.ts";

const MAIN = "repo:acme/images:ref:refs/heads/main";
const PRODUCTION = { claims: { environment: "production" } };

const failed = ({ checks }: { checks: Check[] }): string[] => checks.filter(({ ok }) => !ok).map(({ id }) => id);

/** id and message of each check that fails */
const problems = async (...flags: string[]): Promise<[id: string, message: string][]> =>
  (await doctor(...flags)).checks.filter(({ ok }) => !ok).map(({ id, message }) => [id, message]);

const messageOf = ({ checks }: { checks: Check[] }, id: string): string | undefined =>
  checks.find((one) => one.id === id)?.message;

const doctor = async (...flags: string[]) => {
  const { code, stdout, stderr } = await runIrm("doctor", "--format", "json", ...flags);
  expect(stderr).toBe("");
  return { code, checks: JSON.parse(stdout).checks as Check[], text: stdout };
};

const folder = testFolder();
const api = await serve({ clock: manualClock(Date.now()) });
const claimMatch = { issuer: api.issuer, subject: MAIN, ...PRODUCTION };
const { uid: release } = await createRecord(api, "identities", api.organization, { name: "release", claimMatch });

/** An engine on the PATH: the selected stack and its configuration. */
const useEngine = (config: object = {}): void => {
  const script = `#!/bin/sh
args="$*"
case "\${args% --non-interactive --color never}" in
version) echo v3.270.0 ;;
"plugin ls --json") echo '[]' ;;
"stack --show-name") echo dev ;;
"config --json --stack dev") echo '${JSON.stringify(config)}' ;;
*) echo "error: unexpected $*" >&2; exit 1 ;;
esac
`;
  chmodSync(folder.write("bin/pulumi", script), 0o755);
  vi.stubEnv("PATH", folder.path("bin"));
};

const useProject = (): void => {
  folder.write("project/Pulumi.yaml", "name: access\nruntime: nodejs\n");
  vi.spyOn(process, "cwd").mockReturnValue(folder.path("project"));
};

const workload = async (subject: string, further: object = {}): Promise<string> => {
  const token = await api.identityToken(subject, { ...further });
  vi.stubEnv("IRM_IDENTITY_TOKEN", token);
  return token;
};

beforeEach(() => {
  mkdirSync(folder.path("empty"), { recursive: true });
  vi.spyOn(process, "cwd").mockReturnValue(folder.path("empty"));
  vi.stubEnv("XDG_STATE_HOME", folder.path("state"));
  vi.stubEnv("IRM_BASE_URL", api.baseUrl);
  for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "NODE_EXTRA_CA_CERTS"])
    vi.stubEnv(name, undefined);
  useEngine();
  return () => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  };
});

/** The claims that are times, as the test shows them. */
const timeIn = (name: string): string | undefined => ({ iat: "now", exp: "later (in 1 hour)" })[name];

test("passes where a workload signs in, and shows where each value comes from", async () => {
  await workload(MAIN, PRODUCTION);
  vi.stubEnv("IRM_IDENTITY", release);
  const { code, stdout } = await runIrm("doctor");
  const shown = stdout
    .replace(/answers in \d+ ms/, "answers in 5 ms")
    .replace(/within \d seconds of/, "within 1 second of")
    .replace(/(until )\S+Z \(in/g, "$12026 (in")
    .replace(/: \S+Z \(\d+ seconds? ago\)/, ": now")
    .replace(/exp: \S+Z/, "exp: later");
  expect(shown).toBe(`ok      node              ${process.versions.node}
ok      engine            pulumi v3.270.0
ok      plugin            not installed; programs with dynamic resources need none
ok      stack             there is no Pulumi project in this folder, so only the environment counts
ok      address           ${api.baseUrl} (environment IRM_BASE_URL)
ok      exchange-address  ${api.authUrl} (default)
ok      identity          ${release} (environment IRM_IDENTITY)
ok      request-timeout   60 (default)
ok      journal           ${folder.path("state")}/pulumi-irm (default); the first run creates it
ok      proxy             none is set
ok      connection        ${api.baseUrl} answers in 5 ms
ok      tls               none: the address is on this machine
ok      clock             within 1 second of the service's
ok      sign-in           an identity whose name it cannot read ${release}, by an exchange of IRM_IDENTITY_TOKEN, until 2026 (in 1 hour)
ok      claims            the identity accepts a token with these claims:
${Object.entries(payloadOf(process.env.IRM_IDENTITY_TOKEN))
  .map(([name, value]) => `${" ".repeat(26)}  ${name}: ${timeIn(name) ?? JSON.stringify(value)}\n`)
  .join("")}
all 15 checks passed
`);
  expect(code).toBe(0);
});

test("prints JSON: an id, whether it is ok, a message, and a fix where it is not", async () => {
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  const passed = await doctor();
  expect({ code: passed.code, failed: failed(passed) }).toEqual({ code: 0, failed: [] });
  for (const { ok, ...check } of passed.checks)
    expect({ ok, keys: Object.keys(check) }).toEqual({ ok: true, keys: ["id", "message"] });
  vi.stubEnv("IRM_TOKEN", "another-service's");
  const refused = await doctor();
  expect({ code: refused.code, failed: failed(refused) }).toEqual({ code: 3, failed: ["sign-in"] });
  expect(refused.checks.find(({ ok }) => !ok)?.fix).toContain("docs/connect.md#sign-in");
});

test("says which variables are missing, and asks the service nothing", async () => {
  vi.stubEnv("IRM_BASE_URL", "");
  const found = await doctor();
  expect({ code: found.code, failed: failed(found) }).toEqual({ code: 3, failed: ["address", "credentials"] });
  expect(messageOf(found, "address")).toContain("set IRM_BASE_URL in the environment");
  for (const { ok, fix } of found.checks) if (!ok) expect(fix).toContain("docs/connect.md");
  expect(messageOf(found, "credentials")).toContain("IRM_TOKEN");
  vi.stubEnv("GITHUB_ACTIONS", "true");
  expect((await doctor()).checks.find(({ id }) => id === "credentials")?.fix).toContain("id-token: write");
});

test("the configuration of the stack counts before the environment, not for addresses, and each value has its place", async () => {
  useProject();
  useEngine({
    "irm:baseUrl": { value: api.baseUrl, secret: false },
    "irm:requestTimeout": { value: "20", secret: false },
    "irm:tokenEnv": { value: "ACME_TOKEN", secret: false },
  });
  vi.stubEnv("IRM_BASE_URL", "");
  vi.stubEnv("IRM_REQUEST_TIMEOUT", "30");
  vi.stubEnv("IRM_AUTH_URL", api.authUrl);
  vi.stubEnv("ACME_TOKEN", api.owner.token);
  vi.stubEnv("IRM_ALLOW_TOKEN_SOURCES", "ACME_TOKEN");
  const found = await doctor();
  expect(failed(found), found.text).toEqual([]);
  expect(messageOf(found, "stack")).toBe("dev of project access");
  expect(messageOf(found, "address")).toBe(`${api.baseUrl} (stack configuration irm:baseUrl)`);
  expect(messageOf(found, "request-timeout")).toBe("20 (stack configuration irm:requestTimeout)");
  expect(messageOf(found, "exchange-address")).toBe(`${api.authUrl} (environment IRM_AUTH_URL)`);
  expect(messageOf(found, "sign-in")).toContain("by ACME_TOKEN (stack configuration irm:tokenEnv)");
});

test("the configuration of the stack does not choose where the credentials of the environment go", async () => {
  useProject();
  useEngine({ "irm:baseUrl": { value: "https://evil.example", secret: false } });
  vi.stubEnv("IRM_BASE_URL", api.baseUrl);
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  expect(await problems()).toEqual([
    ["settings", expect.stringContaining(`https://evil.example differs from ${api.baseUrl} (environment`)],
  ]);
  expect(messageOf(await doctor(), "address")).toBe(`${api.baseUrl} (environment IRM_BASE_URL)`);
});

test("the configuration of the stack has mistakes, which are named, and no wrong value is printed", async () => {
  useProject();
  useEngine({
    "irm:baseURL": { value: api.baseUrl, secret: false },
    "irm:identity": { value: "looks-like-a-secret", secret: false },
    "irm:token": { secret: true },
  });
  const found = await doctor();
  expect(failed(found)).toEqual(["identity", "settings", "settings", "credentials"]);
  expect(found.text).toContain("did you mean irm:baseUrl?");
  expect(found.text).toContain("irm:token would be stored in the state");
  expect(found.text).not.toContain("looks-like-a-secret");
});

test("the configuration of the stack cannot be read", async () => {
  useProject();
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  const message = "the configuration of stack production cannot be read: unexpected";
  expect(await problems("--stack", "production")).toEqual([["stack", expect.stringContaining(message)]]);
});

describe("the journal", () => {
  beforeEach(() => void vi.stubEnv("IRM_TOKEN", api.owner.token));

  test("is in the work tree, or its folder is a file", async () => {
    useProject();
    vi.stubEnv("IRM_JOURNAL", folder.path("project/journal"));
    expect(await problems()).toEqual([["journal", expect.stringContaining("is in the work tree")]]);
    vi.stubEnv("IRM_JOURNAL", folder.write("file", ""));
    expect(messageOf(await doctor(), "journal")).toContain(`${folder.path("file")} is not a folder`);
  });

  test("has pending creates", async () => {
    const create = { key: "o/p/s/Group::g", kind: "group", parent: "", inputs: "h", given: [] };
    const entry = { intent: "one", ...create, at: 1, notBefore: 0 };
    folder.write("state/pulumi-irm/one.jsonl", `${JSON.stringify(entry)}\n`);
    const found = await doctor();
    expect(failed(found)).toEqual([]);
    expect(messageOf(found, "journal")).toContain("(default), 1 create pending: the next run resolves them");
  });
});

const missing = async () => ({ problem: "spawn pulumi ENOENT", isMissing: true });
const listing = (version: string) => async () => ({
  stdout: JSON.stringify([{ name: "irm", kind: "resource", version }]),
});

test("this machine: the engine fails, or is missing", async () => {
  expect(await checkEngine(async () => ({ problem: "no such library", isMissing: false }))).toMatchObject({
    ok: false,
    message: "pulumi version failed: no such library",
  });
  expect(await checkEngine(missing)).toMatchObject({ ok: false, message: "there is no pulumi on the PATH" });
});

test("the plugin: as the project names it, as it is installed, or where a language needs it", async () => {
  const plugin = folder.path("plugin");
  const project = { folder: folder.path(""), runtime: "yaml" };
  const named = { ...project, pluginPath: "plugin" };
  expect(await checkPlugin(missing, named)).toMatchObject({ ok: false });
  folder.write("plugin/pulumi-resource-irm", "");
  expect(await checkPlugin(missing, named)).toMatchObject({
    ok: true,
    message: `${plugin}, as Pulumi.yaml names it`,
  });
  const needed = { ok: false, message: expect.stringContaining("in yaml") };
  expect(await checkPlugin(missing, project)).toMatchObject(needed);
  expect(await checkPlugin(listing(packageVersion()), project)).toMatchObject({ ok: true });
  const fix = expect.stringContaining(`pulumi plugin install resource irm v${packageVersion()} `);
  expect(await checkPlugin(listing("0.0.1"), project)).toMatchObject({ ok: false, fix });
});

test("irm doctor is safe to run anywhere: it sends GETs and the exchange, and prints no token, whole or in part", async () => {
  vi.stubEnv("IRM_IDENTITY", release);
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  const before = api.log.length;
  const secrets = [api.owner.token];
  const printed: string[] = [];
  for (const subject of [MAIN, "repo:acme/images:pull_request"]) {
    secrets.push(await workload(subject, PRODUCTION));
    for (const token of [api.owner.token, ""]) {
      vi.stubEnv("IRM_TOKEN", token);
      const texts = [await runIrm("doctor"), await runIrm("doctor", "--format", "json")];
      printed.push(...texts.map(({ stdout, stderr }) => stdout + stderr));
    }
  }
  const requests = api.log
    .slice(before)
    .map((line) => JSON.parse(line))
    .filter(({ event, path }) => event === "request" && path !== "/dev-issuer/token");
  expect(requests.map(({ path }) => path)).toContain("/sts/exchange");
  expect(requests.filter(({ method }) => method !== "GET")).toEqual([]);
  for (const part of secrets.flatMap((one) => one.split("."))) expect(printed.join("")).not.toContain(part);
  expect(printed.join("")).not.toMatch(/eyJ/);
});

const withServer = async (server: Server, scheme: string, run: () => Promise<void>): Promise<void> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("IRM_BASE_URL", `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await run().finally(() => server.close());
};

const secure = () => createTlsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (_, response) => response.end("{}"));

describe("the way to the service", () => {
  beforeEach(() => void vi.stubEnv("IRM_TOKEN", api.owner.token));

  test("nothing listens there, or something else answers", async () => {
    vi.stubEnv("IRM_BASE_URL", "http://127.0.0.1:2");
    expect(await problems()).toEqual([["connection", expect.stringContaining("ECONNREFUSED")]]);
    const page = createServer((_, response) => response.writeHead(200).end("<h1>Sign in to the network</h1>"));
    await withServer(page, "http", async () => {
      const problem = "answers, but not as the API: the response (HTTP 200) is not JSON";
      expect(messageOf(await doctor(), "connection")).toContain(problem);
    });
  });

  test("its certificate is not trusted, or every one is taken", async () => {
    await withServer(secure(), "https", async () => {
      vi.stubEnv("NODE_EXTRA_CA_CERTS", folder.path("no.pem"));
      const found = await doctor();
      expect(failed(found)).toEqual(["tls", "tls-settings"]);
      expect(found.checks.find(({ id }) => id === "tls")?.fix).toContain("NODE_EXTRA_CA_CERTS");
    });
    vi.stubEnv("NODE_EXTRA_CA_CERTS", undefined);
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    // Node warns of it on stderr, too.
    await withServer(secure(), "https", async () => {
      const { stdout } = await runIrm("doctor", "--format", "json");
      expect(failed(JSON.parse(stdout))).toContain("tls-settings");
    });
  });

  test("a proxy is on the way, whose password is not printed", async () => {
    vi.stubEnv("HTTP_PROXY", "http://user:hunter22@127.0.0.1:2");
    expect(messageOf(await doctor(), "proxy")).toMatch(/^HTTP_PROXY is not used: .* is this machine$/);
    vi.stubEnv("IRM_BASE_URL", "https://irm.example");
    const found = await doctor();
    expect(messageOf(found, "proxy")).toBe("http://[secret]@127.0.0.1:2 (HTTP_PROXY)");
    expect(failed(found)).toEqual(["connection"]);
    expect(found.text).not.toMatch(/user|hunter22/);
    vi.stubEnv("NO_PROXY", "example, other.test");
    expect(messageOf(await doctor(), "proxy")).toBe("HTTP_PROXY is not used: NO_PROXY lists irm.example");
    vi.stubEnv("HTTP_PROXY", "no proxy");
    expect(failed(await doctor())).toEqual(["proxy"]);
  });

  test("the clocks differ", async () => {
    const late = createServer((_, response) => {
      response.sendDate = false;
      const date = new Date(Date.now() - 10 * 60_000).toUTCString();
      response.writeHead(200, { "content-type": "application/json", date }).end('{"response":"pong"}');
    });
    await withServer(late, "http", async () => {
      expect(messageOf(await doctor(), "clock")).toMatch(/^this machine is 10 minutes ahead of the service$/);
    });
  });
});

const setIdentity = (token = "") => {
  vi.stubEnv("IRM_IDENTITY", release);
  vi.stubEnv("IRM_TOKEN", token);
};

/** of the workloads of a repository of its name */
const createIdentity = (name: string): Promise<string> => {
  const claimMatch = { issuer: api.issuer, subjectPattern: `repo:acme/${name}:.*` };
  return createUid(api, "identities", api.organization, { name, claimMatch });
};

test("a refused exchange is explained field by field, where IRM_TOKEN may read the identity", async () => {
  setIdentity(api.owner.token);
  await workload("repo:acme/images:ref:refs/heads/dev", { claims: { environment: "staging" } });
  const found = await doctor();
  expect([found.code, failed(found)]).toEqual([3, ["exchange", "claim.sub", "claim.environment"]]);
  expect(messageOf(found, "sign-in")).toContain(`${api.owner.uid}, by IRM_TOKEN`);
  expect(found.checks.filter(({ id }) => id.startsWith("claim."))).toEqual([
    { id: "claim.iss", ok: true, message: `"${api.issuer}", as claimMatch.issuer wants` },
    {
      id: "claim.sub",
      ok: false,
      message: `the token has "repo:acme/images:ref:refs/heads/dev"; the identity wants "${MAIN}" (claimMatch.subject)`,
      fix: "use a token whose sub is as the identity wants it, or change claimMatch.subject of the identity",
    },
    { id: "claim.aud", ok: true, message: `"${api.authUrl}", as the default audience wants` },
    {
      id: "claim.environment",
      ok: false,
      message: 'the token has "staging"; the identity wants "production" (claimMatch.claims.environment)',
      fix: "use a token whose environment is as the identity wants it, or change claimMatch.claims.environment of the identity",
    },
    { id: "claim.exp", ok: true, message: expect.stringMatching(/^good until \S+:\d\dZ \(in 1 hour\)$/) },
  ]);
});

test("a refused exchange passes where IRM_TOKEN comes first, and the claims are right", async () => {
  setIdentity(api.owner.token);
  await workload(MAIN, PRODUCTION);
  const found = await doctor();
  expect(failed(found)).toEqual([]);
  expect(messageOf(found, "exchange")).toContain(`${release}, by an exchange of IRM_IDENTITY_TOKEN`);
  expect(messageOf(found, "claim.sub")).toBe(`"${MAIN}", as claimMatch.subject wants`);
});

test("a refused exchange shows the claims where nobody may read the identity", async () => {
  setIdentity();
  await workload("repo:acme/images:pull_request");
  const found = await doctor();
  expect(failed(found)).toEqual(["sign-in", "claims"]);
  expect(messageOf(found, "claims")).toContain('\n  sub: "repo:acme/images:pull_request"\n');
  expect(messageOf(found, "claims")).toContain(`\n  iss: "${api.issuer}"`);
  expect(messageOf(found, "claims")).toMatch(
    /\n {2}iat: 20\d\d-\S+Z \(\d+ seconds? ago\)\n {2}exp: \S+Z \(in 1 hour\)\n/,
  );
  expect(found.checks.at(-1)?.fix).toContain("set IRM_TOKEN to a token that may read the identity");
});

test("a refused exchange says that the token has ended, whoever asks, and how to get a new one", async () => {
  setIdentity();
  const end = Math.floor(api.clock() / 1000) - 2 * 60 * 60;
  await workload(MAIN, { claims: { ...PRODUCTION.claims, iat: end - 60, exp: end } });
  const found = await doctor();
  expect(failed(found)).toEqual(["sign-in", "claim.exp"]);
  const command = `npx pulumi-irm serve token --issuer ${api.issuer} --subject ${MAIN} --claim environment=production`;
  expect(found.checks.at(-1)).toEqual({
    id: "claim.exp",
    ok: false,
    message: expect.stringMatching(/^the token ended at \S+Z \(2 hours ago\)$/),
    fix: `get a new one: export IRM_IDENTITY_TOKEN=$(${command})`,
  });
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  expect((await doctor()).checks.at(-1)).toEqual(found.checks.at(-1));
});

test("a refused exchange shows the claims where IRM_TOKEN may not read the identity either", async () => {
  setIdentity((await api.actor("blind")).token);
  await workload("repo:acme/images:pull_request");
  const found = await doctor();
  expect(failed(found)).toEqual(["exchange", "claims"]);
  expect(messageOf(found, "claims")).toContain("you cannot read the identity");
});

test("a refused exchange names the identity that fits, where none is set", async () => {
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  const uid = await createIdentity("shop");
  await workload("repo:acme/shop:ref:refs/heads/main");
  const found = await doctor();
  expect(failed(found)).toEqual(["exchange", "claims"]);
  expect(found.checks.at(-1)).toMatchObject({
    message: expect.stringContaining(`the token fits:\n  ${uid} shop`),
    fix: `export IRM_IDENTITY=${uid}`,
  });
  await workload("repo:acme/other:ref:refs/heads/main");
  expect(messageOf(await doctor(), "claims")).toMatch(/^no identity that you can list accepts this token:\n/);
});

test("a refused exchange: a service writes nothing into the command that is advised", async () => {
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  const uid = await createIdentity("lab");
  const proxy = await startProxy(() => api.baseUrl);
  const identities = JSON.stringify(await api.ok("GET", `${IAM}/identities`)).replaceAll(uid, "$(reboot)");
  proxy.answer("GET", /\/identities\?/, 200, JSON.parse(identities));
  vi.stubEnv("IRM_AUTH_URL", api.authUrl);
  vi.stubEnv("IRM_BASE_URL", proxy.url);
  await workload("repo:acme/lab:ref:refs/heads/main");
  const found = await doctor();
  await proxy.close();
  expect(messageOf(found, "claims")).toMatch(/^ListIdentities: the service lists a record "lab" with the uid "\$/);
  expect(found.checks.map(({ fix }) => fix).join()).not.toContain("reboot");
});

test("a refused exchange is not explained where the exchange cannot be reached", async () => {
  setIdentity(api.owner.token);
  vi.stubEnv("IRM_AUTH_URL", "http://127.0.0.1:2");
  await workload(MAIN, PRODUCTION);
  const found = await doctor();
  expect(failed(found)).toEqual(["exchange"]);
  expect(found.checks.at(-1)?.fix).toContain("is the address of the token exchange right?");
});

test("a refused exchange names an absent identity, and an API token in the place of a workload's", async () => {
  vi.stubEnv("IRM_IDENTITY", `${api.organization}/${"0".repeat(16)}`);
  vi.stubEnv("IRM_TOKEN", api.owner.token);
  await workload(MAIN);
  expect(messageOf(await doctor(), "claims")).toBe(`there is no identity ${api.organization}/${"0".repeat(16)}`);
  vi.stubEnv("IRM_TOKEN", "");
  vi.stubEnv("IRM_IDENTITY_TOKEN", api.owner.token);
  const found = await doctor();
  expect(messageOf(found, "claims")).toMatch(/^this is an API token, and not a workload's:\n/);
  expect(found.checks.at(-1)?.fix).toBe("give it as IRM_TOKEN");
});
