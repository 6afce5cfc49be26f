// Each operation under every version through REST in lowerCamel, REST in snake_case and gRPC, from one table of cases. Three equal
// servers get the same requests and must give the same responses, of the operation's schema, and hand the same writes over.
import { describe, expect, test } from "vitest";
import type { Call } from "../../access/change/methods.ts";
import { writesFrom } from "../../access/change/write.ts";
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
import { type Outcome, WAYS, type Way } from "../support/way.ts";
import type { Fixture, OperationCase } from "./fixture.ts";
import { bearerOf, operationCases, startFixture } from "./operation-case.ts";
import { refusals } from "./refusal-case.ts";

const ways = Object.entries(WAYS) as [string, Way][];
/** The writes that each server has handed over. */
const written: Call[][] = ways.map(() => []);
const fixtures: Fixture[] = await Promise.all(
  ways.map((_, i) => startFixture({ onWrite: (call) => void written[i]?.push(call) })),
);

/** Without what differs on each server: its port, and the volatile fields of the case. Protobuf has no empty texts. */
const comparable = (outcome: Outcome, { api }: Fixture, volatile: readonly string[] = []): Body => {
  const details = outcome.details.map((detail) =>
    Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== "")),
  );
  const text = JSON.stringify({ ...outcome, details }, (key, value) => (volatile.includes(key) ? `<${key}>` : value));
  return JSON.parse(text.replaceAll(`:${new URL(api.baseUrl).port}`, ":<port>"));
};

/** The outcomes of all ways, each on its own server; equal, but for the names of the ways. */
const expectParity = async (call: (way: Way, fixture: Fixture) => Promise<Outcome>, volatile?: readonly string[]) => {
  const outcomes = await Promise.all(ways.map(([, way], i) => call(way, fixtures[i] as Fixture)));
  const [first, ...others] = outcomes.map((outcome, i) => comparable(outcome, fixtures[i] as Fixture, volatile));
  for (const [i, other] of others.entries()) expect(other, `${ways[i + 1]?.[0]} beside ${ways[0]?.[0]}`).toEqual(first);
  return outcomes as [Outcome, ...Outcome[]];
};

/** Every field is known, of its type, and written as the schema writes it. */
const expectConforming = (schema: Message, json: Body): void => {
  const { value, violations } = messageFromJson(schema, json);
  expect(violations).toEqual([]);
  expect(messageToJson(schema, value)).toEqual(json);
};

/** A check by POST and an exchange change no record. */
const WRITES = Object.keys(operations).filter((name) => /^(Create|Update|Delete|Batch)/.test(name)) as OperationName[];

const rows = Object.entries(operations) as [OperationName, Operation][];

test("every operation of the table has a case, and every case an operation", () => {
  expect(Object.keys(operationCases).toSorted()).toEqual(Object.keys(operations).toSorted());
});

describe.each(rows)("%s", (operation, row) => {
  const versions = row.path.includes("{version}") ? VERSIONS : ["-"];

  test.each(versions)("has the same response on every wire under %s", async (version) => {
    const own: OperationCase = operationCases[operation];
    const counts: number[] = [];
    const [{ json }] = await expectParity(async (way, fixture) => {
      const request = await own.request(fixture);
      const token = await bearerOf(operation, fixture);
      const calls = written[fixtures.indexOf(fixture)] as Call[];
      const before = calls.length;
      const outcome = await way(fixture.api, { operation, request, token, version });
      expect(outcome, outcome.message).toMatchObject({ code: "OK", json: own.answer(fixture, request) });
      counts.push(calls.slice(before).filter(({ method }) => method === operation).length);
      return outcome;
    }, own.volatile);
    if (row.method !== "DELETE") expectConforming(row.response, json);
    expect(new Set(counts)).toEqual(new Set([WRITES.includes(operation) ? 1 : 0]));
  });
});

test("a write has one normal form on every wire, under every version", () => {
  const [first, ...others] = written.map((calls) => writesFrom(calls).writes);
  for (const other of others) expect(other).toEqual(first);
  const named = (first ?? []).filter(({ method }) => method === "CreateRole" || method === "UpdateIdentity");
  expect(named.length).toBeGreaterThan(2);
});

test.each(rows.filter(([, { auth }]) => auth !== "none"))(
  "the refusal of a caller without a token is the same for %s",
  async (operation) => {
    const [first] = await expectParity(async (way, fixture) =>
      way(fixture.api, { operation, request: await operationCases[operation].request(fixture), token: null }),
    );
    const message = "Unauthenticated: a valid bearer token is required";
    expect(first).toMatchObject({ code: "UNAUTHENTICATED", message, details: [{ reason: "UNAUTHENTICATED" }] });
  },
);

describe("a refusal is the same on every wire, and no write:", () => {
  test.each(refusals)("$operation, $reason", async ({ operation, request, token, code, message, details }) => {
    const [first, ...others] = await expectParity(async (way, fixture) => {
      const own = {
        operation,
        request: await request(fixture),
        token: (await token?.(fixture)) ?? fixture.api.owner.token,
      };
      const calls = written[fixtures.indexOf(fixture)] as Call[];
      const before = calls.length;
      const outcome = await way(fixture.api, own);
      expect(calls).toHaveLength(before);
      return outcome;
    });
    for (const outcome of [first, ...others]) expect(outcome.details.length).toBeGreaterThan(0);
    expect({ code: first.code, message: first.message }).toEqual({ code, message: message(fixtures[0] as Fixture) });
    const kinds = first.details.map((detail) => String(detail["@type"]).split(".").at(-1));
    expect(kinds).toEqual(["ErrorInfo", ...details]);
  });

  test("every published code that a request can cause is in the table", () => {
    expect(new Set(refusals.map(({ code }) => code))).toEqual(
      new Set([
        "INVALID_ARGUMENT",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "FAILED_PRECONDITION",
        "UNIMPLEMENTED",
      ]),
    );
  });
});
