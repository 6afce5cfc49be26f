// Answers as they leave: the bytes of the published error samples (docs/internals/contract.md#errors), and errors of the
// transport, which have the same body as all others (docs/internals/contract.md#d23, docs/internals/contract.md#d31). And each row of the
// table of errors through both wires of a real port: number, HTTP status, text, reason, domain and details. The forms
// of the details are copied from the published documents, and the rows are in test/schema/error.test.ts.
import { describe, expect, test } from "vitest";
import type { Detail } from "../../schema/error.ts";
import { ApiError, type Code, codes, retryInfo } from "../../schema/index.ts";
import { createMetrics } from "../../server/base/metrics.ts";
import { createBounds } from "../../server/connection/bounds.ts";
import type { Pipeline } from "../../server/pipeline/pipeline.ts";
import { createPort, type Port } from "../../server/port/port.ts";
import { createRouter } from "../../server/rest/route.ts";
import { atEnd, IAM, openGrpc, openHttp, REGISTRY, serve } from "../harness/api-server.ts";
import { START_MS } from "../harness/clock.ts";
import { createRecord } from "../harness/records.ts";
import { listen } from "../support/listen.ts";
import { expectInvalid, expectRefusal, NO_NAME } from "../support/refusal.ts";
import { openConnection, postHead } from "../support/socket.ts";

const api = await serve();

const MIB = 1024 * 1024;

test("every answer is JSON with a request id and the server's time, and may not be cached", async () => {
  const { headers } = await api.call("GET", `${IAM}/groups`, { headers: { "x-request-id": "run-7" } });
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "x-request-id": "run-7",
    date: "Wed, 28 Jan 2026 12:54:21 GMT",
    "cache-control": "no-store",
  });
});

test.each([
  ["an unknown collection", `${IAM}/colours`],
  ["another case of a collection", `${IAM}/Groups`],
  ["overlays, which v2 does not have", "/registry/v2/overlays"],
  ["a path with `..`", "/iam/v2beta1/../v2beta1/groups"],
])("an unknown path is 404, code 5: %s", async (_, path) => {
  expectRefusal(await api.call("GET", path), "NOT_FOUND", `there is no ${path}`);
});

test("an unknown path is 404, code 5, without a token too, and with a body that is discarded", async () => {
  const answer = await api.call("POST", `${IAM}/colours`, { token: null, body: "x".repeat(2 * MIB) });
  expectRefusal(answer, "NOT_FOUND", `there is no ${IAM}/colours`);
});

test.each([
  ["PUT", `${IAM}/groups`, "GET, POST"],
  ["DELETE", `${IAM}/groups`, "GET, POST"],
  ["PUT", `${IAM}/groups/x`, "GET, DELETE, POST, PATCH"],
  ["OPTIONS", `${IAM}/roles`, "GET, POST"],
  ["POST", `${IAM}/identities:lookupIdentity`, "GET"],
  ["GET", `${IAM}/roleBindings:batchCreate`, "POST"],
  ["PUT", `${IAM}/groups/x:requestGroupAccess`, "POST"],
  ["PATCH", "/iam/v1/groups", "GET, POST"],
  ["DELETE", "/sts/exchange", "GET, POST"],
  ["PUT", `${REGISTRY}/repos`, "GET, POST"],
])("a known path with another method is 405, code 12, with Allow: %s %s allows %s", async (method, path, allow) => {
  const answer = await api.call(method, path);
  expect(sorted(answer.headers.allow as string)).toBe(sorted(allow));
  const text = `${method} is not a method of this path; it takes ${answer.headers.allow}`;
  expectRefusal(answer, "UNIMPLEMENTED", text, { http: 405, domain: path.startsWith(REGISTRY) ? "registry" : "iam" });
});

const sorted = (list: string) => list.split(", ").toSorted().join(", ");

test.each([
  ["text/plain", "text/plain"],
  ["gRPC without HTTP/2", "application/grpc"],
  ["a name that only begins as JSON", "application/jsonx"],
])("a content type that is not JSON is 415, code 3: %s", async (_, type) => {
  const options = { body: '{"name":"a"}', headers: { "content-type": type } };
  const answer = await api.call("POST", `${IAM}/groups/${api.organization}`, options);
  const text = `the content type must be application/json, not ${type.split(";")[0]}`;
  expectRefusal(answer, "INVALID_ARGUMENT", text, { http: 415 });
});

