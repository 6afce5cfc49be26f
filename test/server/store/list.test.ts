// order_by (docs/internals/contract.md#d14): every field and alias in both directions, ties by uid in the same direction.
// Pages (AIP-158, docs/internals/contract.md#d15): sizes, skip, counts, the token that the last page does not have.
// Page tokens (docs/internals/contract.md#d6): malformed, signed by another key, of another filter or order_by: INVALID_ARGUMENT on
// page_token. Older than 3 days: the list restarts from the first page, without an error.
import { describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { IAM, REGISTRY, serve, sharedKeys, shuffledIds, type TokenOptions } from "../../harness/api-server.ts";
import { DAY_MS } from "../../harness/clock.ts";
import { listAll } from "../../harness/records.ts";
import type { Body } from "../../support/http.ts";
import { createRandom } from "../../support/random.ts";
import { badRequest, expectInvalid, expectRefusal } from "../../support/refusal.ts";

/** The field of the answer that each alias means. */
const ALIASES: Record<string, string> = {
  ...{ uid: "uid", id: "uid", name: "name" },
  ...{ create_time: "createTime", createTime: "createTime", created_at: "createTime" },
  ...{ update_time: "updateTime", updateTime: "updateTime", updated_at: "updateTime" },
};
const KINDS = ["groups", "identities", "roles", "roleBindings", "groupInvites"] as const;
/** They have neither a name nor an update, so the one order besides that of the uids is that of their creation. */
const isLink = (kind: string): boolean => kind === "roleBindings" || kind === "groupInvites";
// No upper case, no letter that a locale would sort elsewhere: a byte is a byte.
const NAMES = ["a", "b", "-", "_", "a b", "a-b", "ab", "z.9", "9"];
const COUNT = 24;
const rows: Record<string, Body[]> = {};

const api = await serve({ ids: shuffledIds(2) });
const random = createRandom(3);
const parent = api.organization;
const bodies: Record<(typeof KINDS)[number], () => Body> = {
  groups: () => ({ name: random.pick(NAMES) }),
  identities: () => ({ name: random.pick(NAMES), servicePrincipal: 1 }),
  roles: () => ({ name: random.pick(NAMES), capabilities: ["CAP_IAM_GROUPS_LIST"] }),
  roleBindings: () => ({ identityUid: api.identity, roleUid: viewer }),
  groupInvites: () => ({ roleUid: viewer, ttl: "60s" }),
};
const viewer = await api.role("viewer");
for (const kind of KINDS) {
  const own: Body[] = [];
  for (let i = 0; i < COUNT; i += 1) {
    // Half of the rows are made in the millisecond of the row before.
    api.clock.advance(random.below(2));
    own.push(await api.ok("POST", `${IAM}/${kind}/${parent}`, { body: bodies[kind]() }));
  }
  // Some are changed later, in another order; three in one millisecond.
  for (const { uid } of kind === "groupInvites" ? [] : random.shuffle(own).slice(0, 8)) {
    api.clock.advance(random.below(2));
    await api.ok("PATCH", `${IAM}/${kind}/${uid}`, { body: isLink(kind) ? {} : { description: "changed" } });
  }
  const query = { "uidp.childrenOf": parent, page_size: 200 };
  rows[kind] = (await api.ok("GET", `${IAM}/${kind}`, { query }))[kind];
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const expected = (kind: string, field: string, direction: string): string[] =>
  (rows[kind] as Body[])
    .toSorted((a, b) => compare(a[field], b[field]) || compare(a.uid, b.uid))
    .map(({ uid }) => uid as string)
    [direction === "desc" ? "reverse" : "valueOf"]() as string[];

const walk = async (kind: string, order_by: string, page_size: number): Promise<string[]> => {
  const query = { "uidp.childrenOf": api.organization, order_by, page_size };
  return (await listAll(api, `${IAM}/${kind}`, { query })).map(({ uid }) => uid);
};

test("the fixture has ties in every field but the uid, and each order differs", () => {
  for (const kind of KINDS) {
    const own = rows[kind] as Body[];
    const fields = isLink(kind) ? ["createTime"] : ["name", "createTime", "updateTime"];
    for (const field of fields) expect(new Set(own.map((row) => row[field])).size).toBeLessThan(own.length);
    const orders = ["uid", ...fields].map((field) => expected(kind, field, "asc").join());
    expect(new Set(orders).size).toBe(orders.length);
  }
});

const fieldsOf = (kind: string) =>
  Object.entries(ALIASES).filter(([, field]) => !isLink(kind) || ["uid", "createTime"].includes(field));

describe.each(KINDS)("%s", (kind) => {
  const orders = fieldsOf(kind).flatMap(([alias, field]) =>
    ["", " asc", " desc"].map((direction) => [`${alias}${direction}`, field, direction.trim()] as const),
  );

  test.each(orders)("are listed by %j in one page and over pages", async (orderBy, field, direction) => {
    const order = expected(kind, field, direction);
    expect(await walk(kind, orderBy, 200)).toEqual(order);
    expect(await walk(kind, orderBy, 5)).toEqual(order);
  });

  test("are listed by uid without an order; invites by their creation, the newest first", async () => {
    const [field, direction] = kind === "groupInvites" ? ["createTime", "desc"] : ["uid", "asc"];
    expect(await walk(kind, "", 5)).toEqual(expected(kind, field as string, direction as string));
  });
});

const TEXT = "must be one of uid, name, create_time, update_time, optionally followed by asc or desc";

test.each([
  ["two directions", "name asc desc"],
  ["an unknown direction", "name down"],
  ["a name of the prototype", "constructor"],
])("order_by is refused with %s", async (_, orderBy) => {
  expectInvalid(await api.call("GET", `${IAM}/groups`, { query: { order_by: orderBy } }), { orderBy: TEXT });
});

test.each<[path: string, fields: string, refused: string[]]>([
  [`${IAM}/groups`, "uid, name, create_time, update_time", ["group"]],
  [`${IAM}/accountAssociations`, "group, uid, name, create_time, update_time", ["description"]],
  [`${IAM}/roleBindings`, "uid, create_time", ["name", "update_time", "updatedAt"]],
  [`${IAM}/groupInvites`, "uid, create_time", ["name", "update_time", "expiration_time"]],
  [`${IAM}/externalGroupRoleMappings`, "uid, create_time", ["name"]],
  ["/vulnerabilities/v2beta1/advisories", "uid, create_time, update_time", ["name"]],
])("order_by of %s is by %s, and by nothing else", async (path, fields, refused) => {
  for (const order_by of refused) {
    const { json } = await api.call("GET", path, { query: { order_by } });
    const text = `must be one of ${fields}, optionally followed by asc or desc`;
    expect(json).toMatchObject({ code: 3, message: `Invalid argument: orderBy: ${text}` });
  }
});

const REPOS = 203;
const repos = Array.from({ length: REPOS }, (_, i) => `{ name: r${String(i).padStart(3, "0")} }`);
const seed = parseSeed(`{ organization: { name: acme }, repos: [${repos.join(", ")}] }`, "seed.yaml");
const start = (further = {}) => serve({ seed, ids: shuffledIds(5), ...further });

const QUERY = { page_size: 3, order_by: "name" };
const call = (query: Body, server = paged) => server.call("GET", `${REGISTRY}/repos`, { query });
const names = (json: Body): string[] => json.repos.map(({ name }: Body) => name);
const first = async (query: Body = QUERY, server = paged) => (await call(query, server)).json;

const SECOND = ["r003", "r004", "r005"];
const FOREIGN = "is not a page token of this service";
const OTHER = "belongs to a list with another filter or order_by";
const expectRefused = async (query: Body, description: string, server = paged) =>
  expectInvalid(await call(query, server), { pageToken: description }, "registry");

const paged = await start();
const list = (query: Body): Promise<Body> => paged.ok("GET", `${REGISTRY}/repos`, { query });
const uidsOf = (page: Body): string[] => page.repos.map(({ uid }: Body) => uid);

/** every uid, in the default order */
const uids: string[] = [
  ...uidsOf(await list({ page_size: 200 })),
  ...uidsOf(await list({ page_size: 200, skip: 200 })),
];

/** of the second page of three, by name */
const token: string = (await first()).nextPageToken;

test.each<[what: string, query: Body, from: number, to: number]>([
  ["one", { page_size: 1 }, 0, 1],
  ["the maximum", { page_size: 200 }, 0, 200],
  ["over the maximum, coerced to it (AIP-158)", { page_size: 201 }, 0, 200],
  ["0, which is the default", { page_size: 0 }, 0, 50],
  ["no size, which is the default", {}, 0, 50],
  ["a skip of 0", { skip: 0 }, 0, 50],
  ["a skip of 1", { skip: 1 }, 1, 51],
  ["a skip with less behind it", { skip: 200 }, 200, 203],
  ["a skip before the last", { skip: 202 }, 202, 203],
  ["a skip of all", { skip: 203 }, 203, 203],
  ["a skip beyond the end", { skip: 2_147_483_647 }, 203, 203],
])("a page of %s", async (_, query, from, to) => {
  const { nextPageToken, ...page } = await list(query);
  expect(uidsOf(page)).toEqual(uids.slice(from, to));
  expect(page).toMatchObject({ totalCount: "203", skipped: query.skip ?? 0 });
  expect(nextPageToken).toEqual(to < REPOS ? expect.any(String) : undefined);
});

test("a walk has no token on the last page, even when that page is full", async () => {
  const last = await list({ page_size: 3, skip: 200 });
  expect(uidsOf(last)).toEqual(uids.slice(200));
  expect(last).not.toHaveProperty("nextPageToken");
  const before = await list({ page_size: 2, skip: 200 });
  expect(uidsOf(await list({ page_size: 2, page_token: before.nextPageToken }))).toEqual([uids[202]]);
});

test("a skip with a token counts from the cursor; `skipped` is the skip of this request", async () => {
  const first = await list({ page_size: 10, skip: 5 });
  expect(uidsOf(first)).toEqual(uids.slice(5, 15));
  const second = await list({ page_size: 10, skip: 3, page_token: first.nextPageToken });
  expect(uidsOf(second)).toEqual(uids.slice(18, 28));
  expect(second.skipped).toBe(3);
  const third = await list({ page_size: 10, page_token: second.nextPageToken });
  expect(uidsOf(third)).toEqual(uids.slice(28, 38));
  expect(third.skipped).toBe(0);
});

test("a token needs no escaping in a query", () => expect(token).toMatch(/^[\w.-]+$/));

test.each([
  ["a word", "next"],
  ["a number, as offsets would be", "50"],
  ["a signature of zeros", `e30.${"A".repeat(43)}`],
  ["10 000 characters", "x".repeat(10_000)],
])("a token that is malformed is refused: %s", async (_, text) => {
  await expectRefused({ ...QUERY, page_token: text }, FOREIGN);
});

test("a token is refused whichever of its characters is changed", async () => {
  for (let i = 0; i < token.length; i += 1) {
    const other = token[i] === "A" ? "B" : "A";
    await expectRefused({ ...QUERY, page_token: token.slice(0, i) + other + token.slice(i + 1) }, FOREIGN);
  }
});

test.each([
  ["cut by one character", (own: string) => own.slice(0, -1)],
  ["with a character more", (own: string) => `${own}A`],
  ["without its signature", (own: string) => own.split(".")[0] as string],
])("a token that is malformed is refused: %s", async (_, change) => {
  await expectRefused({ ...QUERY, page_token: change(token) }, FOREIGN);
});

test("a token that another server signed is refused, even if all else is equal", async () => {
  const keys = { ...sharedKeys(), pageTokenKey: Buffer.alloc(32, 9) };
  const other = await start({ keys });
  const foreign = (await first(QUERY, other)).nextPageToken;
  await expectRefused({ ...QUERY, page_token: foreign }, FOREIGN);
});

test.each<[string, Body]>([
  ["other order", { ...QUERY, order_by: "name desc" }],
  ["no order", { page_size: 3 }],
  ["a hierarchy filter", { ...QUERY, "uidp.descendants_of": "0".repeat(40) }],
])("a token of another list is refused with %s", async (_, query) => {
  await expectRefused({ ...query, page_token: token }, OTHER);
});

test("a token of a list of another kind is refused", async () => {
  const answer = await paged.call("GET", "/iam/v2beta1/groups", { query: { ...QUERY, page_token: token } });
  expectInvalid(answer, { pageToken: OTHER });
});

describe("a token of another caller is refused, so that it reveals neither its count nor its rows", () => {
  const OTHERS = "belongs to another caller, or to an API token with other limits";
  const query = () => ({ ...QUERY, page_token: token });
  const refusal = { details: [badRequest({ pageToken: OTHERS })], domain: "registry" };
  const expectOthers = async (apiToken: string, own = query()) => {
    const answer = await paged.call("GET", `${REGISTRY}/repos`, { token: apiToken, query: own });
    expectRefusal(answer, "INVALID_ARGUMENT", `pageToken: ${OTHERS}`, refusal);
  };
  const tokenOf = (limits: Pick<TokenOptions, "cap" | "scopes"> = {}) =>
    paged.token(paged.identity, { subject: "owner", ...limits });

  test.each([
    ["may read nothing", undefined],
    ["may read the same", "viewer"],
  ])("when the other one %s", async (_, role) => {
    await expectOthers((await paged.actor(`other ${role}`, role === undefined ? {} : { role })).token);
  });

  test("and so is one of a wider API token of the same identity", async () => {
    await expectOthers(await tokenOf({ cap: ["repo.list"] }));
    await expectOthers(await tokenOf({ scopes: [paged.organization] }));
  });

  test("but it survives another exchange of the same identity", async () => {
    const answer = await paged.call("GET", `${REGISTRY}/repos`, { token: await tokenOf(), query: query() });
    expect(names(answer.json)).toEqual(SECOND);
    const limits = { cap: ["repo.list", "groups.list"], scopes: [paged.organization] };
    const narrow = await paged.call("GET", `${REGISTRY}/repos`, { token: await tokenOf(limits), query: QUERY });
    const again = { ...limits, cap: limits.cap.toReversed() };
    const next = { ...QUERY, page_token: narrow.json.nextPageToken };
    const second = await paged.call("GET", `${REGISTRY}/repos`, { token: await tokenOf(again), query: next });
    expect(names(second.json)).toEqual(SECOND);
  });
});

describe("a token lives for three days", () => {
  const continueAfter = async (ageMs: number) => {
    const server = await start();
    const { nextPageToken } = await first(QUERY, server);
    server.clock.advance(ageMs);
    server.owner.token = await server.token(server.identity, { subject: "owner" });
    const page = await first({ ...QUERY, page_token: nextPageToken }, server);
    const wrong = await call({ page_size: 3, page_token: nextPageToken }, server);
    return { page, wrong };
  };

  test("to the millisecond the list continues", async () => {
    const { page } = await continueAfter(3 * DAY_MS);
    expect(names(page)).toEqual(SECOND);
  });

  test("a millisecond later the walk restarts from the first page, without an error", async () => {
    const { page } = await continueAfter(3 * DAY_MS + 1);
    expect(names(page)).toEqual(["r000", "r001", "r002"]);
    expect(page).toMatchObject({ totalCount: "203", skipped: 0, nextPageToken: expect.any(String) });
  });

  test("and an old one of another list is still refused", async () => {
    const { wrong } = await continueAfter(30 * DAY_MS);
    expect(wrong.json.message).toBe(`Invalid argument: pageToken: ${OTHER}`);
  });
});
