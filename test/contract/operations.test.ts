// Walks the table of methods over REST. The server serves each one by its path under every version, in both spellings of its
// fields, with a response of its schema. test/contract/parity.test.ts covers gRPC.
import { afterAll, describe, expect, test } from "vitest";
import {
  type Message,
  messageFromJson,
  messageToJson,
  type Operation,
  type OperationName,
  operations,
  VERSIONS,
} from "../../schema/index.ts";
import { queryText } from "../harness/api-server.ts";
import type { Body } from "../support/http.ts";
import { restRequest, SPELLINGS, type Spelling } from "../support/rest-request.ts";
import type { Fixture } from "./fixture.ts";
import { bearerOf, operationCases, startFixture } from "./operation-case.ts";

const fixture: Fixture = await startFixture();
afterAll(() => fixture.api.close());

/** Every field is known, of its type, and written as the schema writes it. */
const expectConforming = (schema: Message, json: Body): void => {
  const { value, violations } = messageFromJson(schema, json);
  expect(violations).toEqual([]);
  expect(messageToJson(schema, value)).toEqual(json);
};

const rows = Object.entries(operations) as [OperationName, Operation][];

describe.each(rows)("%s", (name, row) => {
  const versions = row.path.includes("{version}") ? VERSIONS : ["-"];
  const spellings = Object.keys(SPELLINGS) as Spelling[];

  test.each(versions.flatMap((version) => spellings.map((spelling) => [version, spelling] as const)))(
    "is served under %s in %s",
    async (version, spelling) => {
      const message = await operationCases[name].request(fixture);
      const { method, path, query, body } = restRequest(row, version, message, spelling);
      const token = await bearerOf(name, fixture);
      const reply = await fixture.api.call(method, path + queryText(query), { token, body });
      expect(reply.status, reply.text).toBe(200);
      expect(reply.json).toMatchObject(operationCases[name].answer(fixture, message));
      if (method === "DELETE") expect(reply.text).toBe("");
      else {
        expect(reply.headers["content-type"]).toBe("application/json");
        expectConforming(row.response, reply.json);
      }
    },
  );
});

test("every response has a request id and the server's time, and may not be cached", async () => {
  const { headers } = await fixture.api.call("GET", "/iam/v2beta1/groups", { headers: { "x-request-id": "run-7" } });
  expect(headers).toMatchObject({
    "x-request-id": "run-7",
    date: "Wed, 28 Jan 2026 12:54:21 GMT",
    "cache-control": "no-store",
  });
});

test("the server replaces a request id that could forge a log line", async () => {
  const { headers } = await fixture.api.call("GET", "/iam/v2beta1/groups", { headers: { "x-request-id": "a b c" } });
  expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
});
