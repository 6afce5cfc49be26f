// One port for both wires (docs/internals/contract.md#wire): the first bytes distinguish HTTP/2 from HTTP/1.1, and with TLS, ALPN
// does. HTTP/2 that is not gRPC is REST. The address that clients use may differ from the one that the server listens
// on: behind a proxy, in a container.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { credentials } from "@grpc/grpc-js";
import { afterAll, describe, expect, test } from "vitest";
import { openapiDocument } from "../../../schema/index.ts";
import { createLog } from "../../../server/base/log.ts";
import {
  createServer,
  type DevServer,
  parseSeed,
  type RunningServer,
  readTlsKeys,
  ServerOptionsError,
  TlsError,
} from "../../../server/index.ts";
import {
  IAM,
  loggedRequests,
  openGrpc,
  openHttp,
  ownKeys,
  serve,
  sharedKeys,
  signedToken,
} from "../../harness/api-server.ts";
import { START_MS } from "../../harness/clock.ts";
import { payloadOf } from "../../harness/sts.ts";
import { CERTIFICATE, CERTIFICATE_KEY, OTHER_KEY } from "../../support/certificate.ts";
import { grpcMethodOf } from "../../support/grpc.ts";
import { openHttp2, restCall } from "../../support/http2.ts";
import { expectInvalid } from "../../support/refusal.ts";
import { startReverseProxy } from "../../support/reverse-proxy.ts";
import { openConnection, openSocket } from "../../support/socket.ts";
import { testFolder } from "../../support/test-folder.ts";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const GET = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";

