// The database: durability of acknowledged writes, the content of the file, and files of other versions. The warning of
// node:sqlite, which older versions of Node 22 and 24 emit, is left out, and no other one.
import { chmodSync, statSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { DatabaseError } from "../../../server/index.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { withoutSqliteWarning } from "../../../server/store/sqlite.ts";
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
      const again = openDatabase(folder.path("another.db"));
      again.close();
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
