// The standard services: reflection in both versions, as grpcurl uses it, and health (grpc/grpc: reflection.proto,
// health.proto). Neither requires a token.
import { once } from "node:events";
import { createFileRegistry, fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { ClientReadableStream } from "@grpc/grpc-js";
import { afterEach, describe, expect, test, vi } from "vitest";
import { WATCH_MS } from "../../../server/grpc/health.ts";
import { messageIn } from "../../../server/grpc/registry.ts";
import { createServer } from "../../../server/index.ts";
import { atEnd, breakableStore, openGrpc, serve, sharedKeys } from "../../harness/api-server.ts";
import type { Body } from "../../support/http.ts";

const encode = (name: string) => (json: Body) => {
  const schema = messageIn(name);
  return Buffer.from(toBinary(schema, fromJson(schema, json)));
};
const decode = (name: string) => (bytes: Buffer) => {
  const schema = messageIn(name);
  return toJson(schema, fromBinary(schema, bytes)) as Body;
};
const api = await serve();
const grpc = openGrpc(api.baseUrl);

afterEach(() => {
  vi.useRealTimers();
});

/** The responses to requests on one stream. */
const reflect = (version: string, ...requests: Body[]): Promise<Body[]> =>
  new Promise((resolve, reject) => {
    const name = `grpc.reflection.${version}`;
    const stream = grpc.client.makeBidiStreamRequest(
      `/${name}.ServerReflection/ServerReflectionInfo`,
      encode(`${name}.ServerReflectionRequest`),
      decode(`${name}.ServerReflectionResponse`),
    );
    const answers: Body[] = [];
    stream.on("data", (answer: Body) => answers.push(answer));
    stream.on("error", reject);
    stream.on("end", () => resolve(answers));
    for (const request of requests) stream.write(request);
    stream.end();
  });

const filesOf = (answer: Body | undefined): FileDescriptorProto[] =>
  (answer?.fileDescriptorResponse?.fileDescriptorProto ?? []).map((bytes: string) =>
    fromBinary(FileDescriptorProtoSchema, Buffer.from(bytes, "base64")),
  );

describe.each(["v1", "v1alpha"])("reflection %s", (version) => {
  test("lists the services, the standard ones among them", async () => {
    const [answer] = await reflect(version, { listServices: "" });
    const names = answer?.listServicesResponse.service.map(({ name }: Body) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        "chainguard.platform.iam.v2beta1.GroupsService",
        "chainguard.platform.iam.v2.GroupsService",
        "chainguard.platform.iam.Groups",
        "chainguard.platform.oidc.SecurityTokenService",
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
      ]),
    );
    expect(names).not.toContain("chainguard.platform.iam.v2beta1.TermsService");
  });

  test("returns a service's file with all imports, which is enough to call it", async () => {
    const [answer] = await reflect(version, { fileContainingSymbol: "chainguard.platform.iam.v2beta1.GroupsService" });
    const [file, ...imports] = filesOf(answer) as [FileDescriptorProto, ...FileDescriptorProto[]];
    const method = createFileRegistry(file, (name) => imports.find((other) => other.name === name))
      .getService("chainguard.platform.iam.v2beta1.GroupsService")
      ?.methods.find(({ name }) => name === "ListGroups");
    if (!method) throw new Error("the files lack the method");
    const bytes = Buffer.from(toBinary(method.input, fromJson(method.input, { pageSize: 1 })));
    const path = "/chainguard.platform.iam.v2beta1.GroupsService/ListGroups";
    const { bytes: answered } = await grpc.bytes(path, bytes, { token: api.owner.token });
    expect(toJson(method.output, fromBinary(method.output, answered))).toMatchObject({ groups: [{ name: "dev" }] });
  });

  test.each([
    ["a message", "chainguard.platform.iam.v2beta1.Identity.ClaimMatch", "chainguard/platform/iam/v2beta1/iam.proto"],
    ["a method", "chainguard.platform.iam.v2.RolesService.GetRole", "chainguard/platform/iam/v2/iam.proto"],
    ["an extension", "google.api.http", "google/api/annotations.proto"],
  ])("finds the file of %s", async (_, symbol, name) => {
    const [answer] = await reflect(version, { fileContainingSymbol: symbol });
    expect(filesOf(answer)[0]?.name).toBe(name);
  });

  test("finds a file by its name, and sends each import once a stream", async () => {
    const own = { fileByFilename: "chainguard/platform/ping/v2beta1/ping.proto" };
    const [first, second] = await reflect(version, own, { fileByFilename: "chainguard/platform/ping/v2/ping.proto" });
    expect(filesOf(first).map(({ name }) => name)).toContain("google/api/annotations.proto");
    expect(filesOf(second).map(({ name }) => name)).toEqual(["chainguard/platform/ping/v2/ping.proto"]);
  });

  test("finds extensions", async () => {
    const containingType = "google.protobuf.MethodOptions";
    const [numbers, file] = await reflect(
      version,
      { allExtensionNumbersOfType: containingType },
      { fileContainingExtension: { containingType, extensionNumber: 72295728 } },
    );
    expect(numbers?.allExtensionNumbersResponse).toEqual({ baseTypeName: containingType, extensionNumber: [72295728] });
    expect(filesOf(file)[0]?.name).toBe("google/api/annotations.proto");
  });

  test.each([
    { fileContainingSymbol: "chainguard.platform.iam.v2beta1.Nothing" },
    { fileContainingSymbol: "chainguard.platform.iam.v2beta1.Group.nothing" },
    { fileByFilename: "nothing.proto" },
    { fileContainingExtension: { containingType: "google.protobuf.MethodOptions", extensionNumber: 1 } },
    { allExtensionNumbersOfType: "nothing.Nothing" },
  ])("answers %j with NOT_FOUND, and the stream continues", async (request) => {
    const [missing, answer] = await reflect(version, request, { listServices: "" });
    expect(missing).toMatchObject({ originalRequest: request, errorResponse: { errorCode: 5 } });
    expect(answer?.listServicesResponse.service.length).toBeGreaterThan(20);
  });
});

