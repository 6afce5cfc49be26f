// `irm serve` as a process: what it prints, where, and how it ends.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { credentials } from "@grpc/grpc-js";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { startServerProcess } from "../harness/api-process.ts";
import { payloadOf } from "../harness/sts.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../support/certificate.ts";
import { MAIN, type Started, startCommand } from "../support/command.ts";
import { createGrpcClient } from "../support/grpc.ts";
import { type Answer, createHttpClient } from "../support/http.ts";
import { success } from "../support/irm.ts";
import { openConnection } from "../support/socket.ts";
import { testFolder } from "../support/test-folder.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const get = async (baseUrl: string, target: string, token?: string): Promise<Answer> => {
  const client = createHttpClient(baseUrl);
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  const answer = await client.send({ method: "GET", target, headers });
  client.close();
  return answer;
};
const readyOf = async (server: Started) => JSON.parse(await server.firstLine);
const stop = async (server: Started, signal: NodeJS.Signals) => {
  server.process.kill(signal);
  return server.finished;
};

const server: Started = startCommand("serve", "--dev", "--json");
const ready: Record<string, string> = await readyOf(server);
afterAll(() => server.process.kill("SIGKILL"));

test("serve --dev --json prints one line once it is ready, with a token of an hour that calls the API as the owner", async () => {
  expect(Object.keys(ready)).toEqual([
    ...["baseUrl", "authUrl", "issuer", "organization", "identity", "token", "localUrl", "localAuthUrl"],
  ]);
  expect(ready).toEqual({
    baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    authUrl: ready.baseUrl,
    issuer: `${ready.authUrl}/dev-issuer`,
    organization: expect.stringMatching(/^[0-9a-f]{40}$/),
    identity: expect.stringMatching(new RegExp(`^${ready.organization}/[0-9a-f]{16}$`)),
    token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    localUrl: ready.baseUrl,
    localAuthUrl: ready.baseUrl,
  });
  const token = ready.token as string;
  const claims = payloadOf(token);
  expect(claims).toMatchObject({
    ...{ iss: ready.authUrl, sub: ready.identity, aud: ready.baseUrl, act: { iss: ready.issuer, sub: "owner" } },
  });
  expect(Number(claims.exp) - Number(claims.iat)).toBe(3600);
  const { json } = await get(ready.baseUrl as string, "/iam/v2beta1/groups", token);
  expect(json.groups).toMatchObject([{ uid: ready.organization }]);
});

test("serve --dev --json exits with 0 on SIGTERM, with JSON lines without the token on stderr", async () => {
  const { code, stdout, stderr } = await stop(server, "SIGTERM");
  expect(code).toBe(0);
  expect(stdout).toBe(`${JSON.stringify(ready)}\n`);
  const lines = stderr.trimEnd().split("\n");
  for (const line of lines)
    expect(JSON.parse(line)).toMatchObject({ time: expect.any(String), level: expect.any(String) });
  expect(lines.some((line) => line.includes('"event":"sts.exchange"'))).toBe(true);
  expect(stderr).not.toContain(ready.token);
});

const folder = testFolder();

test("serve without --dev prints the organization of a seed and no owner, and has each side on its own port only", async () => {
  const seed = folder.write("seed.yaml", "organization: { name: acme }\n");
  const server = startCommand("serve", "--json", "--seed", seed, "--auth-port", "0");
  const { baseUrl, authUrl, organization, identity, token } = await readyOf(server);
  expect(organization).toMatch(/^[0-9a-f]{40}$/);
  expect([identity, token]).toEqual([null, null]);
  expect(authUrl).not.toBe(baseUrl);
  const both = async (target: string) => [(await get(baseUrl, target)).status, (await get(authUrl, target)).status];
  expect(await both("/iam/v2beta1/groups")).toEqual([401, 404]);
  expect(await both("/sts/exchange")).toEqual([404, 401]);
  expect(await both("/.well-known/openid-configuration")).toEqual([404, 200]);
  await stop(server, "SIGTERM");
});

