// Commands on lists: a first page, and the next one of a walk that other commands have come between.
import { command, NEVER, path, pick, present, snakeOf } from "./command.ts";
import { invalid } from "./expectation.ts";
import { expectList, type Query } from "./list.ts";
import type { Json, Kind, Oracle } from "./oracle.ts";
import type { Common, Ref } from "./value.ts";

export interface ListParams {
  kind: Kind;
  uids: Ref[];
  descendants: boolean;
  children: boolean;
  ancestors: boolean;
  inRoot: boolean;
  ids: boolean;
  exact: string | undefined;
  own: boolean;
  orderBy: string | undefined;
  pageSize: number | undefined;
  skip: number | undefined;
  broken: boolean;
}

const queryOf = (oracle: Oracle, params: ListParams): Query => {
  const { kind, uids, broken } = params;
  const [one, two, three] = uids as [Ref, Ref, Ref];
  const group = (record: Ref) => (broken ? "x" : pick(oracle, "groups", record));
  const own: Query =
    kind === "roleBindings"
      ? {
          ...(params.own && { identity: pick(oracle, "identities", two) }),
          ...(params.inRoot && { group: pick(oracle, "groups", one) }),
          ...(params.ids && { role: pick(oracle, "roles", three) }),
        }
      : { ...(params.exact !== undefined && { name: params.exact }) };
  return {
    ...(params.descendants && { "uidp.descendantsOf": group(one) }),
    ...(params.children && { "uidp.childrenOf": group(two) }),
    // test/server/store/list-filter.test.ts has those of other kinds.
    ...(params.ancestors && kind === "groups" && { "uidp.ancestorsOf": pick(oracle, "groups", three) }),
    ...(params.inRoot && kind !== "roleBindings" && { "uidp.inRoot": true }),
    ...(params.ids && kind !== "roleBindings" && { "uidp.ids": uids.map((record) => pick(oracle, kind, record)) }),
    ...(params.own && kind === "identities" && { relationshipType: "RELATIONSHIP_TYPE_CLAIM_MATCH" }),
    ...own,
    ...present({ orderBy: params.orderBy, pageSize: params.pageSize, skip: params.skip }),
  };
};

const spelledQuery = (query: Json, { snake }: Common): Json =>
  Object.fromEntries(Object.entries(query).map(([key, value]) => [snake ? snakeOf(key) : key, value]));

export const list = command<ListParams>("list", (oracle, params) => {
  const query = queryOf(oracle, params);
  const request = { method: "GET", target: path(params, params.kind), query: spelledQuery(query as Json, params) };
  return { request, expectation: expectList(oracle, oracle.callers[params.caller] as string, params.kind, query) };
});

export const nextPage = command<{ n: number; pageSize: number | undefined; skip: number; foreign: boolean }>(
  "nextPage",
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
