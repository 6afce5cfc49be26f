// The database: durability of acknowledged writes, the content of the file, files of other versions, and what fails. A
// server on a file that is closed and opened again (test/server/seed/seed.test.ts has the records), and one on a
// backup. The warning of node:sqlite, which older versions of Node 22 and 24 emit, is left out, and no other one.
import { execFile } from "node:child_process";
import { chmodSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createServer, DatabaseError } from "../../../server/index.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { withoutSqliteWarning } from "../../../server/store/sqlite.ts";
import { createStore } from "../../../server/store/store.ts";
import { breakableStore, IAM, serve, shuffledIds, type TestServer } from "../../harness/api-server.ts";
import { manualClock } from "../../harness/clock.ts";
import { createRecord, createUid } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { expectRefusal, expectUnauthenticated } from "../../support/refusal.ts";
import { testFolder } from "../../support/test-folder.ts";

const folder = testFolder();

const pragma = (database: ReturnType<typeof openDatabase>, name: string) =>
  Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];

describe("a database file", () => {
  test.each(["a new one", "one that is opened again"])("syncs every commit to the disk: %s", () => {
    const database = openDatabase(folder.path("synced.db"));
    // 2 = FULL: a commit that returned survives the loss of power.
    expect(pragma(database, "synchronous")).toBe(2);
    expect(pragma(database, "journal_mode")).toBe("wal");
    expect(pragma(database, "foreign_keys")).toBe(1);
    // A write waits so long for another process that has locked the database.
    expect(pragma(database, "busy_timeout")).toBe(5000);
    expect(pragma(database, "user_version")).toBe(1);
    database.close();
  });

  test("is readable by its owner only: signing keys live in it", () => {
    const file = folder.path("private.db");
    const database = openDatabase(file);
    for (const end of ["", "-wal", "-shm"]) expect(statSync(file + end).mode & 0o777).toBe(0o600);
    database.close();
    chmodSync(file, 0o644);
    openDatabase(file).close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test.each([0, 2])(
    "of another version (format %s) is refused with a DatabaseError, and the file is closed",
    (format) => {
      const file = folder.path(`format-${format}.db`);
      const database = openDatabase(file);
      database.exec(`PRAGMA user_version = ${format}`);
      database.close();
      const text = `${file} was written by another version of this server (format ${format}, this one reads 1); use that version, or name another file`;
      for (let i = 0; i < 2; i += 1) expect(() => openDatabase(file)).toThrow(new DatabaseError(text));
      openDatabase(folder.path("another.db")).close();
    },
  );
});

describe("the warnings while SQLite loads", () => {
  afterEach(() => vi.restoreAllMocks());

  test("only the warning of SQLite is left out, and only while the module loads", () => {
    const emitted: unknown[] = [];
    const emit = vi.spyOn(process, "emitWarning").mockImplementation((warning) => void emitted.push(warning));
    const before = process.emitWarning;
    const sqlite = "SQLite is an experimental feature and might change at any time";
    const loaded = withoutSqliteWarning(() => {
      process.emitWarning(sqlite, "ExperimentalWarning");
      process.emitWarning("Type Stripping is an experimental feature", "ExperimentalWarning");
      process.emitWarning("SQLite is slow today", "Warning");
      process.emitWarning(new Error("an error"));
      return "module";
    });
    expect(loaded).toBe("module");
    expect(process.emitWarning).toBe(before);
    process.emitWarning(sqlite, "ExperimentalWarning");
    expect(emitted).toEqual([
      "Type Stripping is an experimental feature",
      "SQLite is slow today",
      new Error("an error"),
      sqlite,
    ]);
    expect(emit).toHaveBeenCalledTimes(4);
  });

  test("a failed load restores the warnings", () => {
    const before = process.emitWarning;
    expect(() =>
      withoutSqliteWarning(() => {
        throw new Error("no such module");
      }),
    ).toThrow("no such module");
    expect(process.emitWarning).toBe(before);
  });
});

// Ids of a second start must not be those of the first: random ones, as in life. Keys are the store's own.
const start = (file: string, port = 0, clock = manualClock()): Promise<TestServer> =>
  serve({ store: folder.path(file), port, clock, ids: undefined, keys: undefined });
const portOf = ({ baseUrl }: TestServer) => Number(new URL(baseUrl).port);

test("opened again, a server accepts earlier tokens, of the API and of a list, and makes no second organization", async () => {
  const first = await start("again.db");
  const { organization, identity, owner } = first;
  for (let i = 0; i < 5; i += 1) await createRecord(first, "groups", organization, { name: `g${i}` });
  const query = { page_size: 2, order_by: "name", "uidp.childrenOf": organization };
  const { nextPageToken: page_token } = await first.ok("GET", `${IAM}/groups`, { query });
  await first.close();
  const second = await start("again.db", portOf(first));
  expect(second).toMatchObject({ organization, identity });
  const list = async (own: Body) => second.ok("GET", `${IAM}/groups`, { query: own, token: owner.token });
  expect((await list({ ...query, page_token })).groups).toMatchObject([{ name: "g2" }, { name: "g3" }]);
  expect((await list({ "uidp.inRoot": true })).totalCount).toBe("1");
});

test("on another port the same identities trust the development issuer", async () => {
  const first = await start("moved.db");
  const { uid } = await first.actor("ci", { role: "viewer" });
  const foreign = { name: "foreign", claimMatch: { issuer: "https://issuer.example", subject: "s" } };
  const { uid: other } = await createRecord(first, "identities", first.organization, foreign);
  const old = first.owner.token;
  const port = portOf(first);
  // The old port is taken, so that the second start gets another.
  await first.close();
  const holder = await createServer({ port });
  const second = await start("moved.db");
  expect(portOf(second)).not.toBe(port);
  expect((await second.ok("GET", `${IAM}/identities/${uid}`)).claimMatch).toEqual({
    issuer: second.issuer,
    subject: "ci",
  });
  expect(await second.token(uid, { subject: "ci" })).toMatch(/^ey/);
  expect((await second.ok("GET", `${IAM}/identities/${other}`)).claimMatch).toEqual(foreign.claimMatch);
  // Its address is its name as an issuer: tokens of the old name are another's.
  expectUnauthenticated(await second.call("GET", `${IAM}/groups`, { token: old }));
  await holder.close();
});

// A backup during writes (docs/server.md, "Backup"): a database that a server can start with. It has every write that was
// acknowledged before the backup began.

// The command of docs/server.md.
const BACKUP =
  'new (require("node:sqlite").DatabaseSync)(process.argv[1]).prepare("VACUUM INTO ?").run(process.argv[2])';
const backup = (from: string, to: string) => promisify(execFile)(process.execPath, ["-e", BACKUP, from, to]);

const TABLES = ["groups", "identities", "roles", "role_bindings", "repos", "meta"];
const contentOf = (file: string): Record<string, unknown[]> => {
  const database = new DatabaseSync(file, { readOnly: true });
  const content = TABLES.map((table) => [table, database.prepare(`SELECT * FROM ${table} ORDER BY 1`).all()]);
  expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  expect(database.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
  database.close();
  return Object.fromEntries(content);
};

test("a backup under load has every write from before it began, and no invented record", async () => {
  const [file, copy] = [folder.path("busy.db"), folder.path("busy-copy.db")];
  const api = await serve({ store: file, ids: shuffledIds(5) });
  const acknowledged = new Set<string>();
  let done = false;
  const writers = Array.from({ length: 4 }, async () => {
    while (!done) acknowledged.add(await createUid(api, "groups", api.organization));
  });
  while (acknowledged.size < 50) await api.ok("GET", `${IAM}/groups`);
  const before = [...acknowledged];
  await backup(file, copy);
  done = true;
  await Promise.all(writers);
  expect(acknowledged.size).toBeGreaterThan(before.length);
  const expected = contentOf(file);
  await api.close();

  const restored = contentOf(copy);
  const uids = new Set((restored.groups as { uid: string }[]).map(({ uid }) => uid));
  expect(before.filter((uid) => !uids.has(uid))).toEqual([]);
  for (const table of TABLES) expect(expected[table]).toEqual(expect.arrayContaining(restored[table] as unknown[]));

  // With the organization, the keys and the page tokens of the server that it was taken from.
  const again = await serve({ store: copy, ids: shuffledIds(6) });
  expect(again.organization).toBe(api.organization);
  expect(Number((await again.ok("GET", `${IAM}/groups`)).totalCount)).toBe(uids.size);
  await createUid(again, "groups", again.organization);
});

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
