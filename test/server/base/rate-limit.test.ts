// Rate limits (docs/internals/contract.md#d25): off by default; with a limit, a bucket for each identity, and for each address of
// requests without one. The clock is stopped unless the test moves it.
import { describe, expect, test } from "vitest";
import { isApiError } from "../../../schema/index.ts";
import { createRateLimit } from "../../../server/base/rate-limit.ts";
import { IAM, serve } from "../../harness/api-server.ts";
import { manualClock, START_MS } from "../../harness/clock.ts";
import { expectRefusal, expectUnauthenticated } from "../../support/refusal.ts";

const LIMIT = 5;
const TEXT = "more than 5 requests a second; try again later";
const retryInfo = (retryDelay: string) => ({ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay });
const api = await serve({ rateLimit: LIMIT });

/** All callers have been silent long enough. */
const refill = () => api.clock.advance(1000);
const list = (token: string | null = api.owner.token) => api.call("GET", `${IAM}/groups`, { token });
const statuses = async (count: number, send: () => ReturnType<typeof list>) => {
  const found: number[] = [];
  for (let i = 0; i < count; i += 1) found.push((await send()).status);
  return found;
};

describe("an identity", () => {
  test("can make the allowed requests a second; the next is refused until the time to retry, and then served once", async () => {
    refill();
    expect(await statuses(LIMIT, list)).toEqual([200, 200, 200, 200, 200]);
    const answer = await list();
    expectRefusal(answer, "RESOURCE_EXHAUSTED", TEXT, { details: [retryInfo("0.200s")] });
    expect(answer.headers["retry-after"]).toBe("1");
    api.clock.advance(199);
    expectRefusal(await list(), "RESOURCE_EXHAUSTED", TEXT, { details: [retryInfo("0.001s")] });
    api.clock.advance(1);
    expect(await statuses(2, list)).toEqual([200, 429]);
  });

  test("does not save up more than one second", async () => {
    api.clock.advance(60_000);
    expect((await statuses(LIMIT + 1, list)).filter((status) => status === 200)).toHaveLength(LIMIT);
  });

  test("has its own bucket, whatever its token", async () => {
    refill();
    const viewer = await api.actor("viewer", { role: "viewer" });
    refill();
    const again = await api.token(viewer.uid, { subject: "viewer" });
    expect(await statuses(3, () => list(viewer.token))).toEqual([200, 200, 200]);
    expect(await statuses(3, () => list(again))).toEqual([200, 200, 429]);
    expect((await list()).status).toBe(200);
  });
});

describe("without authentication is counted by address", () => {
  test("without a token, and with a malformed one", async () => {
    refill();
    for (const token of [null, "x", null, "a.b.c", null]) expectUnauthenticated(await list(token));
    for (const token of [null, "x"])
      expectRefusal(await list(token), "RESOURCE_EXHAUSTED", TEXT, { details: [retryInfo("0.200s")] });
  });

  test("but does not reduce the limit of an identity at the same address", async () => {
    refill();
    await statuses(LIMIT + 1, () => list(null));
    expect(await statuses(LIMIT, list)).toEqual([200, 200, 200, 200, 200]);
  });

  test("at the exchange, before the token is checked", async () => {
    const token = await api.identityToken("owner");
    refill();
    const exchange = () => api.exchange(token, { aud: api.baseUrl, identity: api.identity });
    expect(await statuses(LIMIT + 1, exchange)).toEqual([200, 200, 200, 200, 200, 429]);
  });
});

test("pages for the operator are not limited", async () => {
  refill();
  await statuses(LIMIT + 1, () => list(null));
  for (const path of ["/healthz", "/readyz", "/metrics"]) {
    const found = await statuses(LIMIT + 1, () => api.call("GET", path, { token: null }));
    expect(new Set(found)).toEqual(new Set([200]));
  }
});

describe("createRateLimit", () => {
  const isRefused = (take: () => void) => {
    try {
      take();
      return false;
    } catch (error) {
      if (!isApiError(error, "RESOURCE_EXHAUSTED")) throw error;
      return true;
    }
  };

  test.each([
    ["the same IPv4 address", "192.0.2.1", "192.0.2.1", true],
    ["an IPv4 address and the same one mapped into IPv6", "192.0.2.1", "::ffff:192.0.2.1", true],
    ["two addresses of an IPv6 network of 64 bits", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::1", true],
    ["an address with zones", "fe80::1%eth0", "fe80::2%eth1", true],
    ["two IPv6 networks", "2001:db8:1:2::1", "2001:db8:1:3::1", false],
  ])("%s: one caller or two", (_, one, other, same) => {
    const limit = createRateLimit(1, manualClock());
    limit.address(one);
    expect(isRefused(() => limit.address(other))).toBe(same);
  });

  test("remembers the last ten thousand callers, with separate tables for identities and addresses", () => {
    const limit = createRateLimit(1, manualClock());
    limit.identity("known");
    for (let i = 0; i < 20_000; i += 1) limit.address(`10.0.${i >> 8}.${i & 255}`);
    expect(isRefused(() => limit.identity("known"))).toBe(true);
    expect(isRefused(() => limit.address("10.0.78.31"))).toBe(true);
    expect(isRefused(() => limit.address("10.0.0.0"))).toBe(false);
  });

  test("works with a clock that is set back", () => {
    let now = START_MS;
    const limit = createRateLimit(1, () => now);
    limit.identity("x");
    now -= 60_000;
    expect(isRefused(() => limit.identity("x"))).toBe(true);
    now += 1000;
    expect(isRefused(() => limit.identity("x"))).toBe(false);
  });
});
