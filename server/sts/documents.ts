// The keys of an issuer from its discovery document and key set (OpenID Connect Discovery 1.0 section 4), kept for a
// while. Whoever holds a token can ask for a key, so a fetch has a price: one under way for each issuer, a pause after
// each, a bound on how many issuers are remembered. Callers ask only for an issuer that a stored identity trusts.
import { documentUrl, isLoopbackUrl } from "./address.ts";
import type { FetchDocument } from "./fetch-document.ts";
import { type KeySet, parseKeySet } from "./key-set.ts";
import { refusal } from "./refusal.ts";
import { isJsonObject, ownValue, parseStrictJson } from "./strict-json.ts";

/** A key that the issuer has removed is accepted no longer than this. */
const MAX_AGE_MS = 10 * 60 * 1000;
/** Before an unknown key or a failure is looked for again. */
const COOLDOWN_MS = 30 * 1000;
const MAX_ISSUERS = 100;
/** Of those that gave no keys yet, asked at once: whoever makes up silent ones pushes out nobody's keys. */
const MAX_UNPROVEN = 50;
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
}

export interface Documents {
  /** The issuer's keys: remembered ones if they are young and `isEnough` of them, else fetched, unless just tried. */
  keysOf(issuer: string, isEnough: (keys: KeySet) => boolean): Promise<KeySet>;
}

export const createDocuments = (options: {
  clock: () => number;
  dev: boolean;
  fetchDocument: FetchDocument;
  timeoutMs?: number;
}): Documents => {
  const { clock, dev, fetchDocument, timeoutMs = TIMEOUT_MS } = options;
  const entries = new Map<string, Entry>();

  const entryOf = (issuer: string): Entry => {
    const entry = entries.get(issuer) ?? { fetchedMs: -Infinity, triedMs: -Infinity };
    if (!entries.has(issuer)) makeRoom();
    // A Map keeps the order of insertion: the first is the one that has not been asked for longest.
    entries.delete(issuer);
    entries.set(issuer, entry);
    return entry;
  };

  // What is being fetched stays: forgotten, it would be fetched twice, and there would be no bound on fetches under way.
  // Of the others, one that gave no keys goes first: making up dead issuers pushes out nobody's keys.
  const makeRoom = (): void => {
    const known = [...entries];
    if (known.filter(([, { inFlight, keys }]) => inFlight && !keys).length >= MAX_UNPROVEN)
      throw refusal("document", "too many issuers are being asked");
    if (known.length < MAX_ISSUERS) return;
    const waiting = known.filter(([, { inFlight }]) => !inFlight);
    const oldest = waiting.find(([, { keys }]) => !keys) ?? waiting[0];
    if (!oldest) throw refusal("document", "too many issuers are being asked");
    entries.delete(oldest[0]);
  };

  // A clock that was set back makes no age negative and so nothing young for ever.
  const isWithin = (sinceMs: number, spanMs: number) => clock() >= sinceMs && clock() - sinceMs < spanMs;

  const fetchInto = async (entry: Entry, issuer: string): Promise<KeySet> => {
    const startedMs = clock();
    try {
      entry.keys = await fetchKeys(issuer, { dev, fetchDocument, signal: AbortSignal.timeout(timeoutMs) });
      entry.fetchedMs = startedMs;
      entry.failure = undefined;
      return entry.keys;
    } catch (error) {
      // Keys that are still young stay: a failure that anyone can provoke takes nothing from the others.
      entry.failure = error;
      throw refusal("document", failureText(error), error);
    } finally {
      entry.triedMs = clock();
      entry.inFlight = undefined;
    }
  };

  return {
    async keysOf(issuer, isEnough) {
      const entry = entryOf(issuer);
      const young = isWithin(entry.fetchedMs, MAX_AGE_MS) ? entry.keys : undefined;
      if (young && isEnough(young)) return young;
      if (!entry.inFlight && isWithin(entry.triedMs, COOLDOWN_MS)) {
        if (young) return young;
        throw refusal("document", "failed a moment ago", entry.failure);
      }
      entry.inFlight ??= fetchInto(entry, issuer);
      return entry.inFlight;
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
  const keysUrl = documentUrl(keysUri, { loopback: dev && isLoopbackUrl(metadataUrl) });
  return parseKeySet(await fetchDocument(keysUrl, signal)).keys;
};
