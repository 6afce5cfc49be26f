// Commands on lists: a first page, and the next one of a walk that other commands have come between.
import * as fc from "fast-check";
import {
  type Common,
  command,
  kind,
  NEVER,
  path,
  pick,
  present,
  type Ref,
  rarely,
  ref,
  seldom,
  snakeOf,
} from "./command.ts";
import { invalid } from "./expectation.ts";
import { expectList, type Query } from "./list.ts";
import type { Json } from "./oracle.ts";

const ORDERS = [undefined, "uid", "uid desc", "name", "name desc", "create_time", "createTime desc", "updated_at desc"];
const MORE_ORDERS = ["created_at", "update_time asc", "id desc", "updateTime", "", "  name   desc "];
const BAD_ORDERS = ["colour", "name down", "name,uid", "constructor"];
const SIZES = [1, 1, 2, 3, 3, 5, 7, undefined, 0, 200, 201];

const spelledQuery = (query: Json, { snake }: Common): Json =>
  Object.fromEntries(Object.entries(query).map(([key, value]) => [snake ? snakeOf(key) : key, value]));

export const list = command(
  "list",
  {
    kind,
    uids: fc.tuple(ref, ref, ref),
    descendants: seldom,
    children: seldom,
    ancestors: seldom,
    inRoot: seldom,
    ids: seldom,
    exact: rarely<string | undefined>(4, fc.constant(undefined), fc.constantFrom("a", "b", "web 1", "never")),
    own: seldom,
    orderBy: rarely(12, fc.constantFrom(...ORDERS, ...MORE_ORDERS), fc.constantFrom<string | undefined>(...BAD_ORDERS)),
    pageSize: rarely(15, fc.constantFrom(...SIZES), fc.constant<number | undefined>(-1)),
    skip: rarely(15, fc.constantFrom(undefined, undefined, 0, 1, 4), fc.constant<number | undefined>(-1)),
    broken: rarely(15, fc.constant(false), fc.constant(true)),
  },
  (oracle, params, by) => {
    const [one, two, three] = params.uids;
    const isBinding = params.kind === "roleBindings";
    const group = (record: Ref) => (params.broken ? "x" : pick(oracle, "groups", record));
    const query: Query = {
      ...(params.descendants && { "uidp.descendantsOf": group(one) }),
      ...(params.children && { "uidp.childrenOf": group(two) }),
      // test/server/store/list-filter.test.ts has those of other kinds.
      ...(params.ancestors && params.kind === "groups" && { "uidp.ancestorsOf": pick(oracle, "groups", three) }),
      ...(params.inRoot && (isBinding ? { group: pick(oracle, "groups", one) } : { "uidp.inRoot": true })),
      ...(params.ids &&
        (isBinding
          ? { role: pick(oracle, "roles", three) }
          : { "uidp.ids": params.uids.map((record) => pick(oracle, params.kind, record)) })),
      ...(params.own && params.kind === "identities" && { relationshipType: "RELATIONSHIP_TYPE_CLAIM_MATCH" }),
      ...(params.own && isBinding && { identity: pick(oracle, "identities", two) }),
      ...(params.exact !== undefined && !isBinding && { name: params.exact }),
      ...present({ orderBy: params.orderBy, pageSize: params.pageSize, skip: params.skip }),
    };
    const request = { method: "GET", target: path(params, params.kind), query: spelledQuery(query as Json, params) };
    return { request, expectation: expectList(oracle, by, params.kind, query) };
  },
);

export const nextPage = command(
  "nextPage",
  {
    n: fc.nat(1000),
    pageSize: fc.constantFrom(undefined, 1, 2, 3, 200),
    skip: fc.constantFrom(0, 0, 0, 1),
    foreign: rarely(12, fc.constant(false), fc.constant(true)),
  },
  (oracle, params) => {
    const walk = oracle.walks[params.n % oracle.walks.length];
    if (!walk) return undefined;
    const other: Json = walk.kind === "roleBindings" ? { role: NEVER.repeat(2) } : { name: "no such name" };
    const { pageSize, skip } = params;
    const query = { ...walk.query, ...present({ pageSize, ...(skip && { skip }) }), ...(params.foreign && other) };
    const target = path(params, walk.kind);
    const request = { method: "GET", target, query: spelledQuery({ ...query, pageToken: walk.token }, params) };
    // By the one who began it: others may see other rows.
    const caller = oracle.callers.indexOf(walk.caller);
    if (params.foreign)
      return { request, caller, expectation: { problems: [invalid("pageToken")], accept: () => ({}) } };
    return { request, caller, expectation: expectList(oracle, walk.caller, walk.kind, query as Query, walk) };
  },
);
