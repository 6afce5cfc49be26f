// The oracle of lists (docs/internals/contract.md#lists): filters, orders, pages, walks that go on while others write.
import { deepStrictEqual } from "node:assert/strict";
import { type Expectation, invalid } from "./expectation.ts";
import {
  isReadable,
  isUnder,
  type Json,
  KINDS,
  type Kind,
  messageOf,
  type Oracle,
  type Row,
  rowsOf,
  UID,
  type Walk,
} from "./oracle.ts";

/** A list request by the canonical names of its fields. */
export type Query = Partial<
  Record<`uidp.${"descendantsOf" | "childrenOf" | "ancestorsOf"}`, string> &
    Record<"name" | "relationshipType" | "identity" | "group" | "role" | "orderBy", string> &
    Record<"pageSize" | "skip", number> & { "uidp.inRoot": boolean; "uidp.ids": string[] }
>;

const THREE_DAYS_MS = 3 * 24 * 60 * 60 * 1000;

const NAMED: readonly Kind[] = ["groups", "identities", "roles"];

// Which property of a record each spelling of a field orders by.
const ORDERS: [spelling: RegExp, key: (row: Row) => string | number, kinds: readonly Kind[]][] = [
  [/^(uid|id)$/, ({ uid }) => uid, KINDS],
  [/^(create_time|createTime|created_at)$/, ({ createMs }) => createMs, KINDS],
  [/^name$/, ({ fields }) => fields.name as string, NAMED],
  [/^(update_time|updateTime|updated_at)$/, ({ updateMs }) => updateMs, NAMED],
];

const keyOf = (kind: Kind, field: string) =>
  ORDERS.find(([spelling, , kinds]) => spelling.test(field) && kinds.includes(kind))?.[1];

// "" and absent are one in proto3: the default.
const orderOf = (orderBy: string | undefined): [field: string, direction: string] => {
  const [field, direction = "asc"] = (orderBy ?? "").trim().split(/\s+/) as [string, string?];
  return [field || "uid", direction];
};

/** Orders as the request asks; ties by uid in the same direction (docs/internals/contract.md#d14). */
const comparator = (kind: Kind, orderBy: string | undefined): ((a: Row, b: Row) => number) => {
  const [field, direction] = orderOf(orderBy);
  const key = keyOf(kind, field) as (row: Row) => string | number;
  const sign = direction === "desc" ? -1 : 1;
  const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
  return (a, b) => sign * (compare(key(a), key(b)) || compare(a.uid, b.uid));
};

const matches = (kind: Kind, query: Query, { uid, parent, fields }: Row): boolean =>
  (query["uidp.descendantsOf"] === undefined || isUnder(query["uidp.descendantsOf"], uid)) &&
  (query["uidp.childrenOf"] === undefined || parent === query["uidp.childrenOf"]) &&
  (query["uidp.ancestorsOf"] === undefined || (kind === "groups" && isUnder(uid, query["uidp.ancestorsOf"]))) &&
  (!query["uidp.inRoot"] || parent === undefined) &&
  (!query["uidp.ids"] || query["uidp.ids"].length === 0 || query["uidp.ids"].includes(uid)) &&
  (query.name === undefined || fields.name === query.name) &&
  (query.identity === undefined || fields.identityUid === query.identity) &&
  (query.group === undefined || parent === query.group) &&
  (query.role === undefined || fields.roleUid === query.role) &&
  (query.relationshipType === undefined || relationshipOf(fields) === query.relationshipType);

const relationshipOf = ({ claimMatch }: Json) =>
  claimMatch ? "RELATIONSHIP_TYPE_CLAIM_MATCH" : "RELATIONSHIP_TYPE_SERVICE_PRINCIPAL";

const brokenFields = (kind: Kind, query: Query): string[] => {
  const [field, direction] = orderOf(query.orderBy);
  const bad = (uid: string | undefined) => uid !== undefined && !UID.test(uid);
  return [
    ...(keyOf(kind, field) && ["asc", "desc"].includes(direction) ? [] : ["orderBy"]),
    ...((query.pageSize ?? 0) < 0 ? ["pageSize"] : []),
    ...((query.skip ?? 0) < 0 ? ["skip"] : []),
    ...(bad(query["uidp.descendantsOf"]) ? ["uidp.descendantsOf"] : []),
    ...(bad(query["uidp.childrenOf"]) ? ["uidp.childrenOf"] : []),
  ];
};

/** `walk`: the page after one that was answered before. */
export const expectList = (oracle: Oracle, caller: string, kind: Kind, query: Query, walk?: Walk): Expectation => {
  const broken = brokenFields(kind, query);
  if (broken.length > 0) return { problems: [invalid(...broken)], accept: () => ({}) };
  // A token older than three days restarts the list without an error (docs/internals/contract.md#d6).
  const from = walk && oracle.nowMs - walk.issuedMs <= THREE_DAYS_MS ? walk : undefined;

  const compare = comparator(kind, query.orderBy);
  const all = rowsOf(oracle, kind).filter(
    (row) => matches(kind, query, row) && isReadable(oracle, caller, kind, row.uid),
  );
  const rest = all.toSorted(compare).filter((row) => !from || compare(row, from.cursor) > 0);
  const size = Math.min(query.pageSize || 50, 200);
  const skip = query.skip ?? 0;
  const page = rest.slice(skip, skip + size);
  const total = from?.total ?? all.length;
  return {
    problems: [],
    accept: ({ nextPageToken }) => {
      const last = page.at(-1);
      const more = rest.length > skip + size && last !== undefined;
      deepStrictEqual(typeof nextPageToken, more ? "string" : "undefined");
      oracle.walks = oracle.walks.filter((other) => other !== walk);
      if (more) {
        const token = nextPageToken as string;
        const { pageSize: _, skip: __, ...filters } = query;
        // As it is now: a change of the row later moves no cursor.
        const cursor = { ...last, fields: { ...last.fields } };
        oracle.walks.push({ kind, caller, query: filters as Json, token, cursor, total, issuedMs: oracle.nowMs });
      }
      return {
        [kind]: page.map((row) => messageOf(oracle, row)),
        ...(more && { nextPageToken }),
        totalCount: String(total),
        skipped: skip,
      };
    },
  };
};
