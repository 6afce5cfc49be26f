// Rate limits (docs/internals/contract.md#d25): a token bucket for each caller, full after one second of silence. A request that finds it
// empty is RESOURCE_EXHAUSTED, with the time after which to retry (google.rpc.RetryInfo).
import { isIPv6 } from "node:net";
import { apiError, retryInfo } from "../../schema/index.ts";

export type RateLimit = ReturnType<typeof createRateLimit>;

// For identities and for addresses. Beyond, the caller that was silent longest is forgotten: its bucket is probably full.
const MAX_CALLERS = 10_000;

export const unlimited: RateLimit = { identity: () => {}, address: () => {}, reset: () => {} };

export const createRateLimit = (perSecond: number, clock: () => number) => {
  // Two tables, so that a client with many addresses cannot displace an identity.
  const identities = createBuckets(perSecond, clock);
  const addresses = createBuckets(perSecond, clock);
  return {
    /** a request of an authenticated identity, by its uid */
    identity: identities.take,
    /** any other request */
    address: (address: string) => addresses.take(addressGroup(address)),
    /** Forgets all callers. */
    reset: () => {
      identities.clear();
      addresses.clear();
    },
  };
};

// Thousandths of a request, so that each millisecond refills a whole number.
const REQUEST = 1000;

const createBuckets = (perSecond: number, clock: () => number) => {
  const full = perSecond * REQUEST;
  const buckets = new Map<string, { level: number; atMs: number }>();
  const take = (caller: string) => {
    const now = clock();
    const { level, atMs } = buckets.get(caller) ?? { level: full, atMs: now };
    const refilled = Math.min(full, level + Math.max(0, now - atMs) * perSecond);
    const isEmpty = refilled < REQUEST;
    // Deleted and set again, so that the map keeps the order of the last requests.
    buckets.delete(caller);
    buckets.set(caller, { level: isEmpty ? refilled : refilled - REQUEST, atMs: now });
    if (buckets.size > MAX_CALLERS) buckets.delete(buckets.keys().next().value as string);
    if (isEmpty)
      throw apiError("RESOURCE_EXHAUSTED", `more than ${perSecond} requests a second; try again later`, {
        details: [retryInfo(Math.ceil((REQUEST - refilled) / perSecond))],
      });
  };
  return { take, clear: () => buckets.clear() };
};

/** An IPv6 network of 64 bits belongs to one customer, who may use any address of it. */
export const addressGroup = (address: string): string => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped || !isIPv6(address)) return mapped ?? address;
  const [head = [], tail] = (address.split("%")[0] as string)
    .split("::")
    .map((part) => part.split(":").filter(Boolean));
  const zeros = tail ? Array.from({ length: 8 - head.length - tail.length }, () => "0") : [];
  return [...head, ...zeros, ...(tail ?? [])].slice(0, 4).join(":");
};
