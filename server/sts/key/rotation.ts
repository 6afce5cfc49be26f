// When a signing key signs, and when it ends, by the creation times of the keys alone: a restart during a rotation changes
// nothing. A new key is published before it signs, for as long as clients may cache the key set. An old key is accepted until
// the last token that it signed has expired, and for the cache time after that.
import { API_TOKEN_LIFE_MS } from "../../../schema/index.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** An older key gets a successor. */
export const ROTATE_AFTER_MS = 30 * DAY_MS;
/** How long clients may cache our key set. */
export const JWKS_CACHE_MS = 10 * 60 * 1000;

interface Made {
  createdMs: number;
}

/** The first key signs at once: no client has cached a key set without it. `keys` are in the order of creation. */
const signsFromMs = (keys: readonly Made[], i: number): number =>
  i === 0 ? -Infinity : (keys[i] as Made).createdMs + JWKS_CACHE_MS;

const endsMs = (keys: readonly Made[], i: number): number =>
  i === keys.length - 1 ? Infinity : signsFromMs(keys, i + 1) + API_TOKEN_LIFE_MS + JWKS_CACHE_MS;

/** The keys that are served and accepted. */
export const liveKeys = <K extends Made>(keys: readonly K[], nowMs: number): K[] =>
  keys.filter((_, i) => nowMs < endsMs(keys, i));

/** The newest key that clients have had time to fetch. */
export const signingKey = <K extends Made>(keys: readonly K[], nowMs: number): K =>
  keys.findLast((_, i) => signsFromMs(keys, i) <= nowMs) as K;

export const isRotationDue = (keys: readonly Made[], nowMs: number): boolean =>
  nowMs - Math.max(...keys.map(({ createdMs }) => createdMs)) >= ROTATE_AFTER_MS;
