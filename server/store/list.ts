// The only list query (docs/internals/contract.md#lists): filters and readable scopes by range on the uid, keyset cursor, one order for
// all kinds (docs/internals/contract.md#d14).

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { SQLInputValue, SQLOutputValue } from "node:sqlite";
import {
  ancestorsOf,
  apiError,
  type FieldViolation,
  invalidArgument,
  isUidp,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  PAGE_TOKEN_LIFE_MS,
  type RequestOf,
  toSnake,
} from "../../schema/index.ts";
import { type Row, rowFrom, type Shape, type Store } from "./store.ts";

/** The common fields of list requests. */
export type ListInput = Pick<RequestOf<"ListGroups">, "uidp" | "pageSize" | "pageToken" | "orderBy" | "skip">;
export type UidpFilterInput = NonNullable<ListInput["uidp"]>;

export interface Condition {
  sql: string;
  values: SQLInputValue[];
}

/** The scope of the caller: everything in these groups. */
export interface Readable {
  scopes: readonly string[];
  /** and of these records, only the ones that match all conditions */
  only?: readonly Condition[];
}

interface Page {
  rows: Row[];
  nextPageToken?: string;
  totalCount: string;
  skipped: number;
}

export const listRows = (
  store: Store,
  tokens: PageTokens,
  shape: Shape,
  input: ListInput,
  filters: readonly Condition[],
  readable: Readable,
): Page => {
  const violations: FieldViolation[] = [];
  const order = parseOrder(shape, input.orderBy, violations);
  const pageSize = parseCount(input.pageSize, "pageSize", violations);
  const skip = parseCount(input.skip, "skip", violations);
  const { uidp = {} } = input;
  const where = whereOf(shape, uidp, filters, readable, violations);

  const query = [shape.table, uidp, filters, order];
  const cursor = tokens.read(query, input.pageToken);
  const limit = pageSize === 0 ? PAGE_SIZE_DEFAULT : Math.min(pageSize, PAGE_SIZE_MAX);
  const total = cursor?.total ?? countRows(store, shape, where);
  const after = cursor ? [afterCondition(order, cursor.key, cursor.uid)] : [];
  const { sql, values } = and([...where, ...after]);
  const direction = order.descending ? "DESC" : "ASC";
  const found = store
    .statement(
      `SELECT * FROM ${shape.table} WHERE ${sql}
       ORDER BY ${order.column} ${direction}${order.column === "uid" ? "" : `, uid ${direction}`} LIMIT ? OFFSET ?`,
    )
    .iterate(...values, limit + 1, skip);
  const { raw, hasMore } = takePage(found, limit);
  const page: Page = { rows: raw.map(rowFrom), totalCount: String(total), skipped: skip };
  const last = hasMore ? raw.at(-1) : undefined;
  if (!last) return page;
  const next = { key: last[order.column] as string | number, uid: last.uid as string, total };
  return { ...page, nextPageToken: tokens.write(query, next) };
};

/** Every matching row, without pages: for the lists of v1. */
export const allRows = (
  store: Store,
  shape: Shape,
  uidp: UidpFilterInput,
  filters: readonly Condition[],
  readable: Readable,
): Row[] => {
  const { sql, values } = and(whereOf(shape, uidp, filters, readable));
  let size = 0;
  const found = store.statement(`SELECT * FROM ${shape.table} WHERE ${sql} ORDER BY uid`);
  return Array.from(found.iterate(...values), (row) => {
    size += sizeOf(row);
    checkUnpaged(size);
    return rowFrom(row);
  });
};

/** The selection of a list. Throws its violations together with the earlier ones. */
const whereOf = (
  shape: Shape,
  uidp: UidpFilterInput,
  filters: readonly Condition[],
  readable: Readable,
  violations: FieldViolation[] = [],
): Condition[] => {
  const hierarchy = hierarchyConditions(shape, uidp, violations);
  if (violations.length > 0) throw invalidArgument(violations);
  return [...hierarchy, ...filters, readableCondition(shape, readable)];
};

// In stored characters. A record may be as large as a request. A page of 200 such records exceeds the memory of the process,
// and one of five exceeds the 4 MiB that gRPC clients accept. A page may be shorter than requested (AIP-158).
const PAGE_MAX = 3 * 1024 * 1024;
const UNPAGED_MAX = 64 * 1024 * 1024;

/** Throws RESOURCE_EXHAUSTED for a list without pages that is larger than a response may be. */
export const checkUnpaged = (size: number): void => {
  if (size > UNPAGED_MAX) throw apiError("RESOURCE_EXHAUSTED", "the list is too large for one answer; ask v2beta1");
};

