// The keys of an issuer from its discovery document and key set (OpenID Connect Discovery 1.0 section 4), kept for a while.
// Anyone with a token can ask for a key, so fetches are bounded: one under way for each issuer, a pause after each, a bound on
// those under way (server/sts/issuer/places.ts) and on the issuers that are remembered. Callers ask only for an issuer that a
// stored identity trusts.

import { isLoopbackUrl } from "../../../schema/index.ts";
import { refusal } from "../refusal.ts";
import { isJsonObject, ownValue, parseStrictJson } from "../token/strict-json.ts";
import { documentUrl } from "./address.ts";
import type { FetchDocument } from "./fetch.ts";
import { type KeySet, parseKeySet } from "./key-set.ts";
import { createPlaces, type Place } from "./places.ts";

/** A key that the issuer has removed is accepted no longer than this. */
const MAX_AGE_MS = 10 * 60 * 1000;
/** Before an unknown key or a failure is looked for again. */
const COOLDOWN_MS = 30 * 1000;
const MAX_ISSUERS = 100;
/** Asked at once, of those that gave no keys yet and of the others: silent ones that somebody makes up stop no other. */
const MAX_FETCHES = MAX_ISSUERS / 2;
/** For both documents of an issuer together. */
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

export interface Documents {
  /**
   * The issuer's keys: remembered ones if they are fresh and `isEnough` of them, else fetched, unless just tried. `owners`:
   * the organisations on whose behalf it is asked, for a fair share of the fetches.
   */
  keysOf(issuer: string, isEnough: (keys: KeySet) => boolean, owners?: () => readonly string[]): Promise<KeySet>;
}

export const createDocuments = (options: {
  clock: () => number;
  dev: boolean;
  fetchDocument: FetchDocument;
  timeoutMs?: number;
}): Documents => {
  const { clock, dev, fetchDocument, timeoutMs = TIMEOUT_MS } = options;
  const entries = new Map<string, Entry>();

  const places = { unproven: createPlaces(MAX_FETCHES), proven: createPlaces(MAX_FETCHES) };

  // A Map keeps the order of insertion: the first is the one that has not been asked for longest.
  const remember = (issuer: string, entry: Entry): void => {
    if (!entries.delete(issuer) && entries.size >= MAX_ISSUERS) forgetOne();
    entries.set(issuer, entry);
  };

  // What is being fetched stays: forgotten, it would be fetched twice. There are fewer such places than entries. Of the
  // others, one that gave no keys goes first: making up dead issuers pushes out nobody's keys.
  const forgetOne = (): void => {
    const waiting = [...entries].filter(([, { place }]) => !place?.isTaken());
    const [issuer] = (waiting.find(([, { keys }]) => !keys) ?? waiting[0]) as [string, Entry];
    entries.delete(issuer);
  };

  // A clock that was set back makes no age negative and so nothing young for ever.
  const isWithin = (sinceMs: number, spanMs: number) => clock() >= sinceMs && clock() - sinceMs < spanMs;

  const fetchInto = async (entry: Entry, issuer: string, place: Place): Promise<KeySet> => {
    const startedMs = clock();
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), place.signal]);
    try {
      entry.keys = await fetchKeys(issuer, { dev, fetchDocument, signal });
      entry.fetchedMs = startedMs;
      entry.failure = undefined;
      return entry.keys;
    } catch (error) {
      // Keys that are still young stay: a failure that anyone can provoke takes nothing from the others.
      entry.failure = error;
      throw refusal("document", failureText(error), error);
    } finally {
      place.release();
      entry.triedMs = clock();
      entry.inFlight = undefined;
    }
  };

  return {
    async keysOf(issuer, isEnough, owners = () => []) {
      const entry = entries.get(issuer) ?? { fetchedMs: -Infinity, triedMs: -Infinity };
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

// A refused connection to several addresses has a code and no text.
const failureText = (error: unknown): string => {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || (code ?? "failed");
};

const fetchKeys = async (
  issuer: string,
  options: { dev: boolean; fetchDocument: FetchDocument; signal: AbortSignal },
): Promise<KeySet> => {
  const { dev, fetchDocument, signal } = options;
  const metadataUrl = documentUrl(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, { loopback: dev });
  const metadata = parseStrictJson(await fetchDocument(metadataUrl, signal));
  if (!isJsonObject(metadata) || ownValue(metadata, "issuer") !== issuer)
    throw new TypeError("the discovery document names another issuer");
  const keysUri = ownValue(metadata, "jwks_uri");
  if (typeof keysUri !== "string") throw new TypeError("the discovery document has no jwks_uri");
  // Another public host is common (Google's). From a public issuer none of ours: loopback only if it is there itself.
  const keysUrl = documentUrl(keysUri, { loopback: dev && isLoopbackUrl(metadataUrl.href) });
  return parseKeySet(await fetchDocument(keysUrl, signal)).keys;
};
