// The database: durability of acknowledged writes, the content of the file, and files of other versions.

import { chmodSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { DatabaseError } from "../../../server/index.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { root } from "../../harness/api-process.ts";
import { IAM, REGISTRY, startServer } from "../../harness/api-server.ts";
import { createRecord } from "../../harness/records.ts";
import { temporaryFolder } from "../../support/command.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

/** The number of steps: the format that the newest one makes. */
const FORMAT = readdirSync(join(root, "server", "store")).filter((name) => /^schema-\d+\.sql$/.test(name)).length;

const pragma = (database: ReturnType<typeof openDatabase>, name: string) =>
  Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];

describe("a database file", () => {
  test.each(["a new one", "one that is opened again"])("syncs every commit to the disk: %s", () => {
    const database = openDatabase(folder.path("synced.db"));
    // 2 = FULL: a commit that returned survives the loss of power.
    expect(pragma(database, "synchronous")).toBe(2);
    expect(pragma(database, "journal_mode")).toBe("wal");
    expect(pragma(database, "foreign_keys")).toBe(1);
    expect(pragma(database, "user_version")).toBe(FORMAT);
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

  test("of a newer version is refused with a DatabaseError, and the file is closed", () => {
    const file = folder.path("newer.db");
    const database = openDatabase(file);
    database.exec(`PRAGMA user_version = ${FORMAT + 1}`);
    database.close();
    for (let i = 0; i < 2; i += 1) expect(() => openDatabase(file)).toThrow(DatabaseError);
    const again = openDatabase(folder.path("another.db"));
    again.close();
  });
});

describe("a database of format 1", () => {
  const ROOT = "a".repeat(40);
  const VIEWER = "63921b2c44617e3f2603851537be0123af4a57d7";
  const issuer = "https://issuer.example";

  /** As the version with this format wrote it: a group, a bound identity, a custom role, a repo. */
  const older = (name: string, further = ""): string => {
    const file = folder.path(name);
    const database = new DatabaseSync(file);
    const schema = readFileSync(new URL("../../../server/store/schema-1.sql", import.meta.url), "utf8");
    const claimMatch = JSON.stringify({ claimMatch: { issuer, subject: "s" } });
    database.exec(`${schema}
      INSERT INTO groups VALUES ('${ROOT}', NULL, 'acme', 1, 2, '{}');
      INSERT INTO identities VALUES ('${ROOT}/1111111111111111', '${ROOT}', 'i', 3, 4, 5,
        'RELATIONSHIP_TYPE_CLAIM_MATCH', '${issuer}', 's', '${claimMatch}');
      INSERT INTO roles VALUES ('${VIEWER}', NULL, 'viewer', 6, 7, '{"capabilities":["CAP_IAM_GROUPS_LIST"]}');
      INSERT INTO roles VALUES ('${ROOT}/2222222222222222', '${ROOT}', 'r', 8, 9, '{"capabilities":["CAP_REPO_LIST"]}');
      INSERT INTO role_bindings VALUES ('${ROOT}/3333333333333333', '${ROOT}', '${ROOT}/1111111111111111',
        '${ROOT}/2222222222222222', 0, 10, 11, '{}');
      INSERT INTO repos VALUES ('${ROOT}/4444444444444444', '${ROOT}', 'nginx', 12, 13, '{"description":"d"}');
      INSERT INTO meta VALUES ('dev_organization', '${ROOT}');
      ${further}
      PRAGMA user_version = 1; PRAGMA application_id = ${0x49524d53};`);
    database.close();
    return file;
  };

  test("is migrated to the current one: its records are served unchanged, and newer kinds too", async () => {
    const api = await startServer({ store: older("older.db") });
    expect(api.organization).toBe(ROOT);
    expect(await api.ok("GET", `${IAM}/groups/${ROOT}`)).toMatchObject({
      name: "acme",
      updateTime: new Date(2).toISOString(),
    });
    expect(await api.ok("GET", `${IAM}/roleBindings/${ROOT}/3333333333333333`)).toMatchObject({
      identity: { name: "i", issuer, subject: "s" },
      role: { name: "r" },
      createTime: new Date(10).toISOString(),
    });
    const repo = `${ROOT}/4444444444444444`;
    const times = { createTime: new Date(12).toISOString(), updateTime: new Date(13).toISOString() };
    expect(await api.ok("GET", `${REGISTRY}/repos/${repo}`)).toEqual({
      uid: repo,
      name: "nginx",
      description: "d",
      ...times,
    });
    expect(await api.ok("GET", `${REGISTRY}/repos/${repo}/readme`)).toEqual({ uid: repo });
    const digest = `sha256:${"a".repeat(64)}`;
    await createRecord(api, "tags", repo, { name: "latest", digest });
    await createRecord(api, "groupInvites", ROOT, { roleUid: VIEWER, ttl: "1s" });
    await api.close();
    const database = openDatabase(folder.path("older.db"));
    expect(pragma(database, "user_version")).toBe(FORMAT);
    expect(database.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
    database.close();
  });

  test("is unchanged when a step fails, and the error has the reason", () => {
    // The name of the last table that the step makes.
    const file = older("broken.db", "CREATE TABLE refresh_families (id TEXT);");
    const text = `cannot use ${file} as a database: table refresh_families already exists`;
    expect(() => openDatabase(file)).toThrow(new DatabaseError(text));
    const database = new DatabaseSync(file);
    expect(Object.values(database.prepare("PRAGMA user_version").get() ?? {})).toEqual([1]);
    expect(database.prepare("SELECT name FROM sqlite_schema WHERE name = 'tags'").all()).toEqual([]);
    database.close();
  });
});