type Raw = Record<string, SQLOutputValue>;

const sizeOf = (row: Raw) =>
  Object.values(row).reduce<number>((size, value) => size + (typeof value === "string" ? value.length : 0), 0);

const takePage = (found: Iterable<Raw>, limit: number): { raw: Raw[]; hasMore: boolean } => {
  const raw: Raw[] = [];
  let size = 0;
  for (const row of found) {
    size += sizeOf(row);
    if (raw.length === limit || (raw.length > 0 && size > PAGE_MAX)) return { raw, hasMore: true };
    raw.push(row);
  }
  return { raw, hasMore: false };
};

/** `column = value` for each filter that is set. */
export const equals = (filters: Readonly<Record<string, string | undefined>>): Condition[] =>
  Object.entries(filters).flatMap(([column, value]) => (value ? [{ sql: `${column} = ?`, values: [value] }] : []));

const IS_ROOT: Condition = { sql: "parent IS NULL", values: [] };

/** `column` is one of the values, or no condition if the filter is unset. */
export const among = (column: string, values: readonly string[] = []): Condition[] =>
  values.length > 0 ? [oneOf(column, values)] : [];

/** Everything below a group: a range on the uid, "0" being the character after "/". */
export const below = (uid: string, column = "uid"): Condition => ({
  sql: `(${column} > ? AND ${column} < ?)`,
  values: [`${uid}/`, `${uid}0`],
});

const and = (conditions: readonly Condition[]): Condition => ({
  sql: conditions.map(({ sql }) => sql).join(" AND ") || "TRUE",
  values: conditions.flatMap(({ values }) => values),
});

const countRows = (store: Store, shape: Shape, where: readonly Condition[]) => {
  const { sql, values } = and(where);
  return store.statement(`SELECT count(*) AS n FROM ${shape.table} WHERE ${sql}`).get(...values)?.n as number;
};

// A grant at a group covers the group and everything below. Root records other than groups are hidden, except of kinds that
// show them to everyone.
const readableCondition = (shape: Shape, { scopes, only = [] }: Readable): Condition => {
  const granted = [
    ...(scopes.length > FEW_SCOPES ? inMany(shape, scopes) : scopes.flatMap((scope) => inOne(shape, scope))),
    ...(shape.showsRoots ? [IS_ROOT] : []),
  ];
  const sql = `(${granted.map((one) => one.sql).join(" OR ") || "FALSE"})`;
  return and([{ sql, values: granted.flatMap(({ values }) => values) }, ...only]);
};

const inOne = ({ groupUid }: Shape, scope: string) => [
  below(scope),
  ...(groupUid ? [{ sql: "uid = ?", values: [scope] }] : []),
];

// A range for each scope reads a page in its order. But SQLite accepts 1,000 in one expression, and each number of ranges would
// be a separate statement.
const FEW_SCOPES = 8;

const inMany = ({ table, groupUid }: Shape, scopes: readonly string[]): Condition[] => {
  const inside = "readable.uid > scope.value || '/' AND readable.uid < scope.value || '0'";
  return [
    {
      sql: `uid IN (SELECT readable.uid FROM json_each(?) AS scope CROSS JOIN ${table} AS readable ON ${inside})`,
      values: [JSON.stringify(scopes)],
    },
    ...(groupUid ? [oneOf("uid", scopes)] : []),
  ];
};

const hierarchyConditions = (shape: Shape, uidp: UidpFilterInput, violations: FieldViolation[]): Condition[] => {
  const { descendantsOf, childrenOf, inRoot, ids = [] } = uidp;
  const check = (field: string, uid: string) => {
    if (!isUidp(uid)) violations.push({ field: `uidp.${field}`, description: "must be a uid" });
  };
  for (const field of ["ancestorsOf", "descendantsOf", "childrenOf"] as const)
    if (uidp[field]) check(field, uidp[field]);
  for (const [i, uid] of ids.entries()) check(`ids[${i}]`, uid);
  return [
    // The groups above; of other kinds, the records in those groups. A text as long as a request may name 60,000 of them.
    ...(isUidp(uidp.ancestorsOf) ? [oneOf(shape.groupUid ? "uid" : "parent", ancestorsOf(uidp.ancestorsOf))] : []),
    ...(descendantsOf ? [below(descendantsOf)] : []),
    ...equals({ parent: childrenOf }),
    ...(inRoot ? [IS_ROOT] : []),
    ...among("uid", ids),
  ];
};