test("serve --json prints the same keys with null for missing values, and creates no organization", async () => {
  const server = startCommand("serve", "--json", "--log-level", "error");
  const ready = await readyOf(server);
  const { baseUrl } = ready;
  expect(ready).toEqual({
    ...{ baseUrl: expect.stringMatching(/^http:/), authUrl: baseUrl, localUrl: baseUrl, localAuthUrl: baseUrl },
    ...{ issuer: null, organization: null, identity: null, token: null },
  });
  expect(await stop(server, "SIGINT")).toEqual(success(`${JSON.stringify(ready)}\n`));
});

test("serve --dev prints a banner with instructions", async () => {
  const server = startCommand("serve", "--dev", "--log-level", "error");
  await server.firstLine;
  const banner = (await stop(server, "SIGINT")).stdout;
  const [, baseUrl] = /^API\s+(\S+)$/m.exec(banner) as unknown as string[];
  const [, identity] = /^owner\s+(\S+)$/m.exec(banner) as unknown as string[];
  const [, organization] = /^organization\s+(\S+)$/m.exec(banner) as unknown as string[];
  expect(identity?.startsWith(`${organization}/`)).toBe(true);
  expect(banner).toContain(`token exchange  ${baseUrl}/sts/exchange`);
  expect(banner).toMatch(/^anyone\s+[0-9a-f]{40} {3}identity that anyone may assume$/m);
  expect(banner).toMatch(new RegExp(`^issuer\\s+${baseUrl}/dev-issuer `, "m"));
  expect(banner).toContain(`npx pulumi-irm serve token --issuer ${baseUrl}/dev-issuer --subject owner`);
  expect(banner).toContain(`export IRM_BASE_URL=${baseUrl} IRM_IDENTITY=${identity}\n`);
  expect(banner).toMatch(new RegExp(`^ {2}export IRM_BASE_URL=${baseUrl} IRM_TOKEN=[\\w-]+\\.[\\w-]+\\.[\\w-]+$`, "m"));
});

const start = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, "serve", "--background", ...args], {
    encoding: "utf8",
  });
  const [, log = "", pid] = /; log: (.*); to stop it: kill (\d+)\n$/.exec(stderr) ?? [];
  if (pid !== undefined) background.push(Number(pid));
  return { status, stdout, stderr, log };
};
const background: number[] = [];
afterAll(() => {
  for (const pid of background) process.kill(pid);
});

test("serve --background prints the variables for eval, and the server outlives the command", async () => {
  const { status, stdout, log } = start("--dev", "--auth-port", "0");
  expect(status).toBe(0);
  const [, baseUrl = "", authUrl, token] =
    /^unset IRM_AUTH_URL; export IRM_BASE_URL=(http:\S+) IRM_AUTH_URL=(http:\S+) IRM_TOKEN=([\w.-]+)\n$/.exec(stdout) ??
    [];
  expect(authUrl).not.toBe(baseUrl);
  expect((await get(baseUrl, "/iam/v2beta1/groups", token)).status).toBe(200);
  expect(statSync(log).mode & 0o777).toBe(0o600);
  expect(readFileSync(log, "utf8")).not.toContain(token);
});

test("serve --background prints JSON with --json, and no token without --dev", async () => {
  const { baseUrl, token } = JSON.parse(start("--json").stdout);
  expect((await get(baseUrl, "/readyz")).status).toBe(200);
  expect(token).toBeNull();
  const { port } = new URL(baseUrl);
  expect(start("--port", port)).toMatchObject({
    status: 1,
    stdout: "unset IRM_BASE_URL IRM_AUTH_URL IRM_TOKEN; false\n",
    stderr: `irm serve: port ${port} on 127.0.0.1 is in use; choose another, or 0 for any free one\n`,
  });
});

