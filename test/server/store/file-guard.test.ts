// A database file that is deleted, replaced or damaged under a running server. The server acknowledges no write that is
// not in the file at its path, reports the loss, and does not damage earlier writes.
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../../server/store/database.ts";
import { createStore } from "../../../server/store/store.ts";
import { IAM, serve, shuffledIds, type TestServer } from "../../harness/api-server.ts";
import { expectRefusal } from "../../support/refusal.ts";
import { testFolder } from "../../support/test-folder.ts";

const folder = testFolder();

let api: TestServer;

let made = 0;
/** A server on its own file, with a few records that it has acknowledged. */
const start = async (): Promise<string> => {
  made += 1;
  mkdirSync(folder.path(`${made}`));
  const file = folder.path(`${made}/irm.db`);
  api = await serve({ store: file, refreshTokens: true });
  for (let i = 0; i < 3; i += 1) expect((await create()).status).toBe(200);
  return file;
};

const create = () => api.call("POST", `${IAM}/groups/${api.organization}`, { body: { name: "g" } });

const overwrite = (file: string, position: number, length: number): void => {
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(length, 0xa5), 0, length, position);
};

const LOST = "the server has lost its database; it serves again after its operator has restored it";

const expectLost = async (reason: string | RegExp): Promise<void> => {
  expectRefusal(await create(), "UNAVAILABLE", LOST);
  expectRefusal(await api.call("GET", `${IAM}/groups`), "UNAVAILABLE", LOST);
  const exchanged = await api.exchange(await api.identityToken("owner"), { aud: api.baseUrl, identity: api.identity });
  expectRefusal(exchanged, "UNAVAILABLE", LOST);
  const ready = await api.call("GET", "/readyz");
  expect(ready.status).toBe(503);
  expect(ready.json.message).toBe("Unavailable: the server has lost its database; its log says what to do");
  expect((await api.call("GET", "/healthz")).status).toBe(200);
  const lines = api.log.map((line) => JSON.parse(line)).filter(({ event }) => event === "database lost");
  expect(lines).toEqual([expect.objectContaining({ level: "error", reason: expect.stringMatching(reason) })]);
  expect(lines[0].advice).toContain("restore the database file");
};

const text = (value: string) => new RegExp(`${value.replaceAll(".", "\\.")}$`);

describe("the server stops acknowledging writes, and reports it, when its", () => {
  test.each<[string, (file: string) => void, RegExp]>([
    ["file is deleted", unlinkSync, text("irm.db was deleted or moved away")],
    [
      "file is replaced by a copy of itself",
      (file) => {
        copyFileSync(file, `${file}.new`);
        renameSync(`${file}.new`, file);
      },
      text("irm.db was replaced by another file"),
    ],
    ["log is deleted", (file) => unlinkSync(`${file}-wal`), text("irm.db-wal was deleted or moved away")],
    ["index is deleted", (file) => unlinkSync(`${file}-shm`), text("irm.db-shm was deleted or moved away")],
    ["file is emptied", (file) => truncateSync(file), text("irm.db was overwritten or cut off")],
    ["header is overwritten", (file) => overwrite(file, 0, 100), text("irm.db was overwritten or cut off")],
    ["file is cut", (file) => truncateSync(file, 2048), text("irm.db was cut off")],
    ["log is emptied", (file) => truncateSync(`${file}-wal`), text("irm.db-wal was cut off")],
    ["log is cut", (file) => truncateSync(`${file}-wal`, 40_000), text("irm.db-wal was cut off")],
  ])("%s", async (_, damage, reason) => {
    damage(await start());
    await expectLost(reason);
  });

  test("path leads to another file, by a symbolic link", async () => {
    made += 1;
    const [link = "", one = "", two = ""] = ["link.db", "one.db", "two.db"].map((name) => folder.path(name));
    openDatabase(two).close();
    writeFileSync(one, "");
    symlinkSync(one, link);
    api = await serve({ store: link });
    expect((await create()).status).toBe(200);
    unlinkSync(link);
    symlinkSync(two, link);
    await expectLost(/link\.db was replaced by another file$/);
  });

  test("file is deleted between the beginning and the end of a write, which is not acknowledged", async () => {
    made += 1;
    const file = folder.path(`${made}.db`);
    const database = openDatabase(file);
    const store = createStore(database);
    api = await serve({ store });
    database.function("vanish", () => {
      unlinkSync(file);
      return 1;
    });
    database.exec("CREATE TEMP TRIGGER vanish AFTER INSERT ON groups BEGIN SELECT vanish(); END");
    await expectLost(/\.db was deleted or moved away$/);
  });

  test("file is damaged where it is read", async () => {
    const file = folder.path("read.db");
    const first = await serve({ store: file });
    await first.close();
    const database = new DatabaseSync(file);
    const insert = database.prepare("INSERT INTO groups VALUES (?, ?, 1, 1, ?)");
    const body = JSON.stringify({ name: "g", description: "x".repeat(2000) });
    for (let i = 0; i < 500; i += 1)
      insert.run(`${first.organization}/f${i.toString(16).padStart(15, "0")}`, first.organization, body);
    database.close();
    const bytes = statSync(file).size;
    overwrite(file, bytes / 2, bytes / 4);
    api = await serve({ store: file });
    expect((await api.call("GET", "/readyz")).status).toBe(200);
    expectRefusal(await api.call("GET", `${IAM}/groups`, { query: { order_by: "create_time" } }), "UNAVAILABLE", LOST);
    await expectLost(/SQLite says: database disk image is malformed$/);
  });
});

