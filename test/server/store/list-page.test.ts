// Pages (AIP-158, docs/contract.md#d15): sizes, skip, counts, the token that the last page does not have.
// Page tokens (docs/contract.md#d6): malformed, signed by another key, of another filter or order_by: INVALID_ARGUMENT on
// page_token. Older than 3 days: the list restarts from the first page, without an error.
import { describe, expect, test } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { REGISTRY, serve, sharedKeys, shuffledIds, type TokenOptions } from "../../harness/api-server.ts";
import { DAY_MS } from "../../harness/clock.ts";
import type { Body } from "../../support/http.ts";
import { badRequest, expectInvalid, expectRefusal } from "../../support/refusal.ts";

const COUNT = 203;
const repos = Array.from({ length: COUNT }, (_, i) => `{ name: r${String(i).padStart(3, "0")} }`);
const seed = parseSeed(`{ organization: { name: acme }, repos: [${repos.join(", ")}] }`, "seed.yaml");
const start = (further = {}) => serve({ seed, ids: shuffledIds(5), ...further });

const QUERY = { page_size: 3, order_by: "name" };
const call = (query: Body, server = api) => server.call("GET", `${REGISTRY}/repos`, { query });
const names = (json: Body): string[] => json.repos.map(({ name }: Body) => name);
const first = async (query: Body = QUERY, server = api) => (await call(query, server)).json;

const SECOND = ["r003", "r004", "r005"];
const FOREIGN = "is not a page token of this service";
const OTHER = "belongs to a list with another filter or order_by";
const expectRefused = async (query: Body, description: string, server = api) =>
  expectInvalid(await call(query, server), { pageToken: description }, "registry");

const api = await start();
const list = (query: Body): Promise<Body> => api.ok("GET", `${REGISTRY}/repos`, { query });
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
  expect(nextPageToken).toEqual(to < COUNT ? expect.any(String) : undefined);
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

test("a token needs no escaping in a query", () => {
  expect(token).toMatch(/^[\w.-]+$/);
});

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
  const answer = await api.call("GET", "/iam/v2beta1/groups", { query: { ...QUERY, page_token: token } });
  expectInvalid(answer, { pageToken: OTHER });
});

describe("a token of another caller is refused, so that it reveals neither its count nor its rows", () => {
  const OTHERS = "belongs to another caller, or to an API token with other limits";
  const query = () => ({ ...QUERY, page_token: token });
  const refusal = { details: [badRequest({ pageToken: OTHERS })], domain: "registry" };
  const expectOthers = async (apiToken: string, own = query()) => {
    const answer = await api.call("GET", `${REGISTRY}/repos`, { token: apiToken, query: own });
    expectRefusal(answer, "INVALID_ARGUMENT", `pageToken: ${OTHERS}`, refusal);
  };
  const tokenOf = (limits: Pick<TokenOptions, "cap" | "scopes"> = {}) =>
    api.token(api.identity, { subject: "owner", ...limits });

  test.each([
    ["may read nothing", undefined],
    ["may read the same", "viewer"],
  ])("when the other one %s", async (_, role) => {
    await expectOthers((await api.actor(`other ${role}`, role === undefined ? {} : { role })).token);
  });

  test("and so is one of a wider API token of the same identity", async () => {
    await expectOthers(await tokenOf({ cap: ["repo.list"] }));
    await expectOthers(await tokenOf({ scopes: [api.organization] }));
  });

  test("but it survives another exchange of the same identity", async () => {
    const answer = await api.call("GET", `${REGISTRY}/repos`, { token: await tokenOf(), query: query() });
    expect(names(answer.json)).toEqual(SECOND);
    const limits = { cap: ["repo.list", "groups.list"], scopes: [api.organization] };
    const narrow = await api.call("GET", `${REGISTRY}/repos`, { token: await tokenOf(limits), query: QUERY });
    const again = { ...limits, cap: limits.cap.toReversed() };
    const next = { ...QUERY, page_token: narrow.json.nextPageToken };
    const second = await api.call("GET", `${REGISTRY}/repos`, { token: await tokenOf(again), query: next });
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
