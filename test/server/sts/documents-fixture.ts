// What the tests of documents share: the cache on a frozen clock, fetching from issuers on loopback.
import { createDocuments, type Documents } from "../../../server/sts/issuer/cache.ts";
import { createFetchDocument } from "../../../server/sts/issuer/fetch.ts";
import { hasKey, type KeySet } from "../../../server/sts/issuer/key-set.ts";
import { type Issuer, NOW_MS, startIssuer } from "../../harness/sts.ts";

export const DISCOVERY = "/.well-known/openid-configuration";

type Options = Partial<Parameters<typeof createFetchDocument>[0] & { dev: boolean; timeoutMs: number }>;

export const createCache = (options: Options = {}) => {
  const time = { nowMs: NOW_MS };
  const fetchDocument = createFetchDocument(options);
  return { time, documents: createDocuments({ clock: () => time.nowMs, dev: true, fetchDocument, ...options }) };
};

export const named = (kid: string) => (keys: KeySet) => hasKey(keys, kid, "RS256");

export const kids = async (documents: Documents, issuer: Issuer, kid: string) =>
  (await documents.keysOf(issuer.url, named(kid))).map(({ keyId }) => keyId);

export const refused = (message: string) => ({ name: "Refusal", reason: "document", message });

/** Starts issuers, and stops all that it has started. */
export const issuers = () => {
  const started: Issuer[] = [];
  return {
    start: async () => {
      const issuer = await startIssuer();
      started.push(issuer);
      return issuer;
    },
    stop: async () => {
      await Promise.all(started.splice(0).map((issuer) => issuer.close()));
    },
  };
};
