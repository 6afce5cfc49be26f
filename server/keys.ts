// The server's keys: made once, kept in the store, so that tokens and page tokens outlive a restart.
import { randomBytes } from "node:crypto";
import type { Store } from "./store/store.ts";
import { createSigner, generateKey, type Signer, type StoredKey } from "./sts/signer.ts";

export interface ServerKeys {
  /** signs API tokens */
  signer: Signer;
  /** signs the development issuer's tokens */
  devSigner: Signer;
  /** signs page tokens */
  pageTokenKey: Buffer;
}

export const loadKeys = (store: Store, clock: () => number): ServerKeys => ({
  signer: createSigner({ clock, keys: storedKeys(store, "signing_keys", clock) }),
  devSigner: createSigner({ clock, keys: storedKeys(store, "dev_signing_keys", clock) }),
  pageTokenKey: Buffer.from(
    keptOrMade(store, "page_token_key", () => randomBytes(32).toString("base64")),
    "base64",
  ),
});

const storedKeys = (store: Store, key: string, clock: () => number): StoredKey[] =>
  JSON.parse(keptOrMade(store, key, () => JSON.stringify([generateKey(clock())]))) as StoredKey[];

const keptOrMade = (store: Store, key: string, make: () => string): string => {
  const kept = store.meta(key);
  if (kept !== undefined) return kept;
  const made = make();
  store.setMeta(key, made);
  return made;
};