test("serve prints the banner before the first line of its log", async () => {
  // Both to one pipe, as on a terminal.
  const shell = spawn("sh", ["-c", 'exec "$0" "$@" 2>&1', process.execPath, MAIN, "serve", "--dev"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  for await (const text of shell.stdout.setEncoding("utf8")) {
    printed += text;
    if (printed.includes(" exchange event=sts.exchange")) shell.kill("SIGTERM");
  }
  expect(printed).toMatch(/^API {13}http/);
  expect(printed).toMatch(/Press Ctrl-C.*\n\n[\d:]+ info {2}exchange event=sts\.exchange/);
});

test("serve --public-url prints the address that clients use", async () => {
  const server = startCommand(
    ...["serve", "--dev", "--json", "--log-level", "error", "--public-url", "https://localhost:8443/"],
  );
  expect(await readyOf(server)).toMatchObject({
    baseUrl: "https://localhost:8443",
    authUrl: "https://localhost:8443",
    issuer: "https://localhost:8443/dev-issuer",
    localUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  });
  await stop(server, "SIGTERM");
});

const LISTS = ["GET", "/iam/v2beta1/groups"] as const;

test.each<[flags: string[], lists?: number[], bindings?: number[]]>([
  [
    ["--rate-limit", "1"],
    [200, 429],
  ],
  [["--unique-role-bindings"], undefined, [200, 409]],
  [[], [200], [200, 200]],
])("serve with %j: many lists at once, and two creates of one binding", async (flags, lists, bindings) => {
  const server = await startServerProcess(flags);
  onTestFinished(async () => void (await server.stop("SIGKILL")));
  const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
  const statusesOf = async (count: number, method: string, path: string, body?: object): Promise<number[]> => {
    const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answers = await Promise.all(Array.from({ length: count }, () => fetch(server.baseUrl + path, sent)));
    return answers.map(({ status }) => status).toSorted();
  };
  // So many that they cannot take a second each.
  if (lists) expect([...new Set(await statusesOf(50, ...LISTS))]).toEqual(lists);
  const binding = { identityUid: server.identity, roleUid: "63921b2c44617e3f2603851537be0123af4a57d7" };
  const target = `/iam/v2beta1/roleBindings/${server.organization}`;
  if (bindings) expect(await statusesOf(2, "POST", target, binding)).toEqual(bindings);
});

const cert = folder.write("cert.pem", CERTIFICATE);
const key = folder.write("key.pem", CERTIFICATE_KEY);

test("serve with a certificate has both wires at https addresses, and prints the owner's token", async () => {
  const server = startCommand("serve", "--dev", "--json", "--tls-cert", cert, "--tls-key", key);
  const { baseUrl, issuer, token } = JSON.parse(await server.firstLine);
  expect([baseUrl, issuer].every((url) => url.startsWith("https://127.0.0.1:"))).toBe(true);
  const grpc = createGrpcClient(baseUrl, credentials.createSsl(Buffer.from(CERTIFICATE)));
  expect(await grpc.call("ListGroups", {}, { token })).toMatchObject({ code: 0, json: { groups: [{ name: "dev" }] } });
  grpc.close();
  server.process.kill("SIGTERM");
  expect((await server.finished).code).toBe(0);
});

test("a second signal, of any kind, while a client hangs: the server exits at once with 0", async () => {
  const server = startCommand("serve", "--dev", "--json", "--log-level", "debug");
  onTestFinished(() => void server.process.kill("SIGKILL"));
  const { baseUrl } = await readyOf(server);
  const [slow, next] = [await openConnection(baseUrl), await openConnection(baseUrl)];
  const head = "host: localhost\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n";
  slow.write(`POST /dev-issuer/token HTTP/1.1\r\n${head}{`);
  next.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await next.until(/\{"status":"ok"\}/);
  server.process.kill("SIGTERM");
  const { stderr } = server.process;
  while (!server.stderr().includes('"event":"draining"')) await new Promise((resolve) => stderr?.once("data", resolve));
  server.process.kill("SIGINT");
  expect(await slow.ended).toBe("");
  expect(await server.finished).toMatchObject({ code: 0 });
});
