import { describe, expect, it } from "vitest";
import { createDocuments, createPlaces, type Place } from "../../../../server/sts/issuer/cache.ts";
import { createFetchDocument, type FetchDocument } from "../../../../server/sts/issuer/fetch.ts";
import { serve, sharedKeys, signedToken } from "../../../harness/api-server.ts";
import { manualClock, NOON_MS } from "../../../harness/clock.ts";
import { createRecord, createUid } from "../../../harness/records.ts";
import {
  claimsFrom,
  createCache,
  createService,
  DENIED,
  DISCOVERY,
  identity,
  kids,
  named,
  ORG,
  OTHER_RSA,
  RSA,
  refused,
  SUBJECT,
  serveIssuer,
  sign,
  UID,
} from "../../../harness/sts.ts";

const ANY = `${ORG}/00000000000000ff`;

it("issuers that a pattern matches have a separate cache: invented ones evict no other keys", async () => {
  const issuer = await serveIssuer();
  const anything = identity({ uid: ANY, claimMatch: { issuerPattern: ".*", subjectPattern: ".*" } });
  const trusting = identity({ claimMatch: { issuer: issuer.url, subject: SUBJECT } });
  const { sts } = createService([trusting, anything]);
  const good = await sign(claimsFrom(issuer.url));
  await sts.exchange({ identity: UID }, good);
  for (let i = 0; i < 150; i += 1) {
    const madeUp = await sign(claimsFrom(`${issuer.url}/${i}`));
    await expect(sts.exchange({ identity: ANY }, madeUp)).rejects.toMatchObject(DENIED);
  }
  const before = issuer.paths.length;
  expect(before).toBe(152);
  expect(await sts.exchange({ identity: UID }, good)).toHaveProperty("token");
  expect(issuer.paths).toHaveLength(before);
});

/** An issuer over https, whose certificate nobody has signed. */
const FULL = refused("too many issuers are being asked");

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

it("a fetch under way is not evicted by others: of fifty new ones at once, each is fetched once", async () => {
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
  await expect(ask(50)).rejects.toMatchObject(FULL);
  const again = ask(0);
  for (const release of held) release();
  await expect(again).rejects.toMatchObject(refused("answered 500"));
  expect((await waiting).map(({ status }) => status)).toEqual(Array(50).fill("rejected"));
  expect(issuer.paths).toHaveLength(50);
  issuer.handlers[`/50${DISCOVERY}`] = (_, response) => void response.writeHead(503).end();
  await expect(ask(50)).rejects.toMatchObject(refused("answered 503"));
});

it("a fetch under way takes no place of an issuer with keys, which is served and refreshed while silent ones wait", async () => {
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

const DEAD = 60;
/** Of one organization, asked at once. */
const FETCHES = 50;

/** Issuers by path: those below /dead are silent, the others publish keys. */
const startIssuers = async () => {
  const issuer = await serveIssuer([]);
  let silent = 0;
  const waiting = new Map<number, () => void>();
  issuer.publish([...sharedKeys().signer.jwks().keys] as never);
  issuer.fallback = ({ url = "" }, response) => {
    const [, name] = url.split("/");
    if (name !== "dead")
      return response.end(JSON.stringify({ issuer: `${issuer.url}/${name}`, jwks_uri: `${issuer.url}/jwks` }));
    silent += 1;
    return waiting.get(silent)?.();
  };
  return {
    ...issuer,
    /** when so many requests wait for an answer that never comes */
    silent: (count: number) =>
      new Promise<void>((resolve) => (silent >= count ? resolve() : waiting.set(count, resolve))),
  };
};

it.each<[string, (url: string, i: number) => object]>([
  ["exact issuers", (url, i) => ({ issuer: `${url}/dead/${i}` })],
  ["issuers that a pattern matches", (url) => ({ issuerPattern: `${url.replaceAll(".", "\\.")}/dead/.*` })],
])("one organization's silent %s do not fail the first exchange of another", async (_what, claimMatchOf) => {
  const api = await serve();
  const issuers = await startIssuers();
  const trust = (token: string, group: string, claimMatch: object): Promise<string> =>
    createUid(api, "identities", group, { name: "ci", claimMatch: { subject: "s", ...claimMatch } }, token);
  const exchange = async (issuer: string, identity: string): Promise<number> =>
    (await api.exchange(await signedToken({ iss: issuer, sub: "s", aud: api.authUrl }), { identity })).status;
  const trustDead = (i: number) => trust(api.owner.token, api.organization, claimMatchOf(issuers.url, i));
  /** A new organization, with an identity of a live issuer. */
  const newTenant = async (name: string) => {
    const { token } = await api.actor(name);
    const { uid } = await createRecord(api, "groups", "", { name }, token);
    const issuer = `${issuers.url}/${name}`;
    return { issuer, identity: await trust(token, uid, { issuer }) };
  };

  const dead = await Promise.all(Array.from({ length: DEAD }, (_none, i) => trustDead(i)));
  const tenants = await Promise.all(["one", "two", "three"].map(newTenant));
  const pending = dead.map((identity, i) => exchange(`${issuers.url}/dead/${i}`, identity));
  await issuers.silent(FETCHES);

  for (const { issuer, identity } of tenants) expect(await exchange(issuer, identity)).toBe(200);
  // Their own organization has no place left.
  expect(await exchange(`${issuers.url}/dead/${DEAD}`, await trustDead(DEAD))).toBe(403);
  expect(api.log.join("")).toContain("too many issuers are being asked");

  await issuers.close();
  expect(await Promise.all(pending)).toEqual(Array(DEAD).fill(403));
});
