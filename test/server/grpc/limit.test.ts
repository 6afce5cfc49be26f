// The bounds of the gRPC wire: size of a message, size of an error's details, pings, what is not served.

import { once } from "node:events";
import { status as codes } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { openGrpc, serve } from "../../harness/api-server.ts";
import { grpcMethodOf } from "../../support/grpc.ts";
import { openHttp2, rawCall } from "../../support/http2.ts";

const api = await serve();
const grpc = openGrpc(api.baseUrl);

const MIB = 1024 * 1024;
const CREATE = "/chainguard.platform.iam.v2beta1.GroupsService/CreateGroup";

describe("a message", () => {
  const named = (bytes: number) => {
    const own = { parent: api.organization, group: { name: "a".repeat(bytes) } };
    return grpcMethodOf("CreateGroup").requestSerialize(own) as Buffer;
  };

  test("of more than 1 MiB is RESOURCE_EXHAUSTED, and the connection serves the next call", async () => {
    const answer = await grpc.bytes(CREATE, named(MIB), { token: api.owner.token });
    expect(answer.code).toBe(codes.RESOURCE_EXHAUSTED);
    expect(answer.message).toMatch(/^Resource exhausted: Received message larger than max \(\d+ vs 1048576\)$/);
    expect(await grpc.call("Ping", {})).toMatchObject({ code: 0, json: { response: "pong" } });
  });

  test("of 1 MiB is read: its name is refused as a name", async () => {
    const bytes = named(MIB - 100);
    expect(bytes.length).toBeGreaterThan(MIB - 100);
    const answer = await grpc.bytes(CREATE, bytes, { token: api.owner.token });
    expect(answer.message).toBe("Invalid argument: name: name must be at most 255 characters");
  });
});

describe("the details of an error", () => {
  // gRPC over HTTP/2: clients need not accept more than 8 KiB of headers.
  const sizeOf = async (message: Buffer, path = CREATE) => {
    const session = openHttp2(api.baseUrl);
    const { headers } = await rawCall(session, path, ["authorization", `Bearer ${api.owner.token}`], message);
    return Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + String(value).length + 32, 0);
  };

  test("name the first violations of many, within the limit of every client", async () => {
    const capabilities = Array.from({ length: 1000 }, () => 9_999_999);
    const own = { parent: api.organization, role: { name: "a", capabilities } };
    const method = grpcMethodOf("CreateRole");
    const bytes = method.requestSerialize(own) as Buffer;
    const answer = await grpc.bytes(method.path, bytes, { token: api.owner.token });
    const { fieldViolations } = answer.details[1] as { fieldViolations: object[] };
    expect(fieldViolations[0]).toEqual({ field: "capabilities[0]", description: "is not a known value of its enum" });
    expect(fieldViolations.length).toBeGreaterThan(10);
    expect(await sizeOf(bytes, method.path)).toBeLessThan(8 * 1024);
  });

  test("have no half of a character, which no header can hold", async () => {
    const method = grpcMethodOf("UpdateGroup");
    const own = { group: { uid: api.organization }, update_mask: { paths: ["😀".repeat(600)] } };
    const answer = await grpc.bytes(method.path, method.requestSerialize(own) as Buffer, { token: api.owner.token });
    expect(answer.code).toBe(codes.INVALID_ARGUMENT);
    expect(answer.message.isWellFormed()).toBe(true);
  });
});

test("pings far more often than every 30 s are answered without a call and between calls, and end no connection", async () => {
  const session = openHttp2(api.baseUrl);
  await once(session, "connect");
  let goneAway = 0;
  session.on("goaway", () => {
    goneAway += 1;
  });
  const ping = () =>
    new Promise<void>((resolve, reject) => session.ping((error) => (error ? reject(error) : resolve())));
  for (let count = 0; count < 300; count += 1) await ping();
  const path = grpcMethodOf("Ping").path;
  expect((await rawCall(session, path, [])).headers["grpc-status"]).toBe("0");
  for (let count = 0; count < 300; count += 1) await ping();
  expect((await rawCall(session, path, [])).headers["grpc-status"]).toBe("0");
  expect(goneAway).toBe(0);
});