describe("in the clear", async () => {
  const api = await serve();
  const authorized = () => ({ authorization: `Bearer ${api.owner.token}`, "content-type": "application/json" });

  const open = async (): Promise<Socket> => (await openSocket(api.baseUrl)).setNoDelay(true);
  // Each byte is on its way before the next is written.
  const byteByByte = async (socket: Socket, bytes: Buffer) => {
    for (const byte of bytes) await new Promise((resolve) => socket.write(Buffer.of(byte), resolve));
  };

  test("a request of HTTP/1.1 that comes byte by byte is served", async () => {
    const connection = await openConnection(api.baseUrl);
    for (const character of GET) connection.write(character);
    expect(await connection.until(/\{"status":"ok"\}/)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    connection.write(GET.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n"));
    await connection.ended;
  });

  test.each([
    ["a method of P", `POST ${IAM}/groups HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`, 401],
    ["two requests at once", GET + GET.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n"), 200],
    ["all of the preface but its end", `${PREFACE.subarray(0, 20)}x\r\n\r\n`, 400],
    ["a line that begins like it", "PRI / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", 400],
  ])("is HTTP/1.1: %s", async (_, text, status) => {
    const connection = await openConnection(api.baseUrl);
    connection.write(text);
    const answer = await connection.ended;
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer.match(/HTTP\/1\.1 200 OK/g) ?? []).toHaveLength(status === 200 ? 2 : 0);
  });

  test("a preface of HTTP/2 that comes byte by byte is answered in HTTP/2", async () => {
    const socket = await open();
    await byteByByte(socket, PREFACE);
    // An empty SETTINGS frame (RFC 9113, 6.5), which is answered by the server's own.
    await byteByByte(socket, Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer[3]).toBe(4);
    socket.destroy();
  });

  test("a client that leaves before or in the middle of its preface does not affect others", async () => {
    for (const words of ["", "PRI * HT", "GET / HT"]) {
      const socket = await open();
      if (words) await new Promise((resolve) => socket.write(words, resolve));
      socket.resetAndDestroy();
    }
    expect((await api.call("GET", `${IAM}/groups`)).status).toBe(200);
  });

  test("a client of HTTP/2 that ends its half of the connection is closed", async () => {
    const socket = await open();
    const session = openHttp2(api.baseUrl, { createConnection: () => socket });
    await once(session, "remoteSettings");
    socket.end();
    await once(socket, "close");
  });

  test.each([
    ["a call of gRPC", grpcMethodOf("Ping").path, "application/grpc", { code: "CANCELLED" }],
    ["a request of REST", `${IAM}/groups/x`, "application/json", { status: 499 }],
  ])("so is one with an open stream, which is not logged as a failure: %s", async (name, path, type, line) => {
    const socket = await open();
    const session = openHttp2(api.baseUrl, { createConnection: () => socket });
    session.on("error", () => {});
    const id = name.replaceAll(" ", "-");
    const authorization = `Bearer ${api.owner.token}`;
    const headers = { ":method": "POST", ":path": path, "content-type": type, "x-request-id": id, authorization };
    session.request(headers, { endStream: false }).on("error", () => {});
    await new Promise<void>((resolve) => session.ping(() => resolve()));
    socket.end();
    await once(socket, "close");
    expect(await loggedRequests(api, id)).toMatchObject([{ level: "info", ...line }]);
  });

  test("REST is the same on HTTP/2 as on HTTP/1.1: the response, an error, a body", async () => {
    const session = openHttp2(api.baseUrl);
    const send = async (headers: Record<string, string>, body?: string) => {
      const { headers: head, text } = await restCall(session, { ...authorized(), ...headers }, body);
      return { status: head[":status"], id: head["x-request-id"], json: JSON.parse(text) };
    };
    const listed = await send({ ":path": `${IAM}/groups`, "x-request-id": "run-2" });
    expect(listed).toMatchObject({ status: 200, id: "run-2", json: { groups: [{ name: "dev" }] } });
    expect(await send({ ":path": "/nowhere" })).toMatchObject({ status: 404, json: { code: 5 } });
    const made = await send({ ":path": `${IAM}/groups/${api.organization}`, ":method": "POST" }, '{"name":"h2"}');
    expect(made).toMatchObject({ status: 200, json: { name: "h2" } });
  });

  test("a response on HTTP/2 has no connection header, of which Node would warn", async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => warnings.push(message);
    process.on("warning", onWarning);
    const request = { ":method": "POST", ":path": `${IAM}/groups`, ...authorized() };
    const { headers } = await restCall(openHttp2(api.baseUrl), request, "x".repeat(1024 * 1024 + 1));
    expect(headers[":status"]).toBe(413);
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });

  test("the document of the REST interface needs no token", async () => {
    const { status, headers, json } = await api.call("GET", "/openapi.json", { token: null });
    expect({ status, type: headers["content-type"] }).toEqual({ status: 200, type: "application/json" });
    expect(json).toMatchObject({ openapi: "3.0.3", info: { version: "v2beta1" } });
    expect(json).toEqual(JSON.parse(JSON.stringify(openapiDocument())));
  });
});

describe("with TLS", async () => {
  const server = await createServer({
    dev: true,
    keys: sharedKeys(),
    tls: { cert: CERTIFICATE, key: CERTIFICATE_KEY },
  });
  afterAll(() => server.close());

  const negotiate = async (ALPNProtocols: string[] | undefined): Promise<string | false | null> => {
    const { hostname: host, port } = new URL(server.baseUrl);
    const socket = connectTls({ host, port: Number(port), ca: CERTIFICATE, ...(ALPNProtocols && { ALPNProtocols }) });
    await once(socket, "secureConnect");
    socket.destroy();
    return socket.alpnProtocol;
  };

  test("the addresses are https, the development issuer's too", () => {
    for (const url of [server.baseUrl, server.authUrl, server.issuer])
      expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+/);
  });

  test.each([
    ["a client of REST, which offers both", ["h2", "http/1.1"], "http/1.1"],
    ["a client of gRPC, which offers h2 alone", ["h2"], "h2"],
    ["a client that offers HTTP/1.1 alone", ["http/1.1"], "http/1.1"],
    ["a client that offers nothing", undefined, false],
  ])("%s gets its own protocol", async (_, offered, expected) => expect(await negotiate(offered)).toBe(expected));

  test("REST is served on HTTP/1.1 and HTTP/2, and gRPC", async () => {
    const request = requestHttps(`${server.baseUrl}/ping/v2beta1/ping`, { ca: CERTIFICATE }).end();
    const [response] = await once(request, "response");
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    expect(JSON.parse(Buffer.concat(chunks).toString())).toEqual({ response: "pong" });
    const { headers } = await restCall(openHttp2(server.baseUrl, { ca: CERTIFICATE }), { ":path": "/healthz" });
    expect(headers[":status"]).toBe(200);
    const client = openGrpc(server.baseUrl, credentials.createSsl(Buffer.from(CERTIFICATE)));
    expect(await client.call("Ping", {})).toMatchObject({ code: 0, json: { response: "pong" } });
  });

  test("a client without TLS gets no response, and does not affect others", async () => {
    const connection = await openConnection(server.baseUrl);
    connection.write(GET);
    expect(await connection.ended).not.toContain("HTTP/1.1 200");
    expect(await negotiate(["http/1.1"])).toBe("http/1.1");
  });
});

