import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, it, vi } from "vitest";
import { readAnswer, requestOf } from "../../client/rest.ts";
import { AttemptError } from "../../client/retry.ts";
import { connectionText, type HttpAnswer, type HttpRequest, systemTransport } from "../../client/transport.ts";
import { type ApiError, type Json, type Operation, type OperationName, operations } from "../../schema/index.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../support/certificate.ts";
import { GROUP, IDENTITY, json, ORG, ROLE, refusal } from "../support/scripted.ts";
import { errorOf, rejectionOf } from "../support/thrown.ts";

let server: Server | undefined;

const portOf = (listening: Server | undefined) => (listening?.address() as AddressInfo | null)?.port;

const serve = async (handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<URL> => {
  server = createServer(handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  return new URL(`http://127.0.0.1:${portOf(server)}/x?y=1`);
};

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
  vi.unstubAllEnvs();
});

const request = (url: URL, rest: Partial<HttpRequest> = {}): HttpRequest => ({
  method: "GET",
  url,
  token: "t",
  timeoutMs: 60_000,
  ...rest,
});

const failureOf = (run: Promise<unknown>): Promise<AttemptError> => rejectionOf<AttemptError>(run);

it("a request carries token, body and type, and its answer has a status, headers and a body", async () => {
  let seen: Record<string, unknown> = {};
  const url = await serve(async (incoming, response) => {
    const { method, url: path, headers } = incoming;
    const body = await text(incoming);
    seen = { method, url: path, authorization: headers.authorization, type: headers["content-type"], body };
    response.writeHead(429, { "retry-after": "3" }).end("{}");
  });
  const answer = await systemTransport()(request(url, { method: "POST", body: '{"name":"é"}' }));
  expect(seen).toEqual({
    ...{ method: "POST", url: "/x?y=1", authorization: "Bearer t", type: "application/json", body: '{"name":"é"}' },
  });
  expect(answer).toMatchObject({ status: 429, headers: { "retry-after": "3" }, body: "{}" });
});

it("a request on the wire sends no content type without a body", async () => {
  let type: string | undefined = "unset";
  const url = await serve((incoming, response) => {
    type = incoming.headers["content-type"];
    response.end();
  });
  await systemTransport()(request(url, { method: "DELETE" }));
  expect(type).toBeUndefined();
});

it("a request that fails was not sent when the connection is refused", async () => {
  const url = await serve(() => undefined);
  await new Promise((resolve) => server?.close(resolve));
  const error = await failureOf(systemTransport()(request(url)));
  expect(error.failure).toEqual({ sent: false });
  expect(error.cause).toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining("ECONNREFUSED") });
});

it("a request was not sent when the port of an https address speaks http, and the error says so", async () => {
  const url = await serve(() => undefined);
  const origin = url.origin;
  url.protocol = "https:";
  const error = await failureOf(systemTransport()(request(url, { method: "POST", body: "{}" })));
  expect(error.failure).toEqual({ sent: false });
  const problem = `this port does not speak TLS; if it speaks http, write ${origin} (ERR_SSL_WRONG_VERSION_NUMBER)`;
  expect(error.message).toBe(`no response from ${url.origin}: ${problem}`);
  // Not on this machine, http is no way out.
  expect(connectionText(new URL("https://irm.example.com:8080"), (error.cause as Error).cause as Error)).toBe(
    "this port does not speak TLS; write the address of the https port, since http is for loopback only (ERR_SSL_WRONG_VERSION_NUMBER)",
  );
});

it("the port of an http address that has answered nothing may speak https, as the error says", async () => {
  const tls = createTlsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }).listen(0, "127.0.0.1");
  await once(tls, "listening");
  const url = new URL(`http://127.0.0.1:${(tls.address() as AddressInfo).port}`);
  const error = await failureOf(systemTransport()(request(url))).finally(() => tls.close());
  expect(error.failure).toEqual({ sent: true });
  expect(error.message).toBe(
    `no response from ${url.origin}: other side closed before the first answer; if this port speaks https, write ${url.origin.replace("http", "https")} (UND_ERR_SOCKET)`,
  );
});

it.each<[string, Parameters<typeof serve>[0], string]>([
  ["the connection is reset", (incoming) => incoming.socket.resetAndDestroy(), "no response from http"],
  [
    "the body is cut off",
    (_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write('{"uid":');
      setImmediate(() => response.destroy());
    },
    "",
  ],
])("a request that fails may have been served when %s", async (_, handle, text) => {
  const error = await failureOf(systemTransport()(request(await serve(handle), { method: "POST", body: "{}" })));
  expect(error.failure).toEqual({ sent: true });
  expect(error.cause).toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining(text) });
});

