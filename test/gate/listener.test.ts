// The gate answers the bearer of its run alone, at its own address, and passes on what the service says.
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { isAudience } from "../../client/addresses.ts";
import { identityOf } from "../../client/credentials.ts";
import { listAll } from "../../client/records.ts";
import { AttemptError } from "../../client/retry.ts";
import { claimsOf } from "../../client/token.ts";
import { systemTransport, type Transport } from "../../client/transport.ts";
import type { Gate } from "../../gate/index.ts";
import { ApiError, resources } from "../../schema/index.ts";
import { IAM, serve } from "../harness/api-server.ts";
import { callOn, changeOf, gateTo } from "../harness/gate.ts";
import { createHttpClient } from "../support/http.ts";

const api = await serve({ faults: {} });
const change = await changeOf(api, async () => {});
/** The next answer of the service is this one. */
let next: Transport | undefined;
const wire = systemTransport();
const { gate, client, sent, tokens, clientWith } = await gateTo(api, change, {
  readToken: async () => api.owner.token,
  wire: (request) => {
    const own = next ?? wire;
    next = undefined;
    return own(request);
  },
});
const { url, token } = gate.services[0] as Gate["services"][number];
const http = createHttpClient(url);
afterAll(() => gate.close());
afterAll(() => http.close());

const own = { authorization: `Bearer ${token}` };
const groups = (headers: Record<string, string | string[]> = own) =>
  http.send({ method: "GET", target: `${IAM}/groups`, headers });

test.each<[string, Record<string, string | string[]>]>([
  ["has none", {}],
  ["has a part of it", { authorization: `Bearer ${token.slice(0, -1)}` }],
  ["has it in another scheme", { authorization: `Basic ${token}` }],
  ["has it twice", { authorization: [`Bearer ${token}`, `Bearer ${token}`] }],
  ["has a token of the service", { authorization: `Bearer ${api.owner.token}` }],
])("a process without the bearer that %s is refused, and nothing is sent", async (_, headers) => {
  sent.length = 0;
  expect([(await groups(headers)).status, sent]).toEqual([401, []]);
});

test("a process without the bearer learns nothing from its body, and may not send much", async () => {
  const big = "x".repeat(2 * 1024 * 1024);
  const statusOf = async (body: string, headers = {}): Promise<number | undefined> => {
    const request = { method: "POST", target: `${IAM}/groups/${api.organization}`, body };
    return (await http.send({ ...request, headers: { "content-type": "application/json", ...headers } })).status;
  };
  expect([await statusOf(big), await statusOf(big, own), await statusOf("{", own)]).toEqual([401, 413, 400]);
});

test.each<[string, Record<string, string>]>([
  ["of another host", { host: "evil.example" }],
  ["of loopback", { host: `localhost:${new URL(url).port}` }],
  ["of another port", { host: "127.0.0.1:1" }],
  ["of a page of a browser", { origin: "https://evil.example" }],
])("by another name %s, it is refused", async (_, headers) => {
  sent.length = 0;
  const answer = await groups({ ...own, ...headers });
  const message = "Permission denied: the gate of npx pulumi-irm apply is reached by its own address only";
  expect([answer.status, answer.json.message, sent]).toEqual([403, message, []]);
});

test("by no other wire it is reached either", async () => {
  const { port } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1", () => socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 4\d\d/);
});

test("the bearer names the identity that applies the change, and is for this service and this run, which ends with its gate", async () => {
  expect(identityOf(token)).toBe(api.identity);
  const { exp, iat } = claimsOf(token) as { exp: number; iat: number };
  expect(exp - iat).toBeGreaterThan(24 * 60 * 60);
  expect(isAudience(claimsOf(token), [api.baseUrl])).toBe(true);
  const other = await gateTo(api, change);
  const { token: another, url: address } = other.gate.services[0] as Gate["services"][number];
  await expect(callOn(clientWith(another), "ListGroups", {})).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  await other.gate.close();
  await expect(fetch(address)).rejects.toThrow("fetch failed");
});

test("the bearer is not sent to the service, and a token of the service does not come back", async () => {
  tokens.length = 0;
  next = async ({ token: given }) => ({
    status: 403,
    headers: {},
    body: JSON.stringify({ code: 7, message: `permission denied: Bearer ${given}`, details: [] }),
  });
  const answer = await groups();
  expect([answer.status, answer.json.message]).toEqual([403, "permission denied: Bearer [secret]"]);
  expect(tokens).toEqual([api.owner.token]);
});

test("a read has the answer of the service", async () => {
  const target = `${IAM}/roles?pageSize=2&uidp.inRoot=true`;
  const [one, other] = [await http.send({ method: "GET", target, headers: own }), await api.call("GET", target)];
  expect(one.json.roles).toEqual(other.json.roles);
  expect(one.headers.date).toBe(other.headers.date);
  const names: unknown[] = [];
  for await (const { name } of listAll(client, resources.role.list, {})) names.push(name);
  expect(names).toContain("owner");
  expect(await client.identity()).toBe(api.identity);
});

test("a read has the error of the service, after one attempt", async () => {
  const uid = `${api.organization}/${"0".repeat(16)}`;
  const target = `${IAM}/groups/${uid}`;
  const [one, other] = [await http.send({ method: "GET", target, headers: own }), await api.call("GET", target)];
  expect([one.status, one.text]).toEqual([404, other.text]);
  expect((await http.send({ method: "GET", target: `${IAM}/groups/..`, headers: own })).status).toBe(400);
});

test.each([
  ["throttled", { status: 429, retryAfter: 7 }, 429, "7"],
  ["not available", { status: 503 }, 503, undefined],
  ["of a proxy", { status: 502, body: "html" as const }, 502, undefined],
  ["without an answer", { reset: true as const }, 503, undefined],
  ["that is cut off", { at: "after" as const, truncate: 3 }, 503, undefined],
])("a read %s is passed on", async (_, step, status, retryAfter) => {
  sent.length = 0;
  api.faults.set({ rules: [{ operation: "ListGroups", steps: [step] }] });
  const answer = await groups();
  expect([answer.status, answer.headers["retry-after"], sent.length]).toEqual([status, retryAfter, 1]);
  expect(answer.json.message).toEqual(expect.any(String));
  api.faults.clear();
});

test("a read that times out is not answered as one that was not sent", async () => {
  next = async () => {
    throw new AttemptError({ sent: true, timedOut: true }, new ApiError("UNAVAILABLE", "no response"));
  };
  expect((await groups()).status).toBe(504);
});
