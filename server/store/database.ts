// Opens the embedded SQLite database. A commit that returned is on disk: WAL with synchronous=FULL, on every connection. A
// database of another format is refused.
import { accessSync, chmodSync, closeSync, constants, existsSync, openSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { DatabaseSync as Database } from "node:sqlite";
import { UserError } from "../../schema/index.ts";
import { DatabaseSync } from "./sqlite.ts";

// The format of `schema.sql`. After a release, a change of the tables raises it, and migrates the release's data.
const FORMAT = 1;
// "IRMS": marks our files among SQLite databases.
const APPLICATION_ID = 0x49524d53;

/** A database that the server cannot use, in one sentence for its operator. */
export class DatabaseError extends UserError {
  override readonly name = "DatabaseError";
}

/** Opens `file` (or `:memory:`) and creates the tables of a new one. */
export const openDatabase = (file: string): Database => {
  const database = open(file);
  try {
    database.exec("PRAGMA busy_timeout = 5000");
    checkOrigin(database, file);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
    createTables(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error instanceof DatabaseError ? error : openError(file, error);
  }
};

export interface DatabaseFiles {
  /** the path that the server was given; the other two are beside its target */
  main: string;
  log: string;
  index: string;
}

const givenPaths = new WeakMap<Database, string>();

/** The files of an open database with a write-ahead log; undefined in memory. */
export const filesOf = (database: Database): DatabaseFiles | undefined => {
  const file = database.location();
  if (!file) return undefined;
  // The first read creates the log.
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
    throw openError(file, error);
  }
};

// The database contains signing keys, and so does its write-ahead log, which SQLite creates with the mode of the file.
const keepPrivate = (file: string) => {
  // Opens only a new file: closing it would drop the locks that another server of this process has (`file-guard.ts`).
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

const openError = (file: string, error: unknown) => {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return new DatabaseError(`cannot use ${file} as a database: ${REASONS[code] ?? message}`, { cause: error });
};

const pragma = (database: Database, name: string) =>
  Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0] as number;

const checkOrigin = (database: Database, file: string) => {
  const application = pragma(database, "application_id");
  const tables = database.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.n as number;
  if (tables > 0 && application !== APPLICATION_ID)
    throw new DatabaseError(`${file} is a database of another program; name another file`);
  const format = pragma(database, "user_version");
  if (tables > 0 && format !== FORMAT)
    throw new DatabaseError(
      `${file} was written by another version of this server (format ${format}, this one reads ${FORMAT}); use that version, or name another file`,
    );
};

// All tables or none. Of two servers that start on a new file at once, only one creates them.
const createTables = (database: Database, file: string) => {
  if (pragma(database, "user_version") === FORMAT) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    checkOrigin(database, file);
    // The other server has created them since.
    if (pragma(database, "user_version") !== FORMAT) {
      database.exec(readFileSync(new URL("./schema.sql", import.meta.url), "utf8"));
      database.exec(`PRAGMA user_version = ${FORMAT}; PRAGMA application_id = ${APPLICATION_ID}`);
    }
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
};
