// Pages (AIP-158, docs/contract.md#d15): sizes, skip, counts, the token that the last page does not have.
import { describe, expect, test, vi } from "vitest";
import { parseSeed } from "../../../server/index.ts";
import { REGISTRY, serve, shuffledIds } from "../../harness/api-server.ts";
import type { Body } from "../../support/http.ts";

// Hundreds of requests in a test: seconds on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const COUNT = 203;
const padded = (n: number) => String(n).padStart(3, "0");
const repos = Array.from({ length: COUNT }, (_, i) => `{ name: r${padded(i)} }`);
const seed = parseSeed(`{ organization: { name: acme }, repos: [${repos.join(", ")}] }`, "seed.yaml");

const list = (query: Body): Promise<Body> => api.ok("GET", `${REGISTRY}/repos`, { query });
const uidsOf = (page: Body): string[] => page.repos.map(({ uid }: Body) => uid);

const walk = async (query: Body): Promise<string[][]> => {
  const pages: string[][] = [];
  let token: string | undefined;
  do {
    const page = await list({ ...query, ...(token && { page_token: token }) });
    pages.push(uidsOf(page));
    token = page.nextPageToken;
  } while (token);
  return pages;
};

const api = await serve({ seed, ids: shuffledIds(1) });
/** every uid, in the default order */
const uids: string[] = [
  ...uidsOf(await list({ page_size: 200 })),
  ...uidsOf(await list({ page_size: 200, skip: 200 })),
];

test.each([
  ["one", 1, 1],
  ["the maximum", 200, 200],
  ["over the maximum, coerced to it (AIP-158)", 201, 200],
  ["0, which is the default", 0, 50],
  ["absent, which is the default", undefined, 50],
])("page_size of %s", async (_, size, expected) => {
  const page = await list({ page_size: size });
  expect(uidsOf(page)).toEqual(uids.slice(0, expected));
  expect(page.nextPageToken).toEqual(expect.any(String));
  expect(page).toMatchObject({ totalCount: "203", skipped: 0 });
});

describe("a walk", () => {
  test.each([1, 7, 50, 200, 201])("by pages of %i sees every row once, in order", async (size) => {
    const pages = await walk({ page_size: size });
    expect(pages.flat()).toEqual(uids);
    const full = Math.min(size, 200);
    expect(pages.slice(0, -1).every((page) => page.length === full)).toBe(true);
    expect(pages).toHaveLength(Math.ceil(COUNT / full));
  });

  test("has no token on the last page, even when that page is full", async () => {
    const last = await list({ page_size: 3, skip: 200 });
    expect(uidsOf(last)).toEqual(uids.slice(200));
    expect(last).not.toHaveProperty("nextPageToken");
    const before = await list({ page_size: 2, skip: 200 });
    expect(uidsOf(await list({ page_size: 2, page_token: before.nextPageToken }))).toEqual([uids[202]]);
  });
});

describe("skip", () => {
  test.each([
    [0, [0, 50] as const],
    [1, [1, 51] as const],
    [200, [200, 203] as const],
    [202, [202, 203] as const],
  ])("of %i leaves out that many at the beginning", async (skip, [from, to]) => {
    const page = await list({ skip });
    expect(uidsOf(page)).toEqual(uids.slice(from, to));
    expect(page).toMatchObject({ skipped: skip, totalCount: "203" });
  });

  test.each([203, 204, 2_147_483_647])("of %i is beyond the end: an empty page with the full count", async (skip) => {
    expect(await list({ skip })).toEqual({ repos: [], totalCount: "203", skipped: skip });
  });

  test("with a token counts from the cursor; `skipped` is the skip of this request", async () => {
    const first = await list({ page_size: 10, skip: 5 });
    expect(uidsOf(first)).toEqual(uids.slice(5, 15));
    const second = await list({ page_size: 10, skip: 3, page_token: first.nextPageToken });
    expect(uidsOf(second)).toEqual(uids.slice(18, 28));
    expect(second.skipped).toBe(3);
    const third = await list({ page_size: 10, page_token: second.nextPageToken });
    expect(uidsOf(third)).toEqual(uids.slice(28, 38));
    expect(third.skipped).toBe(0);
  });
});
