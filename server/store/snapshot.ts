// A snapshot of the records, in temporary tables of the same connection: for tests that share a server.
import type { Store } from "./store.ts";

/** Returns a function that restores every table but the keys: tokens from before stay valid. */
export const takeSnapshot = ({ database, statement, transaction }: Store): (() => void) => {
  const tables = statement(
    "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'meta'",
  )
    .all()
    .map(({ name }) => name as string);
  database.exec("PRAGMA temp_store = MEMORY");
  for (const name of tables) {
    // The store may have served another server before.
    database.exec(`DROP TABLE IF EXISTS temp.start_${name}`);
    database.exec(`CREATE TEMP TABLE start_${name} AS SELECT * FROM main.${name}`);
  }
  return () =>
    transaction(() => {
      // The tables refer to each other.
      database.exec("PRAGMA defer_foreign_keys = ON");
      for (const name of tables) database.exec(`DELETE FROM main.${name}`);
      for (const name of tables) {
        // Without the columns that SQLite computes.
        const columns = statement("SELECT group_concat(name) AS names FROM pragma_table_info(?)").get(name)?.names;
        database.exec(`INSERT INTO main.${name} (${columns}) SELECT ${columns} FROM temp.start_${name}`);
      }
    });
};

/** True when the records end with the process. */
export const isInMemory = ({ database }: Store): boolean => database.location() === null;