it("a request that fails is given up when the body is larger than any response", async () => {
  const url = await serve((_, response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(1024 * 1024);
    const more = () => {
      while (!response.destroyed && response.write(chunk));
      response.once("drain", more);
    };
    more();
  });
  expect((await failureOf(systemTransport()(request(url)))).cause).toMatchObject({
    message: expect.stringContaining("the response is larger than 16777216 bytes"),
  });
});

it("a proxy is never used for loopback", async () => {
  const url = await serve((_, response) => response.end("{}"));
  vi.stubEnv("HTTP_PROXY", "http://127.0.0.1:1");
  expect(await systemTransport()(request(url))).toMatchObject({ status: 200 });
});

it("a proxy is used for https by HTTPS_PROXY, except for the hosts of NO_PROXY", async () => {
  const connects: (string | undefined)[] = [];
  await serve(() => undefined);
  server?.on("connect", (incoming, socket) => {
    connects.push(incoming.url);
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  vi.stubEnv("HTTPS_PROXY", `http://127.0.0.1:${portOf(server)}`);
  // Loopback, and none of the addresses that are never proxied.
  vi.stubEnv("NO_PROXY", "127.0.0.2");
  const proxied = await failureOf(systemTransport()(request(new URL("https://api.invalid/x"), { method: "POST" })));
  const direct = await failureOf(systemTransport()(request(new URL("https://127.0.0.2:1/x"))));
  expect(connects).toEqual(["api.invalid:443"]);
  expect(proxied.failure).toEqual({ sent: false });
  expect(direct.cause).toMatchObject({ message: expect.stringContaining("ECONNREFUSED") });
});

it("a proxy that is no URL is an error of the configuration, not quoted", async () => {
  vi.stubEnv("HTTPS_PROXY", "http://user:proxy-password@:x");
  await expect(systemTransport()(request(new URL("https://api.invalid/x")))).rejects.toThrow(
    "pulumi-irm is not configured:\n  - HTTP_PROXY, HTTPS_PROXY: must be a URL",
  );
});

const write = (name: OperationName, request: Json) => {
  const { method, url, body } = requestOf(operations[name] as Operation, "https://api.example.com", request);
  return `${method} ${url.pathname}${url.search}${body === undefined ? "" : ` ${body}`}`;
};

const [ENG, GROUPS] = [{ name: "eng" }, "/iam/v2beta1/groups"];
const EXCHANGE = `GET /sts/exchange?aud=https%3A%2F%2Fa&identity=${IDENTITY}`;
const rows: [OperationName, Json, string, string][] = [
  ["GetGroup", { uid: GROUP }, `GET ${GROUPS}/${GROUP}`, "slashes of a uid stay"],
  ["DeleteIdentity", { uid: IDENTITY }, `DELETE /iam/v2beta1/identities/${IDENTITY}`, "no body"],
  ["CreateGroup", { parent: ORG, group: ENG }, `POST ${GROUPS}/${ORG} {"name":"eng"}`, "the resource is the body"],
  ["CreateGroup", { parent: "", group: ENG }, `POST ${GROUPS} {"name":"eng"}`, "an empty parent makes a root"],
  [
    "UpdateIdentity",
    { identity: { uid: IDENTITY, claimMatch: { subject: "s" } }, updateMask: "claimMatch.subject,name" },
    `PATCH /iam/v2beta1/identities/${IDENTITY}?updateMask=claimMatch.subject%2Cname {"claimMatch":{"subject":"s"}}`,
    "the uid is in the path, the mask in the query",
  ],
  [
    "ListGroups",
    { uidp: { descendantsOf: ORG, inRoot: true }, name: "a b", pageSize: 200, pageToken: undefined },
    `GET ${GROUPS}?uidp.descendantsOf=${ORG}&uidp.inRoot=true&name=a+b&pageSize=200`,
    "messages are dotted, absent fields left out",
  ],
  ["ListGroups", { uidp: { ids: [ORG, ROLE] } }, `GET ${GROUPS}?uidp.ids=${ORG}&uidp.ids=${ROLE}`, "lists repeat"],
  ["ExchangeGet", { aud: ["https://a"], identity: IDENTITY }, EXCHANGE, "no version in this path"],
];
for (const [name, request, expected, reason] of rows)
  it(`${name}: ${reason}`, () =>
    expect(write(name, request).replaceAll("%2F", "/")).toBe(expected.replaceAll("%2F", "/")));

it("a request does not change its argument", () => {
  const request = { group: { uid: GROUP, name: "x" }, updateMask: "name" };
  write("UpdateGroup", request);
  expect(request).toEqual({ group: { uid: GROUP, name: "x" }, updateMask: "name" });
});

it("a request puts nothing but uids into a path", () => {
  expect(() => write("GetGroup", { uid: "../identities/x" })).toThrow("uid is not a uid");
});

const refusalOf = (name: OperationName, answer: HttpAnswer): AttemptError =>
  errorOf(() => readAnswer(operations[name] as Operation, name, answer));

it("an answer keeps fields and enum values that this version does not know", () => {
  const body = { uid: ROLE, name: "r", capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_NEW", 99], novelty: { a: 1 } };
  expect(readAnswer(operations.GetRole, "GetRole", json(body))).toEqual(body);
});

it("an answer may be empty for a delete", () => {
  expect(readAnswer(operations.DeleteGroup, "DeleteGroup", { status: 200, headers: {}, body: "" })).toEqual({});
  expect(readAnswer(operations.DeleteGroup, "DeleteGroup", json({}))).toEqual({});
});

const unreadable: [string, HttpAnswer, string][] = [
  ["no JSON", { status: 200, headers: {}, body: "<html>" }, "the response (HTTP 200) is not JSON"],
  ["no uid", json({ name: "x" }), "the response (HTTP 200) contains no uid"],
  ["a wrong type", json({ uid: ROLE, name: 5 }), "the response (HTTP 200) does not decode: name must be a string"],
  ["a list", json([]), "the response (HTTP 200) does not decode:  must be an object"],
];
for (const [reason, answer, message] of unreadable)
  it(`is refused with ${reason}`, () => {
    const error = refusalOf("GetGroup", answer);
    expect(error).toBeInstanceOf(AttemptError);
    expect(error.failure).toEqual({ status: 200, sent: true });
    expect(error.cause).toMatchObject({ code: "UNKNOWN", message, operation: "GetGroup" });
  });

const NO_ERROR = "a body that is not an API error (text/html)";
const REDIRECT = "a redirect, which is not followed";
it("an error is the API's own, with its details", () => {
  const { failure, cause } = refusalOf("GetGroup", refusal("NOT_FOUND", "Group x does not exist"));
  expect(failure).toEqual({ status: 404, sent: true, retryAfterMs: undefined });
  expect(cause).toMatchObject({
    code: "NOT_FOUND",
    message: "Not found: Group x does not exist",
    operation: "GetGroup",
  });
  expect((cause as ApiError).detail("ErrorInfo")?.domain).toBe("iam.chainguard.dev");
});

const html = { "content-type": "text/html" };
it.each<[string, HttpAnswer, string, string]>([
  ["of a proxy has nothing of its text", { status: 502, headers: html, body: "Bearer x" }, "UNAVAILABLE", NO_ERROR],
  ["of a proxy is not about a record", { status: 404, headers: html, body: "no such host" }, "UNKNOWN", NO_ERROR],
  ["includes a redirect", { status: 302, headers: { location: "https://x" }, body: "" }, "UNKNOWN", REDIRECT],
])("an error %s", (_, answer, code, message) => {
  const expected = { code, message: `HTTP ${answer.status} with ${message}` };
  expect(refusalOf("GetGroup", answer).cause).toMatchObject(expected);
});

const [FIRST, LATER] = ["Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:30 GMT"];
it.each<[string, Record<string, string>, number | undefined]>([
  ["seconds", { "retry-after": "7" }, 7_000],
  ["a date, by the service's own clock", { "retry-after": LATER, date: FIRST }, 30_000],
  ["a date that has passed", { "retry-after": FIRST, date: LATER }, 0],
  ["nonsense", { "retry-after": "soon" }, undefined],
])("an error says when to retry: %s", (_, headers, expected) => {
  expect(refusalOf("GetGroup", refusal("UNAVAILABLE", "busy", headers)).failure.retryAfterMs).toBe(expected);
});

it("an error says when to retry by RetryInfo", () => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1.5s" }];
  const answer = json({ code: 14, message: "Unavailable: busy", details }, 503);
  expect(refusalOf("GetGroup", answer).failure.retryAfterMs).toBe(1_500);
});

it("an error ignores malformed details", () => {
  const answer = json({ code: 14, message: "Unavailable: busy", details: [null, "x"] }, 503);
  expect(refusalOf("GetGroup", answer).cause).toMatchObject({ code: "UNAVAILABLE", details: [] });
});
