// Reads and writes of records by uid, in transactions. Statements are prepared once. A shape names the columns of a table, so
// a kind is a shape and nothing else.
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { type ApiError, type Json, parentOf } from "../../schema/index.ts";
import { filesOf } from "./database.ts";
import { isDamage, lostFailure, lostOf, passingFailure } from "./failure.ts";
import { createFileGuard, type DatabaseLost } from "./file-guard.ts";

/** Where a kind is stored. `columns`: those besides uid, parent, create_time, update_time and body. */
export interface Shape {
  table: string;
  columns: readonly string[];
  /** sort keys of its lists, in the API's words */
  orders: readonly string[];
  /** default: `uid asc` */
  defaultOrder?: string;
  /** the uid of a record is that of a group */
  groupUid?: boolean;
}

/** One stored record: the columns of its shape, times in milliseconds, and the rest of its fields. */
export interface Row {
  uid: string;
  parent: string | null;
  createTime: number;
  updateTime: number;
  columns: Record<string, SQLInputValue>;
  body: Json;
}

/** What a program sees of a store, which it only passes on. */
export interface OpenStore {
  close(): void;
}

export interface Store extends OpenStore {
  readonly database: DatabaseSync;
  /** A statement, prepared once for its text. */
  statement(sql: string): StatementSync;
  get(shape: Shape, uid: string): Row | undefined;
  insert(shape: Shape, row: Omit<Row, "parent">): void;
  update(shape: Shape, row: Omit<Row, "parent" | "createTime">): void;
  /** True when the record existed. */
  remove(shape: Shape, uid: string): boolean;
  /** All or nothing; nested calls join the outer one. When it returns, the result is in the file at its path. */
  transaction<T>(work: () => T): T;
  /** Throws when the database is lost: another program deleted, replaced or damaged its files. */
  check(): void;
  /** The answer to a failure of the database; undefined of any other error. An error that reports damage loses the database. */
  failure(error: unknown): ApiError | undefined;
  /** Called once, when the database is lost. */
  onLost(listener: (lost: DatabaseLost) => void): void;
  meta(key: string): string | undefined;
  setMeta(key: string, value: string): void;
}

const FIXED = ["uid", "parent", "create_time", "update_time", "body"] as const;

export const createStore = (database: DatabaseSync): Store => {
  const statements = new Map<string, StatementSync>();
  const listeners: ((lost: DatabaseLost) => void)[] = [];
  const guard = createFileGuard(filesOf(database), (lost) => {
    for (const listener of listeners) listener(lost);
  });
  let depth = 0;

  const statement = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known) return known;
    const prepared = database.prepare(sql);
    statements.set(sql, prepared);
    return prepared;
  };

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
    get: (shape, uid) => {
      const raw = statement(`SELECT ${columnsOf(shape).join(", ")} FROM ${shape.table} WHERE uid = ?`).get(uid);
      return raw && rowFrom(shape, raw);
    },
    insert: (shape, row) => {
      const columns = columnsOf(shape);
      const values = [row.uid, parentOf(row.uid) || null, row.createTime, row.updateTime, JSON.stringify(row.body)];
      const own = shape.columns.map((name) => row.columns[name] ?? null);
      statement(`INSERT INTO ${shape.table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`).run(
        ...values,
        ...own,
      );
    },
    update: (shape, row) => {
      const sets = ["update_time", "body", ...shape.columns].map((name) => `${name} = ?`);
      const own = shape.columns.map((name) => row.columns[name] ?? null);
      statement(`UPDATE ${shape.table} SET ${sets.join(", ")} WHERE uid = ?`).run(
        row.updateTime,
        JSON.stringify(row.body),
        ...own,
        row.uid,
      );
    },
    remove: (shape, uid) => statement(`DELETE FROM ${shape.table} WHERE uid = ?`).run(uid).changes === 1,
    meta: (key) => statement("SELECT value FROM meta WHERE key = ?").get(key)?.value as string | undefined,
    setMeta: (key, value) => {
      const upsert =
        "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
      transaction(() => statement(upsert).run(key, value));
    },
    check: guard.check,
    failure: (error) => {
      if (isDamage(error)) return lostFailure(guard.lose(`SQLite says: ${messageOf(error)}`));
      const lost = lostOf(error);
      return lost ? lostFailure(lost) : passingFailure(error);
    },
    onLost: (listener) => void listeners.push(listener),
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

export const columnsOf = (shape: Shape): string[] => [...FIXED, ...shape.columns];

export const rowFrom = (shape: Shape, raw: Record<string, unknown>): Row => ({
  uid: raw.uid as string,
  parent: raw.parent as string | null,
  createTime: raw.create_time as number,
  updateTime: raw.update_time as number,
  body: JSON.parse(raw.body as string) as Json,
  columns: Object.fromEntries(shape.columns.map((name) => [name, raw[name] as SQLInputValue])),
});