const oneOf = (column: string, values: readonly string[]): Condition => ({
  sql: `${column} IN (SELECT value FROM json_each(?))`,
  values: [JSON.stringify(values)],
});

const afterCondition = (order: Order, key: string | number, uid: string): Condition => {
  const sign = order.descending ? "<" : ">";
  if (order.column === "uid") return { sql: `uid ${sign} ?`, values: [uid] };
  return { sql: `(${order.column}, uid) ${sign} (?, ?)`, values: [key, uid] };
};

interface Order {
  column: string;
  descending: boolean;
}

// Other names of sort keys, which may also be in camel case.
const ALIASES = new Map([
  ["id", "uid"],
  ["created_at", "create_time"],
  ["updated_at", "update_time"],
]);

const parseOrder = (shape: Shape, text: string | undefined, violations: FieldViolation[]): Order => {
  const given = text?.trim() || (shape.defaultOrder ?? "uid");
  const [spelling = "", direction = "asc", ...more] = given.split(/\s+/);
  const field = ALIASES.get(spelling) ?? toSnake(spelling);
  const description = `must be one of ${shape.orders.join(", ")}, optionally followed by asc or desc`;
  if (!shape.orders.includes(field) || !["asc", "desc"].includes(direction) || more.length > 0)
    violations.push({ field: "orderBy", description });
  // A record that is sorted by its group shares the uid of that group.
  return { column: field === "group" ? "uid" : field, descending: direction === "desc" };
};

const parseCount = (value: number | undefined, field: string, violations: FieldViolation[]): number => {
  if (value !== undefined && value < 0) violations.push({ field, description: "must not be negative" });
  return Math.max(0, value ?? 0);
};

// Page tokens (AIP-158): a keyset cursor, signed, with a checksum of the request, one of the caller, and the time of issue.
// Malformed, foreign, of another caller or of another query: INVALID_ARGUMENT. Older than three days: the list restarts
// (docs/internals/contract.md#d6).

interface Cursor {
  /** sort key and uid of the last row of the page before */
  key: string | number;
  uid: string;
  /** count of all matches when the list began */
  total: number;
}

/** The page tokens of one caller. */
export interface PageTokens {
  write(query: unknown, cursor: Cursor): string;
  /** undefined: begin at the first page */
  read(query: unknown, token: string | undefined): Cursor | undefined;
}

/** An identity, and the limits of its API token: the count of a wider token is not for a narrower one. */
interface PageTokenHolder {
  uid: string;
  capabilities?: ReadonlySet<string> | undefined;
  scopes?: readonly string[] | undefined;
}

// In characters: longer than a token with the uid of the lowest record and the longest sort key.
const TOKEN_MAX = 8192;

type Payload = [query: string, holder: string, issuedMs: number, key: string | number, uid: string, total: number];

export const createPageTokens = (key: Uint8Array, clock: () => number) => {
  const sign = (payload: string) => {
    const signature = createHmac("sha256", key).update(payload).digest("base64url");
    return `${Buffer.from(payload).toString("base64url")}.${signature}`;
  };

  return (holder: PageTokenHolder): PageTokens => ({
    write: (query, cursor) => {
      const sums = [checksum(query), holderChecksum(holder)] as const;
      const payload: Payload = [...sums, clock(), cursor.key, cursor.uid, cursor.total];
      return sign(JSON.stringify(payload));
    },
    read: (query, token) => {
      if (!token) return undefined;
      if (token.length > TOKEN_MAX) throw refuse("is not a page token of this service");
      const payload = Buffer.from(token.split(".", 1)[0] as string, "base64url").toString();
      // Compares the whole text: each token has one spelling.
      const expected = Buffer.from(sign(payload));
      const given = Buffer.from(token);
      if (given.length !== expected.length || !timingSafeEqual(given, expected))
        throw refuse("is not a page token of this service");
      const [ofQuery, ofHolder, issuedMs, sortKey, uid, total] = JSON.parse(payload) as Payload;
      if (ofHolder !== holderChecksum(holder))
        throw refuse("belongs to another caller, or to an API token with other limits");
      if (ofQuery !== checksum(query)) throw refuse("belongs to a list with another filter or order_by");
      return clock() - issuedMs > PAGE_TOKEN_LIFE_MS ? undefined : { key: sortKey, uid, total };
    },
  });
};

const checksum = (value: unknown) =>
  createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 16);

const holderChecksum = ({ uid, capabilities, scopes }: PageTokenHolder) =>
  checksum([uid, capabilities ? [...capabilities].toSorted() : null, scopes?.toSorted() ?? null]);

const refuse = (description: string) => invalidArgument([{ field: "pageToken", description }]);
