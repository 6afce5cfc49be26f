// Reads and writes records by uid, in transactions. Statements are prepared once. A shape names the table of a kind, and the table
// lists its columns.
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { type ApiError, type Json, parentOf } from "../../schema/index.ts";
import { filesOf } from "./database.ts";
import { isDamage, lossIn, lostFailure, passingFailure } from "./failure.ts";
import { createFileGuard, type DatabaseLost } from "./file-guard.ts";

/** Where a kind is stored. */
export interface Shape {
  table: string;
  /** sort keys of its lists, in the API's words */
  orders: readonly string[];
  /** default: `uid asc` */
  defaultOrder?: string;
  /** a record has the uid of a group */
  groupUid?: boolean;
}

/** One stored record: the columns that only its table has, times in milliseconds, and the rest of its fields. */
export interface Row {
  uid: string;
  parent: string | null;
  createTime: number;
  updateTime: number;
  columns: Record<string, SQLInputValue>;
  body: Json;
}

/** A store, opaque to programs. */
export interface OpenStore {
  close(): void;
}

export type Store = ReturnType<typeof createStore>;

const FIXED: readonly string[] = ["uid", "parent", "create_time", "update_time", "body"];

export const createStore = (database: DatabaseSync) => {
  const statements = new Map<string, StatementSync>();
  const columns = new Map<string, readonly string[]>();
  const listeners: ((lost: DatabaseLost) => void)[] = [];
  const guard = createFileGuard(filesOf(database), (lost) => {
    for (const listener of listeners) listener(lost);
  });
  let depth = 0;

  /** A statement, prepared once for its text. */
  const statement = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known) return known;
    const prepared = database.prepare(sql);
    statements.set(sql, prepared);
    return prepared;
  };

  /** Its columns besides uid, parent, create_time, update_time and body. */
  const ownColumns = ({ table }: Shape): readonly string[] => {
    const known = columns.get(table);
    if (known) return known;
    const all = statement("SELECT name FROM pragma_table_info(?)").all(table);
    const names = all.flatMap(({ name }) => (FIXED.includes(name as string) ? [] : [name as string]));
    columns.set(table, names);
    return names;
  };

  const ownValues = (shape: Shape, row: Pick<Row, "columns">): SQLInputValue[] =>
    ownColumns(shape).map((name) => row.columns[name] ?? null);

  /** All or nothing; nested calls join the outer one. When it returns, the result is in the file at its path. */
  const transaction = <T>(work: () => T): T => {
    if (depth > 0) return work();
    guard.check();
    database.exec("BEGIN IMMEDIATE");
    depth += 1;
    try {
      const result = work();
      database.exec("COMMIT");
      guard.check();
      return result;
    } catch (error) {
      // SQLite rolls back by itself when the disk is full, and a second rollback would hide the reason.
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    } finally {
      depth -= 1;
    }
  };

  return {
    database,
    statement,
    transaction,
    ownColumns,
    get: (shape: Shape, uid: string): Row | undefined => {
      const raw = statement(`SELECT * FROM ${shape.table} WHERE uid = ?`).get(uid);
      return raw && rowFrom(raw);
    },
    /** `parent`: default: the record above, by the uid */
    insert: (shape: Shape, row: Omit<Row, "parent"> & { parent?: string }): void => {
      const names = [...FIXED, ...ownColumns(shape)];
      const parent = row.parent ?? (parentOf(row.uid) || null);
      const fixed = [row.uid, parent, row.createTime, row.updateTime, JSON.stringify(row.body)];
      const sql = `INSERT INTO ${shape.table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
      statement(sql).run(...fixed, ...ownValues(shape, row));
    },
    update: (shape: Shape, row: Omit<Row, "parent" | "createTime">): void => {
      const sets = ["update_time", "body", ...ownColumns(shape)].map((name) => `${name} = ?`);
      const values = [row.updateTime, JSON.stringify(row.body), ...ownValues(shape, row)];
      statement(`UPDATE ${shape.table} SET ${sets.join(", ")} WHERE uid = ?`).run(...values, row.uid);
    },
    /** True when the record existed. */
    remove: (shape: Shape, uid: string): boolean =>
      statement(`DELETE FROM ${shape.table} WHERE uid = ?`).run(uid).changes === 1,
    meta: (key: string) => statement("SELECT value FROM meta WHERE key = ?").get(key)?.value as string | undefined,
    setMeta: (key: string, value: string): void => {
      const upsert =
        "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
      transaction(() => statement(upsert).run(key, value));
    },
    /** Throws when the database is lost: another program deleted, replaced or damaged its files. */
    check: guard.check,
    /** The answer to a failure of the database; undefined for any other error. Damage makes the database lost. */
    failure: (error: unknown): ApiError | undefined => {
      if (isDamage(error)) return lostFailure(guard.lose(`SQLite says: ${messageOf(error)}`));
      const lost = lossIn(error);
      return lost ? lostFailure(lost) : passingFailure(error);
    },
    /** Called once, when the database is lost. */
    onLost: (listener: (lost: DatabaseLost) => void): void => void listeners.push(listener),
    close: () => {
      if (!guard.isClosable()) return abandon(database);
      database.close();
      guard.release();
    },
  };
};

// Closing would write the log into a file that is no longer ours, and delete the file that has the log's name now. So would
// garbage collection and a process that ends by itself; `process.exit` does not.
const abandon = (database: DatabaseSync): void => {
  if (abandoned.push(database) === 1) process.once("exit", (code) => process.exit(code));
};
const abandoned: DatabaseSync[] = [];

const messageOf = (error: unknown): string => {
  const { message, cause, errcode } = error as { message?: string; cause?: unknown; errcode?: number };
  return errcode === undefined && cause !== undefined ? messageOf(cause) : String(message);
};

/** A row from all columns of its table. */
export const rowFrom = ({ uid, parent, create_time, update_time, body, ...columns }: Record<string, unknown>): Row => ({
  uid: uid as string,
  parent: parent as string | null,
  createTime: create_time as number,
  updateTime: update_time as number,
  body: JSON.parse(body as string) as Json,
  columns: columns as Row["columns"],
});
