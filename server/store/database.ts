// Opens the embedded SQLite database. A commit that returned is on disk: WAL with synchronous=FULL, on every connection.
import { chmodSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

export const DATABASE_VERSION = 1;
// "IRMS": tells our files from other SQLite databases.
const APPLICATION_ID = 0x49524d53;

/** A database that cannot be used, in one sentence for the person who started the server. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError";
}

/** Opens `file` (or `:memory:`) and makes the tables in a new one. */
export const openDatabase = (file: string): DatabaseSync => {
  const database = open(file);
  try {
    database.exec("PRAGMA busy_timeout = 5000");
    checkVersion(database, file);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
    migrate(database);
    // Signing keys live in it.
    if (file !== ":memory:") chmodSync(file, 0o600);
    return database;
  } catch (error) {
    database.close();
    throw error instanceof DatabaseError ? error : unreadable(file, error);
  }
};

const open = (file: string): DatabaseSync => {
  try {
    return new DatabaseSync(file);
  } catch (error) {
    throw unreadable(file, error);
  }
};

const unreadable = (file: string, error: unknown) =>
  new DatabaseError(`cannot use ${file} as a database: ${(error as Error).message}`, { cause: error });

const pragma = (database: DatabaseSync, name: string): number =>
  Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0] as number;

const checkVersion = (database: DatabaseSync, file: string) => {
  const version = pragma(database, "user_version");
  const application = pragma(database, "application_id");
  const tables = database.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.n as number;
  if (tables > 0 && application !== APPLICATION_ID)
    throw new DatabaseError(`${file} is a database of another program; name another file`);
  if (version > DATABASE_VERSION)
    throw new DatabaseError(
      `${file} was written by a newer version of this server (format ${version}, this one reads up to ${DATABASE_VERSION}); upgrade, or name another file`,
    );
};

const migrate = (database: DatabaseSync) => {
  if (pragma(database, "user_version") === DATABASE_VERSION) return;
  const sql = readFileSync(new URL("./schema.sql", import.meta.url), "utf8");
  database.exec("BEGIN IMMEDIATE");
  try {
    database.exec(sql);
    database.exec(`PRAGMA user_version = ${DATABASE_VERSION}; PRAGMA application_id = ${APPLICATION_ID}`);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
};
