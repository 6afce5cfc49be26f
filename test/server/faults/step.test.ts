// Scripted failures (docs/server.md): every kind of step, over both wires, before and after the request is carried out. Delays
// are in test/server/faults/delay.test.ts, the report in test/server/faults/report.test.ts.
import { get } from "node:https";
import { beforeEach, describe, expect, test } from "vitest";
import { retryInfo } from "../../../schema/index.ts";
import { createServer, type FaultScript } from "../../../server/index.ts";
import { IAM, openGrpc, serve } from "../../harness/api-server.ts";
import { START_MS } from "../../harness/clock.ts";
import { createRecord } from "../../harness/records.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../../support/certificate.ts";
import { openHttp2, rawCall, restCall } from "../../support/http2.ts";
import { statusBody } from "../../support/refusal.ts";
import { openConnection, postHead } from "../../support/socket.ts";

type Step = NonNullable<FaultScript["rules"]>[number]["steps"][number];
const api = await serve({ faults: {} });
const grpc = openGrpc(api.baseUrl);
beforeEach(() => api.faults.clear());

let named = 0;
let name = "";
const meets = (...steps: Step[]) => {
  api.faults.set({ rules: [{ operation: "CreateGroup", steps }] });
  name = `group ${++named}`;
};
const overRest = () => api.call("POST", `${IAM}/groups/${api.organization}`, { body: { name } });
const overGrpc = () =>
  grpc.call("CreateGroup", { parent: api.organization, group: { name } }, { token: api.owner.token });
const restOnHttp2 = () => {
  const headers = { authorization: `Bearer ${api.owner.token}`, "content-type": "application/json" };
  const path = `${IAM}/groups/${api.organization}`;
  return restCall(openHttp2(api.baseUrl), { ":method": "POST", ":path": path, ...headers }, JSON.stringify({ name }));
};
const isMade = async () => (await api.ok("GET", `${IAM}/groups`, { query: { name } })).totalCount === "1";
const carriedOut = () => api.faults.attempts().map((attempt) => attempt.carriedOut);

// The error of grpc-js for a stream that ended in order and without trailers.
const CUT = { code: 13, message: "Received RST_STREAM with code 0 (Call ended without gRPC status)" };

const expectMade = async (made: boolean) => {
  expect([carriedOut(), await isMade()]).toEqual([[made], made]);
};

// For each: its name, the step, and whether the group exists afterwards.
describe.each([
  ["before the request is carried out", "before", false],
  ["after it is committed", "after", true],
] as const)("%s", (_, at, made) => {
  test("a status is the API's own error over REST, with its details and Retry-After", async () => {
    meets({ at, status: 503, retryAfter: 2 });
    const { status, json, headers } = await overRest();
    const details = [retryInfo(2000)];
    expect({ status, json }).toEqual({
      status: 503,
      json: statusBody("UNAVAILABLE", "a scripted failure with status 503", { details }),
    });
    expect(headers["retry-after"]).toBe("2");
    await expectMade(made);
  });

  test("a status is its code over gRPC, with RetryInfo", async () => {
    meets({ at, status: 503, retryAfter: 2 });
    const { code, message, details } = await overGrpc();
    const retry = { ...retryInfo(2000), retryDelay: expect.stringMatching(/^2(\.000)?s$/) };
    expect({ code, message, details }).toEqual(
      statusBody("UNAVAILABLE", "a scripted failure with status 503", { details: [retry] }),
    );
    await expectMade(made);
  });

  test("a status may be a page of HTML, as a proxy's, which over gRPC is the code alone", async () => {
    meets({ at, status: 502, body: "html" }, { at, status: 502, body: "html" });
    const { status, text, headers } = await overRest();
    expect({ status, type: headers["content-type"] }).toEqual({ status: 502, type: "text/html" });
    expect(text).toMatch(/^<html>.*<h1>502 Bad Gateway<\/h1>.*<\/html>\r\n$/s);
    await expectMade(made);
    expect(await overGrpc()).toMatchObject({ code: 14, message: "Unavailable: a scripted failure with status 502" });
  });

  test("a reset ends the connection over REST, and its stream on HTTP/2", async () => {
    meets({ at, reset: true });
    await expect(overRest()).rejects.toMatchObject({ code: "ECONNRESET", message: "read ECONNRESET" });
    await expectMade(made);
    meets({ at, reset: true });
    expect(await restOnHttp2()).toMatchObject({ text: "", error: "ERR_HTTP2_STREAM_ERROR" });
    await expectMade(made);
  });

  test("a reset ends the stream over gRPC, and other calls of the connection continue", async () => {
    meets({ at, reset: true });
    const message = "Received RST_STREAM with code 2 (Internal server error)";
    expect(await overGrpc()).toMatchObject({ code: 13, message });
    await expectMade(made);
    name = `${name} again`;
    expect((await overGrpc()).code).toBe(0);
  });
});

