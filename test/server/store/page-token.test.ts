// Page tokens (docs/contract.md#d6): malformed, signed by another key, of another filter or order_by: INVALID_ARGUMENT on
// page_token. Older than 3 days: the list restarts from the first page, without an error.
import { describe, expect, test, vi } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { openGrpc, REGISTRY, serve, sharedKeys, shuffledIds, type TokenOptions } from "../../harness/api-server.ts";
import { DAY_MS } from "../../harness/clock.ts";
import type { Body } from "../../support/http.ts";
import { badRequest, expectInvalid, expectRefusal } from "../../support/refusal.ts";

// Hundreds of requests in a test: seconds on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const seed = parseSeed(
  `{ organization: { name: acme }, repos: [${Array.from({ length: 9 }, (_, i) => `{ name: r${i} }`).join(", ")}] }`,
  "seed.yaml",
);
const start = (further = {}) => serve({ seed, ids: shuffledIds(5), ...further });

const QUERY = { page_size: 3, order_by: "name" };
const call = (query: Body, server = api) => server.call("GET", `${REGISTRY}/repos`, { query });
const names = (json: Body): string[] => json.repos.map(({ name }: Body) => name);
const first = async (query: Body = QUERY, server = api) => (await call(query, server)).json;

const FOREIGN = "is not a page token of this service";
const OTHER = "belongs to a list with another filter or order_by";
const expectRefused = async (query: Body, description: string, server = api) =>
  expectInvalid(await call(query, server), { pageToken: description }, "registry");

const api = await start();
/** of the second page of three, by name */
const token: string = (await first()).nextPageToken;

test("a token needs no escaping in a query", () => {
  expect(token).toMatch(/^[\w.-]+$/);
});

describe("a token that is malformed is refused", () => {
  test.each([
    ["a word", "next"],
    ["a number, as offsets would be", "50"],
    ["a signature of zeros", `e30.${"A".repeat(43)}`],
    ["10 000 characters", "x".repeat(10_000)],
  ])("%s", async (_, text) => {
    await expectRefused({ ...QUERY, page_token: text }, FOREIGN);
  });

  test("whichever of its characters is changed", async () => {
    for (let i = 0; i < token.length; i += 1) {
      const other = token[i] === "A" ? "B" : "A";
      await expectRefused({ ...QUERY, page_token: token.slice(0, i) + other + token.slice(i + 1) }, FOREIGN);
    }
  });

  test.each([
    ["cut by one character", (own: string) => own.slice(0, -1)],
    ["with a character more", (own: string) => `${own}A`],
    ["without its signature", (own: string) => own.split(".")[0] as string],
  ])("%s", async (_, change) => {
    await expectRefused({ ...QUERY, page_token: change(token) }, FOREIGN);
  });
});

test("a token that another server signed is refused, even if all else is equal", async () => {
  const keys = { ...sharedKeys(), pageTokenKey: Buffer.alloc(32, 9) };
  const other = await start({ keys });
  const foreign = (await first(QUERY, other)).nextPageToken;
  await expectRefused({ ...QUERY, page_token: foreign }, FOREIGN);
});

describe("a token of another list is refused", () => {
  test.each<[string, Body]>([
    ["other order", { ...QUERY, order_by: "name desc" }],
    ["no order", { page_size: 3 }],
    ["a hierarchy filter", { ...QUERY, "uidp.descendants_of": "0".repeat(40) }],
  ])("with %s", async (_, query) => {
    await expectRefused({ ...query, page_token: token }, OTHER);
  });

  test("of another kind", async () => {
    const answer = await api.call("GET", "/iam/v2beta1/groups", { query: { ...QUERY, page_token: token } });
    expectInvalid(answer, { pageToken: OTHER });
  });
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

  test("over gRPC", async () => {
    const { token: other } = await api.actor("other", { role: "viewer" });
    const client = openGrpc(api.baseUrl);
    const call = (authorization: string, pageToken?: string) =>
      client.call("ListRepos", { pageSize: 3, orderBy: "name", pageToken }, { metadata: { authorization } });
    const { nextPageToken } = (await call(`Bearer ${api.owner.token}`)).json;
    expect((await call(`Bearer ${api.owner.token}`, nextPageToken)).code).toBe(0);
    expect(await call(`Bearer ${other}`, nextPageToken)).toMatchObject({
      code: 3,
      message: `Invalid argument: pageToken: ${OTHERS}`,
    });
  });

  test("and so is one of a wider API token of the same identity", async () => {
    await expectOthers(await tokenOf({ cap: ["repo.list"] }));
    await expectOthers(await tokenOf({ scopes: [api.organization] }));
  });

  test("but it survives another exchange of the same identity", async () => {
    const answer = await api.call("GET", `${REGISTRY}/repos`, { token: await tokenOf(), query: query() });
    expect(names(answer.json)).toEqual(["r3", "r4", "r5"]);
    const limits = { cap: ["repo.list", "groups.list"], scopes: [api.organization] };
    const narrow = await api.call("GET", `${REGISTRY}/repos`, { token: await tokenOf(limits), query: QUERY });
    const again = { ...limits, cap: limits.cap.toReversed() };
    const next = { ...QUERY, page_token: narrow.json.nextPageToken };
    const second = await api.call("GET", `${REGISTRY}/repos`, { token: await tokenOf(again), query: next });
    expect(names(second.json)).toEqual(["r3", "r4", "r5"]);
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
    expect(names(page)).toEqual(["r3", "r4", "r5"]);
  });

  test("a millisecond later the walk restarts from the first page, without an error", async () => {
    const { page } = await continueAfter(3 * DAY_MS + 1);
    expect(names(page)).toEqual(["r0", "r1", "r2"]);
    expect(page).toMatchObject({ totalCount: "9", skipped: 0, nextPageToken: expect.any(String) });
  });

  test("and an old one of another list is still refused", async () => {
    const { wrong } = await continueAfter(30 * DAY_MS);
    expect(wrong.json.message).toBe(`Invalid argument: pageToken: ${OTHER}`);
  });
});
