// Commands on single records: create, batch, get, update, delete; and on lists: a first page, and the next one of a walk that other commands have
// come between. Each is one request, and what its answer has to be. It names records by number, so that it means something in every
// oracle and a failing run shrinks. What commands are made of is good mostly, so that an oracle fills up.
import * as fc from "fast-check";
import * as expected from "./change.ts";
import { checkAnswer, type Expectation, invalid } from "./expectation.ts";
import { expectList, type Query } from "./list.ts";
import { can, isUnderOrSelf, type Json, KINDS, type Kind, type Oracle, type Row, rowsOf } from "./oracle.ts";
import type { Real, Request } from "./real.ts";

export type Command = fc.AsyncCommand<Oracle, Real>;

interface Step {
  request: Request;
  /** where it is not the command's */
  caller?: number;
  expectation: Expectation;
  /** what has to be looked at besides */
  after?: (real: Real) => Promise<void>;
}

/** Of a record of a kind: one that is there, one that was, or one that never was. */
interface Ref {
  n: number;
  which: "live" | "gone" | "never";
}

const rarely = <T>(weight: number, usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });

const common = {
  /** index of the caller: the owner, or the reader */
  caller: rarely(5, fc.constant(0), fc.constant(1)),
  snake: fc.boolean(),
  version: fc.constantFrom("v2beta1", "v2"),
};

type Values<P> = { [K in keyof P]: P[K] extends fc.Arbitrary<infer T> ? T : never };
type Common = Values<typeof common>;

/**
 * `step` is asked twice, so it looks and does not change; undefined: nothing to do in this oracle. It gets the values of
 * `params`, and the uid of the caller.
 */
const command = <P extends Record<string, fc.Arbitrary<unknown>>>(
  title: string,
  params: P,
  step: (oracle: Oracle, params: Values<P> & Common, by: string) => Step | undefined,
): fc.Arbitrary<Command> =>
  fc.record({ ...params, ...common }).map((values): Command => {
    const own = values as Values<P> & Common;
    const stepIn = (oracle: Oracle) => step(oracle, own, oracle.callers[own.caller] as string);
    return {
      check: (oracle) => stepIn(oracle as Oracle) !== undefined,
      run: async (oracle, real) => {
        const { request, expectation, caller = own.caller, after } = stepIn(oracle) as Step;
        try {
          checkAnswer(await real.send(caller, request), expectation);
          await after?.(real);
        } catch (error) {
          const { method, target, query, body } = request;
          throw new Error(`${method} ${target} ${JSON.stringify({ query, body })}: ${(error as Error).message}`);
        }
        real.counts.commands += 1;
      },
      toString: () => `${title} ${JSON.stringify(own)}`,
    };
  });

const NEVER = "f".repeat(16);

/** The record that a number means: of those that the caller of `among` would take. */
const pick = (oracle: Oracle, kind: Kind, { n, which }: Ref, among: (row: Row) => boolean = () => true): string => {
  const rows = which === "gone" ? oracle.gone.filter((row) => row.kind === kind) : rowsOf(oracle, kind).filter(among);
  const row = which === "never" ? undefined : rows[n % rows.length];
  return row?.uid ?? `${oracle.organization}/${NEVER}`;
};

const snakeOf = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Keys in one of the two spellings (docs/internals/contract.md#json). */
const spell = (value: unknown, snake: boolean): unknown => {
  if (!snake || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => spell(item, snake));
  return Object.fromEntries(Object.entries(value).map(([key, own]) => [snakeOf(key), spell(own, snake)]));
};

const present = (fields: Json): Json => Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined));

const path = ({ version }: Common, kind: Kind, rest = "") => `/iam/${version}/${kind}${rest}`;
const body = (fields: Json, { snake }: Common) => spell(fields, snake) as Json;

const kind = fc.constantFrom(...KINDS);
const ref: fc.Arbitrary<Ref> = fc.record({
  n: fc.nat(1000),
  which: rarely<Ref["which"]>(20, fc.constant("live"), fc.constantFrom("gone", "never")),
});
const seldom = rarely(5, fc.constant(false), fc.constant(true));

const NAMES = ["a", "b", "web 1", "x_y.z-9", "b", "a", "0"];
const BAD_NAMES = ["", "Upper", "ü", "a\n", "a/b", "x".repeat(256), undefined];
const name = rarely<string | undefined>(15, fc.constantFrom(...NAMES, "x".repeat(255)), fc.constantFrom(...BAD_NAMES));
const DESCRIPTIONS = [undefined, "", "one", "two ünïcode ✓", "😀".repeat(512)];
const description = rarely<string | undefined>(
  15,
  fc.constantFrom(...DESCRIPTIONS),
  fc.constantFrom("tab\there", "line\nbreak", "x".repeat(513)),
);

