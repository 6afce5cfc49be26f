// Caches an issuer's keys, from its discovery document and key set (OpenID Connect Discovery 1.0 section 4). Anyone with a
// token can ask for a key, so fetches are bounded. An issuer has one at a time with a pause after it, and concurrent
// fetches have a limit. The number of cached issuers is also bounded. Callers ask only for issuers that a stored identity
// trusts.
import { isLoopbackUrl, isObject } from "../../../schema/index.ts";
import { ownValue, parseStrictJson } from "../token/compact.ts";
import { refusal } from "../token/refusal.ts";
import { documentUrl } from "./address.ts";
import type { FetchDocument } from "./fetch.ts";
import { type KeySet, parseKeySet } from "./key-set.ts";

/** A key that the issuer has removed is accepted for this long at most. */
const MAX_AGE_MS = 10 * 60 * 1000;
/** The pause before the next fetch for an unknown key, or after a failure. */
const COOLDOWN_MS = 30 * 1000;
const MAX_ISSUERS = 100;
/** Concurrent fetches, apart for issuers with keys and without: silent, invented issuers block no other. */
const MAX_FETCHES = MAX_ISSUERS / 2;
/** The time limit for both documents of an issuer together. */
const TIMEOUT_MS = 5_000;

interface Entry {
  keys?: KeySet;
  /** when the fetch of `keys` began */
  fetchedMs: number;
  /** when the last fetch ended, well or not */
  triedMs: number;
  failure?: unknown;
  inFlight?: Promise<KeySet>;
  /** of the fetch under way */
  place?: Place;
}

export type Documents = ReturnType<typeof createDocuments>;

export const createDocuments = (options: {
  clock: () => number;
  dev: boolean;
  fetchDocument: FetchDocument;
  timeoutMs?: number;
}) => {
  const { clock, dev, fetchDocument, timeoutMs = TIMEOUT_MS } = options;
  const entries = new Map<string, Entry>();

  const places = { unproven: createPlaces(MAX_FETCHES), proven: createPlaces(MAX_FETCHES) };

  // A Map keeps the order of insertion, so the first issuer is the one least recently asked for.
  const remember = (issuer: string, entry: Entry) => {
    if (!entries.delete(issuer) && entries.size >= MAX_ISSUERS) {
      // Keeps fetches under way, or they would start twice; there are fewer fetches than entries. Of the others, an issuer without
      // keys is removed first, so that invented issuers displace no keys.
      const waiting = [...entries].filter(([, { place }]) => !place?.isTaken());
      const [removed] = (waiting.find(([, { keys }]) => !keys) ?? waiting[0]) as [string, Entry];
      entries.delete(removed);
    }
    entries.set(issuer, entry);
  };

  // If the clock was set back, an age is negative, which counts as expired.
  const isWithin = (sinceMs: number, spanMs: number) => clock() >= sinceMs && clock() - sinceMs < spanMs;

  const fetchKeys = async (issuer: string, signal: AbortSignal) => {
    const metadataUrl = documentUrl(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, { loopback: dev });
    const metadata = parseStrictJson(await fetchDocument(metadataUrl, signal));
    if (!isObject(metadata) || ownValue(metadata, "issuer") !== issuer)
      throw new TypeError("the discovery document names another issuer");
    const keysUri = ownValue(metadata, "jwks_uri");
    if (typeof keysUri !== "string") throw new TypeError("the discovery document has no jwks_uri");
    // Another public host is common (Google's). Only an issuer on loopback may have its keys on loopback.
    const keysUrl = documentUrl(keysUri, { loopback: dev && isLoopbackUrl(metadataUrl.href) });
    return parseKeySet(await fetchDocument(keysUrl, signal)).keys;
  };

  const fetchInto = async (entry: Entry, issuer: string, place: Place): Promise<KeySet> => {
    const startedMs = clock();
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), place.signal]);
    try {
      entry.keys = await fetchKeys(issuer, signal);
      entry.fetchedMs = startedMs;
      entry.failure = undefined;
      return entry.keys;
    } catch (error) {
      // Keeps fresh keys: a failure that anyone can provoke must not take them from others.
      entry.failure = error;
      // A refused connection to several addresses has a code but no text.
      const { message, code = "failed" } = error as NodeJS.ErrnoException;
      throw refusal("document", message || code, error);
    } finally {
      place.release();
      entry.triedMs = clock();
      entry.inFlight = undefined;
    }
  };

  return {
    /**
     * The cached keys if they are fresh and `isEnough` of them, else fetched ones, unless a fetch has just ended. `owners`: the organizations
     * that need the issuer, for a fair share of the fetches.
     */
    async keysOf(
      issuer: string,
      isEnough: (keys: KeySet) => boolean,
      owners: () => readonly string[] = () => [],
    ): Promise<KeySet> {
      const entry: Entry = entries.get(issuer) ?? { fetchedMs: -Infinity, triedMs: -Infinity };
      const fresh = isWithin(entry.fetchedMs, MAX_AGE_MS) ? entry.keys : undefined;
      const isNeeded = !(fresh && isEnough(fresh));
      const isCooling = !entry.inFlight && isWithin(entry.triedMs, COOLDOWN_MS);
      if (isNeeded && !isCooling && !entry.inFlight) {
        entry.place = (entry.keys ? places.proven : places.unproven).take(owners());
        remember(issuer, entry);
        entry.inFlight = fetchInto(entry, issuer, entry.place);
        return entry.inFlight;
      }
      remember(issuer, entry);
      if (isNeeded && entry.inFlight) return entry.inFlight;
      if (fresh) return fresh;
      throw refusal("document", "failed a moment ago", entry.failure);
    },
  };
};

// Bounds concurrent fetches, with fair shares for organizations: at the limit, the organization with the most fetches gives
// up its oldest one. So issuers that never respond cost other organizations nothing.

export interface Place {
  /** aborts when another organization takes the place */
  signal: AbortSignal;
  isTaken(): boolean;
  release(): void;
}

interface Holder {
  owner: string;
  controller: AbortController;
}

/** `count` places. */
export const createPlaces = (count: number) => {
  // A Set keeps the order of insertion: the first one has waited longest.
  const taken = new Set<Holder>();
  const countOf = (owner: string) => [...taken].filter((holder) => holder.owner === owner).length;

  // An organization that would then hold as many gains nothing by a swap. But each can have one place.
  const makeRoom = (owner: string) => {
    const [first, ...others] = [...taken] as [Holder, ...Holder[]];
    const crowded = others.reduce((most, next) => (countOf(next.owner) > countOf(most.owner) ? next : most), first);
    const held = countOf(owner);
    if (held > 0 && held + 1 >= countOf(crowded.owner)) throw refusal("document", "too many issuers are being asked");
    taken.delete(crowded);
    crowded.controller.abort(new TypeError("gave way to an issuer of another organization"));
  };

  return {
    /** A place for the one of `owners` that holds the fewest. */
    take(owners: readonly string[]): Place {
      const owner = owners.reduce((least, next) => (countOf(next) < countOf(least) ? next : least), owners[0] ?? "");
      if (taken.size >= count) makeRoom(owner);
      const holder: Holder = { owner, controller: new AbortController() };
      taken.add(holder);
      return {
        signal: holder.controller.signal,
        isTaken: () => taken.has(holder),
        release: () => void taken.delete(holder),
      };
    },
  };
};
