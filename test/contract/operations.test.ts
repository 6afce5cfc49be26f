// Walks the table of methods: each one is reachable by its path under every version, in both spellings of its fields, and
// answers as its response schema says (contract head, 1.2 to 1.4).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Message,
  messageFromJson,
  messageToJson,
  type Operation,
  type OperationName,
  operations,
  VERSIONS,
} from "../../schema/index.ts";
import type { Body } from "../support/http.ts";
import { queryText } from "../support/server.ts";
import { type Fixture, operationCases, startFixture } from "./operation-case.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.api.close());

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const SPELLINGS: Record<string, (name: string) => string> = { lowerCamel: (name) => name, snake_case: snake };

// Keys of a message, all the way down; keys of the maps in it are values.
const MAPS = ["claims", "claimPatterns"];
const spelled = (value: unknown, spell: (name: string) => string): unknown => {
  if (Array.isArray(value)) return value.map((item) => spelled(item, spell));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, own]) => [spell(name), MAPS.includes(name) ? own : spelled(own, spell)]),
  );
};

const flat = (query: Body): Body =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      typeof value === "object" && !Array.isArray(value)
        ? Object.entries(value).map(([below, own]) => [`${name}.${below}`, own])
        : [[name, value]],
    ),
  );

/** Path, query and body of a request message, by the rules of google.api.http. */
const wire = (row: Operation, version: string, request: Body, spell: (name: string) => string) => {
  const rest = structuredClone(request);
  const path = row.path.replace(/\{([^}=]+)(=\*\*)?\}/g, (_, field: string) => {
    if (field === "version") return version;
    const names = field.split(".");
    const last = names.pop() as string;
    const holder = names.reduce((message, name) => message[name], rest);
    const value = holder[last] as string;
    delete holder[last];
    return value;
  });
  if (row.body === "*") return { path, query: {}, body: spelled(rest, spell) };
  const { [row.body ?? ""]: body, ...query } = rest;
  return {
    path,
    query: spelled(flat(query), (name) => name.split(".").map(spell).join(".")) as Body,
    body: body && spelled(body, spell),
  };
};

/** Every field is known, of its type, and written as the schema writes it. */
const expectConforming = (schema: Message, json: Body): void => {
  const { value, violations } = messageFromJson(schema, json);
  expect(violations).toEqual([]);
  expect(messageToJson(schema, value)).toEqual(json);
};

const rows = Object.entries(operations) as [OperationName, Operation][];

test("every method of the table has a case, and every case a method", () => {
  expect(Object.keys(operationCases).toSorted()).toEqual(Object.keys(operations).toSorted());
});

describe.each(rows)("%s", (name, row) => {
  const versions = row.path.includes("{version}") ? VERSIONS : ["-"];
  const cases = versions.flatMap((version) => Object.keys(SPELLINGS).map((spelling) => [version, spelling] as const));

  test.each(cases)("is served under %s in %s", async (version, spelling) => {
    const { request, answer } = operationCases[name];
    const message = await request(fixture);
    const { path, query, body } = wire(row, version, message, SPELLINGS[spelling] as (text: string) => string);
    const bearer = row.auth === "workload" ? await fixture.api.identityToken("owner") : fixture.api.owner.token;
    const reply = await fixture.api.call(row.method, path + queryText(query), { token: bearer, body });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json).toMatchObject(answer(fixture, message));
    if (row.method === "DELETE") expect(reply.text).toBe("");
    else {
      expect(reply.headers["content-type"]).toBe("application/json");
      expectConforming(row.response, reply.json);
    }
  });
});

test("every answer has a request id and the server's own time, and is kept by nobody", async () => {
  const { headers } = await fixture.api.call("GET", "/iam/v2beta1/groups", { headers: { "x-request-id": "run-7" } });
  expect(headers).toMatchObject({
    "x-request-id": "run-7",
    date: "Wed, 28 Jan 2026 12:54:21 GMT",
    "cache-control": "no-store",
  });
});

test("a request id that could forge a line of the log is replaced", async () => {
  const { headers } = await fixture.api.call("GET", "/iam/v2beta1/groups", { headers: { "x-request-id": "a b c" } });
  expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
});
