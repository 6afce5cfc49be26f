// Opens the embedded SQLite database. A commit that returned is on disk: WAL with synchronous=FULL, on every connection. One
// that an earlier version wrote is brought to the format of this one first; one of a later version is refused.
import { accessSync, chmodSync, closeSync, constants, existsSync, openSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { DatabaseSync as Database } from "node:sqlite";
import { DatabaseSync } from "./sqlite.ts";

// From each format to the next; a new database goes through all of them. What was released is never edited: a change of the
// format is one file more.
const STEPS = ["schema-1.sql", "schema-2.sql"] as const;
// "IRMS": tells our files from other SQLite databases.
const APPLICATION_ID = 0x49524d53;

/** A database that cannot be used, in one sentence for the person who started the server. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError";
}

/** Opens `file` (or `:memory:`) and makes the tables in a new one. */
export const openDatabase = (file: string): Database => {
  const database = open(file);
  try {
    database.exec("PRAGMA busy_timeout = 5000");
    checkOrigin(database, file);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
    migrate(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error instanceof DatabaseError ? error : unreadable(file, error);
  }
};

export interface DatabaseFiles {
  /** as the server was given it; the other two are beside the file that it leads to */
  main: string;
  log: string;
  index: string;
}

const givenPaths = new WeakMap<Database, string>();

/** The files of a database that is open with a write-ahead log; undefined of one in memory. */
export const filesOf = (database: Database): DatabaseFiles | undefined => {
  const file = database.location();
  if (!file) return undefined;
  // The first read makes the log.
  database.prepare("SELECT count(*) FROM sqlite_schema").get();
  const files = { main: givenPaths.get(database) ?? file, log: `${file}-wal`, index: `${file}-shm` };
  return existsSync(files.log) && existsSync(files.index) ? files : undefined;
};

const open = (file: string): Database => {
  try {
    if (file !== ":memory:") keepPrivate(file);
    const database = new DatabaseSync(file);
    givenPaths.set(database, resolve(file));
    return database;
  } catch (error) {
    throw unreadable(file, error);
  }
};

// Signing keys live in it, and in its write-ahead log, which SQLite makes with the mode that the file has by then.
const keepPrivate = (file: string): void => {
  // Only a new one is opened: a close drops the locks that another server of this process has on it (`file-guard`).
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  accessSync(file, constants.R_OK | constants.W_OK);
  if (statSync(file).isDirectory()) throw Object.assign(new Error("it is a folder"), { code: "EISDIR" });
  for (const path of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(path)) chmodSync(path, 0o600);
};

const REASONS: Readonly<Record<string, string>> = {
  EISDIR: "it is a folder",
  ENOENT: "its folder does not exist",
  EACCES: "it may not be written here",
  EROFS: "the disk is read-only",
};

const unreadable = (file: string, error: unknown) => {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return new DatabaseError(`cannot use ${file} as a database: ${REASONS[code] ?? message}`, { cause: error });
};

const pragma = (database: Database, name: string): number =>
  Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0] as number;

const checkOrigin = (database: Database, file: string) => {
  const application = pragma(database, "application_id");
  const tables = database.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.n as number;
  if (tables > 0 && application !== APPLICATION_ID)
    throw new DatabaseError(`${file} is a database of another program; name another file`);
  const format = pragma(database, "user_version");
  if (format > STEPS.length)
    throw new DatabaseError(
      `${file} was written by a newer version of this server (format ${format}, this one reads up to ${STEPS.length}); upgrade, or name another file`,
    );
};

// All steps or none, and only one of two servers that start on a file at once takes them.
const migrate = (database: Database, file: string) => {
  if (pragma(database, "user_version") === STEPS.length) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    checkOrigin(database, file);
    for (const step of STEPS.slice(pragma(database, "user_version")))
      database.exec(readFileSync(new URL(`./${step}`, import.meta.url), "utf8"));
    database.exec(`PRAGMA user_version = ${STEPS.length}; PRAGMA application_id = ${APPLICATION_ID}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
};
