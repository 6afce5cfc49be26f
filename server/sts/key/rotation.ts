// When a signing key signs and when it goes, from the times at which the keys were made and nothing else: a restart in the
// middle of a rotation finds the same answer. A new key is published before it signs, for as long as others may keep the
// key set; an old one is served and accepted until the last token that it signed has expired, and that long again.
import { API_TOKEN_LIFE_MS } from "../../../schema/index.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** A key that is older gets a successor. */
export const ROTATE_AFTER_MS = 30 * DAY_MS;
/** How long others keep our key set. */
export const JWKS_CACHE_MS = 10 * 60 * 1000;

interface Made {
  createdMs: number;
}

/** The first key ever signs at once: nobody has kept a key set without it. `keys` are in the order of their making. */
const signsFromMs = (keys: readonly Made[], i: number): number =>
  i === 0 ? -Infinity : (keys[i] as Made).createdMs + JWKS_CACHE_MS;

const endsMs = (keys: readonly Made[], i: number): number =>
  i === keys.length - 1 ? Infinity : signsFromMs(keys, i + 1) + API_TOKEN_LIFE_MS + JWKS_CACHE_MS;

/** The keys that are served and accepted. */
export const liveKeys = <K extends Made>(keys: readonly K[], nowMs: number): K[] =>
  keys.filter((_, i) => nowMs < endsMs(keys, i));

/** The newest of those that others have had time to learn of. */
export const signingKey = <K extends Made>(keys: readonly K[], nowMs: number): K =>
  keys.findLast((_, i) => signsFromMs(keys, i) <= nowMs) as K;

export const isRotationDue = (keys: readonly Made[], nowMs: number): boolean =>
  nowMs - Math.max(...keys.map(({ createdMs }) => createdMs)) >= ROTATE_AFTER_MS;