describe("a truncated answer", () => {
  test("over REST announces its full length, sends its first bytes, and ends the connection", async () => {
    meets({ truncate: 10 });
    const connection = await openConnection(api.baseUrl);
    const body = JSON.stringify({ name });
    connection.write(postHead(`${IAM}/groups/${api.organization}`, api.owner.token, body.length) + body);
    const [head, text] = (await connection.ended).split("\r\n\r\n") as [string, string];
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(head).toMatch(/\r\nconnection: close/i);
    expect(Number(/content-length: (\d+)/i.exec(head)?.[1])).toBeGreaterThan(100);
    expect(text).toBe('{"uid":"00');
    await expectMade(true);
  });

  test("ends the stream of REST on HTTP/2 after as many bytes", async () => {
    meets({ truncate: 10 });
    expect(await restOnHttp2()).toMatchObject({ text: '{"uid":"00', error: "ERR_HTTP2_STREAM_ERROR" });
    expect(await isMade()).toBe(true);
  });

  test("over gRPC is a stream that ends without trailers, in the middle of the message or after it", async () => {
    for (const truncate of [10, 100_000]) {
      meets({ truncate });
      const { code, message } = await overGrpc();
      expect({ code, message }).toEqual(CUT);
      expect(await isMade()).toBe(true);
    }
  });

  test("over gRPC announces the full message, and sends its first bytes", async () => {
    api.faults.set({ rules: [{ operation: "ListRoles", steps: [{ truncate: 10 }] }] });
    const session = openHttp2(api.baseUrl);
    const path = "/chainguard.platform.iam.v2beta1.RolesService/ListRoles";
    const { headers, bytes } = await rawCall(session, path, ["authorization", `Bearer ${api.owner.token}`]);
    expect(headers).toMatchObject({ ":status": 200, "content-type": "application/grpc+proto" });
    expect(headers["x-request-id"]).toBe(api.faults.attempts()[0]?.requestId);
    expect(headers).not.toHaveProperty("grpc-status");
    expect(bytes).toHaveLength(5 + 10);
    expect(bytes.readUInt32BE(1)).toBeGreaterThan(1000);
  });

  test("lacks its end also when it is shorter, empty or an error", async () => {
    const { uid } = await createRecord(api, "groups", api.organization, { name: "short" });
    api.faults.set({ rules: [{ operation: "*", steps: [{ truncate: 100_000 }], repeat: true }] });
    await expect(api.call("DELETE", `${IAM}/groups/${uid}`)).rejects.toMatchObject({ code: "ECONNRESET" });
    await expect(api.call("GET", `${IAM}/groups/${uid}`)).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(await grpc.call("GetGroup", { uid }, { token: api.owner.token })).toMatchObject(CUT);
    expect(carriedOut()).toEqual([true, false, false]);
  });
});

test("with TLS a connection that is reset ends without an answer, and a truncated one after its first bytes", async () => {
  const server = await createServer({ faults: {}, tls: { cert: CERTIFICATE, key: CERTIFICATE_KEY } });
  const ask = () =>
    new Promise<string>((resolve, reject) => {
      let text = "";
      get(`${server.baseUrl}/ping/v2beta1/ping`, { ca: CERTIFICATE, agent: false }, (response) => {
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () => resolve(text));
        response.on("error", (error) => reject(Object.assign(error, { text })));
      }).on("error", reject);
    });
  const whole = await ask();
  const steps = [{ reset: true as const }, { reset: true as const, at: "after" as const }, { truncate: 1 }];
  server.faults?.set({ rules: [{ operation: "Ping", steps }] });
  for (const text of [undefined, undefined, whole.slice(0, 1)])
    await expect(ask()).rejects.toMatchObject({ code: "ECONNRESET", ...(text && { text }) });
  expect(server.faults?.attempts().map((attempt) => attempt.carriedOut)).toEqual([false, true, true]);
  await server.close();
});

test("Retry-After may be a date, never earlier than the seconds", async () => {
  meets({ status: 429, retryAfter: 3, httpDate: true });
  const { status, headers } = await overRest();
  expect(status).toBe(429);
  const retryAt = Date.parse(headers["retry-after"] as string);
  expect(headers["retry-after"]).toBe(new Date(retryAt).toUTCString());
  expect(retryAt - START_MS).toBe(3811); // 189 ms of the second had passed
});

test.each([
  [403, 7],
  [429, 8],
  [500, 13],
  [599, 2],
])("status %i is unchanged over REST, and code %i over gRPC and in the body", async (status, code) => {
  meets({ status }, { status });
  const rest = await overRest();
  expect({ status: rest.status, code: rest.json.code }).toEqual({ status, code });
  expect((await overGrpc()).code).toBe(code);
});

const statuses = async (count: number) => {
  const found: number[] = [];
  for (let i = 0; i < count; i += 1) found.push((await overRest()).status);
  return found;
};

test.each([
  ["the next one, until none is left", false, [503, 200, 500, 200, 200]],
  ["the first one again after the last", true, [503, 200, 500, 503, 200]],
])("each attempt meets %s", async (_, repeat, expected) => {
  const steps = [{ status: 503 }, {}, { status: 500 }];
  api.faults.set({ rules: [{ operation: "CreateGroup", steps, ...(repeat && { repeat }) }] });
  expect(await statuses(5)).toEqual(expected);
});

test("rules apply in their order, and * is every operation, including the exchange", async () => {
  api.faults.set({
    rules: [
      { operation: "CreateGroup", steps: [{ status: 500 }] },
      { operation: "ExchangeGet", steps: [{ status: 502 }] },
      { operation: "*", steps: [{ status: 503 }, {}, { status: 504 }] },
    ],
  });
  expect(await statuses(2)).toEqual([500, 503]);
  const exchange = async () => {
    const bearer = await api.identityToken("owner");
    return (await api.exchange(bearer, { aud: api.baseUrl, identity: api.identity })).status;
  };
  expect([await exchange(), await exchange(), await exchange(), await exchange()]).toEqual([502, 200, 504, 200]);
});

test("a step after the request also applies to a refused request, which is not carried out", async () => {
  meets({ at: "after", status: 502 });
  name = "NOT/A NAME";
  expect((await overRest()).status).toBe(502);
  expect(carriedOut()).toEqual([false]);
});
