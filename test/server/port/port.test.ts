// One port for both wires (docs/contract.md#wire): the first bytes distinguish HTTP/2 from HTTP/1.1, and with TLS, ALPN does.
// HTTP/2 that is not gRPC is REST.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { credentials } from "@grpc/grpc-js";
import { afterAll, describe, expect, test } from "vitest";
import { openapiDocument } from "../../../schema/index.ts";
import { createServer, readTlsKeys, TlsError } from "../../../server/index.ts";
import { IAM, loggedRequests, openGrpc, serve, sharedKeys } from "../../harness/api-server.ts";
import { CERTIFICATE, CERTIFICATE_KEY, OTHER_KEY } from "../../support/certificate.ts";
import { grpcMethodOf } from "../../support/grpc.ts";
import { openHttp2, restCall } from "../../support/http2.ts";
import { openConnection, openSocket } from "../../support/socket.ts";
import { testFolder } from "../../support/test-folder.ts";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const GET = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";

describe("in the clear", async () => {
  const api = await serve();
  const authorized = () => ({ authorization: `Bearer ${api.owner.token}`, "content-type": "application/json" });

  const open = async (): Promise<Socket> => {
    const socket = await openSocket(api.baseUrl);
    return socket.setNoDelay(true);
  };
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
  ])("%s gets its own protocol", async (_, offered, expected) => {
    expect(await negotiate(offered)).toBe(expected);
  });

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