describe("health", () => {
  const REQUEST = encode("grpc.health.v1.HealthCheckRequest");
  const ANSWER = decode("grpc.health.v1.HealthCheckResponse");
  const check = async (service: string, client = grpc) => {
    const answer = await client.bytes("/grpc.health.v1.Health/Check", REQUEST({ service }));
    return { ...answer, json: ANSWER(answer.bytes) };
  };

  test("of an unknown service is NOT_FOUND", async () => {
    expect(await check("nothing.Nothing")).toMatchObject({
      code: 5,
      message: "Not found: there is no service nothing.Nothing",
      details: [{ reason: "NOT_FOUND", domain: "iam.chainguard.dev" }],
    });
  });

  /** A server whose database can be made to fail. */
  const startFailing = async () => {
    const { store, broken } = breakableStore();
    const server = await createServer({ keys: sharedKeys(), store });
    atEnd(server.close);
    const client = openGrpc(server.baseUrl);
    return {
      client,
      fail: (own: boolean) => {
        broken.error = own ? new Error("disk I/O error") : undefined;
      },
      /** how often the database was queried */
      looks: () => broken.asked,
    };
  };

  test.each([
    ["the server", ""],
    ["a service", "chainguard.platform.iam.v2beta1.GroupsService"],
  ])("of %s is SERVING, but not while the database does not answer", async (_, service) => {
    const { client, fail } = await startFailing();
    expect(await check(service, client)).toMatchObject({ code: 0, json: { status: "SERVING" } });
    fail(true);
    expect(await check(service, client)).toMatchObject({ code: 0, json: { status: "NOT_SERVING" } });
    fail(false);
    expect(await check(service, client)).toMatchObject({ code: 0, json: { status: "SERVING" } });
  });

  test("that is watched reports once when the database fails, and once when it recovers", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { client, fail, looks } = await startFailing();
    const stream = client.client.makeServerStreamRequest("/grpc.health.v1.Health/Watch", REQUEST, ANSWER, {
      service: "",
    });
    const nextStatus = async () => {
      const [{ status }] = (await once(stream, "data")) as [Body];
      return status;
    };
    expect(await nextStatus()).toBe("SERVING");
    for (const [fails, status] of [
      [true, "NOT_SERVING"],
      [false, "SERVING"],
    ] as const) {
      fail(fails);
      const next = nextStatus();
      await vi.advanceTimersByTimeAsync(3 * WATCH_MS);
      expect(await next).toBe(status);
    }
    const ended = once(stream, "error");
    stream.cancel();
    await ended;
    const looksWhile = async () => {
      const before = looks();
      await vi.advanceTimersByTimeAsync(3 * WATCH_MS);
      return looks() - before;
    };
    // The server continues until it notices that no client watches.
    for (let asked = 0; asked < 200 && (await looksWhile()) > 0; asked += 1) await client.call("Ping", {});
    expect(await looksWhile()).toBe(0);
    vi.useRealTimers();
  });

  test("that is watched is SERVING, then NOT_SERVING when the server ends, which waits for no watcher", async () => {
    const server = await createServer({ keys: sharedKeys() });
    const client = openGrpc(server.baseUrl);
    const watch = (service: string): [ClientReadableStream<Body>, Promise<string[]>] => {
      const stream = client.client.makeServerStreamRequest("/grpc.health.v1.Health/Watch", REQUEST, ANSWER, {
        service,
      });
      const seen: string[] = [];
      stream.on("data", ({ status }: Body) => seen.push(status));
      return [
        stream,
        new Promise((resolve) => stream.on("status", () => resolve(seen)).on("error", () => resolve(seen))),
      ];
    };
    const [whole, ended] = watch("");
    const [unknown, endedToo] = watch("nothing.Nothing");
    await Promise.all([whole, unknown].map((stream) => new Promise((resolve) => stream.once("data", resolve))));
    await server.close();
    expect(await ended).toEqual(["SERVING", "NOT_SERVING"]);
    expect(await endedToo).toEqual(["SERVICE_UNKNOWN", "NOT_SERVING"]);
  });
});

test("with a port of its own for the token exchange each side lists, serves and watches its own services", async () => {
  const server = await createServer({ keys: sharedKeys(), authPort: 0 });
  const auth = openGrpc(server.authUrl);
  const own = openGrpc(server.baseUrl);
  const exchange = "/chainguard.platform.oidc.SecurityTokenService/Exchange";
  const list = "/chainguard.platform.iam.v2beta1.GroupsService/ListGroups";
  const codes = await Promise.all(
    [auth, own].flatMap((client) => [exchange, list].map((path) => client.bytes(path, Buffer.alloc(0)))),
  );
  expect(codes.map(({ code }) => code)).toEqual([16, 12, 12, 16]);
  await server.close();
});
