// "A published method that is out of scope answers UNIMPLEMENTED (501), never 404" (contract, head; decisions 27 and 31):
// walks the published methods, not our list of them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Operation, operations, VERSIONS } from "../../schema/index.ts";
import { publishedMethods } from "../support/published-method.ts";
import { expectRefusal } from "../support/refusal.ts";
import { startServer, type TestServer } from "../support/server.ts";

let api: TestServer;
beforeAll(async () => {
  api = await startServer();
});
afterAll(() => api.close());

const served = new Set(
  Object.values(operations as Record<string, Operation>).map(
    ({ method, path }) => `${method} ${path.replace(/\{[^}]+\}/g, "")}`,
  ),
);
const unserved = publishedMethods.filter(
  ({ method, path }) => !served.has(`${method} ${path.replace(/\{[^}]+\}/g, "")}`),
);

const UID = "720909c9f5279097d847ad02a2f24ba8f59de36a/a033a6fabe0bfa0d";
const paths = unserved.flatMap(({ service, name, method, path }) =>
  (path.includes("{version}") ? VERSIONS : [""]).map((version) => ({
    name: `${service}/${name}`,
    service,
    method,
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

test("the published methods that are not served are all but those of the table", () => {
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
});
