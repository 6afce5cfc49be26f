// The records as they are now, to go back to: for tests that share a server. Temporary tables of the same connection.
import type { Store } from "./store.ts";

/** Returns what brings every table back, but the keys: a token that was given out stays one of ours. */
export const takeSnapshot = ({ database, statement, transaction }: Store): (() => void) => {
  const tables = statement(
    "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'meta'",
  )
    .all()
    .map(({ name }) => name as string);
  database.exec("PRAGMA temp_store = MEMORY");
  for (const name of tables) {
    // A store may serve one server after another.
    database.exec(`DROP TABLE IF EXISTS temp.start_${name}`);
    database.exec(`CREATE TEMP TABLE start_${name} AS SELECT * FROM main.${name}`);
  }
  return () =>
    transaction(() => {
      // The tables refer to each other.
      database.exec("PRAGMA defer_foreign_keys = ON");
      for (const name of tables) database.exec(`DELETE FROM main.${name}`);
      for (const name of tables) database.exec(`INSERT INTO main.${name} SELECT * FROM temp.start_${name}`);
    });
};

/** The records are gone with the process anyhow. */
export const isInMemory = ({ database }: Store): boolean => database.location() === null;
