// Cached documents (docs/faults.md#row-16, docs/faults.md#row-17), against an issuer on loopback.
import { describe, expect, it } from "vitest";
import { createDocuments, createPlaces, type Place } from "../../../../server/sts/issuer/cache.ts";
import { createFetchDocument, type FetchDocument } from "../../../../server/sts/issuer/fetch.ts";
import { manualClock, NOON_MS } from "../../../harness/clock.ts";
import { createCache, DISCOVERY, kids, named, OTHER_RSA, RSA, refused, serveIssuer } from "../../../harness/sts.ts";

const start = async () => ({ issuer: await serveIssuer(), ...createCache() });

describe("row 16: endless requests for keys", () => {
  it("fetches once for concurrent callers", async () => {
    const { issuer, documents } = await start();
    await Promise.all(["rsa-1", "a", "b", "c"].map((kid) => kids(documents, issuer, kid)));
    expect(issuer.paths).toEqual([DISCOVERY, "/jwks"]);
  });

  it("fetches for an unknown key once in 30 seconds, and serves the known ones meanwhile", async () => {
    const { issuer, documents, clock } = await start();
    for (const kid of ["a", "b", "c", "rsa-1"]) await kids(documents, issuer, kid);
    expect(issuer.paths).toHaveLength(2);
    clock.advance(29_999);
    await kids(documents, issuer, "d");
    expect(issuer.paths).toHaveLength(2);
    issuer.publish([RSA.jwk, OTHER_RSA.jwk]);
    clock.advance(1);
    expect(await kids(documents, issuer, "rsa-2")).toEqual(["rsa-1", "rsa-2"]);
    expect(issuer.paths).toHaveLength(4);
  });

  it("retries a failed issuer once in 30 seconds", async () => {
    const issuer = await serveIssuer();
    issuer.handlers["/jwks"] = (_, response) => void response.writeHead(500).end();
    const { documents, clock } = createCache();
    await expect(kids(documents, issuer, "rsa-1")).rejects.toMatchObject(refused("answered 500"));
    issuer.publish([RSA.jwk]);
    clock.advance(29_999);
    await expect(kids(documents, issuer, "rsa-1")).rejects.toMatchObject(refused("failed a moment ago"));
    expect(issuer.paths).toHaveLength(2);
    clock.advance(1);
    expect(await kids(documents, issuer, "rsa-1")).toEqual(["rsa-1"]);
  });

  it("keeps the fresh keys of an issuer whose fetch for an unknown one fails", async () => {
    const { issuer, documents, clock } = await start();
    await kids(documents, issuer, "rsa-1");
    issuer.handlers["/jwks"] = (_, response) => void response.writeHead(500).end();
    clock.advance(60_000);
    await expect(kids(documents, issuer, "unknown")).rejects.toMatchObject(refused("answered 500"));
    expect(await kids(documents, issuer, "rsa-1")).toEqual(["rsa-1"]);
    expect(await kids(documents, issuer, "unknown")).toEqual(["rsa-1"]);
  });

  it("caches the last hundred issuers", async () => {
    const issuer = await serveIssuer();
    const urls = Array.from({ length: 101 }, (_, i) => `${issuer.url}/${i}`);
    for (const [i, url] of urls.entries())
      issuer.handlers[`/${i}${DISCOVERY}`] = (_, response) =>
        void response.end(JSON.stringify({ issuer: url, jwks_uri: `${issuer.url}/jwks` }));
    const { documents } = createCache();
    const ask = async (i: number) => {
      const before = issuer.paths.length;
      await documents.keysOf(urls[i] as string, named("rsa-1"));
      return issuer.paths.length - before;
    };
    for (let i = 0; i < 100; i++) expect(await ask(i)).toBe(2);
    expect(await ask(0)).toBe(0);
    expect(await ask(100)).toBe(2);
    expect(await ask(0)).toBe(0);
    expect(await ask(1)).toBe(2);
  });
});

it("evicts issuers without keys first", async () => {
  const { issuer, documents } = await start();
  await kids(documents, issuer, "rsa-1");
  for (let i = 0; i < 150; i += 1) {
    const dead = documents.keysOf(`${issuer.url}/${i}`, named("rsa-1"));
    await expect(dead).rejects.toMatchObject(refused("answered 404"));
  }
  const before = issuer.paths.length;
  expect(await kids(documents, issuer, "rsa-1")).toEqual(["rsa-1"]);
  expect(issuer.paths).toHaveLength(before);
  // They are bounded too: the first was evicted, and is asked again within its pause.
  await expect(documents.keysOf(`${issuer.url}/0`, named("rsa-1"))).rejects.toMatchObject(refused("answered 404"));
  expect(issuer.paths).toHaveLength(before + 1);
});

