// `irm doctor`: it passes where a run would work, names what is wrong where it would not, only reads, and prints no secret.
import { chmodSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Server } from "node:net";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { checkEngine, checkPlugin } from "../../cli/doctor/machine.ts";
import { packageVersion } from "../../cli/irm-command.ts";
import { doctor, failed, MAIN, messageOf, PRODUCTION, problems, startDoctor } from "../harness/doctor.ts";
import { payloadOf } from "../harness/sts.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../support/certificate.ts";
import { runIrm } from "../support/irm.ts";
import { listen } from "../support/listen.ts";

const { api, folder, release, useEngine, useProject, workload } = await startDoctor();

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

describe("the configuration of the stack", () => {
  test("counts before the environment but for the addresses, and each value has its place", async () => {
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

  test("does not choose where the credentials of the environment go", async () => {
    useProject();
    useEngine({ "irm:baseUrl": { value: "https://evil.example", secret: false } });
    vi.stubEnv("IRM_BASE_URL", api.baseUrl);
    vi.stubEnv("IRM_TOKEN", api.owner.token);
    expect(await problems()).toEqual([
      ["settings", expect.stringContaining(`https://evil.example differs from ${api.baseUrl} (environment`)],
    ]);
    expect(messageOf(await doctor(), "address")).toBe(`${api.baseUrl} (environment IRM_BASE_URL)`);
  });

  test("has mistakes, which are named, and no wrong value is printed", async () => {
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

  test("cannot be read", async () => {
    useProject();
    vi.stubEnv("IRM_TOKEN", api.owner.token);
    const message = "the configuration of stack production cannot be read: unexpected";
    expect(await problems("--stack", "production")).toEqual([["stack", expect.stringContaining(message)]]);
  });
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
  expect(await checkPlugin(missing, project)).toMatchObject({ ok: false, message: expect.stringContaining("in yaml") });
  chmodSync(`${plugin}/pulumi-resource-irm`, 0o755);
  const message = `${plugin}/pulumi-resource-irm, on the PATH`;
  expect(await checkPlugin(missing, project, { PATH: `/nonexistent:${plugin}` })).toMatchObject({ ok: true, message });
  expect(await checkPlugin(listing(packageVersion), project)).toMatchObject({ ok: true });
  const fix = expect.stringContaining(`pulumi plugin install resource irm v${packageVersion} `);
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
  vi.stubEnv("IRM_BASE_URL", `${scheme}://127.0.0.1:${await listen(server)}`);
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
