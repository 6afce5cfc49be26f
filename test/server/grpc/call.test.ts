// The parts of a gRPC call besides its message: the token, the request id, a deadline. Also its line in the log.
import { describe, expect, test } from "vitest";
import { loggedRequests, openGrpc, serve } from "../../harness/api-server.ts";
import { grpcMethodOf } from "../../support/grpc.ts";
import { startHeldIssuer } from "../../support/held-issuer.ts";
import type { Body } from "../../support/http.ts";
import { openHttp2, rawCall } from "../../support/http2.ts";

const api = await serve();
const grpc = openGrpc(api.baseUrl);
const held = await startHeldIssuer(api);

const LIST = "/chainguard.platform.iam.v2beta1.GroupsService/ListGroups";
const BAD_REQUEST = { "@type": "type.googleapis.com/google.rpc.BadRequest" };

const lineOf = async (requestId: string): Promise<Body | undefined> => (await loggedRequests(api, requestId))[0];

describe("the request id", () => {
  test("of a client is returned and is in the log, whose line has the operation but no token", async () => {
    const request = { parent: api.organization, group: { name: "made" } };
    const options = { token: api.owner.token, metadata: { "x-request-id": "run-8" } };
    const { metadata } = await grpc.call("CreateGroup", request, options);
    expect(metadata["x-request-id"]).toBe("run-8");
    expect(await lineOf("run-8")).toMatchObject({
      level: "info",
      path: "/chainguard.platform.iam.v2beta1.GroupsService/CreateGroup",
      operation: "CreateGroup",
      fields: "name",
      code: "OK",
      ms: expect.any(Number),
    });
    expect(api.log.join("")).not.toContain(api.owner.token);
  });

  test("is generated when the client sends none, or one that could forge a log line", async () => {
    const { metadata } = await grpc.call("Ping", {}, { metadata: { "x-request-id": "a b" } });
    expect(metadata["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(await lineOf(String(metadata["x-request-id"]))).toMatchObject({ operation: "Ping", code: "OK" });
  });

  test("may be the same for two concurrent calls: each has its log line", async () => {
    const options = { token: api.owner.token, metadata: { "x-request-id": "twin" } };
    await Promise.all([grpc.call("ListGroups", {}, options), grpc.call("ListRoles", {}, options)]);
    const lines = await loggedRequests(api, "twin", 2);
    expect(lines.map(({ operation }) => operation).toSorted()).toEqual(["ListGroups", "ListRoles"]);
  });
});

describe("an abandoned call", () => {
  const exchange = grpcMethodOf("Exchange").path;
  const request = () =>
    grpcMethodOf("Exchange").requestSerialize({ aud: [api.baseUrl], identity: held.identity }) as Buffer;

  test("ends when the client cancels it, and is logged as cancelled", async () => {
    const options = { token: held.token, metadata: { "x-request-id": "taken-back" } };
    const answer = grpc.bytes(exchange, request(), { ...options, cancelled: held.asked });
    expect(await answer).toMatchObject({ code: 1 });
    expect(await lineOf("taken-back")).toMatchObject({ operation: "Exchange", code: "CANCELLED" });
  });

  test("whose deadline has passed before it begins does nothing and fails", async () => {
    const method = grpcMethodOf("CreateGroup");
    const bytes = method.requestSerialize({ parent: api.organization, group: { name: "too late" } }) as Buffer;
    const session = openHttp2(api.baseUrl);
    const headers = ["authorization", `Bearer ${api.owner.token}`, "grpc-timeout", "1n", "x-request-id", "too-late"];
    const answer = await rawCall(session, method.path, headers, bytes);
    expect(answer.headers["grpc-status"]).toBe("4");
    expect(decodeURI(String(answer.headers["grpc-message"]))).toMatch(
      /^Deadline exceeded: the (caller is no longer waiting|call took too long)$/,
    );
    expect(await lineOf("too-late")).toMatchObject({ operation: "CreateGroup", code: "DEADLINE_EXCEEDED" });
    expect(await grpc.call("ListGroups", { name: "too late" }, { token: api.owner.token })).toMatchObject({
      code: 0,
      json: { totalCount: "0" },
    });
  });

  test("is DEADLINE_EXCEEDED when its deadline passes", async () => {
    const session = openHttp2(api.baseUrl);
    const headers = ["authorization", `Bearer ${held.token}`, "grpc-timeout", "1m", "x-request-id", "late"];
    const answer = await rawCall(session, exchange, headers, request());
    expect(answer.headers["grpc-status"]).toBe("4");
    expect(await lineOf("late")).toMatchObject({ operation: "Exchange", code: "DEADLINE_EXCEEDED" });
  });
});

describe("bytes that are not a message", () => {
  test.each([
    ["half a field", Buffer.from([0x0a, 0x7f, 0x61])],
    ["a text that is not UTF-8", Buffer.from([0x12, 0x02, 0xff, 0xfe])],
  ])("are a violation of the message: %s", async (_, bytes) => {
    const answer = await grpc.bytes(LIST, bytes, { token: api.owner.token });
    const { description } = answer.details[1]?.fieldViolations[0] ?? {};
    expect(description).toMatch(/^the message is not of its type: /);
    expect(answer).toMatchObject({ code: 3, message: `Invalid argument: ${description}` });
    // In protobuf, the field "" (the message itself) does not exist.
    expect(answer.details[1]).toEqual({ ...BAD_REQUEST, fieldViolations: [{ description }] });
  });

  test("are a violation for a time after the year 9999, which JSON cannot express", async () => {
    const method = grpcMethodOf("ListTags");
    const bytes = method.requestSerialize({ updated_since: { seconds: "253402300800" } });
    const answer = await grpc.bytes(method.path, bytes, { token: api.owner.token });
    expect(answer).toMatchObject({ code: 3, message: expect.stringContaining("the message is not of its type") });
  });

  test("and an unknown field is ignored", async () => {
    const unknown = Buffer.from([0xfa, 0x3e, 0x01, 0x61]);
    expect(await grpc.bytes(LIST, unknown, { token: api.owner.token })).toMatchObject({ code: 0 });
  });
});
