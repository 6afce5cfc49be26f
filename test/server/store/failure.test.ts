import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../../server/store/database.ts";
import { createStore } from "../../../server/store/store.ts";
import { breakableStore, IAM, serve, type TestServer } from "../../harness/api-server.ts";
import { expectRefusal } from "../../support/refusal.ts";
import { testFolder } from "../../support/test-folder.ts";

const folder = testFolder();

let api: TestServer;

const DESCRIPTION = "x".repeat(500);
const retryInfo = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1.000s" };

const groups = (): string => `${IAM}/groups/${api.organization}`;
const count = async () => Number((await api.ok("GET", `${IAM}/groups`)).totalCount);
const create = () => api.call("POST", groups(), { body: { name: "g", description: DESCRIPTION } });

describe("a full disk", () => {
  /** A server whose database cannot grow further. */
  const startFull = async (file: string) => {
    const database = openDatabase(file);
    api = await serve({ store: createStore(database) });
    const pages = Object.values(database.prepare("PRAGMA page_count").get() ?? {})[0] as number;
    database.exec(`PRAGMA max_page_count = ${pages + 4}`);
    let answer = await create();
    while (answer.status === 200) answer = await create();
    return { database, answer };
  };

  test.each([
    ["a file", () => folder.path("full.db")],
    ["memory", () => ":memory:"],
  ])(
    "refuses writes with RESOURCE_EXHAUSTED, reads continue, and it recovers without a restart: in %s",
    async (_, file) => {
      const { database, answer } = await startFull(file());
      expectRefusal(answer, "RESOURCE_EXHAUSTED", "the server's disk is full");
      const before = await count();
      // A root group and its owner binding are two rows of one transaction.
      let root = await api.call("POST", `${IAM}/groups`, { body: { name: "root", description: DESCRIPTION } });
      while (root.status === 200)
        root = await api.call("POST", `${IAM}/groups`, { body: { name: "root", description: DESCRIPTION } });
      expectRefusal(root, "RESOURCE_EXHAUSTED", "the server's disk is full");
      expect(await orphans(database)).toEqual([]);
      expect(await count()).toBeGreaterThanOrEqual(before);

      expect((await api.call("GET", "/readyz")).status).toBe(200);
      expect((await api.call("GET", groups())).status).toBe(200);
      const workload = await api.identityToken("owner");
      expect((await api.exchange(workload, { aud: api.baseUrl, identity: api.identity })).status).toBe(200);

      database.exec("PRAGMA max_page_count = 1000000");
      expect((await create()).status).toBe(200);
      expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    },
  );

  test("refuses a batch as a whole", async () => {
    const { database } = await startFull(":memory:");
    const before = database.prepare("SELECT count(*) AS n FROM role_bindings").get();
    const roleUid = await api.role("viewer");
    const requests = Array.from({ length: 25 }, () => ({ roleBinding: { identityUid: api.identity, roleUid } }));
    const batch = () =>
      api.call("POST", `${IAM}/roleBindings:batchCreate`, { body: { parent: api.organization, requests } });
    let answer = await batch();
    let made = 0;
    while (answer.status === 200) {
      made += 25;
      answer = await batch();
    }
    expectRefusal(answer, "RESOURCE_EXHAUSTED", "the server's disk is full");
    expect(database.prepare("SELECT count(*) AS n FROM role_bindings").get()).toEqual({
      n: (before?.n as number) + made,
    });
  });

  const orphans = async (database: DatabaseSync) =>
    database
      .prepare(
        `SELECT uid FROM groups WHERE parent IS NULL
         AND NOT EXISTS (SELECT 1 FROM role_bindings WHERE role_bindings.parent = groups.uid AND founding = 1)`,
      )
      .all();
});

test("another process that writes for longer than a write waits makes it UNAVAILABLE, while reads and exchanges continue", async () => {
  const file = folder.path("locked.db");
  const database = openDatabase(file);
  api = await serve({ store: createStore(database) });
  // The five seconds of the server, without their time.
  database.exec("PRAGMA busy_timeout = 0");
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");

  for (const path of [groups(), `${IAM}/groups`]) {
    const answer = await api.call("POST", path, { body: { name: "g" } });
    expectRefusal(answer, "UNAVAILABLE", "the server's database is busy", { details: [retryInfo] });
    expect(answer.headers["retry-after"]).toBe("1");
  }
  expect(await count()).toBe(1);
  const workload = await api.identityToken("owner");
  expect((await api.exchange(workload, { aud: api.baseUrl, identity: api.identity })).status).toBe(200);
  expect(api.log.join("")).toContain("lastSeenTime was not written");

  other.exec("ROLLBACK");
  other.close();
  expect((await create()).status).toBe(200);
});

test("any other failure of the database is INTERNAL, and passes", async () => {
  const { store, broken } = breakableStore();
  api = await serve({ store });
  broken.error = Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR", errcode: 10 });
  expectRefusal(await create(), "INTERNAL", "the server failed to answer; its log says why");
  broken.error = undefined;
  expect((await create()).status).toBe(200);
});