const ISSUERS = ["https://one.example", "https://two.example"];
const SUBJECTS = ["s1", "s2", "repo:a/b:ref:refs/heads/main"];
const exact = fc.record({ issuer: fc.constantFrom(...ISSUERS), subject: fc.constantFrom(...SUBJECTS) });
const goodRelationship: fc.Arbitrary<Json> = fc.oneof(
  exact.map((claimMatch) => ({ claimMatch })),
  fc.constantFrom<Json>(
    { claimMatch: { issuer: "https://one.example", subjectPattern: "s.*" } },
    { claimMatch: { issuerPattern: "https://.*", subject: "s1" } },
    { servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" },
    { servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" },
  ),
);
const relationship = rarely<Json>(
  12,
  goodRelationship,
  fc.constantFrom<Json>(
    {},
    { claimMatch: { issuer: "ftp://one.example", subject: "s" } },
    { claimMatch: { issuer: "https://one.example" } },
  ),
);

const HELD = ["GROUPS_LIST", "IDENTITY_LIST", "ROLES_LIST", "ROLE_BINDINGS_LIST", "GROUPS_UPDATE", "ROLES_UPDATE"];
// No caller here holds the last one.
const CAPABILITIES = [...HELD.map((word) => `CAP_IAM_${word}`), "CAP_REPO_LIST"];
const capabilities = rarely<string[]>(
  12,
  fc.uniqueArray(fc.constantFrom(...CAPABILITIES), { minLength: 1 }),
  fc.constantFrom([], ["CAP_IAM_GROUPS_LIST", "CAP_TENANT_RECORDS_LIST"]),
);

/** Identity and role of a binding. */
const link = fc.record({
  identity: ref,
  role: ref,
  /** the reader's identity, so that it is granted something */
  toReader: fc.boolean(),
});
type LinkRef = typeof link extends fc.Arbitrary<infer T> ? T : never;
type Link = Record<string, string | undefined>;

export const createGroup = command(
  "createGroup",
  { root: seldom, parent: ref, fields: fc.record({ name, description }) },
  (oracle, params, by) => {
    const parent = params.root ? undefined : pick(oracle, "groups", params.parent);
    const fields = present(params.fields);
    const expectation = expected.expectCreate(oracle, by, "groups", parent, fields);
    const target = path(params, "groups", parent && `/${parent}`);
    const request = { method: "POST", target, body: body(fields, params) };
    if (parent !== undefined) return { request, expectation };
    let made = "";
    const accept = (answer: Json) => {
      made = answer.uid as string;
      return expectation.accept(answer);
    };
    const after = async (real: Real) => {
      if (!made) return;
      const query = { group: made };
      const list = await real.send(params.caller, { method: "GET", target: path(params, "roleBindings"), query });
      const [founding, ...others] = list.json.roleBindings as Json[];
      if (!founding || others.length > 0) throw new Error(`a new root group has not one binding: ${list.text}`);
      const owner = rowsOf(oracle, "roles").find((row) => !row.parent && row.fields.name === "owner") as Row;
      expected.adoptFounding(oracle, made, founding.uid as string, by, owner.uid);
      checkAnswer(list, expectList(oracle, by, "roleBindings", query));
    };
    return { request, expectation: { ...expectation, accept }, after };
  },
);

const createIn = (kind: Kind, fields: fc.Arbitrary<Json>) =>
  command(`create in ${kind}`, { parent: ref, fields }, (oracle, params, by) => {
    const parent = pick(oracle, "groups", params.parent);
    const own = present(params.fields);
    const request = { method: "POST", target: path(params, kind, `/${parent}`), body: body(own, params) };
    return { request, expectation: expected.expectCreate(oracle, by, kind, parent, own) };
  });
export const createIdentity = createIn(
  "identities",
  fc.record({ name, description, relationship }).map(({ relationship: own, ...rest }) => ({ ...rest, ...own })),
);
export const createRole = createIn("roles", fc.record({ name, description, capabilities }));

// Every other role is taken from where it may be bound.
const linkOf = (oracle: Oracle, { identity, role, toReader }: LinkRef, group: string): Link => ({
  identityUid: toReader ? oracle.callers[1] : pick(oracle, "identities", identity),
  roleUid: pick(oracle, "roles", role, ({ parent = group }) => role.n % 2 === 0 || isUnderOrSelf(parent, group)),
});

export const createBinding = command(
  "createRoleBinding",
  {
    parent: ref,
    link,
    without: rarely<string | undefined>(12, fc.constant(undefined), fc.constantFrom("identityUid", "roleUid")),
  },
  (oracle, params, by) => {
    const parent = pick(oracle, "groups", params.parent);
    const link = linkOf(oracle, params.link, parent);
    if (expected.isStranger(oracle, by, parent, link.identityUid)) return undefined;
    if (params.without) delete link[params.without];
    const request = { method: "POST", target: path(params, "roleBindings", `/${parent}`), body: body(link, params) };
    return { request, expectation: expected.expectCreate(oracle, by, "roleBindings", parent, link) };
  },
);

export const createBatch = command(
  "batchCreateRoleBindings",
  {
    parent: ref,
    role: ref,
    shared: fc.boolean(),
    links: rarely(12, fc.array(link, { maxLength: 4 }), fc.array(link, { minLength: 26, maxLength: 26 })),
  },
  (oracle, params, by) => {
    const parent = pick(oracle, "groups", params.parent);
    const roleUid = pick(oracle, "roles", params.role);
    const links = params.links.map((link) => Object.assign(linkOf(oracle, link, parent), params.shared && { roleUid }));
    if (links.some(({ identityUid }) => expected.isStranger(oracle, by, parent, identityUid))) return undefined;
    const requests = links.map(({ identityUid, roleUid: own }) => ({
      roleBinding: { identityUid, ...(!params.shared && { roleUid: own }) },
    }));
    const message = { parent, requests, ...(params.shared && { roleUid }) };
    const target = path(params, "roleBindings", ":batchCreate");
    const request = { method: "POST", target, body: body(message, params) };
    return { request, expectation: expected.expectBatch(oracle, by, parent, links) };
  },
);

export const get = command("get", { kind, record: ref }, (oracle, params, by) => {
  const uid = pick(oracle, params.kind, params.record);
  const expectation = expected.expectGet(oracle, by, params.kind, uid);
  return { request: { method: "GET", target: path(params, params.kind, `/${uid}`) }, expectation };
});

/** There are many built-in roles, and none can be changed. */
const mostlyOwn =
  ({ n }: Ref) =>
  (row: Row) =>
    n % 10 === 0 || row.kind !== "roles" || row.parent !== undefined;

/** Without these no caller could call any more, or the oracle would not know which may. */
const isFixed = (oracle: Oracle, uid: string) =>
  oracle.callers.includes(uid) || oracle.rows.get(uid)?.founding === true;

export const remove = command("delete", { kind, record: ref }, (oracle, params, by) => {
  const uid = pick(oracle, params.kind, params.record, mostlyOwn(params.record));
  if (isFixed(oracle, uid)) return undefined;
  const expectation = expected.expectDelete(oracle, by, params.kind, uid);
  return { request: { method: "DELETE", target: path(params, params.kind, `/${uid}`) }, expectation };
});

const FIELDS: Record<Kind, readonly string[]> = {
  groups: ["name", "description"],
  identities: ["name", "description", "relationship"],
  roles: ["name", "description", "capabilities"],
  roleBindings: ["identityUid", "roleUid"],
};

const updateParams = {
  kind,
  record: ref,
  link,
  fields: fc.record({ name, description, capabilities, relationship: goodRelationship }),
  keys: fc.subarray(["name", "description", "relationship", "capabilities", "identityUid", "roleUid"]),
  mask: fc.constantFrom("none", "none", "keys", "keys", "others", "*", "claimMatch.subject"),
  extra: rarely(6, fc.constant(""), fc.constantFrom("createTime", "colour")),
};

export const update = command("update", updateParams, (oracle, params, by) => {
  const { kind, fields, keys, mask, extra } = params;
  const uid = pick(oracle, kind, params.record, mostlyOwn(params.record));
  if (isFixed(oracle, uid)) return undefined;
  const row = oracle.rows.get(uid);

  const all: Json = { ...fields, ...(kind === "roleBindings" && linkOf(oracle, params.link, row?.parent ?? uid)) };
  const wanted = FIELDS[kind].filter((key) => keys.includes(key));
  const entries = wanted.flatMap((key) =>
    Object.entries(key === "relationship" ? fields.relationship : { [key]: all[key] }),
  );
  const change = present(Object.fromEntries(entries));
  const nested = mask === "claimMatch.subject";
  // A path into a message that is not there means different things to different servers.
  if (nested && !(kind === "identities" && row?.fields.claimMatch)) return undefined;
  const named = wanted.flatMap((key) => (key === "relationship" ? RELATIONSHIPS(change) : [key]));
  const others = FIELDS[kind].filter((key) => !keys.includes(key) && key !== "relationship");
  const paths = nested ? [mask] : mask === "*" ? ["*"] : mask === "others" ? others : named;
  if (paths.length === 0) return undefined;
  if (mask === "none" && (Object.keys(change).length === 0 || paths.some((path) => !(path in change))))
    return undefined;
  if (kind === "roleBindings" && expected.isStranger(oracle, by, row?.parent ?? uid, change.identityUid))
    return undefined;
  // Whether the capabilities that a role had before are needed too is not specified.
  const before = (row?.fields.capabilities as string[]) ?? [];
  if (kind === "roles" && row?.parent && !can(oracle, by, before, row.parent)) return undefined;

  const written = [...paths, ...(extra && mask !== "*" ? [extra] : [])];
  const updateMask = written.map((text) => (params.snake ? text.split(".").map(snakeOf).join(".") : text)).join(",");
  const query = mask === "none" ? {} : { [params.snake ? "update_mask" : "updateMask"]: updateMask };
  const unknown = extra === "colour" && mask !== "none" && mask !== "*";
  return {
    request: { method: "PATCH", target: path(params, kind, `/${uid}`), query, body: body(change, params) },
    expectation: expected.expectUpdate(oracle, by, kind, uid, change, { paths, unknown }),
  };
});

const RELATIONSHIPS = (change: Json) => ["claimMatch", "servicePrincipal"].filter((member) => member in change);

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