// The files of --tls-cert and --tls-key: valid ones, and the errors for the others.
const { path: file } = testFolder();

const files = { "cert.pem": CERTIFICATE, "key.pem": CERTIFICATE_KEY, "other.pem": OTHER_KEY, "none.pem": "nothing" };
for (const [name, text] of Object.entries(files)) writeFileSync(file(name), text);

test("a certificate and its key are read", () => {
  expect(readTlsKeys(file("cert.pem"), file("key.pem"))).toEqual({ cert: CERTIFICATE, key: CERTIFICATE_KEY });
});

test.each([
  ["a missing certificate", "no.pem", "key.pem", /^cannot read the certificate \S+no\.pem: ENOENT: [^\n]+$/],
  ["no certificate", "none.pem", "key.pem", /^\S+none\.pem holds no certificate in PEM$/],
  ["a key in place of the certificate", "key.pem", "key.pem", /^\S+key\.pem holds no certificate in PEM$/],
  ["none", "cert.pem", "none.pem", /^\S+none\.pem holds no private key in PEM that can be used without a password$/],
  [
    "another key",
    "cert.pem",
    "other.pem",
    /^the private key in \S+other\.pem does not belong to the certificate in \S+cert\.pem$/,
  ],
])("problems with the files of TLS are reported in one sentence: %s", (_, cert, key, text) => {
  const read = () => readTlsKeys(file(cert), file(key));
  expect(read).toThrow(TlsError);
  expect(read).toThrow(text);
});

test("no problem with the files of TLS quotes the key", () => {
  expect(() => readTlsKeys(file("cert.pem"), file("other.pem"))).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining("MIGH") }),
  );
});

const clock = () => START_MS;

