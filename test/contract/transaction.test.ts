// Each method that writes does all its reads and writes in one transaction; other methods write nothing. A seed gives a
// service the uid, the times and the other outputs of a copied record in its context (`server/services/context.ts`); no
// request can, over either wire: what it says of them has no effect.
import { beforeEach, describe, expect, test } from "vitest";
import { type Operation, type OperationName, operations, resources } from "../../schema/index.ts";
import { openDatabase } from "../../server/store/database.ts";
import { createStore } from "../../server/store/store.ts";
import type { Body } from "../support/http.ts";
import { WAYS } from "../support/way.ts";
import type { Fixture } from "./fixture.ts";
import { bearerOf, operationCases, startFixture } from "./operation-case.ts";

let commits: number;
/** SQL that wrote, and whether a transaction was open */
let writes: [sql: string, inTransaction: boolean][];
const reset = () => {
  commits = 0;
  writes = [];
};

const watch = () => {
  const database = openDatabase(":memory:");
  const { prepare, exec } = database;
  database.exec = (sql) => {
    if (sql === "COMMIT") commits += 1;
    exec.call(database, sql);
  };
  database.prepare = (sql) => {
    const statement = prepare.call(database, sql);
    const { run } = statement;
    statement.run = (...values: unknown[]) => {
      writes.push([sql, database.isTransaction]);
      return run.apply(statement, values as Parameters<typeof run>);
    };
    return statement;
  };
  return createStore(database);
};
beforeEach(reset);

// The exchange has its own rules: it sets lastSeenTime and rotates refresh tokens.
const rows = (Object.entries(operations) as [OperationName, Operation][]).filter(
  ([, { service }]) => service !== "oidc.SecurityTokenService",
);

const send = async (operation: OperationName) => {
  const request = await operationCases[operation].request(fixture);
  const token = await bearerOf(operation, fixture);
  reset();
  const outcome = await WAYS["REST in lowerCamel"](fixture.api, { operation, request, token });
  expect(outcome, outcome.message).toMatchObject({ code: "OK" });
};

reset();
const fixture: Fixture = await startFixture({ store: watch() });

test.each(rows.filter(([, { method }]) => method === "GET"))("%s writes nothing", async (name) => {
  await send(name);
  expect({ commits, writes }).toEqual({ commits: 0, writes: [] });
});

test.each(rows.filter(([, { method }]) => method !== "GET"))("%s is one transaction", async (name) => {
  await send(name);
  expect(commits).toBe(1);
  expect(writes.filter(([, inTransaction]) => !inTransaction)).toEqual([]);
  // A check only reads.
  expect(writes.length > 0).toBe(name !== "CheckAccountAssociation");
});

const UID = `${"e".repeat(40)}/${"d".repeat(16)}`;
const TIME = "2001-02-03T04:05:06.789Z";

/** All that a service decides, and names of what a seed gives it by. */
const OUTPUTS: Body = {
  uid: UID,
  createTime: TIME,
  updateTime: TIME,
  lastSeenTime: TIME,
  expirationTime: TIME,
  code: "e".repeat(16),
  keyId: "e".repeat(16),
  email: "eve@evil.example",
  emailUnverified: "eve@evil.example",
  resourceLimits: { clusters: 66666 },
  status: "ORG_STATUS_SUSPENDED",
  identityProviderUid: UID,
  scim: { enabled: true, endpointUrl: "https://evil.example" },
};
/** The address of a person is an input of an invite. */
const INPUTS: Partial<Record<keyof typeof resources, readonly string[]>> = { groupInvite: ["email"] };

const creates = (Object.keys(resources) as (keyof typeof resources)[]).flatMap((field) =>
  (Object.keys(resources[field].methods) as OperationName[])
    .filter((name) => /^(BatchCreate|Create)/.test(name))
    .map((operation) => [operation, field] as const),
);

test("every create of the table is here", () => {
  const all = (Object.keys(operations) as OperationName[]).filter((name) => /^(BatchCreate|Create)/.test(name));
  expect(creates.map(([operation]) => operation).toSorted()).toEqual(all.toSorted());
});

describe.each(Object.entries(WAYS))("over %s", async (_, way) => {
  const fixture = await startFixture();
  const { api } = fixture;

  test.each(creates)("%s makes its own uid and times", async (operation, field) => {
    const request = await operationCases[operation].request(fixture);
    const own = INPUTS[field] ?? [];
    const outputs = Object.fromEntries(
      Object.entries(OUTPUTS).filter(([name]) => name in resources[field].schema.shape && !own.includes(name)),
    );
    expect(Object.keys(outputs)).toContain("uid");
    const withOutputs = (record: Body): Body => ({ ...record, ...outputs });
    const asked: Body = request.requests
      ? { ...request, requests: request.requests.map((one: Body) => ({ ...one, [field]: withOutputs(one[field]) })) }
      : { ...request, [field]: withOutputs(request[field]) };
    const outcome = await way(api, { operation, request: asked, token: api.owner.token });
    expect(outcome, outcome.message).toMatchObject({ code: "OK" });
    const text = JSON.stringify(outcome.json);
    for (const trace of [UID, "2001-02-03", "e".repeat(16), "eve@", "clusters", "SUSPENDED", "evil"])
      expect(text).not.toContain(trace);
    const [record] = outcome.json.roleBindings ?? [outcome.json];
    expect(record.uid).toMatch(/^[0-9a-f]{40}/);
  });
});