test.each([
  ["parameters", "application/json; charset=utf-8"],
  ["a type that is JSON by its suffix", "application/merge-patch+json"],
])("a content type of JSON is accepted with %s", async (_, type) => {
  const options = { body: "{}", headers: { "content-type": type } };
  expect((await api.call("PATCH", `${IAM}/groups/${api.organization}`, options)).status).toBe(200);
});

test("a content type is not required without a body", async () => {
  const answer = await api.call("GET", `${IAM}/groups`, { headers: { "content-type": "text/plain" } });
  expect(answer.status).toBe(200);
});

describe("a body over 1 MiB is 413, code 3, answered without a reset", () => {
  const bodyOf = (size: number) => `{"name":"${"a".repeat(size - 11)}"}`;

  test.each([
    ["eight times over", () => `${IAM}/groups/${api.organization}`, 8 * MIB],
    ["at the development issuer", () => "/dev-issuer/token", MIB + 1],
  ])("%s, and the next request of the client is served", async (_, path, size) => {
    const answer = await api.call("POST", path(), { body: bodyOf(size) });
    expectRefusal(answer, "INVALID_ARGUMENT", "the body is larger than 1048576 bytes", { http: 413 });
    expect((await api.call("GET", `${IAM}/groups`)).status).toBe(200);
  });

  test("sent in chunks without a length", async () => {
    const body = bodyOf(2 * MIB);
    const connection = await openConnection(api.baseUrl);
    const head = postHead(`${IAM}/groups/${api.organization}`, api.owner.token, 0, "transfer-encoding: chunked");
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    connection.write(head.replace("content-length: 0\r\n", "") + chunks);
    expect(await connection.until(/\}$/)).toMatch(/^HTTP\/1\.1 413 .*"code":3,/s);
    connection.reset();
  });

  test("is allowed at exactly 1 MiB, where its name is refused as a name", async () => {
    const answer = await api.call("POST", `${IAM}/groups/${api.organization}`, { body: bodyOf(MIB) });
    expectInvalid(answer, { name: "name must be at most 255 characters" });
  });
});

describe("a body that is not a JSON object is 400, code 3", () => {
  test.each([
    ["a word", "hello"],
    ["single quotes", "{'name':'a'}"],
  ])("%s", async (_, body) => {
    const answer = await api.call("POST", `${IAM}/groups/${api.organization}`, { body });
    const { description } = answer.json.details[1].fieldViolations[0];
    expect(description).toMatch(/^the body is not JSON in UTF-8: /);
    expectInvalid(answer, { "": description });
  });

  test.each(["[]", '"text"', "7", "null", "true"])("%s, which is JSON but not an object", async (body) => {
    const answer = await api.call("POST", `${IAM}/groups/${api.organization}`, { body });
    expectInvalid(answer, { "": "the body must be a JSON object" });
  });

  test("bytes that are not UTF-8", async () => {
    const body = Buffer.from([0x7b, 0x22, 0x6e, 0xff, 0x22, 0x7d]);
    const answer = await api.call("POST", `${IAM}/groups/${api.organization}`, { body });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ code: 3, message: expect.stringContaining("not JSON in UTF-8") });
  });

  test("an empty body is an empty object", async () => {
    expectInvalid(await api.call("POST", `${IAM}/groups/${api.organization}`, { body: "" }), { name: NO_NAME });
  });
});

test("an error is sample A, byte for byte, for a group that is created with an empty body", async () => {
  const answer = await api.call("POST", `${IAM}/groups/${api.organization}`, { body: {} });
  expect(answer.status).toBe(400);
  expect(answer.text).toBe(
    String.raw`{"code":3,"message":"Invalid argument: name: name must match \"^[a-z0-9 ._-]{1,}$\"","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"INVALID_ARGUMENT","domain":"iam.chainguard.dev"},{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"name","description":"name must match \"^[a-z0-9 ._-]{1,}$\""}]}]}`,
  );
});

