// Reads and writes records by uid, in transactions. Statements are prepared once. A shape names the table of a kind.
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { type ApiError, type Json, parentOf } from "../../schema/index.ts";
import { filesOf } from "./database.ts";
import { isDamage, lossIn, lostFailure, passingFailure } from "./failure.ts";
import { createFileGuard, type DatabaseLost } from "./file-guard.ts";

/** The storage of a kind. */
export interface Shape {
  table: string;
  /** sort keys of its lists, in the API's words */
  orders: readonly string[];
  /** default: `uid asc` */
  defaultOrder?: string;
  /** a record shares the uid of a group */
  groupUid?: boolean;
  /** root records are shown to everyone */
  showsRoots?: boolean;
}

/** One stored record: its fields, its times in milliseconds, and the columns that only its table has. */
export interface Row {
  uid: string;
  parent: string | null;
  createTime: number;
  updateTime: number;
  body: Json;
  columns: Readonly<Record<string, SQLOutputValue>>;
}

/** A store, opaque to programs. */
export interface OpenStore {
  close(): void;
}

export type Store = ReturnType<typeof createStore>;

/** The values of a record beside its body: columns that SQLite does not compute from it. */
type Columns = Readonly<Record<string, SQLInputValue>>;

export const createStore = (database: DatabaseSync) => {
  const statements = new Map<string, StatementSync>();
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
    get: (shape: Shape, uid: string): Row | undefined => {
      const raw = statement(`SELECT * FROM ${shape.table} WHERE uid = ?`).get(uid);
      return raw && rowFrom(raw);
    },
    /** `parent`: default: the record above, by the uid */
    insert: (
      shape: Shape,
      row: Omit<Row, "parent" | "columns"> & { parent?: string | null },
      columns: Columns = {},
    ) => {
      const { uid, parent = parentOf(uid) || null, createTime, updateTime, body } = row;
      const values = {
        uid,
        parent,
        create_time: createTime,
        update_time: updateTime,
        body: JSON.stringify(body),
        ...columns,
      };
      const names = Object.keys(values);
      const sql = `INSERT INTO ${shape.table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
      statement(sql).run(...Object.values(values));
    },
    /** Keeps the columns that are not given. */
    update: (
      shape: Shape,
      { uid, updateTime, body }: Pick<Row, "uid" | "updateTime" | "body">,
      columns: Columns = {},
    ) => {
      const values = { update_time: updateTime, body: JSON.stringify(body), ...columns };
      const sets = Object.keys(values).map((name) => `${name} = ?`);
      statement(`UPDATE ${shape.table} SET ${sets.join(", ")} WHERE uid = ?`).run(...Object.values(values), uid);
    },
    /** True when the record existed. */
    remove: (shape: Shape, uid: string) => statement(`DELETE FROM ${shape.table} WHERE uid = ?`).run(uid).changes === 1,
    meta: (key: string) => statement("SELECT value FROM meta WHERE key = ?").get(key)?.value as string | undefined,
    setMeta: (key: string, value: string) => {
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
      if (guard.isClosable()) {
        database.close();
        guard.release();
      } else if (abandoned.push(database) === 1) process.once("exit", (code) => process.exit(code));
    },
  };
};

// Closing would write the log into a file that is no longer ours, and delete the file that has the log's name now. So would
// garbage collection and a process that ends by itself; `process.exit` does not.
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