test("a file that is put back is not trusted until a restart, which has all acknowledged writes", async () => {
  const file = await start();
  const before = (await api.ok("GET", `${IAM}/groups`)).totalCount;
  renameSync(file, `${file}.old`);
  expect((await create()).status).toBe(503);
  renameSync(`${file}.old`, file);
  await expectLost(/irm\.db was deleted or moved away$/);
  await api.close();
  api = await serve({ store: file });
  expect((await api.ok("GET", `${IAM}/groups`)).totalCount).toBe(before);
});

test("a server that has lost its database does not write or delete at its path when it ends", async () => {
  const file = await start();
  const [main, log] = [readFileSync(file), readFileSync(`${file}-wal`)];
  unlinkSync(file);
  unlinkSync(`${file}-wal`);
  await expectLost(/irm\.db was deleted or moved away$/);
  writeFileSync(file, main);
  writeFileSync(`${file}-wal`, log);
  await api.close();
  expect(readFileSync(file).equals(main)).toBe(true);
  expect(readFileSync(`${file}-wal`).equals(log)).toBe(true);
  cpSync(file, `${file}.copy`);
  cpSync(`${file}-wal`, `${file}.copy-wal`);
  api = await serve({ store: `${file}.copy` });
  expect((await api.ok("GET", `${IAM}/groups`)).totalCount).toBe("4");
});

test.each(["-wal", "-shm"])(
  "a server whose %s is gone writes all acknowledged changes into its file when it ends",
  async (end) => {
    const file = await start();
    const before = (await api.ok("GET", `${IAM}/groups`)).totalCount;
    unlinkSync(file + end);
    await expectLost(new RegExp(`irm\\.db${end} was deleted or moved away$`));
    await api.close();
    api = await serve({ store: file });
    expect((await api.ok("GET", `${IAM}/groups`)).totalCount).toBe(before);
  },
);

test("the server continues while others read, back up, commit, roll back and checkpoint", async () => {
  const file = await start();
  const other = new DatabaseSync(file);
  const still = async () => expect((await create()).status).toBe(200);
  other.prepare("SELECT count(*) FROM groups").get();
  await still();
  other.prepare("VACUUM INTO ?").run(`${file}.backup`);
  await still();
  other.exec("CREATE TABLE other (text TEXT)");
  for (let i = 0; i < 10; i += 1) {
    other.exec(`INSERT INTO other VALUES ('${"x".repeat(500_000)}')`);
    await still();
  }
  // More than its cache holds: the log has frames that are not committed.
  other.exec("PRAGMA cache_size = 10; BEGIN");
  other.exec(`INSERT INTO other VALUES ('${"y".repeat(3_000_000)}')`);
  expect((await api.call("GET", `${IAM}/groups`)).status).toBe(200);
  other.exec("ROLLBACK");
  await still();
  for (const mode of ["PASSIVE", "FULL", "RESTART", "TRUNCATE"]) {
    other.exec(`PRAGMA wal_checkpoint(${mode})`);
    await still();
  }
  other.exec("VACUUM");
  await still();
  other.close();
  await still();
  expect((await api.call("GET", "/readyz")).status).toBe(200);
});

test("the server continues beside a second server on the same file, which then has the writes of both", async () => {
  const file = await start();
  const second = await serve({ store: file, ids: shuffledIds(9) });
  for (let i = 0; i < 5; i += 1) {
    expect((await create()).status).toBe(200);
    const body = { name: "h" };
    expect(
      (await second.call("POST", `${IAM}/groups/${api.organization}`, { body, token: second.owner.token })).status,
    ).toBe(200);
  }
  await second.close();
  expect((await create()).status).toBe(200);
  expect((await api.ok("GET", `${IAM}/groups`)).totalCount).toBe("15");
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
});