describe("behind a proxy with its own name", async () => {
  const PUBLIC = "https://irm.example.com";
  const AUTH = "https://issuer.irm.example.com";
  const proxy = await startReverseProxy(() => server.localUrl);
  const keys = { issuer: "https://ci.example.com", subject: "job", issuerKeys: ownKeys() };
  const seed = parseSeed(
    JSON.stringify({
      organization: { name: "acme" },
      identities: [{ name: "ci", staticKeys: keys }],
      bindings: [{ identity: "ci", role: "owner" }],
    }),
    "seed.yaml",
  );
  const options = { publicUrl: `${PUBLIC}/`, publicAuthUrl: AUTH, seed, clock, keys: sharedKeys() };
  const server: RunningServer = await createServer(options);
  const rest = openHttp(proxy.url);
  const grpc = openGrpc(proxy.grpcUrl);
  const workload: string = await signedToken({ iss: keys.issuer, sub: "job", aud: AUTH });
  afterAll(async () => {
    await Promise.all([proxy.close(), server.close()]);
  });

  const get = (target: string, token?: string, host = "irm.example.com") =>
    rest.send({ method: "GET", target, headers: { host, ...(token && { authorization: `Bearer ${token}` }) } });

  test("the server returns the public addresses, and where it listens", () => {
    expect(server).toMatchObject({ baseUrl: PUBLIC, authUrl: AUTH });
    expect(server.localUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(server.localAuthUrl).toBe(server.localUrl);
  });

  test("the discovery document names them", async () => {
    expect((await get("/.well-known/openid-configuration", undefined, "issuer.irm.example.com")).json).toMatchObject({
      issuer: AUTH,
      jwks_uri: `${AUTH}/.well-known/jwks.json`,
    });
  });

  test("a token is exchanged over REST for the public audience, and calls the API on both wires", async () => {
    const { status, json, text } = await get(`/sts/exchange?aud=${PUBLIC}`, workload);
    expect(status, text).toBe(200);
    expect(payloadOf(json.token)).toMatchObject({ iss: AUTH, aud: PUBLIC });
    expect((await get("/iam/v2beta1/groups", json.token)).json.groups).toMatchObject([{ name: "acme" }]);
    expect((await grpc.call("ListGroups", {}, { token: json.token })).json.groups).toMatchObject([{ name: "acme" }]);
  });

  test("the listening address is not an audience", async () => {
    const description = `must be ${PUBLIC}`;
    expectInvalid(await get(`/sts/exchange?aud=${server.localUrl}`, workload), { aud: description });
  });
});

describe("with dev, behind a proxy on this machine", async () => {
  const proxy = await startReverseProxy(() => server.localUrl);
  const server: DevServer = await createServer({ dev: true, publicUrl: proxy.url, clock, keys: sharedKeys() });
  const rest = openHttp(proxy.url);
  afterAll(async () => {
    await Promise.all([proxy.close(), server.close()]);
  });
  const mint = (host: string) =>
    rest.send({ method: "POST", target: "/dev-issuer/token", headers: { host }, body: '{"subject":"owner"}' });

  test("the development issuer is at the public address, and its tokens are exchanged there", async () => {
    const { host } = new URL(proxy.url);
    expect(server.issuer).toBe(`${proxy.url}/dev-issuer`);
    const { token: workload } = (await mint(host)).json;
    expect(payloadOf(workload)).toMatchObject({ iss: server.issuer, aud: proxy.url });
    const headers = { host, authorization: `Bearer ${workload}` };
    const target = `/sts/exchange?aud=${proxy.url}&identity=${server.identity}`;
    const { token } = (await rest.send({ method: "GET", target, headers })).json;
    expect(payloadOf(token)).toMatchObject({ iss: proxy.url, aud: proxy.url });
    const page = await rest.send({ method: "GET", target: "/", headers: { host } });
    expect(page.text).toContain(`export IRM_BASE_URL=${proxy.url}`);
  });
});

const ORIGIN =
  "takes the scheme, host and port that clients use, and nothing after them, such as https://irm.example.com";

const [AUTH_ALONE, ONE_OF_TWO, DEV] = [
  "--public-auth-url needs --public-url: clients use both addresses",
  "--public-url needs --public-auth-url where --auth-port gives the exchange its own port",
  "the development issuer mints tokens for anyone who reaches it, so --dev is refused with the public address https://irm.example.com; use a name of loopback, or leave out --dev",
] as const;
test.each<[string, object, string]>([
  ["no URL", { publicUrl: "irm example" }, `--public-url ${ORIGIN}`],
  ["no scheme", { publicUrl: "irm.example.com" }, "--public-url has no scheme; write https://irm.example.com"],
  ["a path", { publicUrl: "https://example.com/irm" }, `--public-url ${ORIGIN}`],
  ["a password, which is not repeated", { publicUrl: "https://ann:secret@example.com" }, `--public-url ${ORIGIN}`],
  ["an address of the exchange alone", { publicAuthUrl: "https://b.example" }, AUTH_ALONE],
  ["two ports and one address", { publicUrl: "https://a.example", authPort: 0 }, ONE_OF_TWO],
  ["dev beyond loopback", { dev: true, publicUrl: "https://irm.example.com" }, DEV],
])("options that cannot be served are refused: %s", async (_, options, text) => {
  await expect(createServer(options)).rejects.toThrow(new ServerOptionsError(text));
});

test("a server on every address without a public one logs where clients can sign in", async () => {
  const lines: string[] = [];
  const log = createLog({ level: "warn", json: false, clock, write: (line) => lines.push(line) });
  const server = await createServer({ host: "0.0.0.0", log, keys: sharedKeys() });
  expect(lines).toEqual([
    `12:54:21 warn  address message=clients can sign in at ${server.baseUrl} only; give --public-url with the address that they use\n`,
  ]);
  await server.close();
  lines.length = 0;
  await (await createServer({ host: "0.0.0.0", publicUrl: "http://a.example", log, keys: sharedKeys() })).close();
  expect(lines).toEqual([]);
});
