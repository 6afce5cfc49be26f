// Each method that writes does all its reads and writes in one transaction. Other methods write nothing.
import { beforeEach, expect, test } from "vitest";
import { type Operation, type OperationName, operations } from "../../schema/index.ts";
import { openDatabase } from "../../server/store/database.ts";
import { createStore } from "../../server/store/store.ts";
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
