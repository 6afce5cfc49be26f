// The server's keys, in the store, so that tokens and page tokens outlive a restart. Signing keys rotate
// (`sts/key/rotation.ts`). A list of keys is one value of the store, so a rotation happens in full or not at all.
import { randomBytes } from "node:crypto";
import type { Log } from "./base/log.ts";
import type { Store } from "./store/store.ts";
import { createSigner, generateKey, type Signer, type StoredKey } from "./sts/index.ts";

export interface ServerKeys {
  /** signs API tokens */
  signer: Signer;
  /** signs the development issuer's tokens */
  devSigner: Signer;
  /** signs page tokens */
  pageTokenKey: Uint8Array;
}

export const loadKeys = (store: Store, clock: () => number, log: Log): ServerKeys => ({
  signer: createStoredSigner(store, "signing_keys", clock, log),
  devSigner: createStoredSigner(store, "dev_signing_keys", clock, log),
  pageTokenKey: Buffer.from(
    loadOrCreate(store, "page_token_key", () => randomBytes(32).toString("base64")),
    "base64",
  ),
});

/** Keys that end with the process. */
export const createKeys = (clock: () => number = Date.now): ServerKeys => ({
  signer: createSigner({ clock }),
  devSigner: createSigner({ clock }),
  pageTokenKey: randomBytes(32),
});

const createStoredSigner = (store: Store, key: string, clock: () => number, log: Log): Signer =>
  createSigner({
    clock,
    keys: JSON.parse(loadOrCreate(store, key, () => JSON.stringify([generateKey(clock())]))) as StoredKey[],
    save: (keys) => store.setMeta(key, JSON.stringify(keys)),
    log: ({ outcome, ...event }) => log(outcome === "failed" ? "error" : "info", "signing key", { outcome, ...event }),
  });

const loadOrCreate = (store: Store, key: string, make: () => string): string => {
  const kept = store.meta(key);
  if (kept !== undefined) return kept;
  const made = make();
  store.setMeta(key, made);
  return made;
};