test("an error is sample A, byte for byte, for an identity without a name: its relationship is checked later", async () => {
  const path = `${IAM}/identities/${api.organization}`;
  const group = await api.call("POST", `${IAM}/groups/${api.organization}`, { body: {} });
  for (const body of [{}, { claimMatch: { issuer: api.issuer, subject: "s" } }])
    expect((await api.call("POST", path, { body })).text).toBe(group.text);
  const named = await api.call("POST", path, { body: { name: "a" } });
  expectInvalid(named, { claimMatch: "one of claimMatch, staticKeys, awsIdentity, servicePrincipal must be set" });
});

test("the body of a delete is empty, with status 200", async () => {
  const group = await createRecord(api, "groups", api.organization, { name: "short-lived" });
  const answer = await api.call("DELETE", `${IAM}/groups/${group.uid}`);
  expect([answer.status, answer.text, answer.headers["content-length"]]).toEqual([200, "", "0"]);
  expect(answer.headers["content-type"]).toBeUndefined();
});

const type = <Name extends string>(name: Name) => `type.googleapis.com/google.rpc.${name}` as const;

// One of each that is published.
const DETAILS: Detail[] = [
  {
    "@type": type("BadRequest"),
    fieldViolations: [
      { field: "name", description: "é 😀 \n %" },
      { field: "claimMatch.issuer", description: "two" },
    ],
  },
  { "@type": type("ResourceInfo"), resourceType: "Group", resourceName: "0".repeat(40) },
  {
    "@type": type("PreconditionFailure"),
    violations: [{ type: "RESOURCE_NOT_EMPTY", subject: "s", description: "cannot delete group with child repos" }],
  },
  retryInfo(1500),
];

describe("through a port whose service throws it,", async () => {
  let thrown: unknown;
  const pipeline: Pipeline = () => Promise.reject(thrown);
  const log = () => {};
  const bounds = createBounds({}, log);
  const shared = {
    pipeline,
    metrics: createMetrics(bounds),
    isDraining: () => false,
    isServing: () => true,
    strictBodies: false,
    log,
  };
  const http = { router: createRouter("both"), pages: async () => undefined, clock: () => START_MS };
  const port: Port = createPort("both", Promise.resolve({ ...shared, ...http }), undefined, bounds);
  const baseUrl = `http://127.0.0.1:${await listen(port.listener)}`;
  const rest = openHttp(baseUrl);
  const grpc = openGrpc(baseUrl);
  atEnd(() => port.close());

  const calls = [
    ["iam.chainguard.dev", `${IAM}/groups`, "ListGroups"],
    ["registry.chainguard.dev", "/registry/v2beta1/repos", "ListRepos"],
    ["vulnerabilities.chainguard.dev", "/vulnerabilities/v2beta1/advisories", "ListAdvisories"],
  ] as const;

  const both = async (target: string, operation: (typeof calls)[number][2]) => {
    const { status, json } = await rest.send({ method: "GET", target });
    const { code, message, details } = await grpc.call(operation, {});
    return { status, rest: json, grpc: { code, message, details } };
  };

  describe.each(Object.entries(codes))("%s, with its number and HTTP status,", (code, { number, http }) => {
    test.each(calls)("with all of its details, in the domain %s", async (domain, target, operation) => {
      const message = "any text: é 😀 % \n end";
      thrown = new ApiError(code as Code, message, { details: DETAILS });
      const info = { "@type": type("ErrorInfo"), reason: code, domain };
      const body = { code: number, message, details: [info, ...DETAILS] };
      expect(await both(target, operation)).toEqual({ status: http, rest: body, grpc: body });
    });
  });

  test("an error from outside the API is INTERNAL, with a text that reveals nothing of it", async () => {
    thrown = new TypeError("the dog ate the key");
    const message = "Internal: the server failed to answer; its log says why";
    const details = [{ "@type": type("ErrorInfo"), reason: "INTERNAL", domain: "iam.chainguard.dev" }];
    const body = { code: 13, message, details };
    expect(await both(`${IAM}/groups`, "ListGroups")).toEqual({ status: 500, rest: body, grpc: body });
  });
});