describe("a fetch under way", () => {
  it("is not evicted by others: of fifty new ones at once, each is fetched once", async () => {
    const issuer = await serveIssuer();
    const held: (() => void)[] = [];
    const urls = Array.from({ length: 51 }, (_, i) => `${issuer.url}/${i}`);
    const reached = Promise.withResolvers<void>();
    for (const i of urls.keys())
      issuer.handlers[`/${i}${DISCOVERY}`] = (_, response) => {
        held.push(() => response.writeHead(500).end());
        if (held.length === 50) reached.resolve();
      };
    const { documents } = createCache();
    const ask = (i: number) => documents.keysOf(urls[i] as string, named("rsa-1"));
    const waiting = Promise.allSettled(Array.from({ length: 50 }, (_, i) => ask(i)));
    await reached.promise;
    await expect(ask(50)).rejects.toMatchObject(refused("too many issuers are being asked"));
    const again = ask(0);
    for (const release of held) release();
    await expect(again).rejects.toMatchObject(refused("answered 500"));
    expect((await waiting).map(({ status }) => status)).toEqual(Array(50).fill("rejected"));
    expect(issuer.paths).toHaveLength(50);
    issuer.handlers[`/50${DISCOVERY}`] = (_, response) => void response.writeHead(503).end();
    await expect(ask(50)).rejects.toMatchObject(refused("answered 503"));
  });

  it("takes no place of an issuer with keys, which is served and refreshed while silent ones wait", async () => {
    const issuer = await serveIssuer();
    const silent = Promise.withResolvers<never>();
    let asked = 0;
    const real = createFetchDocument({});
    const fetchDocument: FetchDocument = (url, signal) => {
      if (!url.pathname.startsWith("/silent")) return real(url, signal);
      asked += 1;
      return silent.promise;
    };
    const clock = manualClock(NOON_MS);
    const documents = createDocuments({ clock, dev: true, fetchDocument });
    expect(await kids(documents, issuer, "rsa-1")).toEqual(["rsa-1"]);
    const waiting = Promise.allSettled(
      Array.from({ length: 200 }, (_, i) => documents.keysOf(`${issuer.url}/silent/${i}`, named("rsa-1"))),
    );
    expect(await kids(documents, issuer, "rsa-1")).toEqual(["rsa-1"]);
    expect(issuer.paths).toHaveLength(2);
    clock.advance(10 * 60 * 1000);
    expect(await kids(documents, issuer, "rsa-1")).toEqual(["rsa-1"]);
    expect(issuer.paths).toHaveLength(4);
    silent.reject(new TypeError("silent"));
    await waiting;
    expect(asked).toBe(50);
  });
});

it("row 17: a key that the issuer has removed is accepted for ten minutes and no longer", async () => {
  const { issuer, documents, clock } = await start();
  await kids(documents, issuer, "rsa-1");
  issuer.publish([OTHER_RSA.jwk]);
  clock.advance(10 * 60_000 - 1);
  expect(await kids(documents, issuer, "rsa-1")).toEqual(["rsa-1"]);
  clock.advance(1);
  expect(await kids(documents, issuer, "rsa-1")).toEqual(["rsa-2"]);
});

it("row 17: a key that the issuer has removed is not accepted when the issuer is no longer reachable", async () => {
  const { issuer, documents, clock } = await start();
  await kids(documents, issuer, "rsa-1");
  issuer.handlers["/jwks"] = (_, response) => void response.writeHead(503).end();
  clock.advance(10 * 60_000);
  await expect(kids(documents, issuer, "rsa-1")).rejects.toMatchObject(refused("answered 503"));
  await expect(kids(documents, issuer, "rsa-1")).rejects.toMatchObject(refused("failed a moment ago"));
});

it("row 17: a key that the issuer has removed is fetched again when the clock was set back", async () => {
  const { issuer, documents, clock } = await start();
  await kids(documents, issuer, "rsa-1");
  issuer.publish([OTHER_RSA.jwk]);
  clock.advance(-86_400_000);
  expect(await kids(documents, issuer, "rsa-1")).toEqual(["rsa-2"]);
});

const FULL = { name: "Refusal", reason: "document", message: "too many issuers are being asked" };

const take = (places: ReturnType<typeof createPlaces>, owner: string, count = 1): Place[] =>
  Array.from({ length: count }, () => places.take([owner]));

const stateOf = (taken: readonly Place[]) => taken.map((place) => place.isTaken());

describe("places for fetches", () => {
  it("may all belong to one organization while no other needs one; beyond them it is refused, and keeps its own", () => {
    const places = createPlaces(4);
    const taken = take(places, "a", 4);
    expect(() => places.take(["a"])).toThrow(expect.objectContaining(FULL));
    expect(stateOf(taken)).toEqual([true, true, true, true]);
    taken[1]?.release();
    expect(places.take(["a"]).isTaken()).toBe(true);
  });

  it("are given up by the organization with the most, the oldest first, up to an equal share", () => {
    const places = createPlaces(4);
    const [first, second, ...others] = take(places, "a", 4) as [Place, Place, ...Place[]];
    const [ofB] = take(places, "b") as [Place];
    expect(stateOf([first, second, ofB])).toEqual([false, true, true]);
    expect(first.signal.reason).toEqual(new TypeError("gave way to an issuer of another organization"));
    take(places, "b");
    expect(stateOf([second, ...others])).toEqual([false, true, true]);
    expect(() => places.take(["b"])).toThrow(expect.objectContaining(FULL));
    expect(() => places.take(["a"])).toThrow(expect.objectContaining(FULL));
  });

  it("leave one for an organization without any, however many others exist", () => {
    const places = createPlaces(4);
    const taken = ["a", "b", "c", "d"].flatMap((owner) => take(places, owner));
    const [newcomer] = take(places, "e") as [Place];
    expect(stateOf([...taken, newcomer])).toEqual([false, true, true, true, true]);
  });

  it("count for the organization of an issuer that holds the fewest", () => {
    const places = createPlaces(4);
    const taken = take(places, "a", 4);
    expect(places.take(["a", "b"]).isTaken()).toBe(true);
    expect(stateOf(taken)).toEqual([false, true, true, true]);
  });

  it("are not given up after their release", () => {
    const places = createPlaces(2);
    const [first] = take(places, "a", 2) as [Place];
    first.release();
    take(places, "b");
    expect(first.signal.aborted).toBe(false);
    first.release();
    expect(() => places.take(["a"])).toThrow(expect.objectContaining(FULL));
  });
});
