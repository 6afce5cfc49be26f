// A published method that is out of scope answers UNIMPLEMENTED (501), never 404 (docs/contract.md#d31). Walks the published
// methods, not our list of them.
import { describe, expect, test } from "vitest";
import { type Operation, operations, VERSIONS } from "../../schema/index.ts";
import { openGrpc, serve } from "../harness/api-server.ts";
import { publishedMethods } from "../support/published.ts";
import { expectRefusal, statusBody } from "../support/refusal.ts";

const api = await serve();
const grpc = openGrpc(api.baseUrl);

const served = new Set(
  Object.values(operations as Record<string, Operation>).map(
    ({ method, path }) => `${method} ${path.replace(/\{[^}]+\}/g, "")}`,
  ),
);
const unserved = publishedMethods.filter(
  ({ method, path }) => !served.has(`${method} ${path.replace(/\{[^}]+\}/g, "")}`),
);

/** `/chainguard.platform.iam.v2beta1.GroupsService/CheckEligibility`; services of v1 have no version in their names. */
const rpcPath = (service: string, name: string, path: string): string => {
  const version = /\/(v2\w*)\//.exec(path)?.[1];
  return `/chainguard.platform.${version ? service.replace(".", `.${version}.`) : service}/${name}`;
};

const UID = "720909c9f5279097d847ad02a2f24ba8f59de36a/a033a6fabe0bfa0d";
const paths = unserved.flatMap(({ service, name, method, path }) =>
  (path.includes("{version}") ? VERSIONS : [""]).map((version) => ({
    name: `${service}/${name}`,
    service,
    method,
    rpc: rpcPath(service, name, path.replace("{version}", version)),
    path: path
      .replace("{version}", version)
      .replace("{digest}", "sha256:ab")
      .replace(/\{[^}]+\}/g, UID),
  })),
);

const domain = (service: string) => {
  const [first] = service.split(".") as [string];
  return first === "registry" || first === "vulnerabilities" ? first : "iam";
};

test("the published methods that are not served are those outside the table", () => {
  expect(publishedMethods.length - unserved.length).toBe(Object.keys(operations).length);
});

describe.each([
  ["without a token", false],
  ["with an owner's token", true],
])("%s", (_, withToken) => {
  test.each(paths)("$method $path answers 501 in full: it is $name", async ({ name, service, method, path }) => {
    const body = method === "GET" || method === "DELETE" ? undefined : {};
    const answer = await api.call(method, path, { body, token: withToken ? api.owner.token : null });
    const text = `${name.split("/")[1]} is not served here`;
    expectRefusal(answer, "UNIMPLEMENTED", text, { domain: domain(service) });
  });

  test.each(paths)("$rpc answers UNIMPLEMENTED over gRPC", async ({ name, service, rpc }) => {
    const answer = await grpc.bytes(rpc, Buffer.alloc(0), withToken ? { token: api.owner.token } : {});
    const text = `${name.split("/")[1]} is not served here`;
    const { code, message, details } = answer;
    expect({ code, message, details }).toEqual(statusBody("UNIMPLEMENTED", text, { domain: domain(service) }));
  });
});
